/** Experiment. */
import { afterAll, beforeAll, expect, test } from 'vitest';
import { checkoutOf, choices, fill, follow, inputs, show, VCARD,sessionFields } from '../support/checkout.ts';
import { sign, startTestGateway, type TestGateway } from '../support/gateway.ts';

let shop: TestGateway;
let checkout: ReturnType<typeof checkoutOf>;
beforeAll(async () => {
  shop = await startTestGateway({ outside: true });
  checkout = checkoutOf(shop);
});
afterAll(() => shop.close());

test('poison', async () => {
  for (let n=0;n<3;n++){
  const all = await Promise.all([...Array.from({length: 20}, () => checkout.send('session', sessionFields())), checkout.send('session', sessionFields({ order: { description: 'a\0b' } })), ...Array.from({length: 20}, () => checkout.send('session', sessionFields()))]);
  console.log(all.map(a => a.status).join(' '));
  }
});
test('schedule', async () => {
  const m = await shop.newMerchant();
  const c = await shop.post({ action: 'CREATE_SCHEDULE', client_key: m.client_key, name: 'x', interval_length: '1', interval_unit: 'day', payments_count: '3', hash: sign(m.password) });
  for (const outcome of ['success', 'decline'] as const) {
  const s = await checkout.paid({ recurring_init: true, schedule_id: c.body.schedule_id , methods: ['vcard', 'pin-a']}, m, outcome);
  if (outcome === 'decline') {
    // other method so that identifier is asked: vcard success not possible
    console.log((await show(`${s.url}?method=vcard`)).text.includes('name="identifier"'));
    await shop.gateway; 
  }
  await shop.advanceClock(86400 + 60, m.mid);
  const { body } = await shop.admin('GET', `/payments?mid=${m.mid}`);
  console.log(outcome, body.items.map((i: any) => [i.order_id, i.status, i.brand]));
  }
});
test('second same order, session status', async () => {
  const a = await checkout.paid({ methods: ['vcard', 'doc-a'], recurring_init: true }, shop.merchant, 'decline');
  const r = await fill(a.url, { method: 'doc-a', 'parameters[document_number]': '5' });
  console.log(r.location);
  console.log((await checkout.inspect((await checkout.attempts(a.orderId))[0] as string)));
});
test('bad parameters pin', async () => {
  const a = await checkout.open({ parameters: { 'pin-a': { pin: '1234567812345678' } }, methods: ['pin-a'] });
  console.log(await shop.rows(`select details from payments where payment_id = '${a.id}'`));
  console.log((await fill(a.url, {})).location);
  console.log(JSON.stringify(await shop.rows(`select details from payments where payment_id = '${a.id}'`)));
});
test('none fits', async () => {
  const a = await checkout.open({ methods: ['ips'] });
  console.log((await show(a.url)).text.match(/<h1>.*/));
});
