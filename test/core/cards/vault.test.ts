/** The vault: a card is decrypted only in its own row, fingerprints match, and keys in use cannot be deleted. */
import { afterAll, beforeAll, expect, test } from 'vitest';
import {
  cardOfToken,
  cardProblems,
  keepCard,
  newDataKey,
  openCard,
  openSavedCard,
  savedCards,
} from '../../../src/core/cards/vault.ts';
import type { Gateway } from '../../../src/core/context.ts';
import { newId } from '../../../src/lib/crypto/id.ts';
import { Secret } from '../../../src/lib/crypto/secret.ts';
import { query } from '../../support/database.ts';
import { startTestGateway, type TestGateway } from '../../support/gateway.ts';

let shop: TestGateway;
let gateway: Gateway;
let mid: string;
beforeAll(async () => {
  shop = await startTestGateway();
  ({ gateway } = shop);
  ({ mid } = shop.merchant);
});
afterAll(() => shop.close());

const VISA = '4111111111111111';
const card = (number = VISA) => ({
  number: new Secret(number),
  ...{ month: '05', year: '2038', holder: 'Ada Byron' },
  cvv: new Secret('123'),
});
const keep = (account: string, number?: string, tools: Gateway = gateway) =>
  keepCard(tools, { mid: account, paymentId: newId() }, card(number), true);
const rowOf = async (account: string, id: string) => {
  const row = await gateway.cards.find(account, id);
  if (!row) throw new Error('There is no such card.');
  return row;
};
const run = (sql: string) => query(shop.connection as Parameters<typeof query>[0], sql);

test.each([
  [VISA, '123', {}],
  [VISA, '1234', {}],
  ['378282246310005', '1234', {}],
  [VISA, '12', { card_cvv: 'cvv' }],
  [VISA, '12345', { card_cvv: 'cvv' }],
  [VISA, '12a', { card_cvv: 'cvv' }],
] as const)('the code of %s may be %s, or not', (number, code, problems) => {
  const entered = { ...card(number), cvv: new Secret(code) };
  expect(cardProblems(entered, Date.UTC(2030, 0))).toEqual(problems);
});

test('a card of a network that is not accepted is refused, unless its number is wrong', () => {
  const problems = (number: string) => cardProblems(card(number), Date.UTC(2030, 0), ['visa']);
  expect(problems(VISA)).toEqual({});
  expect(problems('5555555555554444')).toEqual({ card_number: 'network' });
  expect(problems('5555555555554445')).toEqual({ card_number: 'number' });
});

test('returns a stored card unchanged, without its security code', async () => {
  const kept = await keep(mid);
  const { token, ...stored } = kept;
  expect(stored).toEqual({ id: kept.id, masked: '411111******1111', network: 'visa', expiry: '05/2038' });
  expect(token).toMatch(/^[0-9a-f]{48}$/);
  const opened = await openCard(gateway, mid, kept.id);
  expect(opened?.number.reveal()).toBe(VISA);
  expect(JSON.stringify(opened)).not.toContain(VISA);
  expect(opened).toMatchObject({ month: '05', year: '2038', holder: 'Ada Byron' });
  expect(opened?.cvv).toBeUndefined();
});

test('does not decrypt the ciphertext of another card, account or version', async () => {
  const [one, other] = [await keep(mid), await keep(mid, '5555555555554444')];
  const rival = await shop.newMerchant();
  const theirs = await keep(rival.mid);
  for (const [account, id] of [
    [mid, other.id],
    [rival.mid, theirs.id],
  ] as const) {
    await run(
      `update cards set sealed = (select sealed from cards where card_id = '${one.id}') where card_id = '${id}'`,
    );
    await expect(openCard(gateway, account, id)).rejects.toThrow(/does not belong|not configured/);
  }
  expect(await openCard(gateway, rival.mid, one.id)).toBeUndefined();
});

test('does not decrypt a row that was moved to another account, with or without its keys', async () => {
  const [from, to] = [await shop.newMerchant(), await shop.newMerchant()];
  const { id } = await keep(from.mid);
  const theirs = await keep(to.mid);
  await run(`update cards set mid = '${to.mid}' where card_id = '${id}'`);
  expect(await openCard(gateway, from.mid, id)).toBeUndefined();
  await expect(openCard(gateway, to.mid, id)).rejects.toThrow(/does not belong|not configured/);
  for (const table of ['data_keys', 'fingerprint_keys']) {
    await run(
      `update ${table} set sealed = (select sealed from ${table} where mid = '${from.mid}') where mid = '${to.mid}'`,
    );
  }
  for (const card of [id, theirs.id]) {
    await expect(openCard(gateway, to.mid, card)).rejects.toThrow('does not belong');
  }
  // Keys that were read before are used for another moment.
  const kept = (): Promise<string> => keep(to.mid).then(() => 'kept', String);
  await expect.poll(kept, { timeout: 5000 }).toContain('does not belong');
});

