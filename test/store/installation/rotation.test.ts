/** Key rotation covers everything that is sealed: found from the schema, from the code and in the stored rows. */
import { globSync, readFileSync } from 'node:fs';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { openCard } from '../../../src/core/cards/vault.ts';
import { addEvidence } from '../../../src/core/chargebacks/chargebacks.ts';
import { rotateKeys } from '../../../src/core/installation/rotation.ts';
import { commandCaller } from '../../../src/core/operators/principal.ts';
import { sealTotpSeed } from '../../../src/core/operators/totp.ts';
import { openAuthorities } from '../../../src/core/wallets/pretend-wallet.ts';
import { createSeal, newMasterKey } from '../../../src/lib/crypto/seal.ts';
import { createLog } from '../../../src/lib/text/log.ts';
import { openGateway } from '../../../src/server/gateway.ts';
import { openRotationStore, SEALED_COLUMNS } from '../../../src/store/installation/rotation.ts';
import { STRIPE_CREDENTIALS, type StripeDouble, startStripe } from '../../doubles/stripe.ts';
import { cardForm, checkoutOf, fill } from '../../support/checkout.ts';
import { openShop, saleFields } from '../../support/gateway.ts';
import { signedIn } from '../../support/operators.ts';
import { connect, route } from '../../support/providers.ts';
import { newKey, pemOf } from '../../support/wallets.ts';

const [OLD, NEW] = [newMasterKey(), newMasterKey()];
const shop = openShop({ simulator: true, masterKey: OLD });

/** Columns of bytes that contain no sealed values. */
const NOT_SEALED: Readonly<Record<string, string>> = {
  'account_logos.image': 'a public picture',
  'api_tokens.digest': 'a digest',
  'audit_head.digest': 'a digest',
  'audit_head.mac': 'an HMAC',
  'audit_log.digest': 'a digest',
  'audit_log.mac': 'an HMAC',
  'callback_inbox_entries.body': 'a callback as a shop of the sandbox received it',
  'operator_invitations.digest': 'a digest',
  'operator_passkeys.credential_id': 'the public name of a passkey',
  'operator_passkeys.public_key': 'a public key',
  'operator_sessions.digest': 'a digest',
  'operator_spent_values.digest': 'a digest',
  'payment_search_bits.bits': 'hashes of terms',
  'reconciliations.digest': 'a digest',
  'reconciliation_parts.content': 'a statement of a provider',
};
/** Sealed with the data keys, which are sealed with the master key. */
const WITH_DATA_KEYS = ['cards.sealed'];
/** Sealed values that are not stored. */
const NOT_STORED = ['panel.form', '3ds.result', 'cookie.turnpike_card_form'];

const nameOf = ({ table, value }: (typeof SEALED_COLUMNS)[number]): string =>
  `${table}.${/\bt\.(\w+)(?! in)(?: #>>|\s*end|$)/.exec(value)?.[1] ?? value}`;
const rotated = [...new Set(SEALED_COLUMNS.map(nameOf))];

