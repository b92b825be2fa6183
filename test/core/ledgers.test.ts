/** Two sets of books: whatever went wrong on the line, the provider’s and ours tell the same story in the end. */
import { setTimeout as pause } from 'node:timers/promises';
import { afterAll, beforeAll, expect, onTestFailed, test } from 'vitest';
import { processEverythingDue, readClock } from '../../src/core/clock.ts';
import type { Gateway, WholePayment } from '../../src/core/context.ts';
import { advance } from '../../src/core/payments/advance.ts';
import { verifyAt } from '../../src/store/verify.ts';
import { BRAND_EXPECTATIONS, without } from '../support/brand-expectations.ts';
import {
  type Answer,
  type Fields,
  type Merchant,
  saleFields,
  startTestGateway,
  type TestGateway,
} from '../support/gateway.ts';
import { preparedPayment } from '../support/payments.ts';

const SEED = Number(process.env.SEED) || Date.now() % 1_000_000_000;
const PIPELINED_CONNECTIONS = 6;
const ROUNDS = 25;

/** How the payer of each brand pays; a brand with `asked` has them answer on our own page first. */
const BRANDS: { brand: string; payer: 'nobody' | 'page' | 'app' | 'bank'; asked?: true }[] = [
  { brand: 'pin-a', payer: 'nobody' },
  { brand: 'wallet-a', payer: 'nobody' },
  { brand: 'payout-a', payer: 'nobody' },
  { brand: 'p2p-b', payer: 'nobody' },
  { brand: 'hosted-a', payer: 'page' },
  { brand: 'hosted-b', payer: 'page' },
  { brand: 'bank-a', payer: 'page' },
  { brand: 'crypto-a', payer: 'page' },
  { brand: 'agg-a', payer: 'page', asked: true },
  { brand: 'upi-a', payer: 'app', asked: true },
  { brand: 'upi-b', payer: 'app' },
  { brand: 'mobile-money-a', payer: 'app' },
  { brand: 'ips', payer: 'bank' },
  { brand: 'transfer-a', payer: 'bank' },
  { brand: 'transfer-b', payer: 'bank' },
];
const FAULTS = ['timeout_before', 'timeout_after', 'error_500', 'duplicate_news', 'late_success', 'wrong_amount'];

/** Chance that can be had again: the same seed makes the same choices. */
function chanceFrom(seed: number) {
  let state = seed;
  const next = (): number => {
    state = (state + 0x6d2b79f5) | 0;
    let mixed = Math.imul(state ^ (state >>> 15), 1 | state);
    mixed = (mixed + Math.imul(mixed ^ (mixed >>> 7), 61 | mixed)) ^ mixed;
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 4_294_967_296;
  };
  return {
    oneIn: (probability: number): boolean => next() < probability,
    upTo: (most: number): number => 1 + Math.floor(next() * most),
    of: <Item>(items: readonly Item[]): Item => items[Math.floor(next() * items.length)] as Item,
  };
}
type Chance = ReturnType<typeof chanceFrom>;

let shop: TestGateway;
let gateways: Gateway[];
beforeAll(async () => {
  shop = await startTestGateway({ simulator: true, logLevel: 'error' });
  const other = await shop.anotherGateway();
  other.publicUrl = shop.url;
  other.inboundUrl = shop.url;
  gateways = [shop.gateway, other];
});
afterAll(() => shop.close());

/** Moves everybody’s clock; then both processes do what is due, at the same time. */
async function pass(seconds: number): Promise<void> {
  await shop.gateway.installation.moveClock(undefined, seconds * 1000);
  for (const gateway of gateways) await readClock(gateway);
  await Promise.all(gateways.map(processEverythingDue));
}

