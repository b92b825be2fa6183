/** The entries of histories that are hard to make over HTTP: reversals, late money, refunds at one moment, early versions. */
import { describe, expect, test } from 'vitest';
import { entriesOf, type LedgerOperation, type LedgerPayment, type LedgerRow } from '../../src/rules/ledger-entries.ts';
import type { RefundPolicy } from '../../src/rules/pricing.ts';

const MID = '01990000-0000-7000-8000-00000000000a';
const CONNECTION_ID = '01990000-0000-7000-8000-0000000000cc';
const PAYMENT_ID = '01990000-0000-7000-8000-000000000001';

/** `event FROM>TO amount`. */
const row = (text: string, index: number, at = 1_000 + index): LedgerRow => {
  const [event = '', states = '', amount] = text.split('|').map((part) => part.trim());
  const [fromState = null, toState = ''] = states.split('>');
  return {
    seq: index + 2,
    event,
    fromState,
    toState,
    at,
    amount: amount === undefined ? null : BigInt(amount),
    isAuthentication: false,
    leftConnector: null,
  };
};

const operation = (verb: string, amount: bigint, finishedAt: number, id = verb): LedgerOperation => ({
  operationId: id,
  verb,
  amount,
  finishedAt,
});

const payment = (rows: readonly (string | LedgerRow)[], more: Partial<LedgerPayment> = {}): LedgerPayment => ({
  mid: MID,
  paymentId: PAYMENT_ID,
  brand: 'card',
  connector: `stripe/${CONNECTION_ID}`,
  currency: 'EUR',
  network: null,
  amount: 10_000n,
  isAuthorisation: false,
  captured: 10_000n,
  refunded: 0n,
  state: 'SETTLED',
  history: rows.map((one, index) => (typeof one === 'string' ? row(one, index) : one)),
  operations: [],
  ...more,
});

const NO_PRICES = { sell: [], buy: new Map(), terms: [], holidays: [] };
/** What each entry adds to the balance of the merchant. */
const moved = (one: LedgerPayment): string[] =>
  entriesOf(one, NO_PRICES).map(({ category, postings }) => {
    const own = postings.find(({ account }) => account === `merchant:${MID}:balance`);
    expect(postings.reduce((sum, { amount }) => sum + amount, 0n)).toBe(0n);
    return `${category} ${-(own?.amount ?? 0n)}`;
  });

const SETTLED = 'settled|PREPARE>SETTLED|10000';

