/** The keys of a large vault are replaced: the command is killed in the middle again and again, and runs twice at once. */
import pg from 'pg';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { newDataKey, openCard } from '../../src/core/cards/vault.ts';
import type { Gateway } from '../../src/core/context.ts';
import { newId } from '../../src/lib/crypto/id.ts';
import { boundTo, createSeal, newMasterKey } from '../../src/lib/crypto/seal.ts';
import { createLog } from '../../src/lib/text/log.ts';
import { openGateway } from '../../src/server/gateway.ts';
import { openRotationStore } from '../../src/store/installation/rotation.ts';
import { checkoutOf, newOrder } from '../support/checkout.ts';
import { openShop } from '../support/gateway.ts';
import { holding, waitingLocksOf } from '../support/held-rows.ts';
import { lengthenLimits } from '../support/limits.ts';
import { clearAway, databaseUrl, eventually, runCommand, type Socket } from '../support/process.ts';

/** `ROTATION_CARDS=60000 npx vitest run test/cli/rotate-large-vault.long.test.ts` prints the figures of a large vault. */
const CARDS = Number(process.env.ROTATION_CARDS ?? 4000);
const ACCOUNTS = 5;
const PAGE = 1000;
/** More reads at once would wait too long for a connection on a busy machine. */
const READ_TOGETHER = 100;
/** The shares of the vault at which the command is killed. */
const KILLED_AT = [0.02, 0.15, 0.3, 0.45, 0.6, 0.75, 0.9, 0.97];

const [OLD, NEW] = [newMasterKey(), newMasterKey()];
// It takes every payment, however busy the machine is.
lengthenLimits({ openingWaitMs: 60_000, batchWaitTimeoutMs: 60_000 });
// The gateway has both keys, as the operator is told to configure it.
const shop = openShop({ simulator: true, masterKey: `${NEW},${OLD}` });
afterAll(clearAway);

const numberOf = (n: number): string => `4${String(n).padStart(15, '0')}`;
const cards: { mid: string; cardId: string; number: string }[] = [];

/** Stores cards under the old key, sealed as the vault seals them. */
async function fillVault(database: pg.Client, mid: string, count: number): Promise<void> {
  const seal = createSeal(OLD);
  const { sealed: keySealed } = newDataKey({ seal }, mid, 1);
  await database.query('insert into data_keys (mid, version, sealed, created_at) values ($1, 1, $2, now())', [
    mid,
    keySealed,
  ]);
  const dataKey = createSeal(seal.open(keySealed, boundTo('data_keys', 'sealed', `${mid} 1`)));
  for (let from = 0; from < count; from += PAGE) {
    const page = Array.from({ length: Math.min(PAGE, count - from) }, () => {
      const number = numberOf(cards.length);
      const card = { mid, cardId: newId(), number };
      cards.push(card);
      const content = JSON.stringify({ number, month: '05', year: '2038', holder: 'Ada Byron' });
      return { ...card, sealed: dataKey.seal(content, boundTo('cards', 'sealed v1', `${mid} ${card.cardId}`)) };
    });
    await database.query(
      `insert into cards (mid, card_id, token, key_version, sealed, fingerprint, masked, network, payment_id, created_at,
         is_kept)
       select $1, card_id, 'token ' || card_id, 1, sealed, 'fingerprint', '400000****0000', 'visa', card_id, now(), true
       from unnest($2::uuid[], $3::bytea[]) as i(card_id, sealed)`,
      [mid, page.map(({ cardId }) => cardId), page.map(({ sealed }) => sealed)],
    );
  }
}

const rotation = () =>
  runCommand(
    { DATABASE_URL: databaseUrl(shop.connection as Socket), TURNPIKE_MASTER_KEY: `${NEW},${OLD}` },
    'rotate-keys',
  );
const isRotationWaiting = async (): Promise<void> => {
  const [row] = await shop.rows(waitingLocksOf('turnpike rotate-keys'));
  expect(row?.locks).toBeGreaterThan(0);
};
const rotated = async (): Promise<number> =>
  Number((await shop.rows('select count(*) as cards from cards where key_version = 2'))[0]?.cards);

beforeAll(async () => {
  const database = new pg.Client(shop.connection);
  await database.connect();
  for (let account = 0; account < ACCOUNTS; account++) {
    const { mid } = await shop.newMerchant();
    await fillVault(database, mid, Math.ceil((CARDS - cards.length) / (ACCOUNTS - account)));
  }
  await database.end();
  expect(cards).toHaveLength(CARDS);
}, 600_000);