describe('what is sealed', () => {
  test('every column of bytes is rotated, or is listed here as not sealed', async () => {
    const rows = await shop.rows(`select table_name || '.' || column_name as name from information_schema.columns
      where table_schema = 'public' and data_type = 'bytea' order by 1`);
    const found = rows.map(({ name }) => String(name));
    expect(found.filter((name) => ![...rotated, ...WITH_DATA_KEYS, ...Object.keys(NOT_SEALED)].includes(name))).toEqual(
      [],
    );
    expect(Object.keys(NOT_SEALED).filter((name) => !found.includes(name))).toEqual([]);
  });

  test('everything that the code seals with the master key is rotated, or is not stored', () => {
    const bounds = globSync('src/{core,server,wire,pages,work}/**/*.ts').flatMap((file) =>
      [...readFileSync(file, 'utf8').matchAll(/boundTo\(\s*'([^']+)',\s*(?:'([^']+)'|`(\w+) [^`]*`|(\w+))/g)].map(
        ([, table, column, versioned]) => `${table}.${column ?? versioned ?? '*'}`,
      ),
    );
    const known = [
      ...SEALED_COLUMNS.map(({ table, boundAs }) => `${table}.${boundAs}`),
      ...WITH_DATA_KEYS,
      ...NOT_STORED,
    ];
    expect(bounds.length).toBeGreaterThan(10);
    const isKnown = (name: string): boolean =>
      name.endsWith('.*') ? known.some((each) => each.startsWith(name.slice(0, -1))) : known.includes(name);
    expect(bounds.filter((name) => !isKnown(name))).toEqual([]);
  });
});

describe('after a rotation', () => {
  let stripe: StripeDouble;
  let paymentId: string;
  let connection: string;
  let byCard: { mid: string };
  const PIN = '1234567812345678';

  beforeAll(async () => {
    const { gateway } = shop;
    stripe = await startStripe();
    connection = await connect(
      shop,
      { credentials: STRIPE_CREDENTIALS },
      { connector: 'stripe', settings: { api_base: stripe.url } },
    );
    const { mid } = shop.merchant;
    await shop.admin('POST', `/accounts/${mid}/rotate-password`);
    await shop.admin('POST', `/accounts/${mid}/rotate-callback-secret`);
    for (const key of [newKey(), newKey()])
      await shop.admin('PATCH', `/accounts/${mid}`, { wallets: { 'wallet-b': { private_key: pemOf(key) } } });
    await openAuthorities(gateway);
    const merchant = await shop.newMerchant();
    byCard = merchant;
    await route(shop, merchant.mid, [{ connection_id: connection }]);
    const checkout = checkoutOf(shop);
    // The token of the method at the provider is sealed with the payment; the card stays in the vault.
    const series = await checkout.open({ methods: ['card'], recurring_init: true, req_token: true }, merchant);
    await fill(series.url, cardForm({ card_number: '4242424242424242' }));
    paymentId = series.id;
    const other = await shop.newMerchant();
    const challenged = await checkout.open({ methods: ['card'] }, other);
    await fill(challenged.url, cardForm({ card_expiry: '05/38' }));
    const pin = { brand: 'pin-a', identifier: '', 'parameters[pin]': PIN };
    const { body } = await shop.post(saleFields(other, pin));
    await shop.sandbox('POST', `/payments/${body.trans_id}`, { chargeback: true });
    const file = { name: 'a.png', bytes: Buffer.from('89504e470d0a1a0a00ff', 'hex') };
    await addEvidence(gateway, { mids: null }, commandCaller('test'), body.trans_id, file);
    await checkout.open({ methods: ['pin-a'], parameters: { 'pin-a': { pin: PIN } } }, other);
    const { operatorId } = await signedIn(shop, 'owner');
    const seed = sealTotpSeed(gateway, operatorId, 'JBSWY3DPEHPK3PXP').toString('hex');
    await shop.rows(`insert into operator_passwords (operator_id, password_hash, totp_seed, totp_step, changed_at)
      values ('${operatorId}', '', '\\x${seed}', 0, now())`);
    const account = { currency: 'USD', holder: 'Shop', iban: 'DE89370400440532013000' };
    await shop.admin('PUT', '/payout-account', account);
    const paid = await shop.newMerchant();
    await shop.sale({}, paid);
    await shop.admin('PUT', `/accounts/${paid.mid}/bank-account`, account);
    const settlement = (await shop.admin('POST', '/settlements', { mid: paid.mid, currency: 'USD' })).body;
    await shop.admin('POST', `/settlements/${settlement.settlement_id}/approve`);
    await shop.admin('POST', '/payouts', { settlement_ids: [settlement.settlement_id], format: 'csv' });
  });
  afterAll(() => stripe.close());

  /** The columns in which some row has a value that is sealed with this key, in bytes or in base64 within a text. */
  async function columnsUnder(masterKey: string): Promise<string[]> {
    const version = Buffer.from(createSeal(masterKey).version, 'hex');
    // Four bytes determine five characters of base64.
    const prefix = version.toString('base64').slice(0, 5).replaceAll('+', '\\+');
    const columns = await shop.rows(`select table_name as t, column_name as c, data_type as type
      from information_schema.columns c join information_schema.tables using (table_schema, table_name)
      where table_schema = 'public' and table_type = 'BASE TABLE' order by 1, 2`);
    const isUnder = ({ c, type }: Record<string, unknown>): string =>
      type === 'bytea'
        ? `substring("${c}" from 1 for 4) = '\\x${version.toString('hex')}'`
        : `"${c}"::text ~ '(^|[^A-Za-z0-9+/])${prefix}[A-Za-z0-9+/]{40,}'`;
    const found: string[] = [];
    for (const [table, all] of Map.groupBy(columns, ({ t }) => t)) {
      const conditions = all.map((column) => `bool_or(${isUnder(column)}) as "${column.c}"`);
      const [row] = await shop.rows(`select ${conditions.join(', ')} from "${table}"`);
      found.push(...all.filter(({ c }) => row?.[String(c)]).map(({ c }) => `${table}.${c}`));
    }
    return found;
  }

  test('nothing in the database is under the old key, and everything opens with the new one alone', async () => {
    // Every column that is rotated has a value here, and no other column has one.
    expect(await columnsUnder(OLD)).toEqual(rotated.toSorted());
    const rows = openRotationStore(shop.connection);
    try {
      await rotateKeys({ seal: createSeal(`${NEW},${OLD}`) }, rows, () => undefined);
      expect(await columnsUnder(OLD)).toEqual([]);
      expect(await columnsUnder(NEW)).toEqual(rotated.toSorted());
      const seal = createSeal(NEW);
      let opened = 0;
      // No key has this version, so these are all sealed values.
      for await (const { values } of rows.sealed('00000000'))
        for (const { sealed, bound } of values) opened += seal.open(sealed, bound) === '' ? 0 : 1;
      expect(opened).toBeGreaterThanOrEqual(SEALED_COLUMNS.length);
    } finally {
      await rows.close();
    }
  });

  test('a gateway with the new key alone opens cards and connections; one with the old key does not start', async () => {
    const log = createLog('silent', { write: () => undefined });
    const { gateway, close } = await openGateway({
      connection: shop.connection,
      environment: 'sandbox',
      masterKey: NEW,
      log,
    });
    try {
      const payment = await gateway.payments.find({ mid: byCard.mid, paymentId });
      const card = await openCard(gateway, byCard.mid, payment?.details.card?.id ?? '');
      expect(card?.number.reveal()).toBe('4242424242424242');
      const connector = await gateway.connections.connector(`stripe/${connection}`);
      expect(connector).toBeDefined();
    } finally {
      await close();
    }
    await expect(
      openGateway({ connection: shop.connection, environment: 'sandbox', masterKey: OLD, log }),
    ).rejects.toThrow('The master key does not open the secrets of this database');
  });
});
