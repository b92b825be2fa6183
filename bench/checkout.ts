/** Measures Checkout: sessions, payment pages, and the time of a card submission without the provider call. */
import { wireHash } from '../src/lib/crypto/hash.ts';
import { type Measured, type Merchant, measure, newOrder, progress, type Row, rows, type Server } from './harness.ts';
import { request } from './load.ts';

const PAGES = 200;
const CARDS = 200;
/** The first submissions compile code and open connections. */
const WARM_UP_CARDS = 30;

function sessionBody({ merchant_key, password }: Merchant): string {
  const order = { number: newOrder(), amount: '19.99', currency: 'USD', description: 'A session of the benchmark' };
  const hash = wireHash([order.number, order.amount, order.currency, order.description], password);
  return JSON.stringify({
    merchant_key,
    operation: 'purchase',
    order,
    success_url: 'https://shop.example/thanks',
    cancel_url: 'https://shop.example/cart',
    customer: { name: 'Ada Lovelace', email: 'ada@example.com' },
    hash,
  });
}

async function newPage({ url }: Server, merchant: Merchant): Promise<URL> {
  const response = await fetch(new URL('/api/v1/session', url), {
    method: 'POST',
    headers: { 'content-type': 'application/json' },
    body: sessionBody(merchant),
  });
  return new URL(((await response.json()) as { redirect_url: string }).redirect_url);
}

export interface CheckoutResult {
  sessions: Row;
  pages: Row;
  /** Milliseconds from submitting the card to the response, without the calls to the provider and the 3DS directory. */
  cardSubmissionMs: number;
}

export const sessionRequests = (merchant: Merchant) => ({
  form: () => sessionBody(merchant),
  write: (body: string) => request('/api/v1/session', body, 'application/json'),
});

/** Requests of payment pages, of some sessions in turn. */
export async function pageRequests(server: Server, merchant: Merchant) {
  const addresses: string[] = [];
  for (let count = 0; count < PAGES; count++) addresses.push((await newPage(server, merchant)).pathname);
  let next = 0;
  return {
    form: () => addresses[next++ % PAGES] as string,
    write: (path: string) =>
      Buffer.from(`GET ${path}?method=card HTTP/1.1\r\nhost: localhost\r\naccept-language: de\r\n\r\n`),
  };
}

export async function measureCheckout({ server, merchant }: Measured): Promise<CheckoutResult> {
  const measured = (name: string, { form, write }: ReturnType<typeof sessionRequests>): Promise<Row> =>
    measure(name, server, form, { warmUp: 4, write });
  const sessions = await measured('(p) sessions', sessionRequests(merchant));
  const pages = await measured('(p) payment pages', await pageRequests(server, merchant));
  const cardSubmissionMs = await measureCardSubmission(server, merchant);
  return { sessions, pages, cardSubmissionMs };
}

/** Submits one card after another, so that no payment waits for another one. */
async function measureCardSubmission(server: Server, merchant: Merchant): Promise<number> {
  const card = new URLSearchParams({
    method: 'card',
    card_number: '4111111111111111',
    card_expiry: '01/38',
    card_cvv: '123',
    card_holder: 'Ada Lovelace',
  });
  const times: number[] = [];
  for (let count = 0; count < WARM_UP_CARDS + CARDS; count++) {
    const page = await newPage(server, merchant);
    const before = (await server.usage()).providerTimeMs;
    const started = performance.now();
    const answer = await fetch(page, { method: 'POST', body: card, redirect: 'manual' });
    const tookMs = performance.now() - started;
    if (answer.status !== 303) throw new Error(`The response to a card submission has status ${answer.status}.`);
    const ownMs = tookMs - ((await server.usage()).providerTimeMs - before);
    if (count >= WARM_UP_CARDS) times.push(ownMs);
  }
  times.sort((a, b) => a - b);
  const [p50, p99] = [times[Math.floor(CARDS * 0.5)] as number, times[Math.floor(CARDS * 0.99)] as number];
  const name = '(p) card submission, without the provider call';
  progress(`${name}: ${p50.toFixed(1)} ms, p99 ${p99.toFixed(1)} ms`);
  rows.push({ name, perSecond: 1000 / p50, p50, p99 });
  return p50;
}
