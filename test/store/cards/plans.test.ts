/** What a card sale reads does not grow with the attempts and cards of its account. */
import { afterAll, beforeAll, expect, test } from 'vitest';
import { newDataKey } from '../../../src/core/cards/vault.ts';
import { newId } from '../../../src/lib/crypto/id.ts';
import type { PipelinedConnection } from '../../../src/store/database/pipelined-connection.ts';
import type { PaymentWithDetails } from '../../../src/store/payments/payments.ts';
import { openPayments } from '../../../src/store/payments/write.ts';
import { startTestGateway, type TestGateway } from '../../support/gateway.ts';
import { preparedPayment } from '../../support/payments.ts';
import { openRecordedStores, readingOf, type Statement } from '../../support/plans.ts';

const MANY = 5000;
/** Of so many latest attempts, those that failed are counted. */
const AMONG = 125;

let shop: TestGateway;
let stores: ReturnType<typeof openRecordedStores>;
beforeAll(async () => {
  shop = await startTestGateway();
  stores = openRecordedStores(shop.connection);
  const { mid } = shop.merchant;
  await shop.gateway.cards.insertDataKey(newDataKey(shop.gateway, mid, 1), Date.now());
  await shop.rows(`
    insert into payments (mid, payment_id, order_id, attempt, protocol, brand, connector, state, history_length,
      amount_text, currency, amount, authorised, captured, is_authorisation, is_recurring_init, fingerprint, descriptor,
      details, created_at, updated_at)
    select '${mid}', gen_random_uuid(), 'many-' || n, 1, 's2s', 'card', 'upstream', 'SETTLED', 1, '1.00', 'USD', 100, 100,
      100, false, false, 'f', 'Shop', '{}', now(), now() from generate_series(1, ${MANY}) n;
    insert into card_attempts (mid, order_id, attempt, session_id, source, at)
    select mid, order_id, 1, payment_id, order_id, now() from payments;
    insert into cards (mid, card_id, token, key_version, sealed, fingerprint, masked, network, payment_id, created_at)
    select mid, gen_random_uuid(), payment_id::text, 1, '\\x00', 'f', 'm', 'visa', payment_id, now() from payments;
    analyze card_attempts, cards, payments`);
});
afterAll(async () => {
  await stores.close();
  await shop.close();
});

test('opening a payment with its attempt and its card, counting it, storing its number, and its outcome', async () => {
  const { statements, payments, cards } = stores;
  const { mid } = shop.merchant;
  const payment = preparedPayment(shop, { mid });
  const { paymentId, orderId, createdAt: at } = payment;
  const attempt = { mid, orderId, attempt: 1, sessionId: paymentId, source: 'a', at };
  const bounds = { since: at - 600_000, attemptsPerSession: 10, failuresPerSource: 20, failuresPerAccount: 100 };
  const limits = { ...bounds, amongAttempts: AMONG };
  const cardId = newId();
  const sealed = { keyVersion: 1, sealed: Buffer.from([0]), fingerprint: 'f', masked: 'm', network: 'visa' };
  statements.length = 0;
  const card = { mid, cardId, token: cardId, ...sealed, paymentId, createdAt: at };
  const none = { attemptsOfSession: 0, sourceFullSince: null, accountFullSince: null };
  expect(
    await payments.open(payment, undefined, {
      attempt,
      bounds: limits,
      card: { ...card, keyVersion: null, sealed: null, isKept: false },
    }),
  ).toEqual(none);
  const stored = `select sealed, is_kept from cards where card_id = '${cardId}'`;
  expect(await shop.rows(stored)).toEqual([{ sealed: null, is_kept: false }]);
  expect(await cards.insert(card, false)).toBe(true);
  expect(await shop.rows(stored)).toEqual([{ sealed: sealed.sealed, is_kept: false }]);
  const after: PaymentWithDetails = { ...payment, state: 'DECLINED', declineReason: 'No money.', historyLength: 2 };
  const outcome = { event: 'declined', actor: 'provider', call: undefined, cards: { neededId: null } } as const;
  expect(await payments.transition({ before: payment, after, ...outcome })).toBe(true);
  expect(await shop.rows(stored)).toEqual([{ sealed: null, is_kept: false }]);
  expect(statements).toHaveLength(4);
  const [opening, counting, storing, finishing] = statements as [Statement, Statement, Statement, Statement];
  // They run again, so that the payment has to be as it was before its outcome, and then without its card.
  await shop.rows(`
    update payments set state = 'PREPARE', history_length = 1, decline_reason = null where payment_id = '${paymentId}';
    delete from history where payment_id = '${paymentId}' and seq = 2;
    update cards set sealed = '\\x00', key_version = 1 where card_id = '${cardId}'`);
  await expectFewRows(finishing);
  await shop.rows(`delete from cards where card_id = '${cardId}'`);
  for (const statement of [opening, counting, storing]) await expectFewRows(statement);
});

test('the attempts of an address are found by it, also by a plan that was made for an empty table', async () => {
  const fresh = await startTestGateway();
  const { statements, cardAttempts, close } = openRecordedStores(fresh.connection);
  const attempt = { mid: newId(), orderId: 'a', attempt: 1, sessionId: newId(), source: 'a', at: Date.now() };
  const bounds = { since: 0, attemptsPerSession: 0, failuresPerSource: 1, failuresPerAccount: 0, amongAttempts: 1 };
  await cardAttempts.counts(attempt, bounds);
  const { scans } = await readingOf(fresh.connection, statements[0] as Statement, 'card_attempts', HOT);
  expect(scans).toContain('Index Scan card_attempts_of_source');
  await close();
  await fresh.close();
});

test.each([
  ['over one connection', true, ['open', 'count', 'opened']],
  ['over a pool', undefined, ['open', 'opened', 'count']],
] as const)('an attempt is counted after its commit, %s', async (_, isInOrder, expected) => {
  const steps: string[] = [];
  const query: PipelinedConnection['query'] = async ({ name }) => {
    steps.push(name === 'count_card_attempts' ? 'count' : 'open');
    await new Promise(setImmediate);
    if (name !== 'count_card_attempts') steps.push('opened');
    return { rows: [] };
  };
  const payment = preparedPayment(shop);
  const attempt = { mid: payment.mid, orderId: 'a', attempt: 1, sessionId: newId(), source: 'a', at: Date.now() };
  const bounds = { since: 0, attemptsPerSession: 0, failuresPerSource: 1, failuresPerAccount: 0, amongAttempts: 1 };
  const item = { payment, details: '{}', sent: { attempt, bounds } };
  await openPayments({ query, ...(isInOrder && { isInOrder }) }, [item], Date.now() + 1000);
  expect(steps).toEqual(expected);
});

async function expectFewRows(statement: Statement): Promise<void> {
  for (const table of ['payments', 'card_attempts', 'cards']) {
    const { rows, scans } = await readingOf(shop.connection, statement, table, HOT);
    expect(rows, `${table}: ${scans.join(', ')}`).toBeLessThanOrEqual(AMONG + 5);
  }
}

/** The planner's settings of the hot connections. */
const HOT =
  '-c enable_seqscan=off -c enable_hashjoin=off -c enable_mergejoin=off -c plan_cache_mode=force_generic_plan';
