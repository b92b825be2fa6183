/** Price plans over the admin API: versions, assignments, quotes, refusals that name the field, and who sees what. */
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import pg from 'pg';
import { describe, expect, test } from 'vitest';
import { readVersion } from '../../src/rules/price-plans.ts';
import { feesOf } from '../../src/rules/pricing.ts';
import { types } from '../../src/store/database/database.ts';
import { keepPrices, readAssignments } from '../../src/store/prices/assignments.ts';
import { type Merchant, openShop } from '../support/gateway.ts';
import { connect, openProviders, type TestProvider } from '../support/providers.ts';

const shop = openShop();
const providers = openProviders(1);

type Body = Record<string, unknown>;

const fieldsOf = (answer: { body: { errors: { error_message: string }[] } }): string[] =>
  answer.body.errors.map(({ error_message }) => error_message.split(':')[0] as string);
const tokenFor = async (role: string, mids?: string[]): Promise<string> =>
  (await shop.admin('POST', '/tokens', { name: role, role, ...(mids && { mids }) })).body.token;

async function newPlan(side: 'sell' | 'buy' = 'sell', name = 'Standard'): Promise<string> {
  const created = await shop.admin('POST', '/price-plans', { name, side });
  expect(created.status).toBe(201);
  return created.body.plan_id;
}

const addVersion = (planId: string, body: Body) => shop.admin('POST', `/price-plans/${planId}/versions`, body);

const SALE = { event: 'sale', currencies: ['EUR'], percent: '2.9', fixed: '0.30' };
const QUOTED = { event: 'sale', brand: 'card', network: 'visa', currency: 'EUR', amount: '100.00' };
const quote = async (planId: string, changes: Body = {}) =>
  (await shop.admin('POST', `/price-plans/${planId}/quote`, { ...QUOTED, ...changes })).body;

/** The date so many days from now, by the clock of the sandbox. */
async function dayFromNow(days: number): Promise<string> {
  const { now } = (await shop.admin('GET', '/clock')).body;
  return new Date(Date.parse(`${now.replace(' ', 'T')}Z`) + days * 86_400_000).toISOString().slice(0, 10);
}

describe('a price plan', () => {
  test('is created, listed and read with its versions', async () => {
    await newPlan();
    const plan_id = await newPlan('sell', 'Shops in Europe');
    const added = await addVersion(plan_id, { tax_percent: '20', refund_policy: 'proportional', lines: [SALE] });
    expect(added.status).toBe(201);
    const line = { ...SALE, brands: [], networks: [], connectors: [], min_amount: null, max_amount: null };
    const version = {
      version: 1,
      valid_from: expect.stringMatching(/^\d{4}-\d\d-\d\d \d\d:\d\d:\d\d$/),
      refund_policy: 'proportional',
      tax_percent: '20',
      lines: [{ ...line, minimum: null, maximum: null }],
      created_at: expect.any(String),
    };
    expect(added.body).toEqual({ plan_id, ...version, warnings: [expect.any(String)] });
    const read = await shop.admin('GET', `/price-plans/${plan_id}`);
    const plan = { plan_id, name: 'Shops in Europe', side: 'sell', created_at: expect.any(String) };
    expect(read.body).toEqual({ ...plan, versions: [version] });
    const listed = await shop.admin('GET', '/price-plans?side=sell&limit=1');
    expect(listed.body.items).toEqual([{ ...plan, version_count: 1, assigned_count: 0 }]);
    expect(listed.body.next_cursor).toBe(plan_id);
  });

  test('has its list and its lines as CSV', async () => {
    const planId = await newPlan('buy', 'Acquirer, Europe');
    await addVersion(planId, {
      lines: [
        { ...SALE, brands: ['card', 'vcard'] },
        { event: 'decline', percent: '0' },
      ],
    });
    const list = await shop.admin('GET', '/price-plans.csv?side=buy');
    expect(list.body).toContain(`${planId},"Acquirer, Europe",buy,1,0,`);
    const lines = (await shop.admin('GET', `/price-plans/${planId}/lines.csv`)).body.trim().split(/\r?\n/);
    expect(lines[0]).toBe(
      'version,valid_from,refund_policy,tax_percent,line,event,brands,networks,currencies,connectors,min_amount,max_amount,percent,fixed,minimum,maximum',
    );
    expect(lines[1]).toMatch(/^1,.*,keep,0,0,sale,card vcard,,EUR,,,,2\.9,0\.30,,$/);
    expect(lines[2]).toMatch(/,1,decline,/);
  });

  test.each<[Body, string[]]>([
    [{}, ['name', 'side']],
    [{ name: ' ', side: 'sell' }, ['name']],
    [{ name: 'x'.repeat(101), side: 'sell' }, ['name']],
    [{ name: 1, side: 'sell' }, ['name']],
    [{ name: 'Standard', side: 'rent' }, ['side']],
    [{ name: 'Standard', side: 'sell', currency: 'EUR' }, ['currency']],
  ])('is not created from %j', async (body, fields) => {
    const refused = await shop.admin('POST', '/price-plans', body);
    expect(refused.status).toBe(400);
    expect(fieldsOf(refused).toSorted()).toEqual(fields.toSorted());
  });

  test('that does not exist is a 404 before anything else is read', async () => {
    for (const id of ['01990000-0000-7000-8000-000000000000', 'nonsense'])
      for (const [method, path] of [
        ['GET', ''],
        ['POST', '/versions'],
        ['POST', '/quote'],
        ['GET', '/lines.csv'],
      ] as const) {
        const refused = await shop.admin(method, `/price-plans/${id}${path}`, method === 'POST' ? { x: 1 } : undefined);
        expect([path, refused.status, refused.body.error_message]).toEqual([path, 404, 'Price plan does not exist.']);
      }
  });
});

