/** Reconciliations through the admin API: what matches, what is missing on either side, and what is refused. */
import { createHash } from 'node:crypto';
import { beforeAll, describe, expect, test, vi } from 'vitest';
import { type Answer, type Fields, newOrderId, openShop, PROVIDER_POLL } from '../support/gateway.ts';
import { operationsOf } from '../support/operations.ts';
import { type StatementBody, uploadStatement } from '../support/statements.ts';

const shop = openShop({ simulator: true });
const at = operationsOf(shop);

const DAY_MS = 86_400_000;
const day = (offset = 0): string => new Date(Date.now() + offset * DAY_MS).toISOString().slice(0, 10);
/** Days around everything that the tests do, also at midnight. */
const around = () => ({ from: day(-1), to: day(2), connector: 'vcard' });

const upload = (csv: StatementBody, query: Fields = {}, options = {}) => uploadStatement(shop, csv, query, options);
const problems = ({ body }: Answer): string[] => body.errors.map((one: { error_message: string }) => one.error_message);
const rowsOf = async (id: string, query = ''): Promise<Record<string, unknown>[]> =>
  (await shop.admin('GET', `/reconciliations/${id}/rows${query}`)).body.items;
const sold = async (fields: Fields = {}): Promise<string> => (await shop.sale(fields)).body.trans_id;
const ONE_ROW = 'payment_id,amount,currency\n01990000-0000-7000-8000-000000000001,10.00,USD\n';

