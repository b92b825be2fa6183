/** The hash recipe `reversed_md5` and the digest SHA-256 in requests to `/post` and in their callbacks. */
import { createHash } from 'node:crypto';
import { describe, expect, test } from 'vitest';
import { UNKNOWN_ID } from '../support/checkout.ts';
import {
  CARD_NUMBER,
  callbacksOf,
  cardSale,
  type Digest,
  digitsOf,
  inboxOf,
  operationHash,
  rev,
  reversed,
  reversedSaleHash,
  specifiedHash,
} from '../support/dialect.ts';
import { type Fields, type Merchant, newOrderId, openShop, sign } from '../support/gateway.ts';

const shop = openShop({ simulator: true });

const merchantWith = (dialect: Record<string, unknown>, more: Record<string, unknown> = {}): Promise<Merchant> =>
  shop.newMerchant({ dialect: { card_sales: true, ...dialect }, ...more });
const post = (merchant: Merchant, fields: Fields) => shop.post({ client_key: merchant.client_key, ...fields });
const sell = (merchant: Merchant, digest: Digest = 'md5', fields: Fields = {}) => {
  const sale = cardSale(merchant, fields);
  return shop.post({ ...sale, hash: reversedSaleHash(merchant, sale, digest) });
};
const vcard = (merchant: Merchant): Fields => ({
  action: 'SALE',
  client_key: merchant.client_key,
  brand: 'vcard',
  identifier: 'success@example.com',
  order_id: newOrderId(),
  order_amount: '10.00',
  order_currency: 'USD',
  order_description: 'Tea',
  payer_ip: '203.0.113.7',
  return_url: 'https://shop.example/return',
});
const vcardText = (sale: Fields): string =>
  `${sale.identifier}${sale.order_id}${sale.order_amount}${sale.order_currency}`;

