/** Stored cards: database constraints, the index of the sweep, and the upgrade of older cards. */
import { randomUUID } from 'node:crypto';
import { beforeAll, describe, expect, test } from 'vitest';
import { keepCard } from '../../../src/core/cards/vault.ts';
import { Secret } from '../../../src/lib/crypto/secret.ts';
import { ERASE_LEFTOVERS } from '../../../src/store/cards/cards.ts';
import { migrateAt } from '../../../src/store/database/migrate.ts';
import { verifyAt } from '../../../src/store/installation/verify.ts';
import { openDatabaseBefore } from '../../support/former-database.ts';
import { openShop } from '../../support/gateway.ts';

describe('a card in the database', () => {
  const shop = openShop();
  let mid: string;
  let cardId: string;
  const change = (set: string) => shop.rows(`update cards set ${set} where card_id = '${cardId}'`);
  beforeAll(async () => {
    ({ mid } = shop.merchant);
    const card = { number: new Secret('4111111111111111'), month: '05', year: '2038', holder: 'Ada Byron' };
    const { trans_id: paymentId } = (await shop.sale()).body;
    ({ id: cardId } = await keepCard(shop.gateway, { mid, paymentId }, card, false));
  });

  test.each([
    ['a number without a key', 'key_version = null', 'sealed_has_a_key'],
    ['a key without a number', 'sealed = null', 'sealed_has_a_key'],
    ['an erased number that is kept', 'sealed = null, key_version = null, is_kept = true', 'kept_is_sealed'],
    ['a key that does not exist', 'key_version = 7', 'foreign key'],
  ])('%s is refused', async (_, set, constraint) => {
    await expect(change(set)).rejects.toThrow(constraint);
  });

  test('an erased card does not keep its data key in use', async () => {
    await expect(shop.rows(`delete from data_keys where mid = '${mid}'`)).rejects.toThrow('foreign key');
    expect(await shop.gateway.cards.eraseLeftovers(100)).toBe(1);
    await shop.rows(`delete from data_keys where mid = '${mid}'`);
  });

  test('the sweep reads only the index of undecided cards, not kept or erased ones', async () => {
    await shop.rows(`
      insert into data_keys (mid, version, sealed, created_at) values ('${mid}', 1, '\\x00', now());
      insert into cards (mid, card_id, token, key_version, sealed, is_kept, fingerprint, masked, network, payment_id, created_at)
      select '${mid}', gen_random_uuid(), n::text, key_version, case when key_version = 1 then '\\x00'::bytea end,
        key_version is not null, 'f', 'm', 'visa', gen_random_uuid(), now()
      from (select n, case when n % 2 = 0 then 1 end as key_version from generate_series(1, 20000) n) card;
      analyze cards`);
    const plan = await shop.rows(`explain ${ERASE_LEFTOVERS.replace('$1', '500')}`);
    const text = plan.map((row) => row['QUERY PLAN']).join('\n');
    expect(text).toContain('cards_undecided');
    expect(text).not.toContain('Seq Scan on cards');
    const [index] = await shop.rows(`select reltuples::int as rows from pg_class where relname = 'cards_undecided'`);
    expect(index?.rows).toBe(0);
    expect(await shop.gateway.cards.eraseLeftovers(500)).toBe(0);
  });
});

