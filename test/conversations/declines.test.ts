/** Declines: their class and code, what the sandbox plays, and that a card that must rest is left alone. */
import { afterAll, describe, expect, test } from 'vitest';
import { foldProjections } from '../../src/core/projections/projections.ts';
import { verifyAt } from '../../src/store/installation/verify.ts';
import { declineClasses } from '../../src/store/reports/projection.ts';
import { cardForm, checkoutOf, fill } from '../support/checkout.ts';
import { cardSalesOf } from '../support/dialect.ts';
import { type Merchant, newOrderId, openShop, sign } from '../support/gateway.ts';
import { brandSale, operationsOf, refused, statusAndBody } from '../support/operations.ts';

const shop = openShop({ simulator: true });
const at = operationsOf(shop);

afterAll(async () => {
  expect((await verifyAt(shop.connection)).violations).toEqual([]);
});

const declinedBy = async (brand: string, fault: Record<string, unknown>, merchant: Merchant = shop.merchant) => {
  await at.fault('decline', { mid: merchant.mid, brand, ...fault });
  const { body } = await shop.post(brandSale(brand, merchant));
  expect(body).toMatchObject({ result: 'DECLINED', status: 'DECLINED' });
  return shop.inspect(body.trans_id);
};

/** From the published meaning of the codes, written by hand. */
const CLASSES: [code: string, advice: string | undefined, declineClass: string][] = [
  ['05', undefined, 'other'],
  ['57', undefined, 'other'],
  ['14', undefined, 'new_card'],
  ['15', undefined, 'new_card'],
  ['54', undefined, 'new_card'],
  ['04', undefined, 'never'],
  ['07', undefined, 'never'],
  ['41', undefined, 'never'],
  ['43', undefined, 'never'],
  ['46', undefined, 'never'],
  ['R0', undefined, 'never'],
  ['R1', undefined, 'never'],
  ['R3', undefined, 'never'],
  ['51', undefined, 'funds'],
  ['61', undefined, 'funds'],
  ['65', undefined, 'funds'],
  ['65', 'authenticate', 'authenticate'],
  ['19', undefined, 'technical'],
  ['91', undefined, 'technical'],
  ['92', undefined, 'technical'],
  ['96', undefined, 'technical'],
  ['1A', undefined, 'authenticate'],
  ['51', '03', 'never'],
  ['05', '21', 'never'],
  ['51', '24', 'funds'],
];

describe.each(['vcard', 'pin-a'])('a decline of %s', (brand) => {
  test.each(CLASSES)('by the code %s with the advice %s has the class %s', async (code, advice, decline_class) => {
    expect(await declinedBy(brand, { code, ...(advice && { advice }) })).toMatchObject({
      decline_class,
      decline_code: code,
    });
  });

  test('is the class of the payment in lists, and null for other payments', async () => {
    const { payment_id } = await declinedBy(brand, { code: '51' });
    const listed = async (id: string) =>
      (await shop.admin('GET', `/payments?mid=${shop.merchant.mid}&q=${id}`)).body.items[0];
    expect(await listed(payment_id)).toMatchObject({ decline_class: 'funds', decline_code: '51' });
    const paid = await at.sale(brand, shop.merchant, {}, 'SETTLED');
    expect(await shop.inspect(paid)).toMatchObject({ decline_class: null, decline_code: null });
  });
});

test('a technical decline does not count as declined for risk rules, nor in their back-tests', async () => {
  const merchant = await shop.newMerchant();
  const velocity = { measure: 'count', by: ['email'], within: '1h', outcome: 'declined' };
  const rule = { name: 'Declined', action: { kind: 'block' }, condition: { velocity, op: '>=', value: 1 } };
  await shop.admin('POST', '/risk/rules', { ...rule, mid: merchant.mid, state: 'on' });
  const decline = async (code: string) => {
    await at.fault('decline', { mid: merchant.mid, brand: 'vcard', code });
    const { body } = await shop.sale({ payer_email: 'jo@example.com' }, merchant);
    return (await shop.inspect(body.trans_id)).decline_class;
  };
  expect([await decline('91'), await decline('51')]).toEqual(['technical', 'funds']);
  const [from, to] = [-1, 1].map((days) => new Date(Date.now() + days * 86_400_000).toISOString());
  const { body } = await shop.admin('POST', '/risk/back-tests', { rule, mid: merchant.mid, from, to });
  const result = async () => (await shop.admin('GET', `/risk/back-tests/${body.back_test_id}`)).body;
  await expect.poll(async () => (await result()).state).toBe('done');
  expect(await result()).toMatchObject({ seen: 2, hits: 0 });
});

test('a decline without a code has the class other', async () => {
  const { body } = await shop.sale({ identifier: 'decline@example.com' });
  expect(await shop.inspect(body.trans_id)).toMatchObject({ decline_class: 'other', decline_code: null });
});

