/** Hostile clients: connections that send thousands of requests at once, that send slowly, or that do not read. */
import { once } from 'node:events';
import { connect, type Socket } from 'node:net';
import { setTimeout as pause } from 'node:timers/promises';

const post = (path: string, type: string, body: string): string =>
  `POST ${path} HTTP/1.1\r\nHost: x\r\nContent-Type: ${type}\r\nContent-Length: ${body.length}\r\n\r\n${body}`;
const FORM = 'application/x-www-form-urlencoded';
const sale = post('/post', FORM, 'action=SALE&client_key=nobody&hash=0');
const session = post('/api/v1/session', 'application/json', '{"merchant_key":"nobody","operation":"purchase"}');
const health = 'GET /health/live HTTP/1.1\r\nHost: x\r\n\r\n';
const chunked = `POST /post HTTP/1.1\r\nHost: x\r\nContent-Type: ${FORM}\r\nTransfer-Encoding: chunked\r\n\r\nb\r\naction=SALE\r\n0\r\n\r\n`;
const expectation = 'GET / HTTP/1.1\r\nHost: x\r\nExpect: something\r\n\r\n';
const missing = 'GET /missing HTTP/1.1\r\nHost: x\r\n\r\n';

/** What the connections send again and again; nothing needs credentials. */
export const LOADS = {
  sales: sale,
  sessions: session,
  health,
  mixed: sale + health + session + chunked + expectation + missing,
} as const;

export type Load = keyof typeof LOADS;

const LAST = 'GET /health/live HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n';

/** Opens connections on which the client keeps its side open. */
export async function openConnections(port: number, count: number): Promise<Socket[]> {
  const sockets = Array.from({ length: count }, () => connect({ port, host: '127.0.0.1', allowHalfOpen: true }));
  await Promise.all(
    sockets.map((socket) => {
      socket.on('error', () => undefined);
      return once(socket, 'connect');
    }),
  );
  return sockets;
}

export interface FloodOptions {
  port: number;
  load: Load;
  connections: number;
  /** The bytes that each connection sends at once. */
  bytes: number;
  /** Whether the clients read the responses. */
  reads: boolean;
  /** The flood ends when every request is answered, or after this time. */
  seconds: number;
}

export interface Flood {
  /** The number of requests that are sent. */
  sent: number;
  answered: () => number;
  /** Resolves when all is answered, or when the time is over; then the connections are closed. */
  done: Promise<void>;
}

export async function flood({ port, load, connections, bytes, reads, seconds }: FloodOptions): Promise<Flood> {
  const repeats = Math.floor(bytes / LOADS[load].length);
  const all = Buffer.from(LOADS[load].repeat(repeats) + LAST);
  const sockets = await openConnections(port, connections);
  let answered = 0;
  const ended = sockets.map((socket) => {
    socket.write(all);
    if (!reads) return once(socket.pause(), 'close');
    socket.on('data', (part: Buffer) => {
      for (let at = part.indexOf('HTTP/1.1 '); at >= 0; at = part.indexOf('HTTP/1.1 ', at + 1)) answered++;
    });
    socket.on('end', () => socket.end());
    return once(socket, 'close');
  });
  const over = new AbortController();
  const timeout = pause(seconds * 1000, undefined, { signal: over.signal }).catch(() => undefined);
  const done = Promise.race([Promise.all(ended), timeout]).then(() => {
    over.abort();
    for (const socket of sockets) socket.destroy();
  });
  return {
    sent: (repeats * (LOADS[load].match(/HTTP\/1\.1\r\n/g)?.length ?? 0) + 1) * connections,
    answered: () => answered,
    done,
  };
}

/** Clients that never send a whole request, by what they send: first, and then every second. */
export const SLOW_CLIENTS: Record<string, { first: string; next?: string }> = {
  silent: { first: '' },
  'half a head': { first: 'POST /post HTTP/1.1\r\nHost: x\r\n' },
  'a head, byte by byte': { first: 'POST /post HTTP/1.1\r\nHost: x\r\nX-Long: ', next: 'x' },
  'a body, byte by byte': { first: post('/post', FORM, 'x'.repeat(1000)).slice(0, -999), next: 'x' },
  'chunks, byte by byte': { first: chunked.slice(0, chunked.indexOf('\r\n\r\n') + 4), next: '1\r\nx\r\n' },
};

/** Opens slow clients of all kinds; resolves to the seconds after which the last one of each kind was closed. */
export async function sendSlowly(port: number, connections: number): Promise<Record<string, number>> {
  const started = performance.now();
  const closed = Object.entries(SLOW_CLIENTS).map(async ([name, { first, next }]) => {
    const sockets = await openConnections(port, Math.ceil(connections / Object.keys(SLOW_CLIENTS).length));
    const ends = sockets.map(async (socket) => {
      socket.write(first);
      const drip = setInterval(() => next && socket.write(next), 1000);
      socket.resume().on('end', () => socket.end());
      await once(socket, 'close');
      clearInterval(drip);
    });
    await Promise.all(ends);
    return [name, (performance.now() - started) / 1000] as const;
  });
  return Object.fromEntries(await Promise.all(closed));
}