test('the same number has the same fingerprint within an account, and another one in another account', async () => {
  const rival = await shop.newMerchant();
  const ours = [await keep(mid), await keep(mid)];
  const [first, second] = await Promise.all(ours.map(({ id }) => rowOf(mid, id)));
  const theirs = await rowOf(rival.mid, (await keep(rival.mid)).id);
  expect(first?.fingerprint).toBe(second?.fingerprint);
  expect(first?.fingerprint).toMatch(/^[0-9a-f]{64}$/);
  expect(theirs.fingerprint).not.toBe(first?.fingerprint);
  const other = await rowOf(mid, (await keep(mid, '5555555555554444')).id);
  expect(other.fingerprint).not.toBe(first?.fingerprint);
});

test('cards that are stored together get the newest data key, also when the one that was read is retired', async () => {
  const { mid: fresh } = await shop.newMerchant();
  await keep(fresh);
  await gateway.cards.insertDataKey(newDataKey(gateway, fresh, 2), Date.now());
  await run(`delete from cards where mid = '${fresh}'`);
  await run(`delete from data_keys where mid = '${fresh}' and version = 1`);
  const kept = await Promise.all([keep(fresh), keep(mid), keep(fresh), keep(fresh)]);
  for (const [index, { id }] of kept.entries()) {
    const account = index === 1 ? mid : fresh;
    expect((await openCard(gateway, account, id))?.number.reveal()).toBe(VISA);
    if (account === fresh) expect((await rowOf(fresh, id)).keyVersion).toBe(2);
  }
});

test('concurrent first cards of an account share their keys', async () => {
  const { mid: fresh } = await shop.newMerchant();
  const kept = await Promise.all(Array.from({ length: 10 }, () => keep(fresh)));
  for (const { id } of kept) expect((await openCard(gateway, fresh, id))?.number.reveal()).toBe(VISA);
  expect(new Set((await Promise.all(kept.map(({ id }) => rowOf(fresh, id)))).map((row) => row.fingerprint)).size).toBe(
    1,
  );
});

test('finds a card by its token, of any account', async () => {
  const { token = '', id } = await keep(mid);
  expect(await cardOfToken(gateway, token)).toMatchObject({ card: { cardId: id, mid }, isExpired: false });
  expect(await cardOfToken(gateway, 'x')).toBeUndefined();
});

test('an erased card cannot be decrypted or found by its token or id', async () => {
  const { token = '', id } = await keep(mid);
  await run(`update cards set sealed = null, key_version = null where card_id = '${id}'`);
  expect(await openCard(gateway, mid, id)).toBeUndefined();
  expect(await cardOfToken(gateway, token)).toBeUndefined();
  expect(await savedCards(gateway, mid, [token])).toEqual([]);
  expect(await openSavedCard(gateway, mid, [token], id)).toBeUndefined();
});

test('offers the newest copy of a card that is not erased', async () => {
  const [old, renewed] = [await keep(mid), await keep(mid)];
  await run(`update cards set sealed = null, key_version = null where card_id = '${renewed.id}'`);
  const offered = await savedCards(gateway, mid, [old.token ?? '', renewed.token ?? '']);
  expect(offered.map(({ id }) => id)).toEqual([old.id]);
});

test('a data key in use cannot be deleted', async () => {
  await keep(mid);
  await expect(run(`delete from data_keys where mid = '${mid}'`)).rejects.toThrow('violates foreign key');
});

test('stores a card under the newest data key if its key is retired meanwhile', async () => {
  const { mid: fresh } = await shop.newMerchant();
  const { cards } = gateway;
  let isRetired = false;
  const insert: typeof cards.insert = async (row) => {
    if (!isRetired) {
      isRetired = true;
      await cards.insertDataKey(newDataKey(gateway, fresh, 2), Date.now());
      await run(`delete from data_keys where mid = '${fresh}' and version = 1`);
    }
    return cards.insert(row, false);
  };
  const { id } = await keep(fresh, VISA, { ...gateway, cards: { ...cards, insert } });
  expect((await rowOf(fresh, id)).keyVersion).toBe(2);
  expect((await openCard(gateway, fresh, id))?.number.reveal()).toBe(VISA);
});