describe('an upgrade', () => {
  const MID = randomUUID();
  const MIGRATION = '0012_card_erasure.sql';
  const { self, insert } = openDatabaseBefore(MIGRATION);
  beforeAll(async () => {
    await self.client.query(`insert into data_keys (mid, version, sealed, created_at) values ($1, 1, '\\x00', now())`, [
      MID,
    ]);
  });

  const SETTLED = { state: 'SETTLED', authorised: 1000, captured: 1000 };
  const DECLINED = { state: 'DECLINED', decline_reason: 'No money.' };

  /** A payment as the older version stored it. */
  async function payment(changes: Record<string, unknown>): Promise<string> {
    const payment_id = randomUUID();
    const at = '2026-01-31T12:00:00Z';
    await insert('payments', {
      ...{ mid: MID, payment_id, order_id: payment_id, attempt: 1, protocol: 'checkout', brand: 'card' },
      ...{ connector: 'upstream', state: 'PREPARE', history_length: 1, amount_text: '10.00', currency: 'USD' },
      // `asked` is the former name of `query_count`.
      ...{ amount: 1000, authorised: 0, captured: 0, refunded: 0, reserved: 0, in_doubt: false, asked: 0 },
      ...{ is_authorisation: false, is_recurring_init: false, fingerprint: 'f', descriptor: 'Shop', details: {} },
      ...{ created_at: at, updated_at: at, ...changes },
    });
    return payment_id;
  }
  async function card(payment_id: string, card_id: string = randomUUID()): Promise<string> {
    const columns = { token: randomUUID(), fingerprint: 'f', masked: 'm', network: 'visa' };
    await insert('cards', {
      ...{ mid: MID, card_id, key_version: 1, sealed: '\\x4111', payment_id, created_at: '2026-01-31T12:00:00Z' },
      ...columns,
    });
    return card_id;
  }
  /** A card that was entered for such a payment, which references it. */
  async function cardOf(changes: object, named: object = {}): Promise<string> {
    const id = randomUUID();
    return card(await payment({ ...changes, details: { card: { id, ...named } } }), id);
  }

  test('erases numbers that are not needed, keeps the others, and does not change those of open payments', async () => {
    const [used, tokenised] = [randomUUID(), randomUUID()];
    const expected: Record<string, 'kept' | 'erased' | 'open'> = {
      [await cardOf(SETTLED)]: 'erased',
      [await cardOf(DECLINED)]: 'erased',
      [await cardOf({ state: 'PENDING', authorised: 1000 })]: 'erased',
      [await cardOf({ state: 'VOID' })]: 'erased',
      [await cardOf({ ...DECLINED, is_recurring_init: true })]: 'erased',
      // Submitted twice: the payment references the other one.
      [await card(await payment({ ...SETTLED, details: { card: { id: tokenised, token: 'x' } } }))]: 'erased',
      [await card(await payment({ ...SETTLED, details: { card: { id: tokenised, token: 'x' } } }), tokenised)]: 'kept',
      [await card(randomUUID())]: 'erased',
      [await cardOf(SETTLED, { token: 'x' })]: 'kept',
      [await cardOf(DECLINED, { token: 'x' })]: 'kept',
      [await cardOf({ ...SETTLED, recurring_token: 'r' })]: 'kept',
      [await cardOf({ state: 'PENDING', authorised: 1000, recurring_token: 'r' })]: 'kept',
      // Its own payment does not need it, but another one that uses it does.
      [await card(await payment({ ...SETTLED, details: { card: { id: used } } }), used)]: 'kept',
      [await cardOf({})]: 'open',
      [await cardOf({ state: 'PENDING', in_doubt: true })]: 'open',
      [await cardOf({ state: '3DS', is_recurring_init: true })]: 'open',
      [await card(await payment({ brand: 'none' }))]: 'open',
    };
    await payment({ ...SETTLED, recurring_token: 'r', details: { card: { id: used, token: 'x' } } });

    expect(await migrateAt(self.connection)).toContain(MIGRATION);

    const { rows } = await self.client.query(
      `select card_id, is_kept, sealed is not null as is_stored, key_version from cards`,
    );
    const found = rows.map(({ card_id, is_kept, is_stored, key_version }) => {
      expect(key_version).toBe(is_stored ? 1 : null);
      return [card_id, is_kept ? 'kept' : is_stored ? 'open' : 'erased'];
    });
    expect(Object.fromEntries(found)).toEqual(expected);
    const { violations } = await verifyAt(self.connection);
    expect(violations.filter((message) => message.startsWith('The number of a card'))).toEqual([]);
  });
});
