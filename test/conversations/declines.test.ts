/** Declines: their class and code, what the sandbox plays, and that a card that must rest is left alone. */
import { afterAll, describe, expect, test } from 'vitest';
import { foldProjections } from '../../src/core/projections/projections.ts';
import { verifyAt } from '../../src/store/installation/verify.ts';
import { declineClasses } from '../../src/store/reports/projection.ts';
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

test('a card that must not be charged again ends its subscription: nothing is charged any more', async () => {
  const merchant = await shop.newMerchant();
  const terms = { name: 'Daily', interval_unit: 'day', interval_length: '1', payments_count: '5' };
  const request = {
    action: 'CREATE_SCHEDULE',
    client_key: merchant.client_key,
    hash: sign(merchant.password),
    ...terms,
  };
  const { schedule_id } = (await shop.post(request)).body;
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

test('a card that must not be charged again: a RECURRING_SALE is declined without a call to the provider', async () => {
  const merchant = await shop.newMerchant();
  const { client_key, mid, password } = merchant;
  const first = (await shop.sale({ recurring_init: 'Y' }, merchant)).body;
  const repeat = async () => {
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
    return shop.inspect(body.trans_id);
  };
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
