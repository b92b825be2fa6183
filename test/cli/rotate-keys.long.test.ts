/** The keys are replaced while the gateway works, however often the one who does it is killed. */
import { setTimeout as pause } from 'node:timers/promises';
import { afterAll, beforeAll, describe, expect, test, vi } from 'vitest';
import { findAccount } from '../../src/core/accounts/accounts.ts';
import { keepCard, newDataKey, openCard, resealCard } from '../../src/core/cards/vault.ts';
import { addEvidence, listEvidence, readEvidence } from '../../src/core/chargebacks/chargebacks.ts';
import type { Gateway, PaymentWithDetails } from '../../src/core/context.ts';
import { commandCaller } from '../../src/core/operators/principal.ts';
import { choose, type Method } from '../../src/core/payments/choose.ts';
import { linkOf } from '../../src/core/payments/links.ts';
import { requestFingerprint } from '../../src/core/payments/open.ts';
import { openForPayer, type PayerView } from '../../src/core/payments/payer.ts';
import { secretsOf, secretsOfSession } from '../../src/core/payments/secrets.ts';
import { isLuhnValid } from '../../src/lib/cards/luhn.ts';
import { newId } from '../../src/lib/crypto/id.ts';
import { createSeal, newMasterKey } from '../../src/lib/crypto/seal.ts';
import { Secret } from '../../src/lib/crypto/secret.ts';
import { createLog } from '../../src/lib/text/log.ts';
import { openGateway } from '../../src/server/gateway.ts';
import { type AgedCard, openRotationStore } from '../../src/store/installation/rotation.ts';
import { checkoutOf, fill } from '../support/checkout.ts';
import { type Merchant, openShop, saleFields, startTestGateway, type TestGateway } from '../support/gateway.ts';
import { holding, waitingLocksOf } from '../support/held-rows.ts';
import { clearAway, databaseUrl, runCommand, type Socket } from '../support/process.ts';

afterAll(clearAway);

/** The n-th card number of this test, with a right check digit. */
const numberOf = (n: number): string => {
  const start = `41111111${String(n).padStart(7, '0')}`;
  return start + [...'0123456789'].find((digit) => isLuhnValid(start + digit));
};