/** What happened in the run, for the docs. */
const figures: Record<string, unknown> = { cards: CARDS };

test('it continues where it was killed, and the gateway takes payments meanwhile', async () => {
  const checkout = checkoutOf(shop);
  let isOver = false;
  const times: number[] = [];
  const payments = async (): Promise<void> => {
    while (!isOver) {
      const startedAt = performance.now();
      // Stores a card, and opens it for the next payment.
      const { id } = await checkout.paidByCard({ recurring_init: true });
      const { recurring_token } = (await checkout.status({ payment_id: id })).body;
      const order = newOrder();
      const { body } = await checkout.send('payment/recurring', {
        recurring_init_trans_id: id,
        recurring_token,
        order,
      });
      expect(body.status).toBe('settled');
      // One of the others, too, wherever it is in the rotation.
      const { mid, cardId, number } = cards[(times.length * 7919) % CARDS] as (typeof cards)[0];
      expect((await openCard(shop.gateway, mid, cardId))?.number.reveal()).toBe(number);
      times.push(performance.now() - startedAt);
    }
  };
  const busy = payments();
  const startedAt = performance.now();
  try {
    const killed: number[] = [];
    for (const share of KILLED_AT) {
      // It waits for a card that is held, and is killed there, within the page of this card.
      const place = Math.floor(share * CARDS);
      let ended: Promise<unknown> | undefined;
      await holding(shop.connection, `cards where card_id = '${cards[place]?.cardId}'`, async () => {
        const program = rotation();
        ended = program.ended;
        await eventually(isRotationWaiting, 120_000).finally(() => program.signal('SIGKILL'));
      });
      expect(await ended).toEqual({ code: null, signal: 'SIGKILL' });
      killed.push(await rotated());
    }
    expect(killed).toEqual(killed.toSorted((a, b) => a - b));
    expect(killed.at(-1)).toBeLessThan(CARDS);
    expect(killed.at(-1)).toBeGreaterThan(0);
    figures.killed = killed;
    const both = [rotation(), rotation()];
    for (const program of both) expect(await program.ended, program.complaints()).toEqual({ code: 0, signal: null });
    for (const program of both) expect(program.output()).toContain('Everything is under the new key');
  } finally {
    isOver = true;
    await busy;
  }
  figures.seconds = Math.round((performance.now() - startedAt) / 1000);
  figures.payments = 2 * times.length;
  expect(times.length).toBeGreaterThan(0);
  await everythingOpensWith(NEW, 2);
}, 1_200_000);

test('two at once from the beginning to the end', async () => {
  // Everything goes under a third key.
  const THIRD = newMasterKey();
  const start = () =>
    runCommand(
      { DATABASE_URL: databaseUrl(shop.connection as Socket), TURNPIKE_MASTER_KEY: `${THIRD},${NEW}` },
      'rotate-keys',
    );
  const startedAt = performance.now();
  const both = [start(), start()];
  for (const program of both) expect(await program.ended, program.complaints()).toEqual({ code: 0, signal: null });
  figures.secondsOfTwo = Math.round((performance.now() - startedAt) / 1000);
  await everythingOpensWith(THIRD, 3);
  process.stderr.write(`${JSON.stringify(figures)}\n`);
}, 1_200_000);

/** With this key alone; nothing is left under another one. */
async function everythingOpensWith(masterKey: string, version: number): Promise<void> {
  const rows = openRotationStore(shop.connection);
  try {
    expect(await rows.countSealed(createSeal(masterKey).version)).toBe(0);
    expect(await rows.countAgedCards()).toBe(0);
  } finally {
    await rows.close();
  }
  const versions = await shop.rows(`select distinct d.version from data_keys d join cards c using (mid)
    where c.is_kept and c.token like 'token %'`);
  expect(versions).toEqual([{ version }]);
  const log = createLog('silent', { write: () => undefined });
  const opened = await openGateway({ connection: shop.connection, environment: 'sandbox', masterKey, log });
  try {
    const gateway: Gateway = opened.gateway;
    for (let from = 0; from < CARDS; from += READ_TOGETHER) {
      const page = cards.slice(from, from + READ_TOGETHER);
      const read = await Promise.all(page.map(({ mid, cardId }) => openCard(gateway, mid, cardId)));
      expect(read.map((card) => card?.number.reveal())).toEqual(page.map(({ number }) => number));
    }
  } finally {
    await opened.close();
  }
}