describe('a version', () => {
  test('applies from its time on, and never to the past', async () => {
    const planId = await newPlan();
    await addVersion(planId, { lines: [SALE] });
    const from = await dayFromNow(2);
    expect((await addVersion(planId, { valid_from: from, lines: [{ ...SALE, percent: '1' }] })).body).toMatchObject({
      version: 2,
      valid_from: `${from} 00:00:00`,
    });
    expect(await quote(planId)).toEqual({ amount: '3.20', tax: '0.00', line: 0, version: 1 });
    expect(await quote(planId, { at: from })).toEqual({ amount: '1.30', tax: '0.00', line: 0, version: 2 });
    const again = await addVersion(planId, { valid_from: `${from}T00:00:00Z`, lines: [] });
    expect([again.status, fieldsOf(again)]).toEqual([400, ['valid_from']]);
    const past = await addVersion(planId, { valid_from: await dayFromNow(-1), lines: [] });
    expect([past.status, fieldsOf(past)]).toEqual([400, ['valid_from']]);
    await shop.advanceClock(3 * 86_400);
    expect(await quote(planId)).toMatchObject({ amount: '1.30', version: 2 });
    expect((await addVersion(planId, { valid_from: from, lines: [] })).status).toBe(400);
  });

  test('of today is valid from now on', async () => {
    const planId = await newPlan();
    const today = await dayFromNow(0);
    const { body } = await addVersion(planId, { valid_from: today, lines: [SALE] });
    expect(body.valid_from.slice(0, 10)).toBe(today);
    expect(await quote(planId, { at: today })).toEqual({ amount: '0.00', tax: '0.00', line: null, version: null });
    expect(await quote(planId)).toMatchObject({ amount: '3.20', version: 1 });
  });

  test('is never changed or deleted, whoever asks the database', async () => {
    const planId = await newPlan();
    await addVersion(planId, { lines: [SALE] });
    for (const statement of [
      `update price_plan_versions set lines = '[]' where plan_id = '${planId}'`,
      `delete from price_plan_versions where plan_id = '${planId}'`,
      `update price_plans set side = 'buy' where plan_id = '${planId}'`,
      `update account_price_plans set plan_id = null`,
      `delete from connection_price_plans`,
    ])
      await expect(shop.rows(statement)).rejects.toThrow('are never changed or deleted');
  });

  test('of several that are added at the same time has a number and a time of its own', async () => {
    const planId = await newPlan();
    const added = await Promise.all(Array.from({ length: 8 }, () => addVersion(planId, { lines: [SALE] })));
    expect(added.map(({ body }) => body.version).toSorted()).toEqual([1, 2, 3, 4, 5, 6, 7, 8]);
    const from = await dayFromNow(9);
    const dated = await Promise.all(
      Array.from({ length: 4 }, () => addVersion(planId, { valid_from: from, lines: [] })),
    );
    expect(dated.map(({ status }) => status).toSorted()).toEqual([201, 400, 400, 400]);
  });

  test('that prices a sale above its amount is saved with a warning, and applied as written', async () => {
    const planId = await newPlan();
    const lines = [
      { event: 'sale', currencies: ['EUR'], fixed: '5.00', min_amount: '5' },
      { event: 'sale', currencies: ['EUR'], fixed: '5.00' },
      { event: 'sale', percent: '90' },
      { event: 'refund', currencies: ['EUR'], fixed: '5.00' },
    ];
    const { body } = await addVersion(planId, { tax_percent: '20', lines });
    expect(body.warnings).toEqual([
      'lines[0]: A sale of 5.00 EUR costs 6.00 with tax, which is more than its amount.',
      'lines[1]: A sale of 0.01 EUR costs 6.00 with tax, which is more than its amount.',
      'lines[2]: A sale of 0.10 costs 0.11 with tax, which is more than its amount.',
    ]);
    expect(await quote(planId, { amount: '1.00' })).toEqual({ amount: '5.00', tax: '1.00', line: 1, version: 1 });
    const modest = await addVersion(planId, { lines: [{ event: 'sale', percent: '2.9' }] });
    expect(modest.body.warnings).toEqual([]);
  });

  test.each<[string, Body, string[]]>([
    ['no lines', {}, ['lines']],
    ['lines that are no list', { lines: {} }, ['lines']],
    ['a line that is no object', { lines: ['sale'] }, ['lines[0]']],
    ['a line without an event', { lines: [{ percent: '1' }] }, ['lines[0].event']],
    ['an unknown event', { lines: [{ event: 'purchase' }] }, ['lines[0].event']],
    ['an unknown member of a line', { lines: [{ event: 'sale', percents: '1' }] }, ['lines[0].percents']],
    ['an unknown member', { lines: [], from: '2027-01-01' }, ['from']],
    ['an unknown brand', { lines: [{ event: 'sale', brands: ['nothing'] }] }, ['lines[0].brands']],
    ['an unknown network', { lines: [{ event: 'sale', networks: ['nothing'] }] }, ['lines[0].networks']],
    ['an unknown currency', { lines: [{ event: 'sale', currencies: ['eur'] }] }, ['lines[0].currencies']],
    ['an unknown connector', { lines: [{ event: 'sale', connectors: ['nothing'] }] }, ['lines[0].connectors']],
    ['brands that are no list', { lines: [{ event: 'sale', brands: 'card' }] }, ['lines[0].brands']],
    ['a percentage that is no text', { lines: [{ event: 'sale', percent: 2.9 }] }, ['lines[0].percent']],
    ['a percentage above 100', { lines: [{ event: 'sale', percent: '100.0001' }] }, ['lines[0].percent']],
    ['a percentage below 0', { lines: [{ event: 'sale', percent: '-1' }] }, ['lines[0].percent']],
    ['five decimals', { lines: [{ event: 'sale', percent: '0.00001' }] }, ['lines[0].percent']],
    ['a comma', { lines: [{ event: 'sale', percent: '2,9' }] }, ['lines[0].percent']],
    ['a fixed part without a currency', { lines: [{ event: 'sale', fixed: '1' }] }, ['lines[0].currencies']],
    [
      'a minimum in two currencies',
      { lines: [{ event: 'sale', currencies: ['EUR', 'USD'], minimum: '1' }] },
      ['lines[0].currencies'],
    ],
    ['half a yen', { lines: [{ event: 'sale', currencies: ['JPY'], fixed: '0.5' }] }, ['lines[0].fixed']],
    ['a fixed part below 0', { lines: [{ ...SALE, fixed: '-0.30' }] }, ['lines[0].fixed']],
    [
      'bounds that exclude all',
      { lines: [{ event: 'sale', min_amount: '2', max_amount: '1' }] },
      ['lines[0].max_amount'],
    ],
    ['a maximum below the minimum', { lines: [{ ...SALE, minimum: '2', maximum: '1' }] }, ['lines[0].maximum']],
    ['an unknown policy', { lines: [], refund_policy: 'half' }, ['refund_policy']],
    ['a tax that is no percentage', { lines: [], tax_percent: '200' }, ['tax_percent']],
    ['a time that is none', { lines: [], valid_from: '2027-02-30' }, ['valid_from']],
    ['several mistakes', { lines: [{ event: 'x' }, { event: 'y' }] }, ['lines[0].event', 'lines[1].event']],
  ])('is refused with %s', async (_name, body, fields) => {
    const planId = await newPlan();
    const refused = await addVersion(planId, body);
    expect(refused.status).toBe(400);
    expect(fieldsOf(refused)).toEqual(fields);
    expect((await shop.admin('GET', `/price-plans/${planId}`)).body.versions).toEqual([]);
  });
});