const visit = async (url: string, form?: Fields): Promise<string> => {
  const init: RequestInit = form ? { method: 'POST', body: new URLSearchParams(form) } : {};
  const response = await fetch(url, { redirect: 'manual', ...init });
  await response.arrayBuffer();
  return response.headers.get('location') ?? '';
};
const atProvider = async (id: string): Promise<Answer['body'] | undefined> => {
  const { url = '', key = '' } = shop.provider ?? {};
  const response = await fetch(`${url}/control/payments/${id}`, { headers: { authorization: `Bearer ${key}` } });
  return response.status === 200 ? response.json() : undefined;
};

/** One payment from the sale to whatever its payer does, with some trouble on the way. */
async function payment(merchant: Merchant, chance: Chance): Promise<void> {
  const { brand, payer, asked } = chance.of(BRANDS);
  if (chance.oneIn(0.5)) {
    const whose = chance.oneIn(0.85) ? { mid: merchant.mid } : {};
    await shop.sandbox('POST', '/faults', { mode: chance.of(FAULTS), count: chance.upTo(2), ...whose });
  }
  const expectation = BRAND_EXPECTATIONS[brand];
  const complete = expectation?.complete ?? {};
  const fields = saleFields(merchant, {
    brand,
    identifier: chance.oneIn(0.05) ? 'decline@example.com' : '',
    ...(asked ? without(complete, ...(expectation?.asked ?? [])) : complete),
    order_amount: `${chance.upTo(9999)}.${String(chance.upTo(99)).padStart(2, '0')}`,
  });
  const answers = await Promise.all(Array.from({ length: chance.oneIn(0.2) ? 2 : 1 }, () => shop.post(fields)));
  expect(new Set(answers.map(({ body }) => body.trans_id)).size, JSON.stringify(answers[0]?.body)).toBe(1);
  const { trans_id: id, redirect_url: url = '' } = answers[0]?.body ?? {};

  let page: string = url;
  if (url.startsWith(shop.url)) {
    if (chance.oneIn(0.15)) return;
    const presses = Array.from({ length: chance.upTo(2) }, () => visit(url, complete));
    page = (await Promise.all(presses)).find((location) => location.startsWith(shop.provider?.url ?? '?')) ?? '';
  }
  if (payer === 'page') await decideOnPage(page, chance);
  if (payer === 'app') await decideOnPage((await atProvider(id))?.payer_page ?? '', chance);
  if (payer === 'bank') await hearTheBank(id, brand, chance);
  if (chance.oneIn(0.3)) await shop.status(id, merchant);
}

async function decideOnPage(page: string, chance: Chance): Promise<void> {
  const decision = chance.of(['approve', 'approve', 'approve', 'decline', 'leave', 'nothing']);
  const isComingBack = chance.oneIn(0.7);
  if (page === '' || decision === 'nothing') return;
  const back = await visit(page, { decision, method: 'S4' });
  if (isComingBack && back !== '') await visit(back);
}

async function hearTheBank(id: string, brand: string, chance: Chance): Promise<void> {
  const wishes: Record<string, string>[] = [
    { provider_status: 'executed' },
    { provider_status: 'executed' },
    { provider_status: 'rejected' },
  ];
  if (brand === 'ips') wishes.push({ bank_callback: 'ACSC' }, { bank_callback: 'RJCT' }, { bank_callback: 'PDNG' });
  const wish = chance.of(wishes);
  const isOrdered = chance.oneIn(0.8);
  // A provider that changes its mind after it has said no, and tells nobody, could be found out by nobody.
  if (isOrdered && (await atProvider(id))?.status === 'pending') await shop.sandbox('POST', `/payments/${id}`, wish);
}

/** Waits until what the providers do by themselves has been done, and their news have come. */
async function quiet(): Promise<void> {
  const seen = async (): Promise<string> => {
    const [row] = await shop.rows(
      "select count(*) as all, count(*) filter (where state = 'new') as new from provider_notifications",
    );
    return JSON.stringify([row, (await movements()).length]);
  };
  for (let before = await seen(), still = 0; still < 4; ) {
    await pause(200);
    const now = await seen();
    still = now === before ? still + 1 : 0;
    before = now;
  }
}

