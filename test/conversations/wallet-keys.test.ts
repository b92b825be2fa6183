/** The keys of device wallets: write-only settings, replaced without a gap, rotated, and shown in the panel as facts. */
import { beforeAll, describe, expect, test } from 'vitest';
import { liveKeys } from '../../src/core/accounts/secret-settings.ts';
import { rotateKeys } from '../../src/core/installation/rotation.ts';
import { openAuthorities } from '../../src/core/wallets/pretend-wallet.ts';
import { expiringWallets, warnOfExpiringRoots } from '../../src/core/wallets/roots.ts';
import { createSeal, newMasterKey } from '../../src/lib/crypto/seal.ts';
import { publicKeyHash } from '../../src/lib/wallets/keys.ts';
import { openRotationStore } from '../../src/store/installation/rotation.ts';
import { selfSigned } from '../support/certificate.ts';
import { type Answer, type Merchant, openShop } from '../support/gateway.ts';
import { signedIn } from '../support/operators.ts';
import { hiddenValue } from '../support/sign-in.ts';
import { MERCHANT, newKey, openWallets, pemOf, type TokenB } from '../support/wallets.ts';

const wallets = openWallets();
const MASTER_KEY = newMasterKey();
const shop = openShop({ simulator: true, walletRoots: wallets.roots, masterKey: MASTER_KEY });
const keyB = newKey();

let merchant: Merchant;
beforeAll(async () => {
  const processing_private_key = pemOf(MERCHANT.key);
  merchant = await shop.newMerchant({
    wallets: {
      'wallet-a': { merchant_identifier: MERCHANT.identifier, processing_private_key },
      'wallet-b': { private_key: pemOf(keyB) },
    },
  });
});

const tokenB = (token: Partial<TokenB> = {}) =>
  wallets.tokenB({ gatewayMerchantId: merchant.client_key, key: keyB, ...token });
const payWith = (token: string, by = merchant): Promise<Answer> =>
  shop.sale({ brand: 'wallet-b', identifier: '', 'parameters[paymentToken]': token }, by);
const NOT_SUPPORTED = { status: 400, body: { error_code: 204005, errors: [] } };

describe('keys', () => {
  const settings = async (mid: string) => (await shop.admin('GET', `/accounts/${mid}`)).body.settings.wallets;
  const change = (mid: string, name: string, values: object) =>
    shop.admin('PATCH', `/accounts/${mid}`, { wallets: { [name]: values } });

  test('are write-only, and the audit log shows only that they were set', async () => {
    const { mid } = merchant;
    expect(await settings(mid)).toMatchObject({
      'wallet-a': { processing_private_key: 'set', private_key: '' },
      'wallet-b': { private_key: 'set' },
    });
    // What was read can be written back.
    const { body } = await shop.admin('PATCH', `/accounts/${mid}`, { wallets: await settings(mid) });
    expect(body.settings.wallets['wallet-b'].private_key).toBe('set');
    expect((await payWith(tokenB())).body.status).toBe('SETTLED');
    const audit = JSON.stringify((await shop.admin('GET', '/audit')).body);
    expect(audit).toContain('wallets.wallet-b.private_key');
    expect(audit).not.toContain('PRIVATE KEY');
  });

  test('a replaced key stays usable, until it is saved again', async () => {
    const { mid, client_key: gatewayMerchantId } = merchant;
    const next = newKey();
    await change(mid, 'wallet-b', { private_key: pemOf(next) });
    for (const key of [keyB, next]) {
      expect((await payWith(tokenB({ key, gatewayMerchantId }))).body.status).toBe('SETTLED');
    }
    await change(mid, 'wallet-b', { private_key: pemOf(next) });
    expect((await payWith(tokenB({ key: keyB }))).status).toBe(400);
    await change(mid, 'wallet-b', { private_key: pemOf(keyB) });
    expect((await payWith(tokenB({ key: next }))).body.status).toBe('SETTLED');
    await shop.advanceClock(31 * 86_400, mid);
    expect((await payWith(tokenB({ key: next }))).status).toBe(400);
    expect((await payWith(tokenB({ key: keyB }))).body.status).toBe('SETTLED');
  });

  test('an empty key removes it', async () => {
    const other = await shop.newMerchant({ wallets: { 'wallet-b': { private_key: pemOf(keyB) } } });
    await change(other.mid, 'wallet-b', { private_key: '' });
    expect((await settings(other.mid))['wallet-b'].private_key).toBe('');
    const token = tokenB({ gatewayMerchantId: other.client_key });
    expect(await payWith(token, other)).toMatchObject(NOT_SUPPORTED);
    expect(await shop.rows(`select * from account_secrets where mid = '${other.mid}'`)).toEqual([]);
  });

  test('are compared with their certificates and the merchant identifier', async () => {
    const { mid } = await shop.newMerchant();
    const identity = selfSigned(['merchant identity']);
    const good = {
      merchant_identifier: MERCHANT.identifier,
      processing_private_key: pemOf(MERCHANT.key),
      processing_certificate: MERCHANT.processingCertificate,
      certificate: identity.cert,
      private_key: identity.key,
    };
    const entries = async (values: object) =>
      (await change(mid, 'wallet-a', values)).body.errors?.map((entry: Answer['body']) => entry.error_message);
    expect(await entries({ ...good, processing_private_key: pemOf(keyB) })).toEqual([
      'wallets.wallet-a.processing_private_key: This value should be the private key of wallets.wallet-a.processing_certificate.',
    ]);
    expect(await entries({ ...good, private_key: pemOf(MERCHANT.key) })).toEqual([
      'wallets.wallet-a.private_key: This value should be the private key of wallets.wallet-a.certificate.',
    ]);
    expect(await entries({ ...good, merchant_identifier: 'merchant.example.other' })).toEqual([
      'wallets.wallet-a.processing_certificate: This value should be a payment processing certificate of wallets.wallet-a.merchant_identifier.',
    ]);
    expect((await settings(mid))['wallet-a'].private_key).toBe('');
    expect(await entries(good)).toBeUndefined();
    // A later change is compared with what is set.
    expect(await entries({ processing_private_key: pemOf(keyB) })).toHaveLength(1);
    expect(await entries({ merchant_identifier: 'merchant.example.other' })).toHaveLength(1);
  });
});