describe.each<Digest>(['md5', 'sha256'])('reversed_md5 with %s', (digest) => {
  const dialect = { hash: 'reversed_md5', digest };

  test('every request about a card payment', async () => {
    const merchant = await merchantWith(dialect);
    const order_id = newOrderId();
    const { body } = await sell(merchant, digest, { order_id, auth: 'Y', recurring_init: 'Y' });
    expect(body.status).toBe('PENDING');
    const { trans_id } = body;
    const hash = operationHash(merchant, trans_id, { digest });
    for (const action of ['GET_TRANS_STATUS', 'GET_TRANS_DETAILS']) {
      expect((await post(merchant, { action, trans_id, hash })).body.status).toBe('PENDING');
    }
    expect((await post(merchant, { action: 'CAPTURE', trans_id, hash })).body.status).toBe('SETTLED');
    const saleHash = reversedSaleHash(merchant, cardSale(merchant), digest);
    const byOrder = { action: 'GET_TRANS_STATUS_BY_ORDER', order_id, hash: saleHash };
    expect((await post(merchant, byOrder)).body.trans_id).toBe(trans_id);
    const again = await post(merchant, {
      action: 'RECURRING_SALE',
      order_id: newOrderId(),
      order_amount: '1.00',
      order_description: 'Again',
      recurring_first_trans_id: trans_id,
      recurring_token: body.recurring_token,
      hash: saleHash,
    });
    expect(again.body.status).toBe('SETTLED');
    expect((await post(merchant, { action: 'CREDITVOID', trans_id, hash })).body.result).toBe('ACCEPTED');
  });

  test('a sale with a token, and a credit', async () => {
    const merchant = await merchantWith(dialect);
    const { card_token, trans_id } = (await sell(merchant, digest, { req_token: 'Y' })).body;
    const { card_number: _, ...sale } = cardSale(merchant, { card_token });
    const hash = reversedSaleHash(merchant, sale, digest);
    const paid = (await shop.post({ ...sale, hash })).body;
    expect(paid.status).toBe('SETTLED');
    // Operations sign the digits of the card, also when a token paid.
    const status = { action: 'GET_TRANS_STATUS', trans_id: paid.trans_id };
    expect((await post(merchant, { ...status, hash: operationHash(merchant, paid.trans_id, { digest }) })).status).toBe(
      200,
    );
    const order = { order_id: newOrderId(), order_amount: '1.00', order_currency: 'USD', order_description: 'Back' };
    const credit = { action: 'CREDIT2CARD', ...order, card_token };
    const creditHash = reversed([merchant.password, rev(card_token)], digest);
    expect((await post(merchant, { ...credit, hash: creditHash })).body).toMatchObject({
      result: 'ACCEPTED',
      trans_id,
    });
  });

  test('every request about another payment, and schedules', async () => {
    const merchant = await merchantWith(dialect);
    const { password } = merchant;
    const sale = vcard(merchant);
    const { body } = await shop.post({ ...sale, auth: 'Y', hash: reversed([rev(vcardText(sale) + password)], digest) });
    expect(body.status).toBe('PENDING');
    const { trans_id } = body;
    const hash = reversed([rev(trans_id + password)], digest);
    expect((await post(merchant, { action: 'GET_TRANS_STATUS', trans_id, hash })).body.status).toBe('PENDING');
    expect((await post(merchant, { action: 'VOID', trans_id, hash })).body.status).toBe('VOID');
    const order_id = sale.order_id ?? '';
    const byOrder = {
      action: 'GET_TRANS_STATUS_BY_ORDER',
      order_id,
      hash: reversed([rev(order_id + password)], digest),
    };
    expect((await post(merchant, byOrder)).body.status).toBe('VOID');
    const first = vcard(merchant);
    const repeatable = await shop.post({
      ...first,
      recurring_init: 'Y',
      hash: reversed([rev(vcardText(first) + password)], digest),
    });
    const next = newOrderId();
    const repetition = {
      action: 'RECURRING_SALE',
      order_id: next,
      order_amount: '1.00',
      order_description: 'Again',
      recurring_first_trans_id: repeatable.body.trans_id,
      recurring_token: repeatable.body.recurring_token,
    };
    const ofTransaction = reversed([rev(repeatable.body.trans_id + password)], digest);
    expect((await post(merchant, { ...repetition, hash: ofTransaction })).body.errors[0].error_message).toBe(
      'hash: Hash is not valid.',
    );
    const ofOrder = reversed([rev(next + password)], digest);
    expect((await post(merchant, { ...repetition, hash: ofOrder })).body.status).toBe('SETTLED');
    const terms = { name: 'Plan', interval_length: '1', interval_unit: 'month', payments_count: '2' };
    const created = await post(merchant, {
      action: 'CREATE_SCHEDULE',
      ...terms,
      hash: reversed([rev(password)], digest),
    });
    const { schedule_id } = created.body;
    const ofSchedule = reversed([rev(schedule_id + password)], digest);
    for (const action of ['UPDATE_SCHEDULE', 'DELETE_SCHEDULE']) {
      expect((await post(merchant, { action, schedule_id, hash: ofSchedule })).body.result).toBe('SUCCESS');
    }
  });

  test('the specified recipe is accepted as well, with the same digest only', async () => {
    const merchant = await merchantWith(dialect);
    const sale = cardSale(merchant);
    const upper = `${sale.order_id}${sale.order_amount}${sale.order_currency}${merchant.password}`.toUpperCase();
    const inner = createHash(digest).update(upper).digest('hex');
    const hash = createHash('sha1').update(inner).digest('hex');
    expect((await shop.post({ ...sale, hash })).body.status).toBe('SETTLED');
    const other = digest === 'md5' ? 'sha256' : 'md5';
    const wrong = cardSale(merchant);
    expect((await shop.post({ ...wrong, hash: reversedSaleHash(merchant, wrong, other) })).body.error_message).toBe(
      'Hash is not valid',
    );
    if (digest === 'sha256') {
      expect((await shop.post({ ...wrong, hash: specifiedHash(merchant, wrong) })).body.error_message).toBe(
        'Hash is not valid',
      );
    }
  });

  test('callbacks of card payments and of others', async () => {
    const merchant = await merchantWith(dialect);
    await shop.admin('PATCH', `/accounts/${merchant.mid}`, inboxOf(shop, merchant));
    const { password } = merchant;
    const { trans_id } = (await sell(merchant, digest)).body;
    const sale = { ...vcard(merchant), order_description: 'Čaj', 'custom_data[ß]': 'zürich', 'custom_data[a]': 'x' };
    await shop.post({ ...sale, hash: reversed([rev(vcardText(sale) + password)], digest) });
    const received = await callbacksOf(shop, merchant);
    expect(received.map(({ hash_is_valid }) => hash_is_valid)).toEqual([true, true]);
    // The callbacks of two payments have no order.
    const fields = received.map((callback) => callback.fields);
    const card = fields.find((callback) => callback.trans_id === trans_id);
    const other = fields.find((callback) => callback.trans_id !== trans_id);
    expect(card?.hash).toBe(operationHash(merchant, trans_id, { digest }));
    const names = Object.keys(other ?? {}).filter((name) => name !== 'hash');
    expect(names).toContain('custom_data[ß]');
    const sorted = names.toSorted((a, b) => Buffer.compare(Buffer.from(a), Buffer.from(b)));
    const values = sorted.map((name) => rev(other?.[name] ?? ''));
    const text = Buffer.concat([...values.map((value) => upperBytes(value)), Buffer.from(password)]);
    expect(other?.hash).toBe(createHash(digest).update(text).digest('hex'));
  });
});

