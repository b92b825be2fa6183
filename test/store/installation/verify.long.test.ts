/** `verify`: no messages for an intact database, and a message for every kind of damage. */
import { describe, expect, test } from 'vitest';
import { keepCard } from '../../../src/core/cards/vault.ts';
import { foldProjections } from '../../../src/core/projections/projections.ts';
import { newId } from '../../../src/lib/crypto/id.ts';
import { newMasterKey } from '../../../src/lib/crypto/seal.ts';
import { Secret } from '../../../src/lib/crypto/secret.ts';
import { verifyAt } from '../../../src/store/installation/verify.ts';
import { turnpike } from '../../cli/turnpike.ts';
import { type Merchant, openShop } from '../../support/gateway.ts';
import { allowBursts } from '../../support/limits.ts';
import { databaseUrl } from '../../support/process.ts';

allowBursts();

const MASTER_KEY = newMasterKey();
const shop = openShop({ masterKey: MASTER_KEY });

const violations = async (): Promise<string[]> => (await verifyAt(shop.connection)).violations;

test('reports nothing after 100 mixed sales', async () => {
  const kinds = [{}, { identifier: 'decline@example.com' }, { auth: 'Y' }, { recurring_init: 'Y' }];
  const answers = await Promise.all(Array.from({ length: 100 }, (_, i) => shop.sale(kinds[i % kinds.length])));
  expect(answers.map(({ body }) => body.status).sort()).toEqual([
    ...Array(25).fill('DECLINED'),
    ...Array(25).fill('PENDING'),
    ...Array(50).fill('SETTLED'),
  ]);
  expect(await verifyAt(shop.connection)).toMatchObject({ violations: [], payments: 100n, historyRows: 200n });
});

// Constraints refuse most of this damage, so they are dropped first.
const DROP_GUARDS = `
  alter table payments drop constraint if exists money_is_conserved, drop constraint if exists captured_fits_state,
    drop constraint if exists declined_has_a_reason;
  alter table history drop constraint if exists transitions_are_legal, drop constraint if exists first_row_opens`;

const MONEY = 'Money is not conserved: 0 ≤ refunded ≤ captured ≤ authorised ≤ amount does not hold';
const CAPTURED = 'A settled payment has no captured amount, or a payment that is not settled has one';
const NO_CALLBACK = 'A change of a payment has no callback';
const NO_EVENT = 'A callback belongs to no event that is reported';
/** The entries are derived from the history, the amounts are those of the payment. */
const LEDGER = 'The ledger entries of payment';

