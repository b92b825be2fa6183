/** A late success of a payment of a link or an invoice is accepted only if nobody else has paid, and the invoice is not void. */
import { afterAll, expect, test, vi } from 'vitest';
import { receiveNotifications } from '../../../src/core/payments/notifications.ts';
import { verifyAt } from '../../../src/store/installation/verify.ts';
import { fill, follow, VCARD } from '../../support/checkout.ts';
import { type Answer, openShop } from '../../support/gateway.ts';
import { scriptProvider } from '../../support/scripted-provider.ts';

const provider = scriptProvider();
const shop = openShop({ connectors: { vcard: provider.connector } });

const TERMS = { currency: 'USD', methods: ['vcard'] };
const newLink = (terms: object = {}) =>
  shop.admin('POST', '/links', { mid: shop.merchant.mid, ...TERMS, title: 'A teapot', amount: '10.00', ...terms });
const newInvoice = () =>
  shop.admin('POST', '/invoices', {
    mid: shop.merchant.mid,
    currency: 'USD',
    lines: [{ description: 'A teapot', quantity: '1', unit_amount: '10.00', tax_percent: '0' }],
    payer: { name: 'Ana Petrovic', email: 'ana@example.com' },
    due_on: '2099-01-31',
  });

const begin = async ({ body }: Answer) => follow(await fill(shop.url + new URL(body.url).pathname, {}));

/** A payment that was declined, and that the provider reports as paid afterwards. */
async function lateSuccess(offer: Answer): Promise<string> {
  provider.does({ submit: () => ({ kind: 'declined', reason: 'No.' }) });
  await fill((await begin(offer)).url, VCARD.success);
  provider.does({});
  const [{ payment_id: reference }] = (await shop.admin('GET', '/payments?status=DECLINED&limit=1')).body.items;
  const body = { reference, type: 'payment', status: 'settled', amount: '1000', currency: 'USD' };
  await receiveNotifications(shop.gateway, 'vcard', [{ eventId: `${reference} settled`, reference, body }]);
  expect((await shop.inspect(reference)).attention).toBe('late_success');
  return reference;
}

const accept = async (id: string) => {
  const { status, body } = await shop.admin('POST', `/payments/${id}/attention`, { resolve: 'accept' });
  return [status, body.errors?.[0].error_message ?? body.status];
};
const REFUSED = [
  400,
  'resolve: The link or the invoice of this payment was paid by another one, or the invoice is void. Refund this one.',
];
const paymentsOf = async ({ body }: Answer) =>
  (await shop.admin('GET', `/${body.link_id ? 'links' : 'invoices'}/${body.link_id ?? body.invoice_id}`)).body;

afterAll(async () => {
  expect((await verifyAt(shop.connection)).violations).toEqual([]);
});

test.each([
  ['a link for one use', newLink],
  ['an invoice', newInvoice],
])('of %s that another payment has paid is refused', async (_name, make) => {
  const offer = await make();
  const id = await lateSuccess(offer);
  await fill((await begin(offer)).url, VCARD.success);
  expect(await accept(id)).toEqual(REFUSED);
  const refunded = await shop.admin('POST', `/payments/${id}/attention`, { resolve: 'refund' });
  expect(refunded.body).toMatchObject({ status: 'DECLINED', attention: null });
});

test('of a link with a use left is accepted, and uses it up', async () => {
  const offer = await newLink({ uses: 2 });
  const id = await lateSuccess(offer);
  const open = await begin(offer);
  await fill((await begin(offer)).url, VCARD.success);
  expect(await accept(id)).toEqual([200, 'SETTLED']);
  expect(await paymentsOf(offer)).toMatchObject({ state: 'used_up', payments: 2, captured: '20.00' });
  expect((await follow(await fill(open.url, VCARD.success))).text).toContain('This was paid already');
});

test('of a link that was switched off is accepted, and of a void invoice it is refused', async () => {
  const [link, invoice] = [await newLink(), await newInvoice()];
  const [ofLink, ofInvoice] = [await lateSuccess(link), await lateSuccess(invoice)];
  await shop.admin('PATCH', `/links/${link.body.link_id}`, { state: 'inactive' });
  expect((await shop.admin('POST', `/invoices/${invoice.body.invoice_id}/void`)).status).toBe(200);
  expect(await accept(ofLink)).toEqual([200, 'SETTLED']);
  expect(await accept(ofInvoice)).toEqual(REFUSED);
});

test('is refused by the database if somebody pays between the check and the decision', async () => {
  const offer = await newLink();
  const id = await lateSuccess(offer);
  const { mayClaim } = shop.gateway.begunOrders;
  vi.spyOn(shop.gateway.begunOrders, 'mayClaim').mockImplementationOnce(async (order) => {
    const claim = await mayClaim(order);
    await fill((await begin(offer)).url, VCARD.success);
    return claim;
  });
  expect(await accept(id)).toEqual(REFUSED);
  expect(await paymentsOf(offer)).toMatchObject({ payments: 1, captured: '10.00' });
});
