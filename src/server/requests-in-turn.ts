/** Performs the requests of one connection of Node's HTTP server one after another, however many the client has sent. */
import type { IncomingMessage, RequestListener, Server, ServerResponse } from 'node:http';
import type { Socket } from 'node:net';
import { LIMITS } from '../rules/limits.ts';

const connections = new WeakMap<Socket, Connection>();
const connectionOf = (socket: Socket): Connection => connections.get(socket) as Connection;

/** How often stalled connections are looked for in the time that a connection may stall. */
const SWEEPS = 12;

/**
 * Node's parser emits all requests of what it is given at once. So it gets little at a time, and the rest stays in the
 * socket, which is not read from meanwhile, until all responses are sent.
 */
class Connection {
  readonly #socket: Socket;
  readonly #parse: (bytes: Buffer) => void;
  /** The last request that was parsed, until its response is sent; then those before it are sent, too. */
  #last: { request: IncomingMessage; response: ServerResponse } | undefined;
  #sliceBytes = 0;
  /** So many of the bytes to come belong to the body of the last request, and perhaps more. */
  #bodyBytes = 0;
  #isBroken = false;
  /** The bytes that the client had received at the last sweep, and the number of sweeps since it received any. */
  #received = 0;
  #stalls = 0;

  constructor(socket: Socket) {
    this.#socket = socket;
    const [parse] = socket.listeners('data') as [(bytes: Buffer) => void];
    this.#parse = parse;
    socket.off('data', parse).on('data', (bytes: Buffer) => this.#receive(bytes));
  }

  #receive(bytes: Buffer): void {
    const socket = this.#socket;
    // After the last response, what arrives is read and discarded.
    if (this.#isBroken || socket.writableEnded) return;
    let rest = bytes;
    let mayParse = this.#last === undefined || this.#isArriving();
    while (mayParse && rest.length > 0) {
      const slice = rest.subarray(0, Math.max(LIMITS.parsedBytes, this.#bodyBytes));
      rest = rest.subarray(slice.length);
      this.#sliceBytes = slice.length;
      this.#bodyBytes = Math.max(0, this.#bodyBytes - slice.length);
      this.#parse(slice);
      mayParse = this.#isArriving();
    }
    if (rest.length === 0) return;
    const isPausedByNode = socket.isPaused();
    socket.pause();
    socket.unshift(rest);
    if (this.#last === undefined && !isPausedByNode) this.#continue();
  }

  /** Whether only the body of the last request is missing, and the requests before it are answered. */
  #isArriving(): boolean {
    const last = this.#last;
    if (last === undefined || last.request.complete || last.response.socket === null) return false;
    return !this.#isBroken && !this.#socket.isPaused();
  }

  /** Reads on in the next turn of the event loop: other connections get their turn first. */
  #continue(): void {
    if (this.#socket.isPaused()) setImmediate(() => this.#socket.resume());
  }

  /** Performs a request when those before it are answered, and not at all if one of them closes the connection. */
  take(request: IncomingMessage, response: ServerResponse, perform: () => void): void {
    const last = { request, response };
    this.#last = last;
    this.#bodyBytes = Math.max(0, Number(request.headers['content-length'] ?? 0) - this.#sliceBytes);
    response.once('finish', () => {
      if (this.#last !== last) return;
      this.#last = undefined;
      this.#continue();
    });
    const begin = (): void => {
      if (response.destroyed || (this.#isBroken && !request.complete)) return;
      perform();
      this.#continue();
    };
    // Node gives the socket to a response when those before it are sent.
    if (response.socket !== null) perform();
    else response.once('socket', () => setImmediate(begin));
  }

  /** Closes the connection if the client does not receive what is sent; that it still sends something changes nothing. */
  sweep(): void {
    const { bytesWritten, writableLength } = this.#socket;
    const received = bytesWritten - writableLength;
    this.#stalls = writableLength > 0 && received === this.#received ? this.#stalls + 1 : 0;
    this.#received = received;
    // Of one large write, only the end is noticed.
    if (this.#stalls > SWEEPS * Math.ceil(writableLength / LIMITS.stalledBytes)) this.#socket.destroy();
  }

  /** Answers bytes that are no request when the requests before them are answered. */
  refuse(answer: () => void): void {
    if (this.#isBroken) return;
    this.#isBroken = true;
    const { request, response } = this.#last ?? {};
    // If the body of the last request is broken, this is its response, unless it has one already. After the end of the
    // stream, Node closes the connection when the last response is sent.
    if (request?.complete || response?.headersSent) response?.prependOnceListener('finish', answer);
    else if (response?.socket === null) response.once('socket', answer);
    else answer();
  }
}

/**
 * Takes the present listeners for requests into its own. Clients that close their side still get the responses to all
 * requests that they have sent.
 */
export function answerInTurn(server: Server): void {
  Object.assign(server, { httpAllowHalfOpen: true });
  const open = new Set<Connection>();
  server.on('connection', (socket: Socket) => {
    const connection = new Connection(socket);
    connections.set(socket, connection);
    open.add(connection);
    socket.once('close', () => open.delete(connection));
  });
  const sweeps = setInterval(() => {
    for (const connection of open) connection.sweep();
  }, LIMITS.stalledMs / SWEEPS).unref();
  server.once('close', () => clearInterval(sweeps));
  for (const event of ['request', 'checkExpectation']) {
    const listeners = server.listeners(event) as RequestListener[];
    server.removeAllListeners(event).on(event, (request: IncomingMessage, response: ServerResponse) =>
      connectionOf(request.socket).take(request, response, () => {
        for (const listen of listeners) listen.call(server, request, response);
      }),
    );
  }
}

/** Answers a broken request in its turn. */
export const refuseInTurn = (socket: Socket, answer: () => void): void => connectionOf(socket).refuse(answer);