const upperBytes = (bytes: Buffer): Buffer =>
  Buffer.from(bytes.map((byte) => (byte >= 97 && byte <= 122 ? byte - 32 : byte)));

describe('what cannot be checked', () => {
  test('an unknown or foreign trans_id is a wrong hash, unless the specified hash is right', async () => {
    const merchant = await merchantWith({ hash: 'reversed_md5' });
    const other = await merchantWith({ hash: 'reversed_md5' });
    const { trans_id } = (await sell(other)).body;
    const hash = operationHash(merchant, trans_id);
    const status = { action: 'GET_TRANS_STATUS', trans_id };
    expect((await post(merchant, { ...status, hash })).body.error_message).toBe('Hash is not valid');
    const specified = { ...status, hash: sign(merchant.password, trans_id) };
    expect((await post(merchant, specified)).body.error_code).toBe(101000);
  });

  test('an account without the recipe refuses it, and says in the sandbox what it is', async () => {
    const merchant = await merchantWith({});
    const { status, body } = await sell(merchant);
    expect([status, body.error_message]).toEqual([400, 'Hash is not valid']);
    expect(body.errors[0].hint).toContain('reversed_md5');
  });
});

describe('what is said about a wrong hash', () => {
  const explained = async ({ mid }: Merchant, fields: Fields) => {
    const request = new URLSearchParams(fields).toString();
    return (await shop.admin('POST', '/explain', { mid, request })).body;
  };
  const wrong = async (merchant: Merchant, hash: string, fields: Fields = {}) => {
    const sale = cardSale(merchant, { order_id: 'tea', ...fields });
    return (await shop.post({ ...sale, hash })).body.errors[0];
  };
  const SPECIFIED = 'of order_id + order_amount + order_currency + the password, in upper case and without separators.';

  test.each<[digest: Digest, name: string, digits: number]>([
    ['md5', 'MD5', 32],
    ['sha256', 'SHA-256', 64],
  ])('names both recipes, and the text that was signed: %s', async (digest, name, digits) => {
    const merchant = await merchantWith({ hash: 'reversed_md5', digest });
    const expected = `${digits} hex digits: the ${name} of upper(rev(\`payer_email\`) + password + rev(card)). Or 40 hex digits: the SHA-1 of the hex ${name} ${SPECIFIED}`;
    const entry = await wrong(merchant, 'a'.repeat(digits));
    expect(entry).toMatchObject({ expected, signed_text: 'MOC.ELPMAXE@ANA***1111111114' });
    expect(entry.hint).not.toContain('40 hex digits');
    expect((await wrong(merchant, 'a'.repeat(digits === 32 ? 64 : 32))).hint).toContain(
      `${digits} hex digits, as the ${name} of this account has, or 40 hex digits`,
    );
    const { hash: _, ...unsigned } = cardSale(merchant);
    expect((await shop.post(unsigned)).body.errors).toMatchObject([{ param: 'hash', expected }]);
  });

  test('tells nothing of a stored payment to who cannot sign', async () => {
    const merchant = await merchantWith({ hash: 'reversed_md5' });
    const { trans_id } = (await sell(merchant)).body;
    const status = { action: 'GET_TRANS_STATUS', hash: 'a'.repeat(32) };
    const entryOf = async (id: string) => (await post(merchant, { ...status, trans_id: id })).body.errors[0];
    const [known, unknown] = [await entryOf(trans_id), await entryOf(UNKNOWN_ID)];
    expect(known.signed_text).toBe(`${trans_id.toUpperCase()}***`);
    expect(known).toEqual({ ...unknown, signed_text: known.signed_text });
    // An operator learns it.
    const request = { client_key: merchant.client_key, ...status };
    expect((await explained(merchant, { ...request, trans_id })).hints.join()).toContain('rev(`payer_email`)');
    expect((await explained(merchant, { ...request, trans_id: UNKNOWN_ID })).mistakes).toContain('unknown_payment');
  });

  test('about an erased payment is that only the specified recipe is left', async () => {
    const merchant = await merchantWith({ hash: 'reversed_md5' });
    const { trans_id } = (await sell(merchant)).body;
    expect((await shop.admin('POST', `/payments/${trans_id}/erase`)).body.erased).toEqual([trans_id]);
    const status = { action: 'GET_TRANS_STATUS', trans_id };
    const reversedHash = operationHash(merchant, trans_id);
    const refusedStatus = await post(merchant, { ...status, hash: reversedHash });
    expect(refusedStatus.body.errors[0].expected).toContain('whose personal data was erased takes only the latter');
    const sent = { client_key: merchant.client_key, ...status, hash: reversedHash };
    expect(await explained(merchant, sent)).toMatchObject({ matches: false, mistakes: ['unknown', 'erased_payment'] });
    const specified = { ...status, hash: sign(merchant.password, trans_id) };
    expect((await post(merchant, specified)).body.status).toBe('SETTLED');
  });

  test('uses the digest of the account', async () => {
    const merchant = await merchantWith({ digest: 'sha256' });
    const sale = cardSale(merchant, { order_id: 'tea' });
    const text = `tea10.00USD${merchant.password}`;
    const inner = (algorithm: string, content: string) => createHash(algorithm).update(content).digest('hex');
    const hint = async (hash: string) => (await wrong(merchant, hash)).hint;
    expect(await hint(inner('sha256', text.toUpperCase()))).toContain(
      'The hash is only the SHA-256: compute the SHA-1 of the hex text of the SHA-256.',
    );
    expect(await hint(inner('md5', text.toUpperCase()))).toContain(
      'The hash is an MD5: compute the SHA-1 of the hex text of the SHA-256.',
    );
    expect(await hint(inner('sha1', inner('sha256', text)))).toContain('before you compute the SHA-256.');
    expect(await hint(inner('sha1', inner('md5', text.toUpperCase())))).toContain('The inner digest is an MD5');
    expect(await hint(reversedSaleHash(merchant, sale))).toContain(
      'to set dialect.hash to reversed_md5 and dialect.digest to md5',
    );
    expect(await hint(reversedSaleHash(merchant, sale, 'sha256'))).toContain('to set dialect.hash to reversed_md5 for');
  });
});

