/** Answers plain requests of merchants on their connections, because Node's HTTP objects have their own cost. */
import { type Server, STATUS_CODES } from 'node:http';
import type { Socket } from 'node:net';
import { readWholeRequest, type WholeRequest } from '../lib/http/whole-request.ts';
import { LIMITS } from '../rules/limits.ts';
import type { Reply } from '../wire/listener.ts';
import { closeAfterReading } from './lingering-close.ts';

/** Takes a request and replies to it, perhaps later; false for a request that it leaves to Node's HTTP server. */
export type TakeRequest = (request: WholeRequest, remoteAddress: string, reply: Reply) => boolean;

interface Site {
  server: Server;
  take: TakeRequest;
  /** The connections that Node's HTTP server does not have. */
  connections: Set<Connection>;
  isClosing: boolean;
  /** Gives a connection to Node's HTTP server. */
  accept(socket: Socket): void;
}

/** How often idle connections are looked for in the time that a connection may be idle. */
const SWEEPS = 12;

/** A connection whose requests were all plain ones so far. It has one request at a time. */
class Connection implements Reply {
  readonly #site: Site;
  readonly #socket: Socket;
  readonly #remoteAddress: string;
  readonly #received = (bytes: Buffer): void => this.#receive(bytes);
  readonly #ended = (): void => this.#end();
  readonly #failed = (): void => undefined;
  readonly #closed = (): void => void this.#site.connections.delete(this);
  #isBusy = false;
  /** The number of sweeps since the last request. */
  #sweeps = 0;
  /** Whether the connection is closed after the next response. */
  #isLast = false;
  /** What arrived before the response to the request before it. */
  readonly #early: Buffer[] = [];

  constructor(site: Site, socket: Socket) {
    this.#site = site;
    this.#socket = socket;
    this.#remoteAddress = socket.remoteAddress ?? '';
    site.connections.add(this);
    socket.on('data', this.#received).on('end', this.#ended).on('error', this.#failed).on('close', this.#closed);
  }

  #receive(bytes: Buffer): void {
    // After the last response, what arrives is read and discarded.
    if (this.#socket.writableEnded) return;
    if (this.#isBusy) {
      this.#early.push(bytes);
      this.#socket.pause();
      return;
    }
    // Node's HTTP server stops reading from a client that does not receive its responses.
    const isPlain = !this.#site.isClosing && !this.#socket.writableNeedDrain;
    const request = isPlain ? readWholeRequest(bytes) : undefined;
    if (request !== undefined) {
      this.#isBusy = true;
      this.#sweeps = 0;
      this.#isLast = request.isLast;
      if (this.#site.take(request, this.#remoteAddress, this)) return;
    }
    this.#handOver(bytes);
  }

  send(status: number, headers: readonly string[], body: string, encoding: 'latin1' | 'utf8'): void {
    const { server, isClosing } = this.#site;
    const socket = this.#socket;
    this.#isBusy = false;
    if (socket.destroyed) return;
    const isLast = this.#isLast || isClosing;
    let text = `HTTP/1.1 ${status} ${STATUS_CODES[status]}\r\n`;
    for (let at = 0; at < headers.length; at += 2) text += `${headers[at]}: ${headers[at + 1]}\r\n`;
    text += `Date: ${httpDate()}\r\n`;
    text += isLast
      ? 'Connection: close\r\n\r\n'
      : `Connection: keep-alive\r\nKeep-Alive: timeout=${Math.floor(server.keepAliveTimeout / 1000)}\r\n\r\n`;
    socket.write(text + body, encoding);
    if (isLast) closeAfterReading(socket);
    else if (this.#early.length > 0) this.#handOver(Buffer.concat(this.#early));
  }

  /** The client sends nothing more, but still receives what is sent, and the response to its last request. */
  #end(): void {
    this.#isLast = true;
    if (!this.#isBusy) closeAfterReading(this.#socket);
  }

  /** Closes the connection if it was idle for longer than its responses say. */
  sweep(): void {
    if (!this.#isBusy && ++this.#sweeps > SWEEPS + 1) this.destroy();
  }

  closeIfIdle(): void {
    if (!this.#isBusy) this.destroy();
  }

  destroy(): void {
    this.#socket.destroy();
  }

  /** Gives the connection to Node's HTTP server, which reads these bytes first. */
  #handOver(bytes: Buffer): void {
    const socket = this.#socket;
    this.#closed();
    socket.off('data', this.#received).off('end', this.#ended).off('error', this.#failed).off('close', this.#closed);
    socket.pause();
    socket.unshift(bytes);
    this.#site.accept(socket);
    socket.resume();
  }
}

/** Answers the plain requests on new connections of a server; returns the function that begins to close them. */
export function acceptDirectly(server: Server, take: TakeRequest): () => void {
  const listeners = server.listeners('connection') as ((socket: Socket) => void)[];
  const site: Site = {
    server,
    take,
    connections: new Set(),
    isClosing: false,
    accept(socket) {
      for (const listen of listeners) listen.call(server, socket);
    },
  };
  server.removeAllListeners('connection').on('connection', (socket: Socket) => void new Connection(site, socket));
  // One timer for all connections, because that of a socket costs time at every read and write.
  const sweep = setInterval(() => {
    for (const connection of site.connections) connection.sweep();
  }, server.keepAliveTimeout / SWEEPS).unref();
  server.once('close', () => clearInterval(sweep));
  return () => {
    site.isClosing = true;
    for (const connection of site.connections) connection.closeIfIdle();
    // A slow client must not keep the process alive.
    setTimeout(() => {
      for (const connection of site.connections) connection.destroy();
    }, LIMITS.drainTimeoutMs).unref();
  };
}

let date = '';
let dateSecond = 0;

/** The value of the `Date` header, composed once per second. */
function httpDate(): string {
  const second = Math.floor(Date.now() / 1000);
  if (second !== dateSecond) {
    dateSecond = second;
    date = new Date(second * 1000).toUTCString();
  }
  return date;
}
