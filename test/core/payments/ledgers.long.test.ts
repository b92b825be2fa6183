/** Reconciliation: after random faults, the provider's ledger and our payments agree. */
import { setTimeout as pause } from 'node:timers/promises';
import { afterAll, beforeAll, expect, onTestFailed, test } from 'vitest';
import type { Gateway, PaymentWithDetails } from '../../../src/core/context.ts';
import { advance } from '../../../src/core/payments/advance.ts';
import { processEverythingDue, readClock } from '../../../src/core/sandbox/clock.ts';
import { verifyAt } from '../../../src/store/installation/verify.ts';
import { BRAND_EXPECTATIONS, without } from '../../support/brand-expectations.ts';
import { type Chance, chanceFrom } from '../../support/chance.ts';
import {
  type Answer,
  type Fields,
  type Merchant,
  saleFields,
  startTestGateway,
  type TestGateway,
} from '../../support/gateway.ts';
import { allowBursts } from '../../support/limits.ts';
import { preparedPayment } from '../../support/payments.ts';

allowBursts();

const SEED = Number(process.env.SEED) || Date.now() % 1_000_000_000;
const MERCHANTS = 6;
const ROUNDS = 25;

/** How the payer of each brand pays; `needsInput` means that the payer fills in fields on the payment page first. */
const BRANDS: { brand: string; payer: 'none' | 'page' | 'app' | 'bank'; needsInput?: true }[] = [
  { brand: 'pin-a', payer: 'none' },
  { brand: 'payout-a', payer: 'none' },
  { brand: 'p2p-b', payer: 'none' },
  { brand: 'hosted-a', payer: 'page' },
  { brand: 'hosted-b', payer: 'page' },
  { brand: 'bank-a', payer: 'page' },
  { brand: 'crypto-a', payer: 'page' },
  { brand: 'agg-a', payer: 'page', needsInput: true },
  { brand: 'upi-a', payer: 'app', needsInput: true },
  { brand: 'upi-b', payer: 'app' },
  { brand: 'mobile-money-a', payer: 'app' },
  { brand: 'ips', payer: 'bank' },
  { brand: 'transfer-a', payer: 'bank' },
  { brand: 'transfer-b', payer: 'bank' },
];
const FAULTS = ['timeout_before', 'timeout_after', 'error_500', 'duplicate_news', 'late_success', 'wrong_amount'];

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

/** Moves the clock of all accounts; then both processes concurrently process what is due. */
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

/** One payment from the sale to the payer's decision, with random faults. */
async function payWithFaults(merchant: Merchant, chance: Chance): Promise<void> {
  const { brand, payer, needsInput } = chance.of(BRANDS);
  if (chance.oneIn(0.5)) {
    const scope = chance.oneIn(0.85) ? { mid: merchant.mid } : {};
    await shop.sandbox('POST', '/faults', { mode: chance.of(FAULTS), count: chance.upTo(2), ...scope });
  }
  const expectation = BRAND_EXPECTATIONS[brand];
  const complete = expectation?.complete ?? {};
  const fields = saleFields(merchant, {
    brand,
    identifier: chance.oneIn(0.05) ? 'decline@example.com' : '',
    ...(needsInput ? without(complete, ...(expectation?.asked ?? [])) : complete),
    order_amount: `${chance.upTo(9999)}.${String(chance.upTo(99)).padStart(2, '0')}`,
  });
  const answers = await Promise.all(Array.from({ length: chance.oneIn(0.2) ? 2 : 1 }, () => shop.post(fields)));
  expect(new Set(answers.map(({ body }) => body.trans_id)).size, JSON.stringify(answers[0]?.body)).toBe(1);
  const { trans_id: id, redirect_url: url = '' } = answers[0]?.body ?? {};

  let page: string = url;
  if (url.startsWith(shop.url)) {
    if (chance.oneIn(0.15)) return;
    const submissions = Array.from({ length: chance.upTo(2) }, () => visit(url, complete));
    page = (await Promise.all(submissions)).find((location) => location.startsWith(shop.provider?.url ?? '?')) ?? '';
  }
  if (payer === 'page') await decideOnPage(page, chance);
  if (payer === 'app') await decideOnPage((await atProvider(id))?.payer_page ?? '', chance);
  if (payer === 'bank') await reportByBank(id, brand, chance);
  if (chance.oneIn(0.3)) await shop.status(id, merchant);
}

