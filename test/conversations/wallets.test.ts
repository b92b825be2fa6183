/** S2S sales with device wallets: genuine tokens, from the request to the provider and back. */
import { beforeAll, describe, expect, onTestFinished, test, vi } from 'vitest';
import type { ThreeDs } from '../../src/connectors/three-ds.ts';
import { newId } from '../../src/lib/crypto/id.ts';
import { openWalletB } from '../../src/lib/wallets/wallet-b.ts';
import { verifyAt } from '../../src/store/installation/verify.ts';
import { checkoutOf, follow, show, signed, submitPage } from '../support/checkout.ts';
import { entryOf } from '../support/entries.ts';
import { type Answer, type Fields, type Merchant, newOrderId, openShop, saleFields, sign } from '../support/gateway.ts';
import { preparedPayment } from '../support/payments.ts';
import { CARD_NUMBER, DEVICE_NUMBER, MERCHANT, newKey, openWallets, pemOf, type TokenB } from '../support/wallets.ts';

const wallets = openWallets();
const shop = openShop({ simulator: true, walletRoots: wallets.roots });

const FIELD = 'parameters[paymentToken]';
const keyB = newKey();

let merchant: Merchant;
beforeAll(async () => {
  merchant = await shop.newMerchant({
    wallets: {
      'wallet-a': { merchant_identifier: MERCHANT.identifier, processing_private_key: pemOf(MERCHANT.key) },
      'wallet-b': { private_key: pemOf(keyB).replaceAll('\n', '') },
    },
  });
});

const { tokenA } = wallets;
const tokenB = (token: Partial<TokenB> = {}) =>
  wallets.tokenB({ gatewayMerchantId: merchant.client_key, key: keyB, ...token });
/** A token of the wallet. */
const tokenOf = (brand: string, token: Pick<TokenB, 'expiry'> = {}): string =>
  brand === 'wallet-a' ? tokenA(token) : tokenB(token);

const saleWith = (brand: string, token: string, fields: Fields = {}, by = merchant): Promise<Answer> =>
  shop.sale({ brand, identifier: '', [FIELD]: token, ...fields }, by);

const refused = (sentence: string) => ({
  status: 400,
  body: {
    result: 'ERROR',
    error_code: 100000,
    error_message: 'Request data is invalid.',
    errors: [entryOf(`${FIELD}: ${sentence}`)],
  },
});
const answered = ({ status, body }: Answer) => ({ status, body });
const NOT_SUPPORTED = { status: 400, body: expect.objectContaining({ error_code: 204005, errors: [] }) };
const USED_SENTENCE = 'This token was used for another payment.';
const USED = refused(USED_SENTENCE);

const parsed = (text: string): Answer['body'] => JSON.parse(text);

function reversed(value: unknown): unknown {
  if (typeof value !== 'object' || value === null || Array.isArray(value)) return value;
  return Object.fromEntries(
    Object.entries(value)
      .toReversed()
      .map(([name, inner]) => [name, reversed(inner)]),
  );
}

/** Other texts with the same signed content. */
const RE_ENCODINGS: [string, (token: string) => string][] = [
  ['white space', (token) => JSON.stringify(parsed(token), null, 2)],
  ['members in another order', (token) => JSON.stringify(reversed(parsed(token)))],
  ['unknown members', (token) => JSON.stringify({ ...parsed(token), paymentId: newId() })],
  ['escaped characters', (token) => token.replaceAll('=', '\\u003d')],
];

/** Others that only a token of wallet-a has: its header is not signed as it is written. */
const HEADERS: [string, (header: Record<string, string>) => Record<string, string>][] = [
  [
    'capitals in the transaction id',
    (header) => ({ ...header, transactionId: header.transactionId?.toUpperCase() ?? '' }),
  ],
  ['another key id', (header) => ({ ...header, keyId: newId() })],
  ...[1, 16, 31].map((bytes): (typeof HEADERS)[number] => [
    `the last ${bytes} bytes of the transaction id as application data`,
    ({ transactionId = '', ...header }) => ({
      ...header,
      transactionId: transactionId.slice(0, -2 * bytes),
      applicationData: transactionId.slice(-2 * bytes),
    }),
  ]),
];