describe('the entries of', () => {
  test('a chargeback, its reversal, a second chargeback and its reversal', () => {
    const rows = [
      SETTLED,
      'chargedBack|SETTLED>CHARGEBACK|10000',
      'chargebackReversed|CHARGEBACK>SETTLED|10000',
      'secondChargedBack|SETTLED>CHARGEBACK|10000',
      'chargebackReversed|CHARGEBACK>SETTLED|10000',
    ];
    expect(moved(payment(rows))).toEqual([
      'sale 10000',
      'chargeback -10000',
      'chargeback_reversed 10000',
      'second_chargeback -10000',
      'chargeback_reversed 10000',
    ]);
  });

  test('a part that is charged back, and a refund that completes afterwards', () => {
    const rows = [SETTLED, 'chargedBack|SETTLED>CHARGEBACK|300', 'noted partlyRefunded|CHARGEBACK>CHARGEBACK|700'];
    expect(moved(payment(rows, { refunded: 700n, state: 'CHARGEBACK' }))).toEqual([
      'sale 10000',
      'chargeback -300',
      'refund -700',
    ]);
  });

  test('a chargeback of a payment that was refunded wholly: it is only noted, and takes nothing again', () => {
    const rows = [SETTLED, 'refunded|SETTLED>REFUND|10000', 'noted chargedBack|REFUND>REFUND'];
    expect(moved(payment(rows, { refunded: 10_000n, state: 'REFUND' }))).toEqual(['sale 10000', 'refund -10000']);
  });

  test('a late success: accepted it is a sale, sent back it is a sale and a refund, released it is nothing', () => {
    const late = { captured: 0n, state: 'DECLINED' };
    expect(moved(payment(['declined|PREPARE>DECLINED', 'acceptedLate|DECLINED>SETTLED|10000']))).toEqual([
      'sale 10000',
    ]);
    const rows = ['declined|PREPARE>DECLINED', 'lateRefunded|DECLINED>DECLINED'];
    expect(moved(payment(rows, { ...late, operations: [operation('late_refund', 10_000n, 1001)] }))).toEqual([
      'sale 10000',
      'refund -10000',
    ]);
    expect(moved(payment(rows, { ...late, operations: [operation('late_void', 10_000n, 1001)] }))).toEqual([]);
  });

  test('a partial capture that the provider then settled in full', () => {
    const rows = ['settled|PENDING>SETTLED|4000', 'refused capture|SETTLED>SETTLED|6000'];
    expect(moved(payment(rows))).toEqual(['sale 4000', 'sale 6000']);
  });

  test('two refunds that finished at one moment, each with its operation', () => {
    const rows = [
      row(SETTLED, 0),
      row('partlyRefunded|SETTLED>SETTLED|300', 1, 5),
      row('partlyRefunded|SETTLED>SETTLED|700', 2, 5),
    ];
    const operations = [operation('refund', 700n, 5, 'b'), operation('refund', 300n, 5, 'a')];
    const entries = entriesOf(payment(rows, { refunded: 1000n, operations }), NO_PRICES);
    expect(entries.map(({ operationId }) => operationId)).toEqual([null, 'a', 'b']);
  });

  test('history rows from before amounts were recorded', () => {
    const rows = [
      row('settled|PREPARE>SETTLED', 0),
      row('partlyRefunded|SETTLED>SETTLED', 1, 5),
      row('chargedBack|SETTLED>CHARGEBACK', 2),
    ];
    const operations = [operation('refund', 300n, 5, 'a'), operation('refund', 100n, 5, 'b')];
    expect(moved(payment(rows, { refunded: 400n, state: 'CHARGEBACK', operations }))).toEqual([
      'sale 10000',
      'refund -400',
      'chargeback -9600',
    ]);
  });

  test('a payout to the payer', () => {
    expect(moved(payment(['settled|PENDING>SETTLED|500'], { brand: 'payout-a', captured: 500n }))).toEqual([
      'payout_to_payer -500',
    ]);
  });
});

test('a late success that is sent back has no entry of a cost that the provider returns wholly', () => {
  const rows = ['declined|PREPARE>DECLINED', 'lateRefunded|DECLINED>DECLINED'];
  const operations = [operation('late_refund', 10_000n, 1001)];
  const one = payment(rows, { captured: 0n, state: 'DECLINED', operations });
  const line = { event: 'sale', percent: '1', fixed: null, minimum: null, maximum: null } as const;
  const any = { brands: [], networks: [], currencies: [], connectors: [], minAmount: null, maxAmount: null };
  const costs = (refundPolicy: RefundPolicy): string[] => {
    const version = {
      planId: 'p',
      version: 1,
      validFrom: 0,
      refundPolicy,
      taxPercent: '0',
      lines: [{ ...any, ...line }],
    };
    const buy = new Map([[CONNECTION_ID, [{ assignedAt: 0, planId: 'p', versions: [version] }]]]);
    return entriesOf(one, { ...NO_PRICES, buy }).map(({ category }) => category);
  };
  expect(costs('keep')).toEqual(['sale', 'refund', 'cost.sale']);
  expect(costs('full')).toEqual(['sale', 'refund']);
});

test('earlier entries do not depend on later rows, and ids not on anything but their source', () => {
  const rows = [SETTLED, 'partlyRefunded|SETTLED>SETTLED|300', 'chargedBack|SETTLED>CHARGEBACK|9700'];
  const all = entriesOf(payment(rows), NO_PRICES);
  for (let length = 0; length <= rows.length; length++) {
    expect(entriesOf(payment(rows.slice(0, length)), NO_PRICES)).toEqual(all.slice(0, length));
  }
  expect(new Set(all.map(({ entryId }) => entryId)).size).toBe(3);
  expect(all[0]?.entryId).toBe(entriesOf(payment(['settled|PREPARE>SETTLED|1']), NO_PRICES)[0]?.entryId);
});

test('the receivable is that of the provider, whatever the connection', () => {
  const [entry] = entriesOf(payment([SETTLED]), NO_PRICES);
  expect(entry?.postings.map(({ account }) => account)).toEqual([
    'provider:stripe:receivable',
    `merchant:${MID}:balance`,
  ]);
});