test.each([
  [{ mode: 'decline', code: '5' }, 'code: The value you selected is not a valid choice.'],
  [{ mode: 'decline', advice: 'x' }, 'advice: The value you selected is not a valid choice.'],
  [{ mode: 'error_500', code: '51' }, 'code: Only the mode decline has this value.'],
])('the fault %j is refused', async (fault, entry) => {
  expect(await statusAndBody(shop.sandbox('POST', '/faults', fault))).toEqual(refused('invalidData', entry));
});

test('a report counts declines by class', async () => {
  const merchant = await shop.newMerchant();
  await foldProjections(shop.gateway);
  for (const code of ['51', '51', '43']) await declinedBy('vcard', { code }, merchant);
  await shop.sale({}, merchant);
  const { body } = await shop.admin('GET', `/reports?mid=${merchant.mid}&group_by=decline_class,brand`);
  expect(body.items).toMatchObject([
    { decline_class: 'funds', brand: 'vcard', currency: 'USD', declined: 2, settled: 0 },
    { decline_class: 'never', brand: 'vcard', currency: 'USD', declined: 1 },
  ]);
  const csv = (await shop.admin('GET', `/reports.csv?mid=${merchant.mid}&group_by=decline_class`)).body as string;
  expect(csv.split(/\r?\n/)[0]).toContain('decline_class');

  // The same from the sums, together with what they do not contain yet, and from sums that were built again.
  const read = async () => (await shop.admin('GET', `/reports?mid=${merchant.mid}&group_by=decline_class`)).body;
  await foldProjections(shop.gateway);
  expect((await shop.admin('GET', `/reports?mid=${merchant.mid}&group_by=decline_class,brand`)).body).toEqual(body);
  const sums = `select decline_class, declined from rollup_decline_classes
    where mid = '${merchant.mid}' and grain = 'day' order by 1`;
  const stored = [
    { decline_class: 'funds', declined: 2 },
    { decline_class: 'never', declined: 1 },
  ];
  expect(await shop.rows(sums)).toEqual(stored);
  await declinedBy('vcard', { code: '51' }, merchant);
  const after = await read();
  expect(after).toMatchObject({ complete: true, items: [{ decline_class: 'funds', declined: 3 }, { declined: 1 }] });
  expect(await shop.gateway.projections.rebuild(declineClasses)).toBe(true);
  expect(await read()).toMatchObject({ complete: false });
  await foldProjections(shop.gateway);
  expect(await read()).toEqual(after);
  expect((await verifyAt(shop.connection)).violations).toEqual([]);
  await shop.rows('update rollup_decline_classes set declined = declined + 1');
  expect((await verifyAt(shop.connection)).violations).toEqual([
    expect.stringContaining('The table rollup_decline_classes differs from the rows that it adds up'),
  ]);
  await shop.rows('update rollup_decline_classes set declined = declined - 1');
});

async function daily({ client_key, password }: Merchant): Promise<string> {
  const terms = { name: 'Daily', interval_unit: 'day', interval_length: '1', payments_count: '5' };
  const request = { action: 'CREATE_SCHEDULE', client_key, hash: sign(password), ...terms };
  return (await shop.post(request)).body.schedule_id;
}

test('a card that must not be charged again ends its subscription: nothing is charged any more', async () => {
  const merchant = await shop.newMerchant();
  const schedule_id = await daily(merchant);
  await shop.sale({ recurring_init: 'Y', schedule_id }, merchant);
  await at.fault('decline', { mid: merchant.mid, code: '43', count: 1 });
  await shop.advanceClock(10 * 86_400, merchant.mid);
  const { items } = (await shop.admin('GET', `/payments?schedule_id=${schedule_id}`)).body;
  expect(items.map(({ status, decline_class }: Record<string, string>) => [status, decline_class])).toEqual([
    ['DECLINED', 'never'],
    ['SETTLED', null],
  ]);
  const [schedule] = (await shop.admin('GET', `/schedules?mid=${merchant.mid}`)).body.items;
  expect(schedule.subscriptions).toMatchObject([{ state: 'ended', reason: 'card_refused' }]);
});

const recurringSale = async (
  { client_key, password }: Merchant,
  first: { trans_id: string; recurring_token: string },
) => {
  const order_id = newOrderId();
  const { body } = await shop.post({
    action: 'RECURRING_SALE',
    client_key,
    order_id,
    order_amount: '10.00',
    order_description: 'Another month',
    recurring_first_trans_id: first.trans_id,
    recurring_token: first.recurring_token,
    hash: sign(password, order_id),
  });
  return body;
};