async function decideOnPage(page: string, chance: Chance): Promise<void> {
  const decision = chance.of(['approve', 'approve', 'approve', 'decline', 'leave', 'nothing']);
  const isReturning = chance.oneIn(0.7);
  if (page === '' || decision === 'nothing') return;
  const back = await visit(page, { decision, method: 'S4' });
  if (isReturning && back !== '') await visit(back);
}

async function reportByBank(id: string, brand: string, chance: Chance): Promise<void> {
  const reports: Record<string, string>[] = [
    { provider_status: 'executed' },
    { provider_status: 'executed' },
    { provider_status: 'rejected' },
  ];
  if (brand === 'ips') reports.push({ bank_callback: 'ACSC' }, { bank_callback: 'RJCT' }, { bank_callback: 'PDNG' });
  const report = chance.of(reports);
  const isReported = chance.oneIn(0.8);
  // Only while it is pending: a final state that changes later without a notification could not be detected.
  if (isReported && (await atProvider(id))?.status === 'pending') await shop.sandbox('POST', `/payments/${id}`, report);
}

/** Waits until the simulated providers have finished and their notifications have arrived. */
async function waitForNotifications(): Promise<void> {
  const snapshot = async (): Promise<string> => {
    const [row] = await shop.rows(
      "select count(*) as all, count(*) filter (where state = 'new') as new from provider_notifications",
    );
    return JSON.stringify([row, (await movements()).length]);
  };
  for (let before = await snapshot(), still = 0; still < 15; ) {
    await pause(200);
    const now = await snapshot();
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

interface OurPayment {
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

const ourPayments = async (): Promise<OurPayment[]> =>
  (await shop.rows(`
    select p.payment_id as id, p.mid, p.brand, p.state, p.amount::text, p.currency, p.in_doubt, p.attention,
      count(*) filter (where h.call->>'verb' = 'submit')::text as submissions,
      count(*) filter (where h.event = 'settled')::text as settlements
    from payments p join history h on h.mid = p.mid and h.payment_id = p.payment_id
    group by p.mid, p.payment_id`)) as unknown as OurPayment[];

test(`${MERCHANTS * ROUNDS} payments with random faults: both ledgers agree`, {
  timeout: 120_000,
}, async () => {
  onTestFailed(() => console.error(`The choices of this run follow from SEED=${SEED}.`, ...shop.logs.slice(0, 10)));
  const merchants = await Promise.all(
    Array.from({ length: MERCHANTS }, () => shop.newMerchant({ account_uuid: '7d0b6e0a-3f3c-4c55-9b7e-1f7a0c2d9e41' })),
  );
  const customers = merchants.map((merchant, index) => ({ merchant, chance: chanceFrom(SEED * 100 + index) }));
  const chance = chanceFrom(SEED * 100 + MERCHANTS);
  for (let round = 0; round < ROUNDS; round++) {
    // Less than a lease, so that work of this round is not claimed as that of a dead process.
    const work = pass(2 + chance.upTo(10));
    await Promise.all([work, ...customers.map(({ merchant, chance }) => payWithFaults(merchant, chance))]);
  }
  await shop.sandbox('POST', '/faults', { mode: 'none' });
  await waitForNotifications();
  for (const seconds of [5, 15, 30, 60, 300, 900, 3600, 3600, 21_600, 86_400, 86_400]) await pass(seconds);
  await waitForNotifications();

  const [all, moved] = [await ourPayments(), await movements()];
  expect(all.length).toBe(MERCHANTS * ROUNDS);
  const byId = new Map(all.map((payment) => [payment.id, payment]));

  // Every movement of the provider's ledger is a payment here, with the same amount, settled or marked as late success.
  for (const movement of moved) {
    const payment = byId.get(movement.reference);
    expect(payment, `${JSON.stringify(movement)} has no payment`).toBeDefined();
    expect(movement).toMatchObject({
      kind: /^(payout-a|p2p-b)$/.test(movement.brand) ? 'payout' : 'sale',
      direction: /^(payout-a|p2p-b)$/.test(movement.brand) ? 'out' : 'in',
      mid: payment?.mid,
      brand: payment?.brand,
      amount: payment?.amount,
      currency: payment?.currency,
    });
    const state = payment?.state === 'DECLINED' ? `DECLINED ${payment.attention}` : payment?.state;
    expect(['SETTLED', 'DECLINED late_success'], JSON.stringify(payment)).toContain(state);
  }

  // Every settled payment and late success has exactly one movement, any other payment none.
  const movementsById = Map.groupBy(moved, ({ reference }) => reference);
  for (const payment of all) {
    const isPaid = payment.state === 'SETTLED' || payment.attention === 'late_success';
    expect(movementsById.get(payment.id)?.length ?? 0, JSON.stringify(payment)).toBe(isPaid ? 1 : 0);
    expect(['PREPARE', 'REDIRECT'], JSON.stringify(payment)).not.toContain(payment.state);
    expect(payment.in_doubt, JSON.stringify(payment)).toBe(false);
    expect(payment.attention, JSON.stringify(payment)).not.toBe('unresolved');
    expect(Number(payment.submissions), JSON.stringify(payment)).toBeLessThanOrEqual(1);
    expect(Number(payment.settlements), JSON.stringify(payment)).toBe(payment.state === 'SETTLED' ? 1 : 0);
  }

  // The run covered all results.
  const reached = new Set(all.map(({ state, attention }) => `${state} ${attention ?? ''}`.trim()));
  expect([...reached]).toEqual(expect.arrayContaining(['SETTLED', 'DECLINED', 'DECLINED late_success']));

  const { violations, payments } = await verifyAt(shop.connection);
  expect(violations).toEqual([]);
  expect(payments).toBe(BigInt(all.length));
});

test('applied each notification of the provider, once', async () => {
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

/** The distinct errors of rejected promises, with the number of rejections. */
async function faultsOf(works: readonly Promise<unknown>[]): Promise<string[]> {
  const failed = (await Promise.allSettled(works)).filter((work) => work.status === 'rejected');
  const kinds = new Set(failed.map(({ reason }) => String(reason)));
  return [...kinds].map((kind) => `${failed.length} of ${works.length}: ${kind}`);
}

test('two processes that advance the same payments in opposite order do not deadlock', async () => {
  const [one, other] = gateways as [Gateway, Gateway];
  for (let round = 0; round < 3; round++) {
    const payments = Array.from({ length: 100 }, () => preparedPayment(shop));
    await Promise.all(payments.map((payment) => one.payments.open(payment)));
    const settleAll = (gateway: Gateway, order: readonly PaymentWithDetails[]): Promise<unknown>[] =>
      order.map((payment) => advance(gateway, payment, { event: 'settled', actor: 'provider' }));
    expect(await faultsOf([...settleAll(one, payments), ...settleAll(other, payments.toReversed())])).toEqual([]);
  }
  expect((await verifyAt(shop.connection)).violations).toEqual([]);
});

test('two processes that open the same orders do not deadlock, and each order is opened once', async () => {
  const [one, other] = gateways as [Gateway, Gateway];
  for (let round = 0; round < 3; round++) {
    const payments = Array.from({ length: 100 }, () => preparedPayment(shop));
    const again = payments.toReversed().map(({ orderId }) => preparedPayment(shop, { orderId }));
    const opened: unknown[] = [];
    const open = (gateway: Gateway, order: readonly PaymentWithDetails[]): Promise<unknown>[] =>
      order.map(async (payment) => opened.push(await gateway.payments.open(payment)));
    expect(await faultsOf([...open(one, payments), ...open(other, again)])).toEqual([]);
    expect(opened.filter((isFirst) => isFirst)).toHaveLength(100);
  }
  expect((await verifyAt(shop.connection)).violations).toEqual([]);
});