describe('beside a gateway that has both keys', () => {
  const [OLD, NEW] = [newMasterKey(), newMasterKey()];
  const CARDS = 330;
  let shop: TestGateway;
  let merchants: Merchant[];
  let paymentId: string;
  /** The attempts of a session whose secrets were used, and used up. */
  let attempts: string[];
  const USED_UP = '1234567812340000';
  /** More files than are read at a time. */
  const evidence = Array.from({ length: 5 }, (_, n) => Buffer.from(`89504e470d0a1a0a0${n}ff`, 'hex'));
  const ALL = { mids: null };
  const cards: { mid: string; id: string; number: string; fingerprint: string }[] = [];
  const closes: (() => Promise<void>)[] = [];

  const openWith = async (masterKey: string): Promise<Gateway> => {
    const log = createLog('silent', { write: () => undefined });
    const opened = await openGateway({ connection: shop.connection, environment: 'sandbox', masterKey, log });
    closes.push(opened.close);
    return opened.gateway;
  };
  const keep = async (gateway: Gateway, mid: string, n: number) => {
    const number = numberOf(n);
    const card = { number: new Secret(number), month: '05', year: '2038', holder: 'Ada Byron' };
    const { id } = await keepCard(gateway, { mid, paymentId: newId() }, card, true);
    const fingerprint = (await gateway.cards.find(mid, id))?.fingerprint ?? '';
    cards.push({ mid, id, number, fingerprint });
  };
  /** Every card, or one of so many, opens as it was typed, with the fingerprint that it had. */
  const readCards = async (gateway: Gateway, oneOf = 1): Promise<void> => {
    for (const { mid, id, number, fingerprint } of cards.filter((_, index) => index % oneOf === 0)) {
      expect((await openCard(gateway, mid, id))?.number.reveal()).toBe(number);
      expect((await gateway.cards.find(mid, id))?.fingerprint).toBe(fingerprint);
    }
  };
  const rotation = () =>
    runCommand(
      { DATABASE_URL: databaseUrl(shop.connection as Socket), TURNPIKE_MASTER_KEY: `${NEW},${OLD}` },
      'rotate-keys',
    );
  const isRotationWaiting = async (): Promise<void> => {
    const [row] = await shop.rows(waitingLocksOf('turnpike rotate-keys'));
    expect(row?.locks).toBeGreaterThan(0);
  };
  const versions = () =>
    shop.rows(
      'select mid::text, key_version as version, count(*)::int as cards from cards group by 1, 2 order by 1, 2',
    );

  beforeAll(async () => {
    shop = await startTestGateway({ simulator: true, masterKey: OLD });
    merchants = [shop.merchant, await shop.newMerchant(), await shop.newMerchant()];
    for (let n = 0; n < CARDS; n++) await keep(shop.gateway, merchants[n % 3]?.mid as string, n);
    await shop.admin('POST', `/accounts/${shop.merchant.mid}/rotate-password`);
    const pin = { brand: 'pin-a', identifier: '', 'parameters[pin]': '1234567812345678' };
    const { body } = await shop.post(saleFields(merchants[1] as Merchant, pin));
    paymentId = body.trans_id;
    expect((await shop.gateway.payments.findAnywhere(paymentId))?.details.sealed).toBeTruthy();
    await shop.sandbox('POST', `/payments/${paymentId}`, { chargeback: true });
    for (const bytes of evidence)
      await addEvidence(shop.gateway, ALL, commandCaller('test'), paymentId, { name: 'a.png', bytes });
    const checkout = checkoutOf(shop);
    const session = await checkout.open({ methods: ['pin-a'], parameters: { 'pin-a': { pin: USED_UP } } });
    for (let times = 0; times < 2; times++) await fill(session.url, { method: 'pin-a' });
    attempts = await checkout.attempts(session.orderId);
    expect(attempts).toHaveLength(2);
  });
  afterAll(async () => {
    for (const close of closes) await close();
    await shop.close();
  });

  test('payments made meanwhile store nothing under the old key', async () => {
    const { url, id } = await checkoutOf(shop).open({ parameters: { 'pin-a': { pin: USED_UP } } });
    const gateway = await openWith(`${NEW},${OLD}`);
    gateway.connectors = shop.gateway.connectors;
    const { payment, account, methods } = (await openForPayer(
      gateway,
      url.slice(url.lastIndexOf('/') + 1),
    )) as PayerView;
    const method = methods.find(({ label }) => label === 'vcard') as Method;
    const answers = new Map([['identifier', 'decline@example.com']]);
    for (let times = 0; times < 2; times++) await choose(gateway, payment, account, method, answers);
    const { session } = ((await gateway.payments.findAnywhere(id)) as PaymentWithDetails).details;
    expect(secretsOfSession({ seal: createSeal(NEW) }, session)).toEqual({ 'pin-a': { pin: USED_UP } });
  });

  test('it can be killed at any point and run again; concurrent reads and writes do not notice', async () => {
    const gateway = await openWith(`${NEW},${OLD}`);
    const link = linkOf(gateway, paymentId);
    let isOver = false;
    const work = async (): Promise<void> => {
      for (let n = CARDS; !isOver; n++) {
        await keep(gateway, merchants[n % 3]?.mid as string, n);
        const { mid = '', id = '', number } = cards[(n * 7) % cards.length] ?? {};
        expect((await openCard(gateway, mid, id))?.number.reveal()).toBe(number);
        expect(secretsOf(gateway, (await gateway.payments.findAnywhere(paymentId)) as never)).toEqual({
          pin: '1234567812345678',
        });
        expect((await findAccount(gateway, shop.merchant.mid))?.passwords()).toHaveLength(2);
        await pause(20);
      }
    };
    const rotateAndBeKilled = async (): Promise<void> => {
      // In the order of the command; a lock on such a row holds it there, where it is killed.
      const places = [
        `cards where card_id = '${cards[CARDS - 1]?.id}'`,
        'data_keys',
        'fingerprint_keys',
        `accounts where mid = '${shop.merchant.mid}'`,
        `payments where payment_id = '${paymentId}'`,
      ];
      for (const held of places) {
        let ended: Promise<unknown> | undefined;
        await holding(shop.connection, held, async () => {
          const program = rotation();
          ended = program.ended;
          await vi
            .waitFor(isRotationWaiting, { timeout: 120_000, interval: 50 })
            .finally(() => program.signal('SIGKILL'));
        });
        expect(await ended, held).toEqual({ code: null, signal: 'SIGKILL' });
        await readCards(gateway, 10);
      }
    };
    const busy = work();
    let last: ReturnType<typeof rotation>;
    try {
      await rotateAndBeKilled();
      last = rotation();
      expect(await last.ended, last.complaints()).toEqual({ code: 0, signal: null });
    } finally {
      isOver = true;
      await busy;
    }
    expect(last.complaints()).toMatch(/^cards: \d+ of \d+, \d+ per second, /m);
    expect(last.output()).toMatch(/^Everything is under the new key: \d+ cards, \d+ other secrets\./m);
    expect(linkOf(gateway, paymentId)).toBe(link);
  }, 900_000);

  test('afterwards every card is under one key, the newest, and no other key is left', async () => {
    const found = await versions();
    expect(found.map(({ mid, version }) => [mid, version])).toEqual(
      merchants
        .map(({ mid }) => mid)
        .sort()
        .map((mid) => [mid, 2]),
    );
    expect(found.reduce((sum, row) => sum + Number(row.cards), 0)).toBe(cards.length);
    expect(await shop.rows('select mid::text, version from data_keys order by 1')).toEqual(
      found.map(({ mid, version }) => ({ mid, version })),
    );
  });

  test('afterwards the old key is not needed: everything opens, and is what it was', async () => {
    const renewed = await openWith(NEW);
    await readCards(renewed);
    const rows = openRotationStore(shop.connection);
    expect(await rows.countSealed(createSeal(NEW).version).finally(() => rows.close())).toBe(0);
    for (const { mid } of merchants) {
      expect((await findAccount(renewed, mid))?.passwords()).toHaveLength(mid === shop.merchant.mid ? 2 : 1);
    }
    expect((await findAccount(renewed, merchants[1]?.mid ?? ''))?.passwords()).toEqual([merchants[1]?.password]);
    expect((await findAccount(renewed, shop.merchant.mid))?.passwords()[1]).toBe(shop.merchant.password);
    await expect(openWith(OLD)).rejects.toThrow('The master key does not open the secrets of this database');
    const payment = await renewed.payments.findAnywhere(paymentId);
    expect(payment && secretsOf(renewed, payment)).toEqual({ pin: '1234567812345678' });
    for (const id of attempts) {
      const attempt = (await renewed.payments.findAnywhere(id)) as PaymentWithDetails;
      expect(secretsOf(renewed, attempt)).toEqual({ pin: USED_UP });
      expect(secretsOfSession(renewed, attempt.details.session)).toEqual({ 'pin-a': { pin: USED_UP } });
    }
    const files = await listEvidence(renewed, ALL, paymentId);
    const contents = files.map(
      async ({ evidenceId }) => (await readEvidence(renewed, ALL, paymentId, evidenceId)).bytes,
    );
    expect(await Promise.all(contents)).toEqual(evidence);
    expect(linkOf(renewed, paymentId)).toBe(linkOf(shop.gateway, paymentId));
    expect(requestFingerprint(renewed, 'a request')).toBe(requestFingerprint(shop.gateway, 'a request'));
    await keep(renewed, shop.merchant.mid, 1);
    expect(cards.at(-1)?.fingerprint).not.toBe(cards[1]?.fingerprint);
    await keep(renewed, cards[1]?.mid ?? '', 1);
    expect(cards.at(-1)?.fingerprint).toBe(cards[1]?.fingerprint);
  });

  test('run again it finds nothing to do; without an old key it says how it is meant', async () => {
    const again = rotation();
    expect(await again.ended).toEqual({ code: 0, signal: null });
    expect(again.output()).toContain('Everything is under the new key: 0 cards, 0 other secrets.');
    const alone = { DATABASE_URL: databaseUrl(shop.connection as Socket), TURNPIKE_MASTER_KEY: NEW };
    const refused = runCommand(alone, 'rotate-keys');
    expect((await refused.ended).code).toBe(1);
    expect(refused.complaints()).toContain('Set TURNPIKE_MASTER_KEY to the new key, a comma and the old key');
  });
});