test.each([
  [
    'a gap in the history',
    'update history set seq = 5 where seq = 2 and payment_id = $id',
    'The history is not numbered 1, 2, 3 without gaps',
  ],
  [
    'a history that starts in the middle',
    'update history set seq = seq + 1000 where payment_id = $id; update history set seq = seq - 999 where payment_id = $id',
    'The history is not numbered 1, 2, 3 without gaps',
  ],
  [
    'a row that does not start where the previous one ended',
    `update history set from_state = 'REDIRECT' where seq = 2 and payment_id = $id`,
    'A history row does not start in the state in which the previous row ended',
  ],
  [
    'a first row with a previous state',
    `update history set from_state = 'PREPARE' where seq = 1 and payment_id = $id`,
    'A history row does not start in the state in which the previous row ended',
  ],
  [
    'a state that is not in the history',
    `update payments set state = 'PENDING', captured = 0 where payment_id = $id`,
    'The state of a payment is not that of its latest history row',
  ],
  [
    'a wrong history_length',
    'update payments set history_length = 3 where payment_id = $id',
    'The history_length of a payment is not the number of its history rows',
  ],
  [
    'a payment without any history',
    'delete from history where payment_id = $id',
    'The history_length of a payment is not the number of its history rows',
  ],
  ['a history without a payment', 'delete from payments where payment_id = $id', 'A history row belongs to no payment'],
  ['a negative refund', 'update payments set refunded = -1 where payment_id = $id', MONEY],
  ['a refund of more than was captured', 'update payments set refunded = captured + 1 where payment_id = $id', MONEY],
  [
    'a capture of more than was authorised',
    'update payments set authorised = captured - 1 where payment_id = $id',
    MONEY,
  ],
  ['an authorisation of more than the amount', 'update payments set amount = amount - 1 where payment_id = $id', MONEY],
  ['a settled payment without a capture', 'update payments set captured = 0 where payment_id = $id', CAPTURED],
  [
    'a capture of a payment that was not paid',
    `update payments set state = 'DECLINED' where payment_id = $id;
     update history set to_state = 'DECLINED' where seq = 2 and payment_id = $id`,
    CAPTURED,
  ],
  [
    'a second payment of a paid order',
    `update payments set attempt = 2, order_id = (select order_id from payments where payment_id = $id)
     where payment_id = $other`,
    'An order has several payments that have not failed or been reversed',
  ],
  [
    'a second attempt without a first one',
    'update payments set attempt = 2 where payment_id = $id',
    'The attempts of an order are not numbered 1, 2, 3 without gaps',
  ],
  [
    'a failed payment that was settled without an operator',
    `update payments set history_length = 3 where payment_id = $id;
     update history set to_state = 'DECLINED' where seq = 2 and payment_id = $id;
     insert into history (mid, payment_id, seq, event, from_state, to_state, actor, at)
     select mid, payment_id, 3, 'settled', 'DECLINED', 'SETTLED', 'provider', now() from payments where payment_id = $id`,
    'A payment that had failed was settled without the decision of an operator',
  ],
  [
    'a late success that was sent back and settled',
    `insert into operations (mid, operation_id, payment_id, connector, verb, amount, state, query_count, requested_at)
     select mid, gen_random_uuid(), payment_id, connector, 'late_refund', 1, 'done', 0, now() from payments where payment_id = $id`,
    'The money of a late success was sent back, and the payment is settled',
  ],
  [
    'a chargeback that is not on the list',
    `update payments set state = 'CHARGEBACK', history_length = 3 where payment_id = $id;
     insert into history (mid, payment_id, seq, event, from_state, to_state, actor, at)
     select mid, payment_id, 3, 'chargedBack', 'SETTLED', 'CHARGEBACK', 'provider', now() from payments where payment_id = $id`,
    'A payment that was charged back is not on the list of chargebacks',
  ],
  ['a change without a callback', 'delete from callbacks where payment_id = $id', NO_CALLBACK],
  ['a callback without a reported event', 'update callbacks set seq = 1 where payment_id = $id', NO_EVENT],
  [
    'a waiting callback that is never due',
    `update callbacks set state = 'waiting', due_at = null where payment_id = $id`,
    'A waiting callback is never due, or a callback that does not wait is due',
  ],
  [
    'an outcome of an operation without a callback',
    `insert into operations (mid, operation_id, payment_id, connector, verb, amount, state, query_count, requested_at)
     select mid, gen_random_uuid(), payment_id, connector, 'refund', 1, 'declined', 0, now() from payments where payment_id = $id`,
    'The outcome of an operation has no callback',
  ],
  [
    'an outcome of a credit without a callback',
    `insert into operations (mid, operation_id, payment_id, connector, verb, amount, state, query_count, requested_at)
     select mid, gen_random_uuid(), payment_id, connector, 'credit', 1, 'declined', 0, now() from payments where payment_id = $id`,
    'The outcome of an operation has no callback',
  ],
])('%s is found', async (_, damage, sentence) => {
  const ids = [(await shop.sale()).body.trans_id, (await shop.sale()).body.trans_id];
  await shop.rows(DROP_GUARDS);
  await shop.rows(damage.replaceAll('$id', `'${ids[0]}'`).replaceAll('$other', `'${ids[1]}'`));
  const found = await violations();
  expect(found).toContain(`${sentence}: payment ${ids[0]}.`);
  // Damage to the history also separates it from its callbacks and from the ledger.
  const others = found.filter((message) => ![NO_CALLBACK, NO_EVENT, LEDGER].some((one) => message.startsWith(one)));
  expect(others).toHaveLength(sentence === NO_CALLBACK || sentence === NO_EVENT ? 0 : 1);
  const these = `where payment_id in ('${ids.join("', '")}')`;
  for (const table of ['payments', 'history', 'callbacks', 'operations'])
    await shop.rows(`delete from ${table} ${these}`);
  expect(await violations()).toEqual([]);
});

