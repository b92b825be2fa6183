/** The load generator: keep-alive connections that each send the next prepared request after the last response. */
import { connect } from 'node:net';

export interface LoadOrder {
  host: string;
  port: number;
  connections: number;
  seconds: number;
  /** A fixed rate; without it the maximum rate. */
  perSecond?: number;
  /** Complete HTTP requests, each sent once; the load ends when they run out. */
  requests: Buffer[];
}

export interface LoadResult {
  answered: number;
  /** Responses other than 200. */
  failed: number;
  perSecond: number;
  p50: number;
  p99: number;
  cpuSeconds: number;
}

/** A minimal HTTP client: on a small machine a general one would use more CPU than the servers it measures. */
export async function load({
  host,
  port,
  connections,
  seconds,
  perSecond = Number.POSITIVE_INFINITY,
  requests,
}: LoadOrder): Promise<LoadResult> {
  const latencies: number[] = [];
  let next = 0;
  let failed = 0;
  const cpu = process.cpuUsage();
  const started = performance.now();
  const deadline = started + seconds * 1000;

  const runConnection = (): Promise<void> =>
    new Promise((resolve, reject) => {
      const socket = connect(port, host);
      socket.setNoDelay(true);
      let sentAt = 0;
      let expected = -1;
      let received = 0;
      const send = (): void => {
        const delayMs = started + (next * 1000) / perSecond - performance.now();
        if (delayMs > 1) return void setTimeout(send, delayMs);
        const request = requests[next++];
        if (!request || performance.now() > deadline) {
          socket.end();
          resolve();
          return;
        }
        sentAt = performance.now();
        expected = -1;
        received = 0;
        socket.write(request);
      };
      socket.on('data', (chunk: Buffer) => {
        if (expected === -1) {
          const head = chunk.toString('latin1', 0, 4096);
          const end = head.indexOf('\r\n\r\n');
          const length = /content-length: (\d+)/i.exec(head)?.[1];
          if (end === -1 || length === undefined)
            return reject(new Error(`A response without content-length: ${head}`));
          if (!head.startsWith('HTTP/1.1 200')) failed++;
          expected = end + 4 + Number(length);
        }
        received += chunk.length;
        if (received < expected) return;
        latencies.push(performance.now() - sentAt);
        send();
      });
      socket.on('error', reject);
      socket.on('connect', send);
    });

  await Promise.all(Array.from({ length: connections }, runConnection));
  const elapsedSeconds = (performance.now() - started) / 1000;
  const { user, system } = process.cpuUsage(cpu);
  latencies.sort((a, b) => a - b);
  const percentile = (share: number): number => latencies[Math.floor(latencies.length * share)] ?? 0;
  return {
    answered: latencies.length,
    failed,
    perSecond: latencies.length / elapsedSeconds,
    p50: percentile(0.5),
    p99: percentile(0.99),
    cpuSeconds: (user + system) / 1e6,
  };
}

/** The bytes of a POST request. */
export function request(path: string, form: string, type = 'application/x-www-form-urlencoded'): Buffer {
  return Buffer.from(
    `POST ${path} HTTP/1.1\r\nhost: localhost\r\ncontent-type: ${type}\r\ncontent-length: ${Buffer.byteLength(form)}\r\n\r\n${form}`,
  );
}