describe('a statement', () => {
  let ids: Record<'equal' | 'other' | 'refunded' | 'unlisted' | 'declined', string>;
  let result: Answer;
  const csv = () =>
    [
      'Payment ID,Type,Gross amount,Currency,Date',
      `${ids.equal},charge,10.00,USD,${day()}`,
      `${ids.other},charge,"1,011.00",usd,${day()}`,
      `${ids.refunded},Charge,25.50,USD,${day()}`,
      `${ids.refunded},refund,-5.25,USD,${day()}`,
      `${ids.refunded},refund,-7.00,USD,${day()}`,
      `${ids.declined},charge,3.00,USD,${day()}`,
      `01990000-0000-7000-8000-00000000000f,charge,8.00,EUR,${day()}`,
      `,fee,-0.30,USD,${day()}`,
      '',
    ].join('\r\n');
  beforeAll(async () => {
    ids = {
      equal: await sold(),
      other: await sold({ order_amount: '1010.00' }),
      refunded: await sold({ order_amount: '25.50' }),
      unlisted: await sold({ order_amount: '1500', order_currency: 'JPY' }),
      declined: await sold({ identifier: 'decline@example.com', order_amount: '3.00' }),
    };
    await at.send('CREDITVOID', ids.refunded, { amount: '5.25' });
    await at.send('CREDITVOID', ids.refunded, { amount: '6.00' });
    result = await upload(csv(), { ...around(), filename: 'C:\\files\\July "1".csv' });
  });

  test('is recorded with its file, its period, its columns and the totals of each outcome', () => {
    expect(result.status).toBe(201);
    expect(result.body).toMatchObject({
      file_name: 'July 1.csv',
      sha256: createHash('sha256').update(csv()).digest('hex'),
      bytes: csv().length,
      created_by: 'TURNPIKE_ADMIN_TOKEN',
      state: 'done',
      error: null,
      columns: { reference: 'Payment ID', amount: 'Gross amount', currency: 'Currency', type: 'Type', date: 'Date' },
      connector: 'vcard',
      from: `${day(-1)} 00:00:00`,
      to: `${day(2)} 00:00:00`,
      rows_read: 8,
      rows_skipped: 1,
    });
    const total = (outcome: string, type: string, currency: string, rows: number, statement: string, ours: string) => ({
      outcome,
      type,
      currency,
      rows,
      statement,
      ours,
    });
    expect(result.body.totals).toEqual([
      total('different', 'refund', 'USD', 1, '7.00', '6.00'),
      total('different', 'sale', 'USD', 1, '1011.00', '1010.00'),
      total('matched', 'refund', 'USD', 1, '5.25', '5.25'),
      total('matched', 'sale', 'USD', 2, '35.50', '35.50'),
      total('missing_here', 'sale', 'EUR', 1, '8.00', '0.00'),
      total('missing_here', 'sale', 'USD', 1, '3.00', '0.00'),
      total('missing_there', 'sale', 'JPY', 1, '0.00', '1500.00'),
    ]);
  });

  test('has its rows in the order of the file, those of an outcome too, in pages and as CSV', async () => {
    const { reconciliation_id: id } = result.body;
    const all = await rowsOf(id);
    expect(all.map(({ row, outcome }) => [row, outcome])).toEqual([
      [2, 'matched'],
      [3, 'different'],
      [4, 'matched'],
      [5, 'matched'],
      [6, 'different'],
      [7, 'missing_here'],
      [8, 'missing_here'],
      [null, 'missing_there'],
    ]);
    expect(all[1]).toMatchObject({
      type: 'sale',
      reference: ids.other,
      date: `${day()} 00:00:00`,
      amount: '1011.00',
      currency: 'USD',
      payment_id: ids.other,
      mid: shop.merchant.mid,
      our_amount: '1010.00',
      our_currency: 'USD',
    });
    expect(all[5]).toMatchObject({ payment_id: ids.declined, our_amount: null });
    expect(all[6]).toMatchObject({ payment_id: null, mid: null });
    expect(all[7]).toMatchObject({ payment_id: ids.unlisted, reference: null, amount: null, our_amount: '1500.00' });

    const first = (await shop.admin('GET', `/reconciliations/${id}/rows?outcome=matched&limit=2`)).body;
    const second = await rowsOf(id, `?outcome=matched&limit=2&cursor=${first.next_cursor}`);
    expect([...first.items, ...second]).toEqual(all.filter(({ outcome }) => outcome === 'matched'));

    const file = await shop.admin('GET', `/reconciliations/${id}/rows.csv?outcome=missing_here`);
    expect(file.headers.get('content-disposition')).toBe(
      `attachment; filename="reconciliation-${day()}-missing_here.csv"`,
    );
    expect(file.body.split('\r\n').map((line: string) => line.split(',').slice(0, 4))).toEqual([
      ['outcome', 'type', 'row', 'reference'],
      ['missing_here', 'sale', '7', ids.declined],
      ['missing_here', 'sale', '8', '01990000-0000-7000-8000-00000000000f'],
      [''],
    ]);
  });

  test('is opened again, listed, and deleted with an audit entry', async () => {
    const { body: other } = await upload(ONE_ROW, around());
    const read = await shop.admin('GET', `/reconciliations/${result.body.reconciliation_id}`);
    expect(read.body).toEqual(result.body);
    const listed = (await shop.admin('GET', '/reconciliations')).body.items;
    expect(listed.map((one: Fields) => one.reconciliation_id).slice(0, 2)).toEqual([
      other.reconciliation_id,
      result.body.reconciliation_id,
    ]);
    const path = `/reconciliations/${other.reconciliation_id}`;
    expect((await shop.admin('DELETE', path)).body).toEqual({
      reconciliation_id: other.reconciliation_id,
      deleted: true,
    });
    for (const call of [`GET ${path}`, `GET ${path}/rows`, `GET ${path}/rows.csv`, `DELETE ${path}`]) {
      const [method = '', url = ''] = call.split(' ');
      expect(await shop.admin(method, url), call).toMatchObject({
        status: 404,
        body: { error_message: 'Reconciliation does not exist.' },
      });
    }
    const { items } = (await shop.admin('GET', '/audit?limit=3')).body;
    expect(items.map(({ action, subject }: Fields) => [action, subject])).toEqual(
      ['delete', 'compare', 'upload'].map((name) => [`reconciliations.${name}`, other.reconciliation_id]),
    );
  });

  test('leaves no copy of the file', async () => {
    expect(await shop.rows('select count(*)::int as n from reconciliation_parts')).toEqual([{ n: 0 }]);
  });
});

