/** Merchants whose clients were written for other gateways of the family: their card sales and their hashes. */
import { createHash } from 'node:crypto';
import { type Answer, type Fields, type Merchant, newOrderId, sign, type TestGateway } from './gateway.ts';

export type Digest = 'md5' | 'sha256';

const upper = (bytes: Buffer): Buffer =>
  Buffer.from(bytes.map((byte) => (byte >= 97 && byte <= 122 ? byte - 32 : byte)));

/** A text reversed by its bytes, as PHP's `strrev` does it. */
export const rev = (text: string): Buffer => Buffer.from(text).reverse();

/** The digest of the upper-cased parts, implemented independently of the gateway. */
export const reversed = (parts: readonly (string | Buffer)[], digest: Digest = 'md5'): string =>
  createHash(digest)
    .update(upper(Buffer.concat(parts.map((part) => Buffer.from(part)))))
    .digest('hex');

export const digitsOf = (number: string): string => number.slice(0, 6) + number.slice(-4);

export const CARD_NUMBER = '4111111111111111';

/** The fields of a card sale, without its hash. */
export const cardSale = (merchant: Merchant, fields: Fields = {}): Fields => ({
  action: 'SALE',
  client_key: merchant.client_key,
  order_id: newOrderId(),
  order_amount: '10.00',
  order_currency: 'USD',
  order_description: 'A test order',
  card_number: CARD_NUMBER,
  card_exp_month: '01',
  card_exp_year: '2038',
  card_cvv2: '123',
  payer_first_name: 'Ana',
  payer_last_name: 'Petrovic',
  payer_email: 'ana@example.com',
  payer_phone: '199999999',
  payer_country: 'DE',
  payer_city: 'Berlin',
  payer_address: 'Main Street 1',
  payer_zip: '10115',
  payer_ip: '203.0.113.7',
  term_url_3ds: 'https://shop.example/return',
  ...fields,
});

/** The hash of a card sale in the specified recipe, and in the reversed one. */
export const specifiedHash = ({ password }: Merchant, sale: Fields): string =>
  sign(password, sale.order_id ?? '', sale.order_amount ?? '', sale.order_currency ?? '');

export const reversedSaleHash = ({ password }: Merchant, sale: Fields, digest: Digest = 'md5'): string =>
  reversed([rev(sale.payer_email ?? ''), password, rev(sale.card_token ?? digitsOf(sale.card_number ?? ''))], digest);

export const operationHash = (
  { password }: Merchant,
  transId: string,
  { email = 'ana@example.com', number = CARD_NUMBER, digest = 'md5' as Digest } = {},
): string => reversed([rev(email), password, transId, rev(digitsOf(number))], digest);

/** Sends card sales with the specified hash, as an account does that only switched `dialect.card_sales` on. */
export const cardSalesOf =
  (shop: TestGateway, merchant: () => Merchant) =>
  (fields: Fields = {}): Promise<Answer> => {
    const sale = cardSale(merchant(), fields);
    for (const [name, value] of Object.entries(sale)) if (value === '') delete sale[name];
    return shop.post({ ...sale, hash: fields.hash ?? specifiedHash(merchant(), sale) });
  };

/** The setting that sends callbacks to the inbox of the sandbox. */
export const inboxOf = (shop: TestGateway, { mid }: Merchant) => ({
  callback_url: `${shop.url}/sandbox/callbacks/${mid}`,
});

/** The callbacks in that inbox, oldest first. */
export async function callbacksOf(
  shop: TestGateway,
  { mid }: Merchant,
): Promise<{ fields: Fields; hash_is_valid: boolean }[]> {
  await shop.gateway.deliverer.drain();
  const { body } = await shop.sandbox('GET', `/callbacks/${mid}`);
  return body.items.map((item: { body: string; hash_is_valid: boolean }) => ({
    hash_is_valid: item.hash_is_valid,
    fields: Object.fromEntries(new URLSearchParams(item.body)),
  }));
}
