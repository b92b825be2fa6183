/** Risk lists: what an entry of each kind matches, and refusals that name the entry. */
import { randomBytes } from 'node:crypto';
import { describe, expect, onTestFinished, test } from 'vitest';
import { type Merchant, openShop } from '../../support/gateway.ts';

const shop = openShop();

const newList = async ({ mid }: Merchant, kind: string): Promise<string> =>
  (await shop.admin('POST', '/risk/lists', { mid, name: `A list: ${kind}`, kind })).body.list_id;
const add = (list: string, ...items: object[]) => shop.admin('POST', `/risk/lists/${list}/entries`, { items });

describe('an entry', () => {
  test.each([
    ['email', 'email', 'Jo@Example.com', 'jO@example.COM', 'joe@example.com'],
    ['email_domain', 'email_domain', 'Example.com', 'EXAMPLE.com', 'sub.example.com'],
    ['phone', 'phone', '+49 30 1234567', '+49301234567', '+4930123456'],
    ['country', 'payer_country', 'de', 'DE', 'FR'],
    ['country', 'ip_country', 'DE', 'de', 'AT'],
    ['bin', 'bin', '4111', '41119999', '41200000'],
    ['ip', 'ip', '203.0.113.0/24', '203.0.113.9', '203.0.114.9'],
    ['ip', 'ip', '2001:db8::/32', '2001:db8:1::7', '2001:db9::7'],
    ['card', 'card', 'a'.repeat(64), 'a'.repeat(64), 'b'.repeat(64)],
  ])('of the kind %s, by the field %s: %s matches %s, not %s', async (kind, field, value, listed, other) => {
    const merchant = await shop.newMerchant();
    const list = await newList(merchant, kind);
    expect((await add(list, { value, reason: 'A test' })).status).toBe(201);
    const rule = { name: 'Listed', condition: { field, op: 'in_list', value: list }, action: { kind: 'block' } };
    expect((await shop.admin('POST', '/risk/rules', { ...rule, mid: merchant.mid, state: 'on' })).status).toBe(201);
    const decision = async (fact: string) =>
      (await shop.admin('POST', '/risk/try', { mid: merchant.mid, payment: { [field]: fact } })).body.decision;
    expect([await decision(listed), await decision(other)]).toEqual(['block', 'none']);
  });

  test.each([
    ['email', { value: 'nobody' }, 'items[1].value'],
    ['email_domain', { value: '@example.com' }, 'items[1].value'],
    ['ip', { value: '203.0.113.0/33' }, 'items[1].value'],
    ['bin', { value: '411111111' }, 'items[1].value'],
    ['country', { value: 'XX' }, 'items[1].value'],
    ['card', { value: '4111111111111111' }, 'items[1].value'],
    ['email', {}, 'items[1].value'],
    ['email', { value: 'jo@example.com', expires_at: 'soon' }, 'items[1].expires_at'],
    ['email', { value: 'jo@example.com', reason: 7 }, 'items[1].reason'],
    ['email', { value: 'jo@example.com', reason: 'x'.repeat(256) }, 'items[1].reason'],
  ])('of the kind %s that is not valid is refused with its place: %j', async (kind, wrong, place) => {
    const merchant = await shop.newMerchant();
    const list = await newList(merchant, kind);
    const right: Record<string, string> = {
      ...{ email: 'al@example.com', email_domain: 'example.com', ip: '203.0.113.1', bin: '4111', country: 'DE' },
      card: 'c'.repeat(64),
    };
    const { status, body } = await add(list, { value: right[kind] }, wrong);
    expect([status, body.errors?.[0]?.param]).toEqual([400, place]);
    expect(JSON.stringify(body)).not.toContain('4111111111111111');
    // All or nothing.
    expect((await shop.admin('GET', `/risk/lists/${list}/entries`)).body.items).toEqual([]);
  });
});

test('a domain that is too long for one is refused, as an entry and in what is tried', async () => {
  const merchant = await shop.newMerchant();
  const list = await newList(merchant, 'email_domain');
  // An index takes a long text only if it can be compressed.
  const domain = (labels: number): string =>
    `${Array.from({ length: labels }, () => `a${randomBytes(9).toString('hex')}`).join('.')}.example`;
  const attempt = (email_domain: string) =>
    shop.admin('POST', '/risk/try', { mid: merchant.mid, payment: { email_domain } });
  expect([(await add(list, { value: domain(12) })).status, (await attempt(domain(12))).status]).toEqual([201, 200]);
  for (const labels of [13, 300]) {
    expect((await add(list, { value: domain(labels) })).body.errors?.[0]?.param).toBe('items[0].value');
    expect((await attempt(domain(labels))).body.errors?.[0]?.param).toBe('payment.email_domain');
  }
});