describe('letters that are not ASCII', () => {
  const EMAIL = 'jürgen.straße@exämple.com';
  const points = (text: string): string => Array.from(text).reverse().join('');
  test.each([
    ['by bytes', (password: string) => reversed([rev(EMAIL), password, rev(digitsOf(CARD_NUMBER))])],
    ['by code points', (password: string) => reversed([points(EMAIL), password, rev(digitsOf(CARD_NUMBER))])],
    [
      'by code points, all letters upper-cased',
      (password: string) =>
        createHash('md5')
          .update((points(EMAIL) + password + points(digitsOf(CARD_NUMBER))).toUpperCase())
          .digest('hex'),
    ],
  ])('reversed %s', async (_, hashOf) => {
    const merchant = await merchantWith({ hash: 'reversed_md5' });
    const sale = cardSale(merchant, { payer_email: EMAIL });
    expect((await shop.post({ ...sale, hash: hashOf(merchant.password) })).body.status).toBe('SETTLED');
  });

  test('the specified recipe accepts upper-casing letter by letter, as C# and Go do it', async () => {
    const order_id = 'straße-ñ';
    const upper = `success@example.com${order_id}10.00usd${shop.merchant.password}`.toUpperCase().replace('SS', 'ß');
    const text = upper.replace('SUCCEß', 'SUCCESS').replace('STRASSE', 'STRAßE');
    const hash = createHash('sha1').update(createHash('md5').update(text).digest('hex')).digest('hex');
    expect((await shop.sale({ order_id, hash })).body.status).toBe('SETTLED');
  });
});