test.each(HEADERS)('a used token of wallet-a stays used: %s', async (_, encode) => {
  const token = tokenA();
  expect((await saleWith('wallet-a', token)).body.status).toBe('SETTLED');
  const { paymentData, ...rest } = parsed(token);
  const changed = { ...rest, paymentData: { ...paymentData, header: encode(paymentData.header) } };
  expect(answered(await saleWith('wallet-a', JSON.stringify(changed)))).toEqual(USED);
});

describe('two accounts with the keys of one merchant', () => {
  let other: Merchant;
  beforeAll(async () => {
    other = await shop.newMerchant({
      'wallets.wallet-a': { merchant_identifier: MERCHANT.identifier, processing_private_key: pemOf(MERCHANT.key) },
    });
  });

  test('a token that paid in one of them does not pay in the other', async () => {
    const token = tokenA();
    expect((await saleWith('wallet-a', token)).body.status).toBe('SETTLED');
    const order_id = newOrderId();
    expect(answered(await saleWith('wallet-a', token, { order_id }, other))).toEqual(USED);
    // The order that was refused is free.
    expect((await saleWith('wallet-a', tokenA(), { order_id }, other)).body.status).toBe('SETTLED');
  });

  test('of concurrent sales with one token exactly one is opened', async () => {
    const token = tokenA();
    const answers = await Promise.all(
      Array.from({ length: 8 }, (_, index) => saleWith('wallet-a', token, {}, index % 2 === 0 ? merchant : other)),
    );
    expect(answers.map(({ body }) => body.status ?? body.errors[0]?.error_message).toSorted()).toEqual(
      ['SETTLED', ...Array(7).fill(`${FIELD}: ${USED_SENTENCE}`)].toSorted(),
    );
  });
});

