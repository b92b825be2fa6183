/** Refusals that teach: each entry names the field, what is expected and a section of the docs. */
import { test } from 'vitest';
import { newOrderId, openShop, saleFields } from '../support/gateway.ts';
import { sessionFields } from '../support/checkout.ts';

const shop = openShop({ simulator: true });
const ask = async (path: string, body: unknown) => (await (await fetch(`${shop.url}/api/v1/${path}`, { method: 'POST', headers: { 'content-type': 'application/json' }, body: JSON.stringify(body) })).json());
test('print', async () => {
  const out = (x: unknown) => console.log(JSON.stringify(x, null, 1));
  out((await shop.sale({ order_amount: '10', order_currency: 'USD', return_url: '', returnUrl: 'https://a.example', payer_ip: 'x' } as never)).body);
  out((await shop.sale({ hash: 'a'.repeat(40) })).body);
  out((await shop.post({ ...saleFields(shop.merchant), client_key: shop.merchant.merchant_key })).body);
  out((await shop.post({ ...saleFields(shop.merchant), client_key: 'live_abc' })).body);
  const { client_key, ...rest } = saleFields(shop.merchant);
  out((await shop.post({ ...rest, merchant_key: client_key })).body);
  out((await shop.sale({ brand: 'upi_a' })).body);
  out((await shop.sale({ brand: 'payout-a', 'parameters[SecurityQuestion]': 'Who' })).body);
  const s = sessionFields(shop.merchant, { });
  out(s);
  out(await ask('session', { ...s, methods: ['crad'] }));
  out(await ask('session', { ...s, methods: ['ips'] }));
  out(await ask('session', { ...s, canel_url: 'https://a.example', methods: ['ips', 'card', 'foo'], parameters: { 'upi-a': { upi_ID: 'x' } } }));
  out(await ask('session', { ...s, order: { ...(s.order as object), amount: 10 } }));
  out(await ask('session', { ...s, order: { ...(s.order as object), number: undefined }, orderNumber: newOrderId() }));
  out((await shop.admin('GET', '/payments?stat=SETTLED&limit=0&status=x')).body);
  out((await shop.admin('POST', '/accounts', { name: 'x', refund_allowed: true, refunds_allowed: 1 })).body);
});