describe('with erased cards', () => {
  const [OLD, NEW] = [newMasterKey(), newMasterKey()];
  const shop = openShop({ masterKey: OLD });
  const typed = { number: new Secret(numberOf(1)), month: '05', year: '2038', holder: 'Ada Byron' };
  /** A card of a payment that has its outcome. */
  const leftover = async (merchant: Merchant): Promise<string> => {
    const { trans_id: paymentId } = (await shop.sale({}, merchant)).body;
    return (await keepCard(shop.gateway, { mid: merchant.mid, paymentId }, typed, false)).id;
  };
  const keysOf = ({ mid }: Merchant) => shop.rows(`select version from data_keys where mid = '${mid}' order by 1`);
  const stored = async (id: string) =>
    (await shop.rows(`select sealed is not null as is_stored, key_version from cards where card_id = '${id}'`))[0];

  test('they are passed over, and old keys are retired although nothing else was under them', async () => {
    const [mixed, empty] = [await shop.newMerchant(), await shop.newMerchant()];
    const erased = [await leftover(mixed), await leftover(empty)];
    await shop.gateway.cards.eraseLeftovers(100);
    const kept = await leftover(mixed);
    const rotation = runCommand(
      { DATABASE_URL: databaseUrl(shop.connection as Socket), TURNPIKE_MASTER_KEY: `${NEW},${OLD}` },
      'rotate-keys',
    );
    expect(await rotation.ended, rotation.complaints()).toEqual({ code: 0, signal: null });
    expect(rotation.output()).toContain('Everything is under the new key: 1 cards, ');
    for (const id of erased) expect(await stored(id)).toEqual({ is_stored: false, key_version: null });
    expect(await stored(kept)).toEqual({ is_stored: true, key_version: 2 });
    for (const merchant of [mixed, empty]) expect(await keysOf(merchant)).toEqual([{ version: 2 }]);
  });

  test('one that is erased while it is put under a new key stays erased', async () => {
    const merchant = await shop.newMerchant();
    const { mid } = merchant;
    const id = await leftover(merchant);
    const rows = openRotationStore(shop.connection);
    try {
      await rows.insertDataKey(mid, 2, newDataKey(shop.gateway, mid, 2).sealed);
      const { value: page } = (await rows.agedCards().next()) as { value: AgedCard[] };
      expect(page.map(({ cardId }) => cardId)).toEqual([id]);
      await shop.gateway.cards.eraseLeftovers(100);
      await rows.resealCards(page.map((card) => ({ ...card, resealed: resealCard(shop.gateway, card) })));
      expect(await stored(id)).toEqual({ is_stored: false, key_version: null });
      expect(await rows.countAgedCards()).toBe(0);
      await rows.retireDataKeys();
      expect(await keysOf(merchant)).toEqual([{ version: 2 }]);
    } finally {
      await rows.close();
    }
  });
});