describe('a quote', () => {
  test('is exact for amounts beyond 2^53 and for currencies with other decimals', async () => {
    const planId = await newPlan();
    await addVersion(planId, {
      tax_percent: '7.5',
      lines: [
        { event: 'sale', currencies: ['JPY'], percent: '3.6', fixed: '30' },
        { event: 'sale', currencies: ['KWD'], percent: '2.75', fixed: '0.125' },
        { event: 'sale', percent: '0.0001' },
      ],
    });
    expect(await quote(planId, { amount: '900719925474099.30' })).toMatchObject({ amount: '900719925.47', line: 2 });
    expect(await quote(planId, { currency: 'JPY', amount: '1999' })).toMatchObject({ amount: '102.00', tax: '8.00' });
    expect(await quote(planId, { currency: 'KWD', amount: '12.345' })).toMatchObject({ amount: '0.464', tax: '0.035' });
  });

  test.each<[Body, string[]]>([
    [{ event: undefined }, ['event']],
    [{ event: 'capture' }, ['event']],
    [{ brand: undefined }, ['brand']],
    [{ brand: 'nothing' }, ['brand']],
    [{ network: 'nothing' }, ['network']],
    [{ currency: 'XXX' }, ['currency']],
    [{ connector: 'nothing' }, ['connector']],
    [{ amount: undefined }, ['amount']],
    [{ amount: 'ten' }, ['amount']],
    [{ amount: '1.001' }, ['amount']],
    [{ amount: '-1.00' }, ['amount']],
    [{ at: 'soon' }, ['at']],
    [{ mid: 'x' }, ['mid']],
  ])('is refused with %j', async (changes, fields) => {
    const planId = await newPlan();
    const refused = await shop.admin('POST', `/price-plans/${planId}/quote`, { ...QUOTED, ...changes });
    expect([refused.status, fieldsOf(refused)]).toEqual([400, fields]);
  });
});