interface Movement {
  reference: string;
  mid: string;
  brand: string;
  kind: string;
  direction: string;
  amount: string;
  currency: string;
}

async function movements(): Promise<Movement[]> {
  const all: Movement[] = [];
  for (let after: number | null = 0; after !== null; ) {
    const { body }: Answer = await shop.sandbox('GET', `/ledger?after=${after}`);
    all.push(...body.items);
    after = body.next;
  }
  return all;
}

interface Ours {
  id: string;
  mid: string;
  brand: string;
  state: string;
  amount: string;
  currency: string;
  in_doubt: boolean;
  attention: string | null;
  submissions: string;
  settlements: string;
}

const ours = async (): Promise<Ours[]> =>
  (await shop.rows(`
    select p.payment_id as id, p.mid, p.brand, p.state, p.amount::text, p.currency, p.in_doubt, p.attention,
      count(*) filter (where h.call->>'verb' = 'submit')::text as submissions,
      count(*) filter (where h.event = 'settled')::text as settlements
    from payments p join history h on h.mid = p.mid and h.payment_id = p.payment_id
    group by p.mid, p.payment_id`)) as unknown as Ours[];

test(`${PIPELINED_CONNECTIONS * ROUNDS} payments with every kind of trouble: both books agree`, {
  timeout: 120_000,
}, async () => {
  onTestFailed(() => console.error(`The choices of this run follow from SEED=${SEED}.`, ...shop.logs.slice(0, 10)));
  const merchants = await Promise.all(
    Array.from({ length: PIPELINED_CONNECTIONS }, () =>
      shop.newMerchant({ account_uuid: '7d0b6e0a-3f3c-4c55-9b7e-1f7a0c2d9e41' }),
    ),
  );
  const lanes = merchants.map((merchant, index) => ({ merchant, chance: chanceFrom(SEED * 100 + index) }));
  const chance = chanceFrom(SEED * 100 + PIPELINED_CONNECTIONS);
  for (let round = 0; round < ROUNDS; round++) {
    // Less than a lease: nothing that is under way in this round may look as if its process had died.
    const work = pass(2 + chance.upTo(10));
    await Promise.all([work, ...lanes.map(({ merchant, chance }) => payment(merchant, chance))]);
  }
  await shop.sandbox('POST', '/faults', { mode: 'none' });
  await quiet();
  for (const seconds of [5, 15, 30, 60, 300, 900, 3600, 3600, 21_600, 86_400, 86_400]) await pass(seconds);
  await quiet();

  const [all, moved] = [await ours(), await movements()];
  expect(all.length).toBe(PIPELINED_CONNECTIONS * ROUNDS);
  const byId = new Map(all.map((one) => [one.id, one]));

  // Theirs in ours: every movement is known here, with the same amount, as paid or as a late success.
  for (const movement of moved) {
    const mine = byId.get(movement.reference);
    expect(mine, `${JSON.stringify(movement)} belongs to nothing`).toBeDefined();
    expect(movement).toMatchObject({
      kind: /^(payout-a|p2p-b)$/.test(movement.brand) ? 'payout' : 'sale',
      direction: /^(payout-a|p2p-b)$/.test(movement.brand) ? 'out' : 'in',
      mid: mine?.mid,
      brand: mine?.brand,
      amount: mine?.amount,
      currency: mine?.currency,
    });
    const state = mine?.state === 'DECLINED' ? `DECLINED ${mine.attention}` : mine?.state;
    expect(['SETTLED', 'DECLINED late_success'], JSON.stringify(mine)).toContain(state);
  }

  // Ours in theirs: whatever is paid or called a late success moved exactly once, everything else never.
  const moves = Map.groupBy(moved, ({ reference }) => reference);
  for (const mine of all) {
    const isPaid = mine.state === 'SETTLED' || mine.attention === 'late_success';
    expect(moves.get(mine.id)?.length ?? 0, JSON.stringify(mine)).toBe(isPaid ? 1 : 0);
    expect(['PREPARE', 'REDIRECT'], JSON.stringify(mine)).not.toContain(mine.state);
    expect(mine.in_doubt, JSON.stringify(mine)).toBe(false);
    expect(mine.attention, JSON.stringify(mine)).not.toBe('unresolved');
    expect(Number(mine.submissions), JSON.stringify(mine)).toBeLessThanOrEqual(1);
    expect(Number(mine.settlements), JSON.stringify(mine)).toBe(mine.state === 'SETTLED' ? 1 : 0);
  }

  // The run was worth it: every end was reached, and every kind of trouble was seen.
  const reached = new Set(all.map(({ state, attention }) => `${state} ${attention ?? ''}`.trim()));
  expect([...reached]).toEqual(expect.arrayContaining(['SETTLED', 'DECLINED', 'DECLINED late_success']));

  const { violations, payments } = await verifyAt(shop.connection);
  expect(violations).toEqual([]);
  expect(payments).toBe(BigInt(all.length));
});