test('a card that must not be charged again: a RECURRING_SALE is declined without a call to the provider', async () => {
  const merchant = await shop.newMerchant();
  const { mid } = merchant;
  const first = (await shop.sale({ recurring_init: 'Y' }, merchant)).body;
  const repeat = async () => shop.inspect((await recurringSale(merchant, first)).trans_id);
  expect(await repeat()).toMatchObject({ status: 'SETTLED' });
  await at.fault('decline', { mid, code: '51', count: 1 });
  expect(await repeat()).toMatchObject({ status: 'DECLINED', decline_class: 'funds' });
  expect(await repeat()).toMatchObject({ status: 'SETTLED' });
  await at.fault('decline', { mid, code: '43', count: 1 });
  expect(await repeat()).toMatchObject({ status: 'DECLINED', decline_class: 'never' });
  const refusedLater = await repeat();
  expect(refusedLater).toMatchObject({
    status: 'DECLINED',
    decline_class: 'never',
    decline_reason: 'The card must not be charged again.',
    provider_calls: [],
  });
});

describe('a card that another sale may not charge any more', () => {
  const MUST_REST = { status: 'DECLINED', decline_reason: 'The card must not be charged again.', provider_calls: [] };

  test('is not charged by the series that began before, but by one that begins later', async () => {
    const merchant = await shop.newMerchant({ dialect: { card_sales: true } });
    const sell = cardSalesOf(shop, () => merchant);
    const first = (await sell({ recurring_init: 'Y' })).body;
    const other = (await sell({ recurring_init: 'Y', card_number: '5555555555554444' })).body;
    await at.fault('decline', { mid: merchant.mid, code: '41', count: 1 });
    const refusedSale = (await sell({ recurring_init: 'Y' })).body;
    expect(refusedSale).toMatchObject({ status: 'DECLINED' });
    expect(refusedSale).not.toHaveProperty('recurring_token');

    const repeated = async (pair: typeof first) => shop.inspect((await recurringSale(merchant, pair)).trans_id);
    expect(await repeated(first)).toMatchObject(MUST_REST);
    expect(await repeated(other)).toMatchObject({ status: 'SETTLED' });
    await shop.advanceClock(60, merchant.mid);
    expect(await repeated((await sell({ recurring_init: 'Y' })).body)).toMatchObject({ status: 'SETTLED' });
    expect(await repeated(first)).toMatchObject(MUST_REST);
  });

  test('is not charged by a schedule either', async () => {
    const merchant = await shop.newMerchant({ dialect: { card_sales: true } });
    const sell = cardSalesOf(shop, () => merchant);
    const schedule_id = await daily(merchant);
    await sell({ recurring_init: 'Y', schedule_id });
    await at.fault('decline', { mid: merchant.mid, code: '43', count: 1 });
    await sell();
    await shop.advanceClock(3 * 86_400, merchant.mid);
    const [charge] = (await shop.admin('GET', `/payments?schedule_id=${schedule_id}`)).body.items;
    expect(await shop.inspect(charge.payment_id)).toMatchObject(MUST_REST);
    const [schedule] = (await shop.admin('GET', `/schedules?mid=${merchant.mid}`)).body.items;
    expect(schedule.subscriptions).toMatchObject([{ state: 'ended', reason: 'card_refused' }]);
  });
});

test('an authorisation that is declined later begins no series, and its card is erased', async () => {
  const merchant = await shop.newMerchant({ dialect: { card_sales: true } });
  const first = (await cardSalesOf(shop, () => merchant)({ recurring_init: 'Y', auth: 'Y' })).body;
  expect(first).toMatchObject({ status: 'PENDING', recurring_token: expect.any(String) });
  await at.control(first.trans_id, { provider_status: 'rejected' });
  await at.becomes(first.trans_id, 'DECLINED');
  expect((await shop.status(first.trans_id, merchant)).body).not.toHaveProperty('recurring_token');
  expect(await recurringSale(merchant, first)).toMatchObject({ error_message: 'Incorrect transaction' });
  expect(await shop.rows(`select sealed from cards where payment_id = '${first.trans_id}'`)).toEqual([
    { sealed: null },
  ]);
});

test('the series of a session begins with the card that paid, not with the one that was declined', async () => {
  const merchant = await shop.newMerchant({ card_tries_per_session: 0 });
  const checkout = checkoutOf(shop);
  const { url, id, orderId } = await checkout.open({ methods: ['card'], recurring_init: true }, merchant);
  await at.fault('decline', { mid: merchant.mid, code: '41', count: 1 });
  await fill(url, cardForm({ card_number: '5555555555554444' }));
  expect(await checkout.stateOf(id, merchant)).toBe('decline');
  await fill(url, cardForm());
  const { body } = await checkout.status({ order_id: orderId, size: 5 }, merchant);
  expect(body.map(({ status, recurring_token }: Record<string, string>) => [status, typeof recurring_token])).toEqual([
    ['settled', 'string'],
    ['decline', 'undefined'],
  ]);
  const pair = { trans_id: body[0].payment_id, recurring_token: body[0].recurring_token };
  expect(await recurringSale(merchant, pair)).toMatchObject({ status: 'SETTLED' });
  const wrong = { trans_id: body[1].payment_id, recurring_token: body[0].recurring_token };
  expect(await recurringSale(merchant, wrong)).toMatchObject({ error_message: 'Incorrect transaction' });
});