describe('rows are matched', () => {
  const outcomes = async (csv: string, query: Fields = {}): Promise<unknown[]> => {
    const { status, body } = await upload(csv, { ...around(), connector: 'upstream', ...query });
    expect(status, JSON.stringify(body)).toBe(201);
    return (await rowsOf(body.reconciliation_id)).filter(({ row }) => row !== null).map(({ outcome }) => outcome);
  };

  test('by the provider reference, in its own column or as the only reference', async () => {
    const id = await at.settled('pin-a', { order_amount: '7.00', order_currency: 'USD' });
    const [{ provider_reference: reference }] = (await shop.rows(
      `select provider_reference from payments where payment_id = '${id}'`,
    )) as [Fields];
    expect(reference).toMatch(/./);
    expect(await outcomes(`psp reference,amount,currency\n${reference},7.00,USD`)).toEqual(['matched']);
    expect(await outcomes(`reference,amount,currency\n${reference},7.00,USD`)).toEqual(['matched']);
    // The provider of another connector may use the same reference.
    expect(await outcomes(`reference,amount,currency\n${reference},7.00,USD`, { connector: 'vcard' })).toEqual([
      'missing_here',
    ]);
  });

  test('by the operation id of a refund, which tells the type', async () => {
    const id = await sold({ order_amount: '9.00' });
    await at.send('CREDITVOID', id, { amount: '2.00' });
    const [operation] = (await shop.inspect(id)).operations;
    expect(await outcomes(`operation_id,amount,currency\n${operation.operation_id.toUpperCase()},2.00,USD`)).toEqual([
      'matched',
    ]);
  });

  test('once each: a row that is listed twice is missing here', async () => {
    const id = await sold();
    expect(await outcomes(`payment_id,amount,currency\n${id},10.00,USD\n${id},10.00,USD`)).toEqual([
      'matched',
      'missing_here',
    ]);
  });

  test('with another currency as different, and sums of both currencies', async () => {
    const id = await sold();
    const { body } = await upload(`payment_id,amount,currency\n${id},10.00,EUR`, {
      ...around(),
      connector: 'upstream',
    });
    const different = body.totals.filter(({ outcome }: Fields) => outcome === 'different');
    expect(different.map(({ currency, statement, ours }: Fields) => [currency, statement, ours])).toEqual([
      ['EUR', '10.00', '0.00'],
      ['USD', '0.00', '10.00'],
    ]);
  });

  test('a sale with a negative amount is reversed, with or without the sale', async () => {
    const [both, alone] = [await sold(), await sold()];
    const csv = [
      'payment_id,type,amount,currency',
      ...[`${both},charge,10.00,USD`, `${both},charge,-10.00,USD`, `${alone},charge,-10.00,USD`],
      '01990000-0000-7000-8000-00000000000f,charge,-8.00,USD',
    ].join('\n');
    const { body } = await upload(csv, { ...around(), connector: 'vcard' });
    const rows = (await rowsOf(body.reconciliation_id)).filter(
      ({ row, payment_id }) => row !== null || payment_id === alone,
    );
    expect(rows.map(({ outcome, amount, our_amount }) => [outcome, amount, our_amount])).toEqual([
      ['matched', '10.00', '10.00'],
      ['reversed', '-10.00', null],
      ['reversed', '-10.00', null],
      ['reversed', '-8.00', null],
      ['missing_there', null, '10.00'],
    ]);
    expect(rows[1]).toMatchObject({ type: 'sale', payment_id: both });
    expect(body.totals.filter(({ outcome }: Fields) => outcome === 'reversed')).toEqual([
      { outcome: 'reversed', type: 'sale', currency: 'USD', rows: 3, statement: '-28.00', ours: '0.00' },
    ]);
    expect(await rowsOf(body.reconciliation_id, '?outcome=reversed')).toEqual(rows.slice(1, 4));
    expect(await rowsOf(body.reconciliation_id, '?outcome=missing_here')).toEqual([]);
  });

  test.each(['2.00', '-2.00'])('a refund of %s, and a row without a type', async (amount) => {
    const id = await sold({ order_amount: '9.00' });
    await at.send('CREDITVOID', id, { amount: '2.00' });
    const csv = `payment_id,type,amount,currency\n${id},charge,9.00,USD\n${id},refund,${amount},USD\n`;
    expect(await outcomes(csv)).toEqual(['matched', 'matched']);
    const [operation] = (await shop.inspect(id)).operations;
    expect(await outcomes(`payment_id,type,amount,currency\n${operation.operation_id},charge,${amount},USD`)).toEqual([
      'matched',
    ]);
    if (amount.startsWith('-')) {
      expect(await outcomes(`payment_id,amount,currency\n${id},${amount},USD`)).toEqual(['matched']);
    }
  });

  test.each(['25.00', '-25.00'])('a payout of %s', async (amount) => {
    const id = await at.sale('p2p-a', shop.merchant, { order_amount: '25.00' }, 'PENDING');
    await expect.poll(async () => (await shop.inspect(id)).status, PROVIDER_POLL).toBe('SETTLED');
    const { currency } = await shop.inspect(id);
    const csv = `payment_id,type,amount,currency\n${id},payment,${amount},${currency}`;
    const [row] = await rowsOf((await upload(csv, { ...around(), connector: 'upstream' })).body.reconciliation_id);
    expect(row).toMatchObject({ outcome: 'matched', type: 'sale', amount: '25.00', our_amount: '25.00' });
  });

  test('a chargeback', async () => {
    const id = await at.settled('pin-a', { order_amount: '12.50', order_currency: 'EUR' });
    await shop.sandbox('POST', `/payments/${id}`, { chargeback: true });
    await expect.poll(async () => (await shop.inspect(id)).status).toBe('CHARGEBACK');
    const csv = `payment_id,type,amount,currency\n${id},payment,12.50,EUR\n${id},Chargeback,-12.50,EUR`;
    expect(await outcomes(csv)).toEqual(['matched', 'matched']);
  });

  test.each([
    [
      'semicolons, a byte order mark, quotes and decimal commas',
      '\ufeff"reference";"Betrag";currency\r\n"{id}";"10,00";"USD"\r\n',
      { amount_format: 'decimal_comma' },
    ],
    ['tabs and minor units', 'reference\tamount\tcurrency\n{id}\t1000\tUSD\n', { amount_format: 'minor' }],
    ['one currency for all rows', 'reference,amount\n{id},10', { fixed_currency: 'usd' }],
    [
      'columns that are named',
      'a,b,c,type\n{id},10.00,USD,x',
      { reference: 'a', amount: 'b', currency: 'c', type: '-' },
    ],
    [
      'a quoted field with line ends and delimiters',
      'note,reference,amount,currency\n"a, ""b""\n;c",{id},+10.0,USD',
      {},
    ],
    [
      'a delimiter that is named',
      'a,b,c;amount;currency\n{id};10.00;USD',
      { delimiter: 'semicolon', reference: 'a,b,c' },
    ],
  ] as [string, string, Fields][])('in a file with %s', async (_, csv, query) => {
    const id = await sold();
    expect(await outcomes(csv.replace('{id}', id), query)).toEqual(['matched']);
  });

  test('without a period, the days of the statement are compared', async () => {
    const id = await sold({ order_id: newOrderId() });
    const { body } = await upload(
      `reference,amount,currency,date\n${id},10.00,USD,${day(-3)}\n,1.00,USD,${day(-5)} 12:30`,
      {
        connector: 'vcard',
      },
    );
    expect([body.from, body.to]).toEqual([`${day(-5)} 00:00:00`, `${day(-2)} 00:00:00`]);
    // The payment itself is matched, although it is from another day; nothing else of ours is in these days.
    expect(body.totals.map(({ outcome, rows }: Fields) => [outcome, rows])).toEqual([
      ['matched', 1],
      ['missing_here', 1],
    ]);
  });

  test('payments of other connectors, and what happened outside of the period, are not missing there', async () => {
    const missing = async (query: Fields) =>
      (await upload(ONE_ROW, query)).body.totals.filter(({ outcome }: Fields) => outcome === 'missing_there').length;
    expect(await missing({ from: day(-9), to: day(-8) })).toBe(0);
    expect(await missing({ ...around(), connector: 'nothing' }).catch(() => 'refused')).toBe('refused');
    const both = await missing({ from: day(-1), to: day(2) });
    expect(both).toBeGreaterThan(await missing(around()));
  });
});