test('a list has a known kind and belongs to an account that the caller sees', async () => {
  const [own, other] = [await shop.newMerchant(), await shop.newMerchant()];
  const wrong = await shop.admin('POST', '/risk/lists', { mid: own.mid, name: 'A list', kind: 'colour' });
  expect([wrong.status, wrong.body.errors[0].param]).toEqual([400, 'kind']);
  const list = await newList(other, 'email');
  const { body: token } = await shop.admin('POST', '/tokens', { name: 'm', role: 'merchant', mids: [own.mid] });
  const as = (method: string, path: string, body?: unknown) => shop.admin(method, path, body, token.token);
  expect((await as('GET', `/risk/lists/${list}/entries`)).status).toBe(404);
  expect((await as('POST', `/risk/lists/${list}/entries`, { items: [{ value: 'jo@example.com' }] })).status).toBe(404);
  expect((await as('DELETE', `/risk/lists/${list}`)).status).toBe(404);
  const rule = {
    ...{ mid: own.mid, name: 'Theirs', action: { kind: 'block' }, state: 'off' },
    condition: { all: [{ field: 'email', op: 'in_list', value: list }] },
  };
  const used = await as('POST', '/risk/rules', rule);
  expect([used.status, used.body.errors[0].param]).toEqual([400, 'condition.all[0].value']);
});

test('an exported list of phone numbers can be imported again', async () => {
  const merchant = await shop.newMerchant();
  const [from, to] = [await newList(merchant, 'phone'), await newList(merchant, 'phone')];
  await add(from, { value: '+49 30 1234567', reason: '=SUM(A1)' });
  const headers = { authorization: 'Bearer a-token-that-is-long-enough-for-the-tests' };
  const path = (list: string) => `${shop.url}/admin/api/risk/lists/${list}/entries.csv`;
  const body = await (await fetch(path(from), { headers })).text();
  const type = { 'content-type': 'text/csv' };
  const imported = await fetch(path(to), { method: 'POST', headers: { ...headers, ...type }, body });
  expect(imported.status).toBe(201);
  const { items } = (await shop.admin('GET', `/risk/lists/${to}/entries`)).body;
  expect(items).toMatchObject([{ value: '+49301234567', reason: '=SUM(A1)' }]);
});

test('a long file is imported and exported in portions, and a wrong line at its end imports nothing', async () => {
  const list = await newList(await shop.newMerchant(), 'email');
  const headers = {
    authorization: 'Bearer a-token-that-is-long-enough-for-the-tests',
    'content-type': 'text/csv',
  };
  const path = `${shop.url}/admin/api/risk/lists/${list}/entries.csv`;
  const send = (lines: readonly string[]) =>
    fetch(path, { method: 'POST', headers, body: ['value,reason', ...lines].join('\n') });
  const lines = Array.from({ length: 12_345 }, (_, index) => `payer-${index}@example.com,Reason ${index}`);
  const wrong = await send([...lines, 'nobody,']);
  expect([wrong.status, await wrong.text()]).toEqual([400, expect.stringContaining('line 12347.value')]);
  expect((await shop.rows(`select from risk_list_entries where list_id = '${list}'`)).length).toBe(0);
  const { riskLists } = shop.gateway;
  const portions: number[] = [];
  shop.gateway.riskLists = {
    ...riskLists,
    importEntries(id, given, audit) {
      async function* counted() {
        for await (const portion of given) {
          portions.push(portion.length);
          yield portion;
        }
      }
      return riskLists.importEntries(id, counted(), audit);
    },
    async entries(...given) {
      portions.push(given[1]);
      return riskLists.entries(...given);
    },
  };
  onTestFinished(() => {
    shop.gateway.riskLists = riskLists;
  });
  const right = await send(lines);
  expect([right.status, await right.json()]).toEqual([201, { entries: lines.length }]);
  const file = await (await fetch(path, { headers })).text();
  expect(file.trim().split('\r\n').slice(1).toSorted()).toEqual(lines.map((line) => `${line},`).toSorted());
  expect(Math.max(...portions)).toBeLessThan(lines.length);
});