describe.each(['wallet-a', 'wallet-b'])('%s', (digital_wallet) => {
  test('a card of a device settles with its cryptogram', async () => {
    const { body } = await saleWith(digital_wallet, tokenOf(digital_wallet));
    expect(body).toMatchObject({ result: 'SUCCESS', status: 'SETTLED', digital_wallet });
    expect((await shop.status(body.trans_id, merchant)).body).toMatchObject({ status: 'SETTLED', digital_wallet });
    const checkout = checkoutOf(shop);
    const query = signed('payment/status', { payment_id: body.trans_id }, merchant);
    expect((await checkout.sendBody('payment/status', query)).body).toMatchObject({
      status: 'settled',
      digital_wallet,
    });
    const payment = await shop.inspect(body.trans_id);
    expect(payment).toMatchObject({
      digital_wallet,
      details: { card: { masked: '489537******3478' }, wallet: { type: 'CRYPTOGRAM_3DS', network: 'visa' } },
    });
    expect(payment.details).not.toHaveProperty('sealed');
    expect(payment.details).not.toHaveProperty('parameters');
    const [callback] = await shop.rows(`select body from callbacks where payment_id = '${body.trans_id}'`);
    expect(Object.fromEntries(new URLSearchParams(String(callback?.body)))).toMatchObject({
      digital_wallet,
      card: '489537******3478',
      status: 'SETTLED',
    });
  });

  test('a token pays once, and a repeat of its request returns its payment', async () => {
    const token = tokenOf(digital_wallet);
    const sent = saleFields(merchant, { brand: digital_wallet, identifier: '', [FIELD]: token });
    const [first, repeat] = [await shop.post(sent), await shop.post(sent)];
    expect(first.body.status).toBe('SETTLED');
    expect(repeat.body).toEqual(first.body);
    expect(answered(await saleWith(digital_wallet, token))).toEqual(USED);
    // The order that was refused is free.
    const duplicate = await saleWith(digital_wallet, tokenOf(digital_wallet), { order_id: sent.order_id ?? '' });
    expect(duplicate.body.errors[0].error_message).toBe('order_id: Duplicate payment.');
  });

  test('of concurrent sales with one token exactly one is opened', async () => {
    const token = tokenOf(digital_wallet);
    const answers = await Promise.all(Array.from({ length: 8 }, () => saleWith(digital_wallet, token)));
    expect(answers.map(({ body }) => body.status ?? body.errors[0].error_message).toSorted()).toEqual(
      ['SETTLED', ...Array(7).fill(`${FIELD}: ${USED_SENTENCE}`)].toSorted(),
    );
  });

  test.each(RE_ENCODINGS)('a used token stays used: %s', async (_, encode) => {
    const token = tokenOf(digital_wallet);
    expect((await saleWith(digital_wallet, token)).body.status).toBe('SETTLED');
    expect(answered(await saleWith(digital_wallet, encode(token)))).toEqual(USED);
  });

  test('a duplicate order does not use up the token', async () => {
    const order_id = newOrderId();
    await saleWith(digital_wallet, tokenOf(digital_wallet), { order_id });
    const token = tokenOf(digital_wallet);
    expect((await saleWith(digital_wallet, token, { order_id })).body.error_message).toBe(
      'order_id: Duplicate payment.',
    );
    expect((await saleWith(digital_wallet, token)).body.status).toBe('SETTLED');
  });

  test('is refused with 204005 without a key, after the fields and the hash', async () => {
    const token = tokenOf(digital_wallet);
    expect(answered(await saleWith(digital_wallet, token, {}, shop.merchant))).toEqual(NOT_SUPPORTED);
    expect((await saleWith(digital_wallet, token, { hash: '0'.repeat(40) }, shop.merchant)).body.error_message).toBe(
      'Hash is not valid',
    );
    expect((await saleWith(digital_wallet, '{}', {}, shop.merchant)).body.errors[0].error_message).toContain(FIELD);
  });

  test('a wrong hash wins over a refused token, and a refused token over a duplicate order', async () => {
    const token = tokenOf(digital_wallet).replace(/"(signature|tag)(\\*)":(\\*)"..../, '"$1$2":$3"AAAA');
    expect((await saleWith(digital_wallet, token, { hash: '0'.repeat(40) })).body.error_message).toBe(
      'Hash is not valid',
    );
    const order_id = newOrderId();
    await saleWith(digital_wallet, tokenOf(digital_wallet), { order_id });
    expect((await saleWith(digital_wallet, token, { order_id })).body.errors[0].error_message).toContain(FIELD);
  });

  test('declines are outcomes, and the same order takes a new token later', async () => {
    const declined = tokenOf(digital_wallet, { expiry: '02/38' });
    const order_id = newOrderId();
    expect((await saleWith(digital_wallet, declined, { order_id })).body.status).toBe('DECLINED');
    await shop.advanceClock(16, merchant.mid);
    expect(answered(await saleWith(digital_wallet, declined, { order_id }))).toEqual(USED);
    const { body } = await saleWith(digital_wallet, tokenOf(digital_wallet), { order_id });
    expect(body.status).toBe('SETTLED');
  });

  test.each([
    ['01/39', 'SETTLED'],
    ['02/39', 'DECLINED'],
  ])('an unknown outcome is queried, never sent again: %s, %s', async (expiry, status) => {
    const token = tokenOf(digital_wallet, { expiry });
    const { body } = await saleWith(digital_wallet, token);
    expect(body).toMatchObject({ result: 'UNDEFINED', status: 'PENDING' });
    await shop.advanceClock(3600, merchant.mid);
    const payment = await shop.inspect(body.trans_id);
    expect(payment.status).toBe(status);
    const verbs = payment.provider_calls.map(({ verb }: Answer['body']) => verb);
    expect(verbs.filter((verb: string) => verb === 'submit')).toHaveLength(1);
  });

  test('recurring sales charge the card again, without a cryptogram', async () => {
    const { body: first } = await saleWith(digital_wallet, tokenOf(digital_wallet), { recurring_init: 'Y' });
    expect(first).toMatchObject({ status: 'SETTLED', recurring_token: expect.any(String) });
    const order_id = newOrderId();
    const repeat = await shop.post({
      action: 'RECURRING_SALE',
      client_key: merchant.client_key,
      order_id,
      order_amount: '5.00',
      order_description: 'Another month',
      recurring_first_trans_id: first.trans_id,
      recurring_token: first.recurring_token,
      hash: sign(merchant.password, order_id),
    });
    expect(repeat.body).toMatchObject({ status: 'SETTLED', digital_wallet });
    const [card] = await shop.rows(
      `select is_kept, sealed is not null as stored from cards where payment_id = '${first.trans_id}'`,
    );
    expect(card).toEqual({ is_kept: true, stored: true });
  });

  test('a schedule repeats the first payment', async () => {
    const schedule = await shop.post({
      action: 'CREATE_SCHEDULE',
      client_key: merchant.client_key,
      name: 'Monthly',
      interval_length: '1',
      interval_unit: 'month',
      payments_count: '2',
      hash: sign(merchant.password),
    });
    const { schedule_id } = schedule.body;
    const recurring = { recurring_init: 'Y', schedule_id };
    const { body } = await saleWith(digital_wallet, tokenOf(digital_wallet), recurring);
    expect(body).toMatchObject({ status: 'SETTLED', schedule_id });
    await shop.advanceClock(32 * 86_400, merchant.mid);
    const { items } = (await shop.admin('GET', `/payments?schedule_id=${schedule_id}`)).body;
    expect(items.map(({ status }: Answer['body']) => status)).toEqual(['SETTLED', 'SETTLED']);
  });
});

describe('refused tokens', () => {
  const FIVE_MINUTES = 5 * 60_000;
  const DAY_MS = 86_400_000;
  test.each<[string, string, () => string, string]>([
    [
      'another merchant',
      'wallet-a',
      () => tokenA({ merchantIdentifier: 'merchant.example.other' }),
      'The content is not authentic under the keys of the account.',
    ],
    [
      'another processing key',
      'wallet-a',
      () => tokenA({ key: newKey() }),
      'The token is encrypted for a key that the account does not have.',
    ],
    ['an old signature', 'wallet-a', () => tokenA({ sealedAt: Date.now() - FIVE_MINUTES }), 'The token is too old.'],
    ['another amount', 'wallet-a', () => tokenA({ amount: 999n }), 'The amount of the token is not that of the order.'],
    [
      'another currency',
      'wallet-a',
      () => tokenA({ currency: 'EUR' }),
      'The currency of the token is not that of the order.',
    ],
    [
      'another account',
      'wallet-b',
      () => tokenB({ gatewayMerchantId: shop.merchant.client_key }),
      'The token was made for another merchant.',
    ],
    [
      'another recipient',
      'wallet-b',
      () => tokenB({ recipient: 'gateway:other' }),
      'The signature of the token is wrong.',
    ],
    [
      'another key',
      'wallet-b',
      () => tokenB({ key: newKey() }),
      'The content is not authentic under the keys of the account.',
    ],
    [
      'an expired token',
      'wallet-b',
      () => tokenB({ sealedAt: Date.now() - 7 * DAY_MS }),
      'The intermediate signing key is not a P-256 key, or has expired.',
    ],
  ])('%s (%s)', async (_, brand, token, sentence) => {
    const order_id = newOrderId();
    expect(answered(await saleWith(brand, token(), { order_id }))).toEqual(refused(sentence));
    // Nothing was reserved.
    expect((await saleWith(brand, tokenOf(brand), { order_id })).body.status).toBe('SETTLED');
  });

  test('a test token does not count for an account in PRODUCTION', async () => {
    const other = await shop.newMerchant({
      'wallets.wallet-b': { private_key: pemOf(keyB), environment: 'PRODUCTION' },
    });
    const token = tokenB({ gatewayMerchantId: other.client_key });
    expect(answered(await saleWith('wallet-b', token, {}, other))).toEqual(
      refused('No usable root key signed the intermediate signing key, or in ECv1 the message.'),
    );
  });
});

describe('PAN_ONLY', () => {
  const panOnly = (expiry: string, fields: Fields = {}) =>
    saleWith('wallet-b', tokenB({ kind: 'PAN_ONLY', expiry }), fields);

  /** Submits the page that starts the authentication, as its script does. */
  async function visit(body: Answer['body']) {
    expect(body).toMatchObject({ result: 'REDIRECT', status: '3DS', redirect_method: 'GET', redirect_params: {} });
    return submitPage(await show(body.redirect_url));
  }

  test('the payer authenticates on the payment page, without a challenge', async () => {
    const { body } = await panOnly('07/38');
    expect((await shop.inspect(body.trans_id)).next_step).toBe('authentication');
    await visit(body);
    expect(await shop.inspect(body.trans_id)).toMatchObject({
      status: 'SETTLED',
      details: { card: { masked: '411111******1111' }, wallet: { type: 'PAN_ONLY' } },
    });
    expect(await shop.events(body.trans_id)).toEqual(['opened', 'challenged', 'collected', 'settled']);
  });

  test('is a setting of the payment page: a sale may have either kind', async () => {
    const setting = 'wallets.wallet-b.allowed_auth_methods';
    const change = (kinds: string[]) => shop.admin('PATCH', `/accounts/${merchant.mid}`, { [setting]: kinds });
    expect((await change(['CRYPTOGRAM_3DS'])).status).toBe(200);
    try {
      expect((await panOnly('07/38')).body).toMatchObject({ result: 'REDIRECT', status: '3DS' });
    } finally {
      await change(['PAN_ONLY', 'CRYPTOGRAM_3DS']);
    }
  });

  test('a challenge at the bank', async () => {
    const { body } = await panOnly('05/38', { recurring_init: 'Y' });
    const challenge = await visit(body);
    expect(await shop.events(body.trans_id)).toEqual(['opened', 'challenged', 'collected', 'challenged']);
    await submitPage(await submitPage(await submitPage(await follow(challenge)), { code: '1234' }));
    expect((await shop.status(body.trans_id, merchant)).body).toMatchObject({
      status: 'SETTLED',
      recurring_token: expect.any(String),
    });
  });

  test('two visits start one authentication', async () => {
    const { body } = await panOnly('07/38');
    const page = await show(body.redirect_url);
    await Promise.all([submitPage(page), submitPage(page)]);
    expect((await shop.events(body.trans_id)).filter((event) => event === 'collected')).toHaveLength(1);
  });

  describe('with a risk rule', () => {
    async function withRule(kind: string): Promise<void> {
      const condition = { field: 'brand', op: '=', value: 'wallet-b' };
      const rule = { mid: merchant.mid, name: kind, state: 'on', condition, action: { kind } };
      const { status, body } = await shop.admin('POST', '/risk/rules', rule);
      expect(status).toBe(201);
      onTestFinished(async () => {
        await shop.admin('DELETE', `/risk/rules/${body.rule_id}`);
      });
    }
    /** What the authentication requests of a test ask for. */
    function requests(): () => unknown[] {
      const sent = vi.spyOn(shop.gateway.threeDs as ThreeDs, 'authenticate');
      onTestFinished(() => sent.mockRestore());
      return () => sent.mock.calls.map(([{ request }]) => request?.requested);
    }

    test('require_3ds asks for a challenge when the payer has come', async () => {
      await withRule('require_3ds');
      const asked = requests();
      const { body } = await panOnly('07/38');
      await visit(body);
      expect(asked()).toEqual(['challenge']);
      expect((await shop.inspect(body.trans_id)).risk.three_ds).toMatchObject({ sent_as: 'exact' });
    });

    test('skip_3ds submits the card at once; a bank that wants an authentication gets one', async () => {
      await withRule('skip_3ds');
      const asked = requests();
      expect((await panOnly('07/38')).body.status).toBe('SETTLED');
      expect(asked()).toEqual([]);
      const { body } = await panOnly('05/38');
      const challenge = await visit(body);
      expect(asked()).toEqual(['challenge']);
      await submitPage(await submitPage(await submitPage(await follow(challenge)), { code: '1234' }));
      await expect.poll(async () => (await shop.inspect(body.trans_id)).status, { timeout: 20_000 }).toBe('SETTLED');
    });
  });

  test('a payer who never comes is declined, and the card is erased', async () => {
    const { body } = await panOnly('07/38');
    await shop.advanceClock(3601, merchant.mid);
    expect((await shop.status(body.trans_id, merchant)).body.status).toBe('DECLINED');
    const rows = await shop.rows(`select sealed from cards where payment_id = '${body.trans_id}'`);
    expect(rows).toEqual([{ sealed: null }]);
  });
});

test('used tokens are forgotten some time after they have expired', async () => {
  const { body } = await saleWith('wallet-b', tokenB());
  expect(body.status).toBe('SETTLED');
  const found = () => shop.rows(`select 1 from wallet_tokens where payment_id = '${body.trans_id}'`);
  await shop.advanceClock(1, merchant.mid);
  expect(await found()).toHaveLength(1);
  await shop.rows(`update wallet_tokens set forget_at = now() where payment_id = '${body.trans_id}'`);
  await shop.advanceClock(1, merchant.mid);
  expect(await found()).toEqual([]);
});

test('the process dies between the intent and the call: the payment is declined, and nothing is sent', async () => {
  const card = { id: newId(), masked: '489537******3478', network: 'visa', expiry: '01/2038' };
  const details = {
    description: 'A test order',
    payer: {},
    card,
    wallet: { type: 'CRYPTOGRAM_3DS', network: 'visa' } as const,
  };
  const payment = preparedPayment(shop, { mid: merchant.mid, brand: 'wallet-b', connector: 'upstream', details });
  const token = { replayKey: 'wallet-b died', forgetAt: Date.now() + 60_000 };
  expect(await shop.gateway.payments.open(payment, token)).toBe(true);
  expect((await verifyAt(shop.connection)).violations).toEqual([]);
  await shop.advanceClock(3600, merchant.mid);
  const found = await shop.inspect(payment.paymentId);
  expect(found.status).toBe('DECLINED');
  expect(found.provider_calls.map(({ verb }: Answer['body']) => verb)).not.toContain('submit');
  expect(await shop.gateway.walletTokens.isUsed(token.replayKey)).toBe(true);
});

test('neither the database nor the log contains numbers, cryptograms or keys in the clear', async () => {
  const token = tokenB();
  expect((await saleWith('wallet-b', token)).body.status).toBe('SETTLED');
  const { recipient, roots } = shop.gateway.wallets;
  const keys = { recipient, gatewayMerchantId: merchant.client_key, privateKeys: [keyB], environment: 'TEST' } as const;
  const { cryptogram } = await openWalletB(JSON.parse(token), keys, roots.walletB, Date.now());
  const secrets = [
    DEVICE_NUMBER,
    CARD_NUMBER,
    cryptogram?.reveal() ?? '',
    ...[MERCHANT.key, keyB].map((key) => pemOf(key).split('\n')[2] ?? ''),
  ];
  const tables = await shop.rows(`select table_name from information_schema.tables where table_schema = 'public'`);
  const rows = await Promise.all(tables.map(({ table_name }) => shop.rows(`select t::text from ${table_name} t`)));
  const stored = JSON.stringify(rows);
  const log = shop.logs.join('');
  for (const secret of secrets) {
    expect(secret.length).toBeGreaterThan(15);
    const encoded = (['hex', 'base64'] as const).map((encoding) => Buffer.from(secret).toString(encoding).slice(0, -4));
    for (const form of [secret, ...encoded]) {
      expect(stored.includes(form), 'in the database').toBe(false);
      expect(log.includes(form), 'in the log').toBe(false);
    }
  }
  expect((await verifyAt(shop.connection)).violations).toEqual([]);
});