describe('card numbers', () => {
  const STORED = 'The number of a card is stored although nothing needs it';
  const ERASED = 'The number of a card was erased although a payment needs it';
  const MINUTES_6 = 6 * 60_000;
  const typed = { number: new Secret('4111111111111111'), month: '05', year: '2038', holder: 'Ada Byron' };

  /** A settled payment of a new merchant that references this card; removed when the test ends. */
  async function withCard(merchant: Merchant, card: Record<string, unknown> = {}) {
    const { trans_id: paymentId } = (await shop.sale({}, merchant)).body;
    const { id } = await keepCard(shop.gateway, { mid: merchant.mid, paymentId }, typed, false);
    await shop.rows(`update payments set details = details || '${JSON.stringify({ card: { id, ...card } })}'
      where payment_id = '${paymentId}'`);
    return { paymentId, cardId: id };
  }
  const forget = async ({ mid }: Merchant): Promise<void> => {
    for (const table of ['payments', 'history', 'callbacks', 'cards']) {
      await shop.rows(`delete from ${table} where mid = '${mid}'`);
    }
    expect(await violations()).toEqual([]);
  };

  test('finds a number that is not needed some minutes after the outcome of its payment', async () => {
    const [ahead, other] = [await shop.newMerchant(), await shop.newMerchant()];
    const { paymentId } = await withCard(ahead);
    await withCard(other);
    expect(await violations()).toEqual([]);
    // By the account's clock, and without a sweep.
    await shop.gateway.installation.moveClock(ahead.mid, MINUTES_6);
    expect(await violations()).toEqual([`${STORED}: payment ${paymentId}.`]);
    await shop.gateway.installation.moveClock(undefined, MINUTES_6);
    expect(await violations()).toEqual([`${STORED}: payment ${paymentId} and 1 more.`]);
    expect(await shop.gateway.cards.eraseLeftovers(100)).toBe(2);
    await forget(ahead);
    await forget(other);
  });

  test('finds a number that is kept without a reason at once', async () => {
    const merchant = await shop.newMerchant();
    const { paymentId, cardId } = await withCard(merchant);
    await shop.rows(`update cards set is_kept = true where card_id = '${cardId}'`);
    expect(await violations()).toEqual([`${STORED}: payment ${paymentId}.`]);
    await forget(merchant);
  });

  test('finds a number whose payment does not exist', async () => {
    const merchant = await shop.newMerchant();
    const paymentId = newId();
    await keepCard(shop.gateway, { mid: merchant.mid, paymentId }, typed, false);
    expect(await violations()).toEqual([]);
    await shop.rows(
      `update cards set created_at = created_at - interval '6 minutes' where payment_id = '${paymentId}'`,
    );
    expect(await violations()).toEqual([`${STORED}: payment ${paymentId}.`]);
    expect(await shop.gateway.cards.eraseLeftovers(100)).toBe(1);
    await forget(merchant);
  });

  test.each([
    ['a token', { token: 'x' }, ''],
    ['repetitions', {}, `recurring_token = 'x'`],
    ['an open payment', {}, `state = 'PENDING', captured = 0, authorised = 0`],
  ])('accepts a number that is needed for %s, and finds it when it was erased', async (_, card, change) => {
    const merchant = await shop.newMerchant();
    const { paymentId, cardId } = await withCard(merchant, card);
    if (change) await shop.rows(`update payments set ${change} where payment_id = '${paymentId}'`);
    const about = async () => (await violations()).filter((one) => one.startsWith('The number of a card'));
    await shop.rows(`update payments set updated_at = updated_at - interval '1 day' where payment_id = '${paymentId}'`);
    expect(await about()).toEqual([]);
    await shop.gateway.cards.eraseLeftovers(100);
    expect(await about()).toEqual([]);
    await shop.rows(`update cards set is_kept = false, sealed = null, key_version = null where card_id = '${cardId}'`);
    expect(await about()).toEqual([`${ERASED}: payment ${paymentId}.`]);
    await forget(merchant);
  });
});