test('each of the provider’s news was applied, and once', async () => {
  const open = await shop.rows(
    "select event_id, reference, state from provider_notifications where state <> 'applied'",
  );
  expect(open).toEqual([]);
  const [events] = await shop.rows(`
    select count(*)::int as final from provider_notifications n join payments p on p.payment_id::text = n.reference
    where n.body->>'amount' = p.amount::text
      and coalesce(n.body->>'status', n.body->>'code') in ('settled', 'declined', 'executed', 'rejected', 'ACSC', 'RJCT')`);
  const [applied] = await shop.rows(`
    select count(*)::int as final from history
    where call->>'verb' = 'notification' and call->>'outcome' in ('settled', 'declined')`);
  expect(events?.final).toBeGreaterThan(20);
  expect(applied).toEqual(events);
});

/** What went wrong, each kind once, and how often anything did. */
async function faultsOf(works: readonly Promise<unknown>[]): Promise<string[]> {
  const failed = (await Promise.allSettled(works)).filter((work) => work.status === 'rejected');
  const kinds = new Set(failed.map(({ reason }) => String(reason)));
  return [...kinds].map((kind) => `${failed.length} of ${works.length}: ${kind}`);
}

test('two processes that move the same payments at once, each in its own order, do not block each other', async () => {
  const [one, other] = gateways as [Gateway, Gateway];
  for (let round = 0; round < 3; round++) {
    const payments = Array.from({ length: 100 }, () => preparedPayment(shop));
    await Promise.all(payments.map((payment) => one.payments.open(payment)));
    const move = (gateway: Gateway, order: readonly WholePayment[]): Promise<unknown>[] =>
      order.map((payment) => advance(gateway, payment, { event: 'settled', actor: 'provider' }));
    expect(await faultsOf([...move(one, payments), ...move(other, payments.toReversed())])).toEqual([]);
  }
  expect((await verifyAt(shop.connection)).violations).toEqual([]);
});

test('nor do two that open the same orders, and each order is opened once', async () => {
  const [one, other] = gateways as [Gateway, Gateway];
  for (let round = 0; round < 3; round++) {
    const payments = Array.from({ length: 100 }, () => preparedPayment(shop));
    const again = payments.toReversed().map(({ orderId }) => preparedPayment(shop, { orderId }));
    const opened: boolean[] = [];
    const open = (gateway: Gateway, order: readonly WholePayment[]): Promise<unknown>[] =>
      order.map(async (payment) => opened.push(await gateway.payments.open(payment)));
    expect(await faultsOf([...open(one, payments), ...open(other, again)])).toEqual([]);
    expect(opened.filter((isFirst) => isFirst)).toHaveLength(100);
  }
  expect((await verifyAt(shop.connection)).violations).toEqual([]);
});
