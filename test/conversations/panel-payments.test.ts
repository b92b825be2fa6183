/** The list of payments and its tools in the panel: saved filters, receipts, links to copy, and the export. */
import { beforeAll, describe, expect, test } from 'vitest';
import { checkoutOf } from '../support/checkout.ts';
import { openShop } from '../support/gateway.ts';
import { operationsOf } from '../support/operations.ts';
import { signedIn, type TestOperator } from '../support/operators.ts';

const shop = openShop({ simulator: true });
const at = operationsOf(shop);

let viewer: TestOperator;
beforeAll(async () => {
  viewer = await signedIn(shop, 'viewer');
});

describe('a saved filter', () => {
  const save = (operator: TestOperator, name: string, query = 'status=DECLINED') =>
    operator.submit('/admin/payments/filters', { name, query });
  const tabsOf = async (operator: TestOperator, query = ''): Promise<string[]> =>
    [
      ...(await operator.get(`/admin/payments${query}`)).text.matchAll(
        /<li( class="active")?><a href="(\/admin\/payments[^"]*)"[^>]*>([^<]+)<\/a>/g,
      ),
    ]
      .filter(([, , href]) => href?.includes('?'))
      .map(([, isActive, href, name]) => `${name} ${href}${isActive ? ' active' : ''}`);

  test('is a tab of the operator who saved it, until it is deleted', async () => {
    const other = await signedIn(shop, 'viewer');
    const query = 'cursor=x&status=DECLINED&brand=vcard&nonsense=1&q=a+%26b';
    expect(await save(viewer, ' Declined <b>', query)).toMatchObject({
      status: 303,
      location: '/admin/payments?q=a+%26b&status=DECLINED&brand=vcard',
    });
    const href = '/admin/payments?q=a+%26b&amp;status=DECLINED&amp;brand=vcard';
    expect(await tabsOf(viewer)).toEqual([`Declined &lt;b&gt; ${href}`]);
    expect(await tabsOf(viewer, '?brand=vcard&q=a+%26b&status=DECLINED')).toEqual([
      `Declined &lt;b&gt; ${href} active`,
    ]);
    expect(await tabsOf(other)).toEqual([]);
    expect((await other.submit('/admin/payments/filters/delete', { name: 'Declined <b>' })).status).toBe(303);
    expect(await tabsOf(viewer)).toHaveLength(1);
    await save(viewer, 'Declined <b>', 'status=SETTLED');
    expect(await tabsOf(viewer)).toEqual(['Declined &lt;b&gt; /admin/payments?status=SETTLED']);
    const { location } = await viewer.submit('/admin/payments/filters/delete', { name: 'Declined <b>', query });
    expect(location).toBe('/admin/payments?q=a+%26b&status=DECLINED&brand=vcard');
    expect(await tabsOf(viewer)).toEqual([]);
    const { items } = (await shop.admin('GET', '/audit?action=filters.save')).body;
    expect(JSON.stringify(items)).not.toContain('%26');
  });

  test.each([
    ['', 'status=DECLINED', 'Enter a name of 60 characters or less.'],
    ['  ', 'status=DECLINED', 'Enter a name of 60 characters or less.'],
    ['x'.repeat(61), 'status=DECLINED', 'Enter a name of 60 characters or less.'],
    ['a\u0007b', 'status=DECLINED', 'Enter a name of 60 characters or less.'],
    ['', '', 'Enter a name of 60 characters or less.'],
    ['Nothing', 'cursor=1', 'Choose a filter first.'],
    ['Long', `q=${'x'.repeat(2000)}`, 'These filters are too long to be saved.'],
  ])('with the name %j and the query %j is refused', async (name, query, sentence) => {
    const { status, text } = await save(viewer, name, query);
    expect(status).toBe(400);
    expect(text).toContain(`id="name-error">${sentence}`);
    expect(await tabsOf(viewer)).toEqual([]);
  });

  test('is one of 20', async () => {
    const busy = await signedIn(shop, 'support');
    const saved = await Promise.all(Array.from({ length: 22 }, (_, index) => save(busy, `Filter ${index}`)));
    expect(saved.filter(({ status }) => status === 303)).toHaveLength(20);
    expect(await tabsOf(busy)).toHaveLength(20);
    expect((await save(busy, 'One more')).text).toContain('Delete a filter first: 20 can be saved.');
    const [first = ''] = await tabsOf(busy);
    expect((await save(busy, first.replace(/ \/.*/, ''), 'status=SETTLED')).status).toBe(303);
  });
});