describe('an assignment', () => {
  const assign = (path: string, plan_id: unknown, token?: string) =>
    shop.admin('PUT', `${path}/price-plan`, { plan_id }, token);

  test('counts from its time on, and is kept', async () => {
    const { mid } = await shop.newMerchant();
    const [first, second] = [await newPlan('sell', 'First'), await newPlan('sell', 'Second')];
    const path = `/accounts/${mid}`;
    expect((await shop.admin('GET', `${path}/price-plan`)).body).toEqual({
      mid,
      plan_id: null,
      assigned_at: null,
      history: [],
    });
    const assigned = await assign(path, first);
    expect([assigned.status, assigned.body]).toEqual([200, { mid, plan_id: first, assigned_at: expect.any(String) }]);
    await assign(path, first);
    await assign(path, second);
    await assign(path, null);
    const { history, ...now } = (await shop.admin('GET', `${path}/price-plan`)).body;
    expect(now).toMatchObject({ mid, plan_id: null });
    expect(history.map(({ plan_id, name }: Body) => [plan_id, name])).toEqual([
      [null, null],
      [second, 'Second'],
      [first, 'First'],
    ]);
    const entries = (await shop.admin('GET', '/audit?action=accounts.assign_prices')).body.items;
    const ours = entries.filter((entry: Body) => entry.mid === mid);
    expect(ours.map(({ before, after }: Body) => [before, after])).toEqual([
      [{ plan_id: second }, { plan_id: null }],
      [{ plan_id: first }, { plan_id: second }],
      [{ plan_id: null }, { plan_id: first }],
    ]);
  });

  test('is found by who prices events, with the versions of the plan', async () => {
    const { mid } = await shop.newMerchant();
    const planId = await newPlan();
    await addVersion(planId, { lines: [SALE] });
    await assign(`/accounts/${mid}`, planId);
    const client = new pg.Client({ ...shop.connection, types });
    await client.connect();
    const { sell, buy } = await readAssignments(client, [mid], []).finally(() => client.end());
    expect(buy.size).toBe(0);
    expect(sell.get(mid)).toMatchObject([{ planId, versions: [{ planId, version: 1, lines: [{ percent: '2.9' }] }] }]);
  });

  test('waits while events are priced, and counts from the end of that on', async () => {
    const { mid } = await shop.newMerchant();
    const planId = await newPlan();
    const client = new pg.Client({ ...shop.connection, types });
    await client.connect();
    await client.query('begin');
    await keepPrices(client);
    let isAssigned = false;
    const assigning = assign(`/accounts/${mid}`, planId).then(() => {
      isAssigned = true;
    });
    await new Promise((resolve) => setTimeout(resolve, 300));
    expect(isAssigned).toBe(false);
    const { rows } = await client.query<{ now: number }>('select clock_timestamp() as now');
    await client.query('commit');
    await assigning;
    const { sell } = await readAssignments(client, [mid], []).finally(() => client.end());
    const offset = shop.gateway.clock.offset(mid);
    expect((sell.get(mid)?.[0]?.assignedAt as number) - offset).toBeGreaterThanOrEqual(rows[0]?.now as number);
  });

  test('takes a sell plan for an account and a buy plan for a connection', async () => {
    const { mid } = await shop.newMerchant();
    const connectionId = await connect(shop, providers[0] as TestProvider);
    const [sell, buy] = [await newPlan('sell'), await newPlan('buy')];
    expect((await assign(`/connections/${connectionId}`, buy)).body).toMatchObject({
      connection_id: connectionId,
      plan_id: buy,
    });
    for (const [path, planId] of [
      [`/accounts/${mid}`, buy],
      [`/connections/${connectionId}`, sell],
      [`/accounts/${mid}`, '01990000-0000-7000-8000-000000000000'],
      [`/accounts/${mid}`, 'nonsense'],
      [`/accounts/${mid}`, undefined],
      [`/accounts/${mid}`, 7],
    ] as const) {
      const refused = await assign(path, planId);
      expect([path, planId, refused.status, fieldsOf(refused)]).toEqual([path, planId, 400, ['plan_id']]);
    }
    expect((await assign('/accounts/01990000-0000-7000-8000-000000000000', sell)).status).toBe(404);
    expect((await assign('/connections/01990000-0000-7000-8000-000000000000', buy)).status).toBe(404);
    const listed = (await shop.admin('GET', '/price-plans?side=buy')).body.items;
    expect(listed.find((plan: Body) => plan.plan_id === buy)).toMatchObject({ assigned_count: 1 });
  });

  test('shows a merchant its own plan, and nothing of other plans or of costs', async () => {
    const [own, other]: Merchant[] = [await shop.newMerchant(), await shop.newMerchant()] as const;
    const [ownPlan, otherPlan] = [await newPlan('sell', 'Own'), await newPlan('sell', 'Other')];
    const buyPlan = await newPlan('buy', 'Acquirer');
    await addVersion(ownPlan, { lines: [SALE] });
    await assign(`/accounts/${own?.mid}`, ownPlan);
    await assign(`/accounts/${other?.mid}`, otherPlan);
    await assign(`/accounts/${other?.mid}`, ownPlan);
    const token = await tokenFor('merchant', [own?.mid as string]);
    const get = (path: string) => shop.admin('GET', path, undefined, token);
    expect((await get('/price-plans')).body.items).toEqual([
      expect.objectContaining({ plan_id: ownPlan, assigned_count: 1 }),
    ]);
    expect((await get(`/price-plans/${ownPlan}`)).status).toBe(200);
    expect((await shop.admin('POST', `/price-plans/${ownPlan}/quote`, QUOTED, token)).body).toMatchObject({
      amount: '3.20',
    });
    for (const planId of [otherPlan, buyPlan]) expect((await get(`/price-plans/${planId}`)).status).toBe(404);
    expect((await get(`/accounts/${other?.mid}/price-plan`)).status).toBe(404);
    expect((await assign(`/accounts/${own?.mid}`, null, token)).status).toBe(403);
    expect((await shop.admin('POST', '/price-plans', { name: 'Mine', side: 'sell' }, token)).status).toBe(403);
  });
});

