/** Checkout: sessions, pages, and what the payer waits for besides the provider. */
import { wireHash } from '../src/lib/hash.ts';
import { type Measured, type Merchant, measure, newOrder, progress, type Row, rows, type Server } from './harness.ts';
import { request } from './load.ts';

const PAGES = 200;
const CARDS = 200;

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
  /** Milliseconds of ours between the press on "pay" and the answer, the provider's and the bank's taken out. */
  payMs: number;
}

export async function measureCheckout({ server, merchant }: Measured): Promise<CheckoutResult> {
  const sessions = await measure('(p) sessions', server, () => sessionBody(merchant), {
    warmUp: 4,
    write: (body) => request('/api/v1/session', body, 'application/json'),
  });
  const addresses: string[] = [];
  for (let count = 0; count < PAGES; count++) addresses.push((await newPage(server, merchant)).pathname);
  let next = 0;
  const pages = await measure('(p) payment pages', server, () => addresses[next++ % PAGES] as string, {
    warmUp: 4,
    write: (path) => Buffer.from(`GET ${path}?method=card HTTP/1.1\r\nhost: localhost\r\naccept-language: de\r\n\r\n`),
  });
  const payMs = await payTime(server, merchant);
  return { sessions, pages, payMs };
}

/** One card after the other, so that nothing waits but for what its own payment needs. */
async function payTime(server: Server, merchant: Merchant): Promise<number> {
  const card = new URLSearchParams({
    method: 'card',
    card_number: '4111111111111111',
    card_expiry: '01/38',
    card_cvv: '123',
    card_holder: 'Ada Lovelace',
  });
  const mine: number[] = [];
  for (let count = 0; count < CARDS; count++) {
    const page = await newPage(server, merchant);
    const before = (await server.usage()).providerTimeoutMs;
    const started = performance.now();
    const answer = await fetch(page, { method: 'POST', body: card, redirect: 'manual' });
    const tookMs = performance.now() - started;
    if (answer.status !== 303) throw new Error(`A card was answered with ${answer.status}.`);
    mine.push(tookMs - ((await server.usage()).providerTimeoutMs - before));
  }
  mine.sort((a, b) => a - b);
  const [p50, p99] = [mine[Math.floor(CARDS * 0.5)] as number, mine[Math.floor(CARDS * 0.99)] as number];
  progress(`(p) from pay to answer without the provider: ${p50.toFixed(1)} ms, p99 ${p99.toFixed(1)} ms`);
  rows.push({ name: '(p) from pay to answer, without the provider', perSecond: 1000 / p50, p50, p99 });
  return p50;
}
