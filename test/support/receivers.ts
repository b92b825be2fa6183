/** Merchants' servers that receive callbacks; what each does with a request can be changed at any time. */
import { createServer, type IncomingHttpHeaders, type ServerResponse } from 'node:http';
import { createServer as createTlsServer } from 'node:https';
import type { AddressInfo, Socket } from 'node:net';
import type { Certificate } from './certificate.ts';

export interface Received {
  method: string;
  path: string;
  headers: IncomingHttpHeaders;
  /** Names and values in turn, exactly as they were sent. */
  rawHeaders: string[];
  body: Buffer;
}

/** What a server does with a request that it has read to the end. */
export type Behaviour = (response: ServerResponse, request: Received) => void;

export interface TestReceiver {
  url: string;
  port: number;
  /** What it does with the next requests. */
  behaviour: Behaviour;
  /** Every request that arrived, in order. */
  received: Received[];
  /** How many connections were ever opened to it, and how many still are. */
  readonly connections: number;
  readonly open: number;
  close(): Promise<void>;
}

export const answers =
  (status: number, headers: Record<string, string> = {}, body = ''): Behaviour =>
  (response) =>
    void response.writeHead(status, headers).end(body);

export const redirectsTo = (location: string, status = 301): Behaviour => answers(status, { location });

export const hangs: Behaviour = () => undefined;

export const closesBeforeAnswer: Behaviour = (response) => void response.socket?.destroy();

/** Announces a hundred bytes, sends ten, and closes the connection. */
export const closesInAnswer: Behaviour = (response) => {
  response.writeHead(200, { 'content-length': '100' });
  response.write('0123456789', () => response.socket?.destroy());
};

/** Sends a body of this size. */
export const floods =
  (bytes = 10 * 1024 * 1024): Behaviour =>
  (response) =>
    void response.writeHead(200).end(Buffer.alloc(bytes, 'x'));

/** Writes a text byte by byte, over and over again. */
function drip(socket: Socket | null, text: string, pauseMs: number): void {
  let sent = 0;
  const timer = setInterval(() => socket?.write(text[sent++ % text.length] as string), pauseMs);
  socket?.once('close', () => clearInterval(timer));
}

/** Answers 200 at once, and never completes the body. */
export const drips =
  (pauseMs = 20): Behaviour =>
  (response) => {
    response.socket?.write('HTTP/1.1 200 OK\r\nContent-Length: 1000000\r\n\r\n');
    drip(response.socket, 'x', pauseMs);
  };

/** Never completes the headers. */
export const dripsHeaders =
  (pauseMs = 20): Behaviour =>
  (response) => {
    response.socket?.write('HTTP/1.1 200 OK\r\n');
    drip(response.socket, 'X-More: x\r\n', pauseMs);
  };

/** Writes these bytes instead of an answer, and leaves the connection open. */
export const writes =
  (text: string): Behaviour =>
  (response) =>
    void response.socket?.write(text);

export const speaksNonsense = writes('220 mail.example ESMTP\r\n');

/** Sends informational responses before its answer. */
export const answersAfterHints: Behaviour = (response) => {
  response.writeProcessing();
  response.writeEarlyHints({ link: '</style.css>; rel=preload' });
  response.writeHead(200).end();
};

export const answersWithHugeHeaders = (bytes = 1024 * 1024): Behaviour =>
  writes(`HTTP/1.1 200 OK\r\nX-Huge: ${'x'.repeat(bytes)}\r\nContent-Length: 0\r\n\r\n`);

/** Does the next of these with each request, and the last one from then on. */
export function inTurn(...behaviours: [Behaviour, ...Behaviour[]]): Behaviour {
  let turn = 0;
  return (response, request) => behaviours[Math.min(turn++, behaviours.length - 1)]?.(response, request);
}

/** Starts a server, by default on a free port; with an empty host it listens on every address of this machine. */
export async function startReceiver(
  behaviour: Behaviour = answers(200),
  {
    host = '127.0.0.1',
    certificate,
    port: wanted = 0,
  }: { host?: string; certificate?: Certificate; port?: number } = {},
): Promise<TestReceiver> {
  const server = certificate ? createTlsServer(certificate) : createServer();
  const sockets = new Set<Socket>();
  let connections = 0;
  server.on('connection', (socket: Socket) => {
    connections++;
    sockets.add(socket);
    socket.on('error', () => undefined).once('close', () => sockets.delete(socket));
  });
  server.on('request', (request, response) => {
    const parts: Buffer[] = [];
    request.on('data', (part: Buffer) => parts.push(part));
    request.on('end', () => {
      const { method = '', url: path = '', headers, rawHeaders } = request;
      const received = { method, path, headers, rawHeaders, body: Buffer.concat(parts) };
      receiver.received.push(received);
      receiver.behaviour(response, received);
    });
  });
  await new Promise<void>((resolve) => server.listen({ port: wanted, ...(host !== '' && { host }) }, resolve));
  const { port } = server.address() as AddressInfo;
  const name = host === '' ? 'localhost' : host.includes(':') ? `[${host}]` : host;
  const receiver: TestReceiver = {
    url: `${certificate ? 'https' : 'http'}://${name}:${port}/callbacks`,
    port,
    behaviour,
    received: [],
    get connections() {
      return connections;
    },
    get open() {
      return sockets.size;
    },
    async close() {
      for (const socket of sockets) socket.destroy();
      await new Promise((resolve) => server.close(resolve));
    },
  };
  return receiver;
}