describe('the panel', () => {
  const processing = 'wallets.wallet-a.processing_private_key';

  test('saves keys after a proof, shows what may be shown, and never sends a key back', async () => {
    const owner = await signedIn(shop, 'owner');
    const { mid } = await shop.newMerchant();
    const path = `/admin/accounts/${mid}`;
    const form = {
      'wallets.wallet-a.merchant_identifier': MERCHANT.identifier,
      'wallets.wallet-a.processing_certificate': MERCHANT.processingCertificate.replaceAll('\n', '\r\n'),
      [processing]: pemOf(MERCHANT.key),
    };
    const keyText = pemOf(MERCHANT.key).split('\n')[1] ?? '';
    const session = `operator_sessions set confirmed_at = now()`;
    await shop.rows(`update ${session} - interval '11 minutes' where operator_id = '${owner.operatorId}'`);
    const unconfirmed = await owner.submit(path, form);
    expect([unconfirmed.status, unconfirmed.text.includes('Nothing was changed yet.')]).toEqual([403, true]);
    await shop.rows(`update ${session} where operator_id = '${owner.operatorId}'`);
    const wrong = await owner.submit(path, { ...form, [processing]: pemOf(newKey()) });
    expect(wrong.text).toContain(`id="${processing}-error">This value should be the private key of`);
    expect((await owner.submit(path, { held: hiddenValue(unconfirmed.text, 'held') })).status).toBe(303);
    const { text } = await owner.get(`${path}?tab=methods`);
    expect(text).toContain(publicKeyHash(MERCHANT.key));
    expect(text).toMatch(/Expires <time datetime="2/);
    for (const page of [unconfirmed.text, wrong.text, text]) expect(page).not.toContain(keyText);
    // An empty field keeps the key.
    await owner.submit(path, { ...form, [processing]: '', descriptor: 'Tea' });
    const read = async () => (await shop.admin('GET', `/accounts/${mid}`)).body.settings;
    const { wallet_keys } = (await shop.admin('GET', `/accounts/${mid}`)).body;
    expect(wallet_keys).toEqual({
      [processing]: { public_key_hash: publicKeyHash(MERCHANT.key) },
      'wallets.wallet-a.processing_certificate': {
        public_key_hash: publicKeyHash(MERCHANT.key),
        expires_at: expect.stringMatching(/^2/),
      },
    });
    expect(await read()).toMatchObject({
      descriptor: 'Tea',
      wallets: { 'wallet-a': { processing_private_key: 'set' } },
    });
    await owner.submit(path, { [processing]: '', [`${processing} remove`]: '1' });
    expect((await read()).wallets['wallet-a'].processing_private_key).toBe('');
  });

  test('shows the wallet of a payment', async () => {
    const owner = await signedIn(shop, 'owner');
    const { body } = await payWith(tokenB());
    const { text } = await owner.get(`/admin/payments/${body.trans_id}`);
    expect(text).toContain('<dd>Visa, confirmed on the payer’s device</dd>');
  });

  test('warns before the last root key of a wallet expires, like the log and the metrics', async () => {
    const { gateway } = shop;
    const { walletB } = gateway.wallets.roots;
    const expiresAt = Date.now() + 86_400_000;
    const soon = walletB.TEST.map((root) => ({ ...root, expiresAt }));
    const usual = gateway.wallets;
    gateway.wallets = { ...usual, roots: { ...usual.roots, walletB: { ...walletB, TEST: soon } } };
    try {
      const owner = await signedIn(shop, 'owner');
      expect((await owner.get('/admin')).text).toMatch(/Google Pay: <time/);
      await warnOfExpiringRoots(gateway);
      expect(shop.logs.filter((line) => line.includes('the last root key of a wallet expires'))).toHaveLength(1);
      const metrics = await (await fetch(`${shop.url}/metrics`)).text();
      const seconds = Math.floor(expiresAt / 1000);
      expect(metrics).toContain(`turnpike_wallet_roots_expire_seconds{wallet="wallet-b"} ${seconds}`);
    } finally {
      gateway.wallets = usual;
    }
    expect(expiringWallets(gateway)).toEqual([]);
  });
});

test('key rotation includes the keys of wallets, current and previous, and those of the pretend wallet', async () => {
  const name = 'wallets.wallet-b.private_key';
  const next = newKey();
  await shop.admin('PATCH', `/accounts/${shop.merchant.mid}`, { [name]: pemOf(keyB) });
  await shop.admin('PATCH', `/accounts/${shop.merchant.mid}`, { [name]: pemOf(next) });
  const newer = newMasterKey();
  const rows = openRotationStore(shop.connection);
  try {
    await rotateKeys({ seal: createSeal(`${newer},${MASTER_KEY}`) }, rows, () => undefined);
  } finally {
    await rows.close();
  }
  const keys = await liveKeys({ ...shop.gateway, seal: createSeal(newer) }, shop.merchant.mid, name);
  expect(keys.map(publicKeyHash)).toEqual([next, keyB].map(publicKeyHash));
  expect(await openAuthorities({ ...shop.gateway, seal: createSeal(newer) })).toEqual(shop.gateway.walletAuthorities);
});
