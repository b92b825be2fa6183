/** Sends the bytes of a request and reads the response; connections stay open for further requests, as with most clients. */
import { connect, type Socket } from 'node:net';
import type { WrittenRequest } from './alter.ts';

export interface Response {
  status: number;
  headers: Map<string, string>;
  text: string;
  /** Whether other bytes followed it on a connection that stays open. */
  hasMore: boolean;
}

/** A request whose response is wrong; failures of one kind are reported once. */
export class WrongResponse extends Error {
  readonly kind: string;

  constructor(message: string, kind = message) {
    super(message);
    this.kind = kind;
  }
}

const ANSWER_MS = 60_000;
/** How long a request that the server cannot finish reading is left waiting. */
const UNFRAMED_MS = 250;

interface Connection {
  socket: Socket;
  /** The request that waits for its response; undefined between requests. */
  reader: { onData(part: Buffer): void; onClose(error: NodeJS.ErrnoException | undefined): void } | undefined;
}

/** Connections that stayed open, by their port. */
export type OpenConnections = Map<number, Connection>;

function connectTo(host: string, port: number): Connection {
  const socket = connect({ host, port, noDelay: true });
  const connection: Connection = { socket, reader: undefined };
  let failure: Error | undefined;
  socket.on('data', (part: Buffer) => connection.reader?.onData(part));
  socket.on('error', (error) => (failure = error));
  socket.on('close', () => connection.reader?.onClose(failure));
  return connection;
}

/** The response, or undefined if the connection was closed without one, or before its end. */
export async function exchange(
  open: OpenConnections,
  host: string,
  port: number,
  request: WrittenRequest,
): Promise<Response | undefined> {
  const former = request.isKept ? open.get(port) : undefined;
  if (former) {
    open.delete(port);
    // The server may close an idle connection while the next request is on its way; the request is sent again then.
    const response = former.socket.destroyed ? undefined : await send(open, former, port, request);
    if (response) return response;
  }
  return send(open, connectTo(host, port), port, request);
}

function send(
  open: OpenConnections,
  connection: Connection,
  port: number,
  { bytes, method, isFramed, isKept }: WrittenRequest,
): Promise<Response | undefined> {
  return new Promise((resolve, reject) => {
    const { socket } = connection;
    const parts: Buffer[] = [];
    let [received, needed, isLate] = [0, 0, false];
    const limit = isFramed ? ANSWER_MS : UNFRAMED_MS;
    const timer = setTimeout(() => {
      isLate = isFramed;
      socket.destroy();
    }, limit);
    const finish = (): void => {
      clearTimeout(timer);
      connection.reader = undefined;
    };
    connection.reader = {
      onData(part) {
        parts.push(part);
        received += part.length;
        if (!isKept || received < needed) return;
        const answer = parse(Buffer.concat(parts), method);
        needed = answer?.length ?? 0;
        // If the server is about to close the connection, the end of the connection is waited for.
        if (!answer || received < needed || answer.response.headers.get('connection') === 'close') return;
        finish();
        const hasMore = received > needed;
        if (hasMore) socket.destroy();
        else open.set(port, connection);
        resolve({ ...answer.response, hasMore });
      },
      onClose(error) {
        finish();
        const answer = parse(Buffer.concat(parts), method);
        // A server may refuse a long body before all of it was sent, so that only this error is one.
        if (error?.code === 'ECONNREFUSED') reject(error);
        else if (isLate) reject(new WrongResponse('There was no answer in time.'));
        else resolve(answer && (!isFramed || received >= answer.length) ? answer.response : undefined);
      },
    };
    socket.write(bytes);
  });
}

/** A response, as far as it has arrived, and how many bytes it has altogether; undefined before the end of its head. */
function parse(bytes: Buffer, method: string): { response: Response; length: number } | undefined {
  let from = 0;
  let head = '';
  // Before the response there may be a `100 Continue`.
  do {
    const end = bytes.indexOf('\r\n\r\n', from);
    if (end === -1) return undefined;
    head = bytes.toString('latin1', from, end);
    from = end + 4;
  } while (/^HTTP\/1\.1 1\d\d/.test(head));
  const [first = '', ...lines] = head.split('\r\n');
  const headers = new Map(
    lines.map((line): [string, string] => {
      const colon = line.indexOf(':');
      return [line.slice(0, colon).toLowerCase(), line.slice(colon + 1).trim()];
    }),
  );
  const status = Number(first.split(' ')[1]);
  const rest = bytes.subarray(from);
  const hasBody = method !== 'HEAD' && status !== 204 && status !== 304;
  const isChunked = headers.get('transfer-encoding') === 'chunked';
  // An altered head can make two requests of one; the second response is left out.
  const length = hasBody ? Number(headers.get('content-length') ?? rest.length) : 0;
  const [body, size] = hasBody && isChunked ? unchunked(rest) : [rest.subarray(0, length), length];
  return { response: { status, headers, text: body.toString(), hasMore: false }, length: from + size };
}

const LAST_CHUNK = Buffer.from('0\r\n\r\n');

/** The body without the frames of its chunks, and its size with them; the size is one too large until all has arrived. */
function unchunked(bytes: Buffer): [body: Buffer, size: number] {
  const parts: Buffer[] = [];
  for (let at = 0; at < bytes.length; ) {
    const end = bytes.indexOf('\r\n', at);
    if (end === -1) break;
    const size = Number.parseInt(bytes.toString('latin1', at, end), 16);
    if (!(size > 0)) return [Buffer.concat(parts), at + LAST_CHUNK.length];
    parts.push(bytes.subarray(end + 2, end + 2 + size));
    at = end + 4 + size;
  }
  return [Buffer.concat(parts), bytes.length + 1];
}
