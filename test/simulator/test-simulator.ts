/** A provider simulator for one test file, a gateway's ear that checks every signature by hand, and a pen for payments. */
import { createHmac } from 'node:crypto';
import { createServer, type IncomingHttpHeaders } from 'node:http';
import type { AddressInfo } from 'node:net';
import { setTimeout as pause } from 'node:timers/promises';
import { type SimulatorOptions, startSimulator } from '../../simulator/server.ts';

export const KEY = 'the-key-of-the-gateway';
const SECRET_BYTES = Buffer.from('thirty-two bytes of pure secrecy');

// biome-ignore lint/suspicious/noExplicitAny: tests look at whatever the wire brings
type Json = any;

export interface Answer {
  status: number;
  body: Json;
}

export interface Heard {
  id: string;
  isSigned: boolean;
  body: Json;
  /** What the ear answered. */
  answered: number;
}

export interface Ear {
  url: string;
  /** Everything that arrived, in the order in which it came. */
  heard: Heard[];
  /** What to answer next; 200 when there is nothing left, never when it is `silence`. */
  answers: (number | 'silence')[];
  of(reference: string): Heard[];
  close(): Promise<void>;
}

/** Standard Webhooks, written apart from the code that signs. */
function isSigned(headers: IncomingHttpHeaders, body: Buffer): boolean {
  const { 'webhook-id': id, 'webhook-timestamp': timestamp, 'webhook-signature': signature } = headers;
  const isFresh = Math.abs(Date.now() / 1000 - Number(timestamp)) < 300;
  const signed = Buffer.concat([Buffer.from(`${id}.${timestamp}.`), body]);
  return isFresh && signature === `v1,${createHmac('sha256', SECRET_BYTES).update(signed).digest('base64')}`;
}

export async function openEar(): Promise<Ear> {
  const heard: Heard[] = [];
  const answers: (number | 'silence')[] = [];
  const server = createServer((request, response) => {
    const parts: Buffer[] = [];
    request.on('data', (part) => parts.push(part));
    request.on('end', () => {
      const bytes = Buffer.concat(parts);
      const answer = answers.shift() ?? 200;
      heard.push({
        id: String(request.headers['webhook-id']),
        isSigned: isSigned(request.headers, bytes),
        body: JSON.parse(bytes.toString()),
        answered: answer === 'silence' ? 0 : answer,
      });
      if (answer === 'silence') request.socket.destroy();
      else response.writeHead(answer).end();
    });
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}/inbound`,
    heard,
    answers,
    of: (reference) => heard.filter(({ body }) => body.reference === reference),
    async close() {
      server.closeAllConnections();
      await new Promise((resolve) => server.close(resolve));
    },
  };
}

let payments = 0;
export const newReference = (): string => `payment-${process.pid}-${++payments}`;

export type TestSimulator = Awaited<ReturnType<typeof startTestSimulator>>;

export async function startTestSimulator(options: Partial<SimulatorOptions> = {}) {
  const ear = await openEar();
  const simulator = await startSimulator({
    host: '127.0.0.1',
    port: 0,
    key: KEY,
    notificationSecret: SECRET_BYTES.toString('base64'),
    notificationRetryMs: [10, 20],
    ...options,
  });

  async function call(method: string, path: string, body?: unknown, key = KEY): Promise<Answer> {
    const response = await fetch(simulator.url + path, {
      method,
      headers: { authorization: `Bearer ${key}`, ...(body !== undefined && { 'content-type': 'application/json' }) },
      ...(body !== undefined && { body: JSON.stringify(body) }),
    });
    return { status: response.status, body: await response.json() };
  }

  /** A complete payment with these fields in place of the usual ones. */
  const order = (fields: Record<string, unknown> = {}) => ({
    reference: newReference(),
    brand: 'pin-a',
    direction: 'in',
    merchant: { mid: 'mid-1', name: 'Demo Shop' },
    amount: '1000',
    currency: 'EUR',
    capture: true,
    description: 'Two teapots',
    identifier: '',
    payer: { first_name: 'Asha', country: 'IN', ip: '203.0.113.7' },
    parameters: {},
    return_url: 'https://shop.example/return',
    notify_url: ear.url,
    ...fields,
  });

  return {
    ...simulator,
    ear,
    call,
    order,
    submit: (fields: Record<string, unknown> = {}) => call('POST', '/v1/payments', order(fields)),
    ask: (reference: string) => call('GET', `/v1/payments/${reference}`),
    operate: (reference: string, kind: string, operation: string, amount?: string) =>
      call('POST', `/v1/payments/${reference}/${kind}`, { operation, amount }),
    control: (reference: string, body: unknown) => call('POST', `/control/payments/${reference}`, body),
    fault: (mode: string, more: Record<string, unknown> = {}) => call('POST', '/control/faults', { mode, ...more }),
    whole: async (reference: string): Promise<Json> => (await call('GET', `/control/payments/${reference}`)).body,
    /** What moved for a payment, in short words. */
    async moved(reference: string): Promise<string[]> {
      const { body } = await call('GET', `/control/payments/${reference}`);
      return body.movements.map((one: Json) => `${one.kind} ${one.direction} ${one.amount} ${one.currency}`);
    },
    /** The payer sends the form of their page. */
    async decide(url: string, form: Record<string, string>, headers: Record<string, string> = {}) {
      const response = await fetch(url, {
        method: 'POST',
        body: new URLSearchParams(form),
        redirect: 'manual',
        headers,
      });
      return { status: response.status, location: response.headers.get('location'), text: await response.text() };
    },
    async close() {
      await simulator.close();
      await ear.close();
    },
  };
}

/** Waits until something is so. */
export async function until(isSo: () => boolean | Promise<boolean>): Promise<void> {
  for (const end = Date.now() + 5000; !(await isSo()); await pause(5)) {
    if (Date.now() > end) throw new Error('It did not come to pass.');
  }
}
