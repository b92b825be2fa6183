/** Series of methods with a name: which providers repeat them, and with what they do so. */
import { randomUUID } from 'node:crypto';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { type AdyenDouble, startAdyen } from '../doubles/adyen.ts';
import { API_KEY, type MollieDouble, startMollie } from '../doubles/mollie.ts';
import { STRIPE_CREDENTIALS, type StripeDouble, startStripe } from '../doubles/stripe.ts';
import { checkoutOf, choices, newOrder, show } from '../support/checkout.ts';
import { type Merchant, openShop, PROVIDER_POLL } from '../support/gateway.ts';
import { refused, statusAndBody } from '../support/operations.ts';
import { connect, route } from '../support/providers.ts';

const TOKEN_KEY = 'AB'.repeat(32);
const shop = openShop();
const checkout = checkoutOf(shop);
let mollie: MollieDouble;
let stripe: StripeDouble;
let adyen: AdyenDouble;
let connections: Record<'mollie' | 'stripe' | 'page' | 'adyen', string>;

const at = (connector: string, credentials: Record<string, string>, api_base: string): Promise<string> =>
  connect(shop, { credentials }, { connector, settings: { api_base } });

beforeAll(async () => {
  [mollie, stripe, adyen] = await Promise.all([startMollie(), startStripe(), startAdyen()]);
  connections = {
    mollie: await at('mollie', { api_key: API_KEY }, mollie.url),
    stripe: await at('stripe', STRIPE_CREDENTIALS, stripe.url),
    page: await at('stripe-hosted', STRIPE_CREDENTIALS, stripe.url),
    adyen: await at('adyen', { ...adyen.credentials, token_hmac_key: TOKEN_KEY }, adyen.url),
  };
});
afterAll(async () => {
  expect([mollie.violations, stripe.problems, adyen.violations]).toEqual([[], [], []]);
  await Promise.all([mollie.close(), stripe.close(), adyen.close()]);
});

const routedTo = async (...names: (keyof typeof connections)[]): Promise<Merchant> => {
  const merchant = await shop.newMerchant();
  await route(
    shop,
    merchant.mid,
    names.map((name) => ({ connection_id: connections[name] })),
  );
  return merchant;
};
const begin = (brand: string, merchant: Merchant, fields: Record<string, string> = {}) =>
  shop.sale({ brand, identifier: '', order_currency: 'EUR', recurring_init: 'Y', ...fields }, merchant);
const becomes = (id: string, status: string) =>
  expect.poll(async () => (await shop.inspect(id)).status, PROVIDER_POLL).toBe(status);
/** Repeats a payment as the merchant does; returns the id of the repetition. */
async function repeat(first: string, merchant: Merchant): Promise<string> {
  const { recurring_token } = (await checkout.status({ payment_id: first }, merchant)).body;
  expect(recurring_token).toEqual(expect.any(String));
  const repetition = { recurring_init_trans_id: first, recurring_token, order: { ...newOrder(), currency: 'EUR' } };
  return (await checkout.send('payment/recurring', repetition, merchant)).body.payment_id;
}

test.each(['ideal', 'bancontact', 'eps'])('%s through Mollie is repeated as a direct debit', async (brand) => {
  const merchant = await routedTo('mollie');
  const { trans_id: id } = (await begin(brand, merchant)).body;
  const first = mollie.find(id)?.payment;
  expect(first).toMatchObject({ method: brand, sequenceType: 'first', customerId: expect.any(String) });
  mollie.pay(first?.id as string);
  await mollie.notify(first?.id as string);
  await becomes(id, 'SETTLED');
  const repeated = await repeat(id, merchant);
  // The bank takes days.
  expect((await shop.inspect(repeated)).status).toBe('PENDING');
  const debit = mollie.find(repeated)?.payment;
  expect(debit).toMatchObject({ method: 'directdebit', sequenceType: 'recurring', customerId: first?.customerId });
  mollie.finish(debit?.id as string, 'paid' as Parameters<typeof mollie.finish>[1]);
  await mollie.notify(debit?.id as string);
  await becomes(repeated, 'SETTLED');
});