describe('the guide', () => {
  const guide = readFileSync(join(import.meta.dirname, '../../docs/operator/prices.md'), 'utf8');
  const version = JSON.parse(/```json\n([\s\S]*?)```/.exec(guide)?.[1] ?? '');
  /** The cells of the rows of the table with this first heading. */
  const rowsOf = (heading: string): string[][] => {
    const [, table = ''] = new RegExp(`\\| ${heading} .*\\n\\|[ |-]*\\n((?:\\|.*\\n)+)`).exec(guide) ?? [];
    const cells = (row: string): string[] =>
      row
        .split('|')
        .slice(1, -1)
        .map((cell) => cell.replaceAll('`', '').trim());
    return table.trim().split('\n').map(cells);
  };

  test('says what the events of its example cost', async () => {
    const planId = await newPlan();
    expect((await addVersion(planId, version)).status).toBe(201);
    const rows = rowsOf('Event +\\| Brand');
    expect(rows).toHaveLength(9);
    for (const [event, brand, network, sum = '', fee, tax, line] of rows) {
      const [amount = '', currency] = sum.split(' ');
      const answer = await quote(planId, { event, brand, network, amount, currency });
      const shown = (text: string): string => (currency === 'JPY' ? text.replace(/\.00$/, '') : text);
      expect([sum, shown(answer.amount), shown(answer.tax), String(answer.line ?? '–')]).toEqual([sum, fee, tax, line]);
    }
  });

  test('says what refunds return', () => {
    const { value } = readVersion(version);
    if (!value) throw new Error('The version of the guide is not valid.');
    const priced = { ...value, planId: 'plan', version: 1, validFrom: 0 };
    const units = (text = ''): bigint => BigInt(text.replace(/\D/g, ''));
    const rows = rowsOf('Refund +\\| Refunded');
    const refunds = rows.map(([refund], index) => ({
      seq: index + 3,
      event: 'refund' as const,
      amount: units(refund),
      at: 2,
    }));
    const sale = { seq: 2, event: 'sale' as const, amount: 10_000n, at: 1 };
    const facts = { brand: 'card', network: 'visa', currency: 'EUR' };
    const returned = feesOf(facts, [sale, ...refunds], [{ assignedAt: 0, planId: 'plan', versions: [priced] }])
      .filter(({ isReturned }) => isReturned)
      .map(({ amount, tax }) => [amount, tax]);
    expect(returned).toEqual(rows.map(([, , fee, tax]) => [units(fee), units(tax)]));
    const soFar = refunds.map((_, index) => refunds.slice(0, index + 1).reduce((sum, { amount }) => sum + amount, 0n));
    expect(soFar).toEqual(rows.map(([, sum]) => units(sum)));
  });
});