describe('a statement is refused, and nothing is kept:', () => {
  const bad = (line: string) => `payment_id,amount,currency,date,type\nx,1.00,USD,,\n${line}\nx,1.00,USD,,`;
  test.each([
    [
      'an amount',
      bad('x,1.00.0,USD,,'),
      'amount: Row 3, column “amount”: This is not an amount in USD in the chosen format.',
    ],
    [
      'too many decimals',
      bad('x,1.001,USD,,'),
      'amount: Row 3, column “amount”: This is not an amount in USD in the chosen format.',
    ],
    [
      'no amount',
      bad('x,,USD,,'),
      'amount: Row 3, column “amount”: This is not an amount in USD in the chosen format.',
    ],
    ['a currency', bad('x,1.00,US,,'), 'currency: Row 3, column “currency”: This is not a currency code such as EUR.'],
    [
      'a currency before the amount',
      bad('x,?,US,,'),
      'currency: Row 3, column “currency”: This is not a currency code such as EUR.',
    ],
    [
      'a date',
      bad('x,1.00,USD,2026-02-30,'),
      'date: Row 3, column “date”: This is not a date such as 2026-07-31 or 31.07.2026.',
    ],
    [
      'a reference',
      bad(`${'x'.repeat(256)},1.00,USD,,`),
      'reference: Row 3, column “payment_id”: The reference is too long.',
    ],
    ['a row with fewer columns', bad('x,1.00'), 'file: Row 3: The row does not have as many columns as the first one.'],
    ['a quotation mark', bad('"x,1.00,USD,,'), 'file: Row 4: A quotation mark is not closed.'],
    ['an empty file', '', 'file: The file is empty.'],
    ['a workbook', 'PK\u0003\u0004', 'file: Save the workbook as CSV and upload that file.'],
    ['UTF-16', Buffer.from('\ufeffpayment_id,amount', 'utf16le'), 'file: The file should be text in UTF-8.'],
  ] as [string, string | Buffer<ArrayBuffer>, string][])('%s', async (_, csv, sentence) => {
    const refused = await upload(csv, around());
    expect([refused.status, problems(refused)]).toEqual([400, [sentence]]);
    expect(await shop.rows(`select count(*)::int as n from reconciliations where state <> 'done'`)).toEqual([{ n: 0 }]);
  });

  test('a row of another type is skipped before its values are read', async () => {
    const { body } = await upload(bad('?,?,?,?,payout'), around());
    expect([body.rows_read, body.rows_skipped]).toEqual([3, 1]);
  });

  test.each([
    [ONE_ROW, { from: day(1), to: day() }, ['from: This value should be before to.']],
    [
      ONE_ROW,
      { from: day() },
      ['from: Enter the period, or choose the column of the date.', 'to: This value should not be blank.'],
    ],
    [ONE_ROW, { from: '2020-01-01', to: '2026-01-01' }, ['from: The period should not be longer than 400 days.']],
    [ONE_ROW, {}, ['from: Enter the period, or choose the column of the date.']],
    [ONE_ROW, { ...around(), connector: 'x' }, ['connector: The value you selected is not a valid choice.']],
    [ONE_ROW, { ...around(), amount: 'gross' }, ['amount: The file has no column with this name.']],
    [
      ONE_ROW,
      { ...around(), delimiter: 'pipe', limit: '1' },
      ['delimiter: This value is not valid.', 'limit: This parameter does not exist.'],
    ],
    [
      'x,y\n1,2',
      around(),
      [
        'reference: Choose the column of our reference or of the provider reference.',
        'amount: Choose the column of the amount.',
        'currency: Choose the column of the currency, or one currency for all rows.',
      ],
    ],
    ['payment_id,amount,currency,date\nx,1.00,USD,', {}, ['from: No row has a date: enter the period.']],
  ] as [string, Fields, string[]][])('%j with %j', async (csv, query, sentences) => {
    const refused = await upload(csv, query);
    expect([refused.status, problems(refused)]).toEqual([400, sentences]);
  });

  test('no token, a role without the permission, a restricted token, another type, parameters: in this order', async () => {
    const newToken = async (fields: object): Promise<string> =>
      (await shop.admin('POST', '/tokens', { name: 'x', ...fields })).body.token;
    const viewer = await newToken({ role: 'viewer' });
    const restricted = await newToken({ role: 'operator', mids: [shop.merchant.mid] });
    const bad = { nonsense: '1' };
    expect((await upload('', bad, { token: 'wrong', type: 'text/plain' })).status).toBe(401);
    expect((await upload('', bad, { token: viewer, type: 'text/plain' })).status).toBe(403);
    expect(problems(await upload('x', bad, { token: restricted, type: 'text/plain' }))).toEqual([
      'content-type: This content type is not supported.',
    ]);
    expect((await upload('', bad, { token: restricted })).status).toBe(403);
    expect(problems(await upload('', bad))).toEqual(['nonsense: This parameter does not exist.']);
    // A viewer of the installation sees results; one of some accounts does not.
    const { reconciliation_id: id } = (await upload(ONE_ROW, around())).body;
    for (const path of ['', `/${id}`, `/${id}/rows`, `/${id}/rows.csv`]) {
      expect((await shop.admin('GET', `/reconciliations${path}`, undefined, viewer)).status).toBe(200);
      expect((await shop.admin('GET', `/reconciliations${path}`, undefined, restricted)).status).toBe(403);
    }
    expect((await shop.admin('DELETE', `/reconciliations/${id}`, undefined, viewer)).status).toBe(403);
    expect((await shop.admin('DELETE', `/reconciliations/${id}`, undefined, restricted)).status).toBe(403);
    expect((await shop.admin('GET', `/reconciliations/${id}`)).status).toBe(200);
  });

  test('a file that breaks off', async () => {
    const broken = new ReadableStream({
      start(controller) {
        controller.enqueue(new TextEncoder().encode(ONE_ROW));
        setTimeout(() => controller.error(new Error('gone')), 50);
      },
    });
    await expect(upload(broken, around())).rejects.toThrow();
    await expect
      .poll(() => shop.rows(`select count(*)::int as n from reconciliations where state <> 'done'`))
      .toEqual([{ n: 0 }]);
  });

  test('a failure of the database is no fault of the statement', async () => {
    vi.spyOn(shop.gateway.reconciliationRows, 'totals').mockRejectedValue(new Error('broken'));
    expect((await upload(ONE_ROW, around())).status).toBe(500);
    vi.restoreAllMocks();
    expect((await upload(ONE_ROW, around())).status).toBe(201);
  });
});
