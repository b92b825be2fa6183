/** A provider simulator for one test file, and a receiver of its notifications that verifies every signature. */
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

export interface ReceivedMessage {
  id: string;
  isSigned: boolean;
  body: Json;
  /** The status of the response; 0 without a response. */
  answered: number;
}

export interface Receiver {
  url: string;
  /** Everything that arrived, in order. */
  received: ReceivedMessage[];
  /** The next responses; 200 when the list is empty. `silence` closes the connection without a response. */
  answers: (number | 'silence')[];
  forPayment(reference: string): ReceivedMessage[];
  close(): Promise<void>;
}

/** Verifies a Standard Webhooks signature, independent of the code that signs. */
function isSigned(headers: IncomingHttpHeaders, body: Buffer): boolean {
  const { 'webhook-id': id, 'webhook-timestamp': timestamp, 'webhook-signature': signature } = headers;
  const isFresh = Math.abs(Date.now() / 1000 - Number(timestamp)) < 300;
  const signed = Buffer.concat([Buffer.from(`${id}.${timestamp}.`), body]);
  return isFresh && signature === `v1,${createHmac('sha256', SECRET_BYTES).update(signed).digest('base64')}`;
}

export async function startReceiver(): Promise<Receiver> {
  const received: ReceivedMessage[] = [];
  const answers: (number | 'silence')[] = [];
  const server = createServer((request, response) => {
    const parts: Buffer[] = [];
    request.on('data', (part) => parts.push(part));
    request.on('end', () => {
      const bytes = Buffer.concat(parts);
      const answer = answers.shift() ?? 200;
      received.push({
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
    received,
    answers,
    forPayment: (reference) => received.filter(({ body }) => body.reference === reference),
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
  const receiver = await startReceiver();
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

  /** A complete payment request; `fields` override the defaults. */
  const paymentRequest = (fields: Record<string, unknown> = {}) => ({
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
    notify_url: receiver.url,
    ...fields,
  });

  return {
    ...simulator,
    receiver,
    call,
    paymentRequest,
    submit: (fields: Record<string, unknown> = {}) => call('POST', '/v1/payments', paymentRequest(fields)),
    query: (reference: string) => call('GET', `/v1/payments/${reference}`),
    operate: (reference: string, kind: string, operation: string, amount?: string) =>
      call('POST', `/v1/payments/${reference}/${kind}`, { operation, amount }),
    control: (reference: string, body: unknown) => call('POST', `/control/payments/${reference}`, body),
    setFault: (mode: string, more: Record<string, unknown> = {}) => call('POST', '/control/faults', { mode, ...more }),
    details: async (reference: string): Promise<Json> => (await call('GET', `/control/payments/${reference}`)).body,
    /** The movements of a payment, such as `sale in 1000 EUR`. */
    async movements(reference: string): Promise<string[]> {
      const { body } = await call('GET', `/control/payments/${reference}`);
      return body.movements.map(
        ({ kind, direction, amount, currency }: Json) => `${kind} ${direction} ${amount} ${currency}`,
      );
    },
    /** Submits the form of the payer's page. */
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
      await receiver.close();
    },
  };
}

/** Waits until the condition is met. */
export async function waitUntil(isMet: () => boolean | Promise<boolean>): Promise<void> {
  for (const end = Date.now() + 20_000; !(await isMet()); await pause(5)) {
    if (Date.now() > end) throw new Error('The condition was not met in time.');
  }
}