test('iDEAL on the page of Stripe is repeated with the direct debit that Stripe stored', async () => {
  const merchant = await routedTo('page');
  const { body } = await begin('ideal', merchant);
  await show(String(await stripe.pay(body.redirect_url)));
  await becomes(body.trans_id, 'SETTLED');
  const repeated = await repeat(body.trans_id, merchant);
  expect((await shop.inspect(repeated)).status).toBe('PENDING');
  const intent = stripe.intentOf(repeated);
  expect(intent?.status).toBe('processing');
  expect(intent?.payment_method).not.toBe(stripe.intentOf(body.trans_id)?.payment_method);
});

describe('through Adyen', () => {
  const post = async (
    { headers = {}, body }: { headers?: Record<string, string>; body: Buffer },
    connection = connections.adyen,
  ): Promise<number> => {
    const url = `${shop.url}/inbound/adyen/${connection}`;
    return (await fetch(url, { method: 'POST', headers, body: new Uint8Array(body) })).status;
  };
  const deliver = async (body: Buffer = Buffer.from('')): Promise<void> => expect(await post({ body })).toBe(200);
  /** The first payment of a series, after its payer has paid; returns its id and the webhooks of Adyen. */
  const paid = async (brand: string, merchant: Merchant, fields: Record<string, string>) => {
    adyen.webhooks();
    const { trans_id: id } = (await begin(brand, merchant, fields)).body;
    const [row] = await shop.rows(`select next_step ->> 'url' as url from payments where payment_id = '${id}'`);
    if (row?.url) adyen.decide(String(row.url));
    const [authorised, stored] = adyen.webhooks();
    await deliver(authorised?.body);
    await becomes(id, 'SETTLED');
    return { id: id as string, stored };
  };
  const DEBIT = { 'parameters[iban]': 'DE89370400440532013000', payer_first_name: 'Asha', payer_last_name: 'Rao' };

  test.each<[string, Record<string, string>]>([
    ['sepa-debit', DEBIT],
    ['ideal', {}],
  ])('%s is repeated as a direct debit, with the token that a webhook brings', async (brand, fields) => {
    const merchant = await routedTo('adyen');
    const { id, stored } = await paid(brand, merchant, fields);
    expect((await shop.inspect(await repeat(id, merchant))).status).toBe('DECLINED');
    await deliver(stored?.body);
    expect((await shop.events(id)).at(-1)).toBe('stored');
    const repeated = await repeat(id, merchant);
    expect(adyen.calls.at(-1)?.body).toMatchObject({
      paymentMethod: { type: 'sepadirectdebit', storedPaymentMethodId: expect.stringMatching(/^TOKEN/) },
      shopperReference: id,
      shopperInteraction: 'ContAuth',
      recurringProcessingModel: 'UnscheduledCardOnFile',
    });
    await becomes(repeated, 'SETTLED');
    expect(adyen.balance(repeated)).toBe(BigInt(adyen.payment(repeated)?.amount.value ?? -1));
  });

  test('the token may come by a webhook of its own, with a key of its own', async () => {
    const merchant = await routedTo('adyen');
    const { id } = await paid('ideal', merchant, {});
    expect(await post(adyen.tokenWebhook(id, adyen.credentials.hmac_key))).not.toBe(200);
    expect(await post({ ...adyen.tokenWebhook(id, TOKEN_KEY), headers: { hmacsignature: '' } })).not.toBe(200);
    expect(await post(adyen.tokenWebhook(id, TOKEN_KEY, 'recurring.token.updated'))).toBe(200);
    expect(await shop.events(id)).not.toContain('stored');
    for (const _ of ['first', 'repeated']) expect(await post(adyen.tokenWebhook(id, TOKEN_KEY))).toBe(200);
    expect((await shop.events(id)).filter((event) => event === 'stored')).toHaveLength(1);
    await becomes(await repeat(id, merchant), 'SETTLED');
    expect(await post(adyen.tokenWebhook(id, TOKEN_KEY, 'recurring.token.ofTheFuture'))).toBe(200);
    expect((await shop.inspect(id)).attention).toBe('unresolved');
  });

  test('the token of its own webhook is also found if Adyen took the payment over from another provider', async () => {
    const merchant = await routedTo('mollie', 'adyen');
    mollie.fault('error_500');
    const { id } = await paid('ideal', merchant, {});
    expect(adyen.payment(`${id}-2`)?.reference).toBe(`${id}-2`);
    expect(await post(adyen.tokenWebhook(`${id}-2`, TOKEN_KEY))).toBe(200);
    expect((await shop.events(id)).at(-1)).toBe('stored');
    const repeated = await repeat(id, merchant);
    expect(adyen.calls.at(-1)?.body).toMatchObject({
      paymentMethod: { storedPaymentMethodId: expect.stringMatching(/^TOKEN/) },
      shopperReference: id,
    });
    await becomes(repeated, 'SETTLED');
  });

  test('a token that another account at Adyen reports is not stored', async () => {
    const merchant = await routedTo('mollie', 'adyen');
    mollie.fault('error_500');
    const { id } = await paid('ideal', merchant, {});
    const other = await at('adyen', { ...adyen.credentials, token_hmac_key: TOKEN_KEY }, adyen.url);
    expect(await post(adyen.tokenWebhook(`${id}-2`, TOKEN_KEY), other)).toBe(200);
    expect(await shop.events(id)).not.toContain('stored');
  });

  test('a token that is signed with the former key while the key is changed is accepted', async () => {
    const [former, present] = ['0F'.repeat(32), '0E'.repeat(32)];
    const credentials = { ...adyen.credentials, token_hmac_key: present };
    const changed = await at('adyen', credentials, adyen.url);
    const webhook = adyen.tokenWebhook(randomUUID(), former);
    expect(await post(webhook, changed)).toBe(401);
    const former_token_hmac_key = former;
    await shop.admin('PATCH', `/connections/${changed}`, { credentials: { former_token_hmac_key } });
    expect(await post(webhook, changed)).toBe(200);
    expect(await post(adyen.tokenWebhook(randomUUID(), present), changed)).toBe(200);
    await shop.admin('PATCH', `/connections/${changed}`, { credentials: { former_token_hmac_key: '' } });
    expect(await post(webhook, changed)).toBe(401);
  });

  test('a token that arrives after the erasure of its payer is not stored', async () => {
    const { id, stored } = await paid('sepa-debit', await routedTo('adyen'), DEBIT);
    const erased = await shop.admin('POST', `/payments/${id}/erase`, {});
    expect(erased.status, JSON.stringify(erased.body)).toBe(200);
    await deliver(stored?.body);
    expect((await shop.inspect(id)).notifications.at(-1)).toMatchObject({ state: 'applied' });
    expect(await shop.events(id)).not.toContain('stored');
  });
});

describe('a provider that cannot repeat a method', () => {
  test('does not get a series; one that can does', async () => {
    const { body } = await begin('ideal', await routedTo('stripe', 'mollie'), {});
    expect(mollie.find(body.trans_id)?.payment).toMatchObject({ method: 'ideal' });
    const once = await shop.sale(
      { brand: 'ideal', identifier: '', order_currency: 'EUR' },
      await routedTo('stripe', 'mollie'),
    );
    expect(stripe.intentOf(once.body.trans_id)).toBeDefined();
  });

  test('leaves none: the sale is refused, and the page does not offer the method', async () => {
    const merchant = await routedTo('stripe');
    expect(await statusAndBody(begin('ideal', merchant))).toMatchObject(
      refused('invalidData', 'recurring_init: The value you selected is not a valid choice.'),
    );
    const offered = async (recurring_init: boolean): Promise<string[]> => {
      const { url } = await checkout.open({ recurring_init, order: { currency: 'EUR' } }, merchant);
      return choices((await show(url)).text);
    };
    expect(await offered(false)).toContain('ideal');
    const ofSeries = await offered(true);
    expect(ofSeries).not.toContain('ideal');
    expect(ofSeries).toContain('sepa-debit');
  });
});
