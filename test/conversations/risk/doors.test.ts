/** One evaluation for every way to pay: a rule declines the payment through each of them, and no provider hears of it. */
import { expect, test } from 'vitest';
import { cardForm, checkoutOf, fill, follow, VCARD } from '../../support/checkout.ts';
import { cardSalesOf } from '../../support/dialect.ts';
import { type Fields, type Merchant, newOrderId, openShop, sign } from '../../support/gateway.ts';
import { signedIn } from '../../support/operators.ts';

const shop = openShop({ simulator: true });

/** Makes what is needed before the rule exists; returns what a payer, a merchant or the clock does afterwards. */
type Door = (merchant: Merchant) => Promise<() => Promise<unknown>>;

const first = async (merchant: Merchant, fields: Fields = {}) => {
  const { body } = await shop.sale({ recurring_init: 'Y', ...fields }, merchant);
  expect(body.status).toBe('SETTLED');
  return body;
};

const onPage =
  (methods: string[], form: Fields): Door =>
  async (merchant) => {
    const { url } = await checkoutOf(shop).open({ methods }, merchant);
    return () => fill(url, form);
  };

const DOORS: Readonly<Record<string, Door>> = {
  'a sale over /post': async (merchant) => () => shop.sale({}, merchant),
  'a card over /post': async (merchant) => () => cardSalesOf(shop, () => merchant)(),
  'the payment page': onPage(['vcard'], VCARD.success),
  'a card on the payment page': onPage(['card'], cardForm()),
  async 'a link'({ mid }) {
    const terms = { mid, title: 'Tea', currency: 'USD', amount: '10.00', methods: ['vcard'] };
    const { body } = await shop.admin('POST', '/links', terms);
    return async () => {
      const page = await follow(await fill(shop.url + new URL(body.url).pathname, {}));
      await fill(page.url, VCARD.success);
    };
  },
  async 'a recurring sale'(merchant) {
    const { trans_id, recurring_token } = await first(merchant);
    const order_id = newOrderId();
    const { client_key, password } = merchant;
    return () =>
      shop.post({
        ...{
          action: 'RECURRING_SALE',
          client_key,
          order_id,
          order_amount: '10.00',
          order_description: 'Another month',
        },
        ...{ recurring_first_trans_id: trans_id, recurring_token, hash: sign(password, order_id) },
      });
  },
  async 'a scheduled charge'(merchant) {
    const { client_key, password } = merchant;
    const { body } = await shop.post({
      ...{ action: 'CREATE_SCHEDULE', client_key, hash: sign(password), name: 'Daily' },
      ...{ interval_length: '1', interval_unit: 'day', payments_count: '5' },
    });
    await first(merchant, { schedule_id: body.schedule_id });
    return () => shop.advanceClock(86_400 + 60, merchant.mid);
  },
};

test.each(Object.keys(DOORS))('%s', async (name) => {
  const merchant = await shop.newMerchant({ dialect: { card_sales: true } });
  const payments = async (): Promise<{ payment_id: string; status: string }[]> =>
    (await shop.admin('GET', `/payments?mid=${merchant.mid}`)).body.items;
  const pay = await (DOORS[name] as Door)(merchant);
  const settled = (await payments()).filter(({ status }) => status === 'SETTLED').length;
  const { status, body: rule } = await shop.admin('POST', '/risk/rules', {
    ...{ mid: merchant.mid, name: 'No dollars', state: 'on', action: { kind: 'block' } },
    condition: { field: 'currency', op: '=', value: 'USD' },
  });
  expect(status).toBe(201);
  await pay();
  const declined = async () => (await payments()).find((payment) => payment.status === 'DECLINED')?.payment_id;
  await expect.poll(declined, { timeout: 20_000 }).toBeDefined();
  const payment = await shop.inspect((await declined()) as string);
  expect(payment.decline_reason).toBe("Refused by the merchant's rules.");
  expect(payment.risk).toMatchObject({ decision: 'block', rules: [{ rule_id: rule.rule_id, version: 1 }] });
  expect(payment.provider_calls.filter(({ verb }: { verb: string }) => verb === 'submit')).toEqual([]);
  expect((await payments()).filter((one) => one.status === 'SETTLED')).toHaveLength(settled);
  const owner = await signedIn(shop, 'owner');
  expect((await owner.get(`/admin/payments/${payment.payment_id}`)).text).toContain('<h3>Blocked by No dollars</h3>');
});