describe('a receipt', () => {
  test('has the shop, the order, and the amounts with their dates', async () => {
    const merchant = await shop.newMerchant({ branding: { name: 'Tea & Sons' } });
    const { trans_id: id } = (await shop.sale({ order_amount: '25.50', order_id: 'tea-1' }, merchant)).body;
    await at.send('CREDITVOID', id, { amount: '5.25' }, merchant);
    const { status, text } = await viewer.get(`/admin/payments/${id}/receipt`);
    expect(status).toBe(200);
    const receipt = /<article class="card receipt">(.*)<\/article>/s.exec(text)?.[1] ?? '';
    const plain = receipt.replaceAll(/<[^>]+>/g, ' ').replaceAll(/\s+/g, ' ');
    for (const part of ['Tea &amp; Sons', 'tea-1', 'USD 25.50', 'Test payment', id]) expect(plain).toContain(part);
    expect(plain).toMatch(/Paid USD 25\.50 \d{4}-\d\d-\d\d .* Refunded USD 5\.25 \d{4}-\d\d-\d\d .* Total USD 20\.25/);
    expect((await viewer.get(`/admin/payments/${id}`)).text).toContain(`href="/admin/payments/${id}/receipt"`);
    const other = await signedIn(shop, 'merchant', [shop.merchant.mid]);
    expect((await other.get(`/admin/payments/${id}/receipt`)).status).toBe(404);
  });

  test('of a card payment has the masked number only', async () => {
    const { id } = await checkoutOf(shop).paidByCard();
    const { text } = await viewer.get(`/admin/payments/${id}/receipt`);
    expect(text).toContain('411111******1111');
    expect(text).not.toContain('4111111111111111');
  });

  test('of a declined payment says so and has no amounts', async () => {
    const { trans_id: id } = (await shop.sale({ identifier: 'decline@example.com' })).body;
    const { text } = await viewer.get(`/admin/payments/${id}/receipt`);
    expect(text).toContain('Not paid: declined');
    expect(text).not.toContain('class="total"');
  });
});

test('the link to copy has the filters, and no page or other parameter', async () => {
  const { trans_id: id } = (await shop.sale()).body;
  const copied = async (path: string) =>
    /data-copy-link="([^"]+)"/.exec((await viewer.get(path)).text)?.[1]?.replaceAll('&amp;', '&');
  expect(await copied(`/admin/payments?status=SETTLED&cursor=${id}&x=1&brand=vcard`)).toBe(
    '/admin/payments?status=SETTLED&brand=vcard',
  );
  expect(await copied(`/admin/payments/${id}?done=1`)).toBe(`/admin/payments/${id}`);
});

describe('an export', () => {
  test('tells about how many rows follow where the sums of reports know it', async () => {
    const merchant = await shop.newMerchant();
    for (let index = 0; index < 3; index++) await shop.sale({}, merchant);
    const estimate = async (query: string) =>
      (await viewer.get(`/admin/payments.csv?mid=${merchant.mid}${query}`)).headers.get('x-estimated-rows');
    expect(await estimate('')).toBe('3');
    expect(await estimate('&brand=vcard')).toBe('3');
    expect(await estimate('&brand=pin-a')).toBe('0');
    expect(await estimate('&from=2020-01-01&to=2020-01-31')).toBe('0');
    for (const other of ['&status=SETTLED', '&q=order', '&attention=conflict'])
      expect(await estimate(other)).toBe(null);
    const scoped = await signedIn(shop, 'merchant', [shop.merchant.mid]);
    const { headers } = await scoped.get(`/admin/payments.csv?mid=${merchant.mid}`);
    expect(headers.get('x-estimated-rows')).toBe('0');
  });
});
