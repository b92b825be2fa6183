/** The lists of money, risk and what merchants make: each of them also as CSV. */
import { beforeAll, expect, test } from 'vitest';
import { type Answer, openShop } from '../support/gateway.ts';

const shop = openShop();

interface Schema {
  $ref?: string;
  properties?: Record<string, unknown>;
}
interface Call {
  tags?: string[];
  responses?: Record<string, { content?: { 'application/json'?: { schema: Schema } } }>;
}
let paths: Record<string, { get?: Call }>;
let schemas: Record<string, Schema>;
beforeAll(async () => {
  const body = (await (await fetch(`${shop.url}/openapi.json`)).json()) as Answer['body'];
  paths = body.paths;
  schemas = body.components.schemas;
});

const OTHERS = /^\/admin\/api\/(links|invoices|operators|telephone-orders)$/;

test('every list has a file', () => {
  const isList = (path: string, { tags = [], responses = {} }: Call): boolean => {
    const schema = responses['200']?.content?.['application/json']?.schema;
    const resolved = schema?.$ref ? schemas[schema.$ref.split('/').at(-1) ?? ''] : schema;
    const isMeant = tags.some((tag) => /ledger|prices|settlements|risk/.test(tag)) || OTHERS.test(path);
    return isMeant && resolved?.properties?.items !== undefined;
  };
  const lists = Object.keys(paths).filter((path) => paths[path]?.get && isList(path, paths[path].get));
  expect(lists.length).toBeGreaterThan(10);
  expect(lists.filter((path) => !paths[`${path}.csv`])).toEqual([]);
});

test('a file has the columns of its list', async () => {
  const { mid } = await shop.newMerchant();
  const terms = { currency: 'EUR', cycle: 'daily', delay_days: 2, reserve: { percent: '5', days: 90 } };
  await shop.admin('PUT', `/accounts/${mid}/settlement-terms`, terms);
  const read = async (path: string): Promise<string[]> => {
    const { status, body, headers } = await shop.admin('GET', path);
    expect([status, headers.get('content-type')]).toEqual([200, 'text/csv; charset=utf-8']);
    return body.split('\r\n');
  };
  const [columns, row] = await read(`/accounts/${mid}/settlement-terms.csv`);
  expect(columns).toBe(
    'currency,cycle,weekday,day,time_zone,cut_off,business_days,delay_days,minimum,reserve_percent,reserve_days,hold,valid_from',
  );
  expect(row).toMatch(/^EUR,daily,,,UTC,00:00,false,2,,5,90,.*,\d{4}-\d\d-\d\d /);
  await shop.admin('PUT', '/holidays', { holidays: [{ day: '2026-12-25', name: 'Christmas Day' }] });
  expect(await read('/holidays.csv')).toEqual(['day,name', '2026-12-25,Christmas Day', '']);
  expect(await read(`/accounts/${mid}/balance.csv`)).toEqual([
    'currency,available,pending,reserve,in_transit,total',
    '',
  ]);
  for (const path of [
    `/accounts/${mid}/bank-account.csv`,
    '/payout-account.csv',
    '/provider-terms.csv',
    '/fee-invoice-issuer.csv',
  ])
    expect(await read(path)).toHaveLength(2);
  const link = { mid, title: 'Tea', currency: 'EUR', amount: '5.00' };
  const { body: made } = await shop.admin('POST', '/links', link);
  expect((await read('/links.csv?state=active'))[1]).toMatch(
    new RegExp(`^${made.link_id},${mid},${made.url},active,Tea,,EUR,5.00,`),
  );
  const { status, body } = await shop.admin('GET', '/invoices.csv?state=lost');
  expect([status, JSON.stringify(body)]).toEqual([400, expect.stringContaining('state')]);
  expect((await read('/operators.csv'))[0]).toContain('email,name,role,mids');
});