test('finds totals that differ from their sums', async () => {
  await foldProjections(shop.gateway);
  expect(await violations()).toEqual([]);
  await shop.rows('delete from rollup_decline_totals');
  await shop.rows('update rollup_totals set captured = captured + 1');
  await shop.rows('update rollup_account_totals set payments = payments + 1');
  const [{ day } = {}] = await shop.rows(`select (min(starts_at) at time zone 'UTC')::text as day from rollup_totals`);
  const message = (table: string): string =>
    `The table ${table} differs from the sums that it adds up, first at ${day} UTC.`;
  expect(await violations()).toEqual(['rollup_totals', 'rollup_account_totals', 'rollup_decline_totals'].map(message));
  // Totals that are not filled yet are expected to differ.
  await shop.rows(`update projections set totals_before = now() + interval '2 days'`);
  expect(await violations()).toEqual([]);
  await foldProjections(shop.gateway);
  expect(await violations()).toEqual([]);
});

test('finds sums that differ from the rows of the logs', async () => {
  await foldProjections(shop.gateway);
  const [{ at } = {}] = await shop.rows(`select (min(starts_at) at time zone 'UTC')::text as at from rollups`);
  await shop.rows('update rollups set captured = captured + 1');
  expect(await violations()).toContain(`The table rollups differs from the rows that it adds up, first at ${at} UTC.`);
  await shop.rows('update rollups set captured = captured - 1');
  expect(await violations()).toEqual([]);
});

test('the command reports success, or the failed checks with exit code 1', async () => {
  const url = databaseUrl(shop.connection as Parameters<typeof databaseUrl>[0]);
  const command = async (...options: string[]) => {
    const variables = { DATABASE_URL: url, TURNPIKE_MASTER_KEY: MASTER_KEY };
    const { code, output } = await turnpike(variables, ['verify', ...options]);
    return { code, output };
  };
  const passed = await command();
  expect(passed).toEqual({
    code: 0,
    output: expect.stringMatching(
      /^All checks passed: 100 payments, 200 history rows, 50 ledger entries\.\nAudit log: \d+ entries, with the key from entry 1 on; mark \d+:[a-p]{24}\n$/,
    ),
  });
  const mark = /mark (\S+)/.exec(passed.output)?.[1] ?? '';
  expect((await command('--audit-mark', mark)).code).toBe(0);
  expect((await command('--audit-mark', 'nonsense')).code).toBe(2);
  expect(await command('--audit-mark', mark.replace(/^\d+/, '3'))).toEqual({
    code: 1,
    output: 'The audit log was changed: it does not contain the entry 3 of the mark.\n',
  });
  await shop.rows(`insert into audit_log select seq + 1, now() + interval '2 days', 'system', null, 'x', null, 'x', null, null,
      null, null, '' from audit_head;
    with entry as (
      update audit_log a set digest = sha256(h.digest || convert_to(jsonb_build_array(a.seq,
        (extract(epoch from a.at) * 1000)::bigint, 'system', null, 'x', null, 'x', null, null, null, null)::text, 'UTF8'))
      from audit_head h where a.seq = h.seq + 1 returning a.seq, a.digest
    )
    update audit_head set seq = e.seq, digest = e.digest from entry e`);
  const unkeyed = await command();
  expect(unkeyed).toEqual({
    code: 1,
    output: expect.stringMatching(/^Entry \d+ of the audit log is not under the key\.\n$/),
  });
  expect((await command('--accept-entries')).code).toBe(0);
  expect((await command()).code).toBe(0);
  await shop.rows('update payments set history_length = 7; update payments set attempt = 2');
  const [first] = await shop.rows('select min(payment_id::text) as id from payments');
  expect(await command()).toEqual({
    code: 1,
    output: [
      `The history_length of a payment is not the number of its history rows: payment ${first?.id} and 99 more.\n`,
      `The attempts of an order are not numbered 1, 2, 3 without gaps: payment ${first?.id} and 99 more.\n`,
    ].join(''),
  });
});
