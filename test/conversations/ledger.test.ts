/** The ledger through the admin API: the entries of each event, balances, the trial balance, and what merchants see. */
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { foldProjections, rebuildProjection } from '../../src/core/projections/projections.ts';
import { verifyAt } from '../../src/store/installation/verify.ts';
import { ADMIN_TOKEN, type Answer, DATE, type Fields, type Merchant, openShop } from '../support/gateway.ts';
import { operationsOf } from '../support/operations.ts';

const shop = openShop({ simulator: true });
const at = operationsOf(shop);
const UUID = /^[0-9a-f]{8}-[0-9a-f]{4}-8[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}$/;
const DAY = /^\d{4}-\d\d-\d\d$/;

interface Entry {
  entry_id: string;
  category: string;
  posted_at: string;
  postings: { account: string; side: string; amount: string; currency: string }[];
}

const entries = async (query: string, token?: string): Promise<Entry[]> => {
  const { status, body } = await shop.admin('GET', `/ledger/entries?${query}`, undefined, token);
  expect(status, JSON.stringify(body)).toBe(200);
  return body.items;
};
const balance = async ({ mid }: Merchant, token?: string): Promise<Answer['body']> =>
  (await shop.admin('GET', `/accounts/${mid}/balance`, undefined, token)).body;
const trial = async (query = ''): Promise<Answer['body']> =>
  (await shop.admin('GET', `/ledger/trial-balance${query}`)).body;

/** `category: debit account, credit account, amount`, newest first. */
const lines = (found: Entry[]): string[] =>
  found.map(({ category, postings }) => {
    const named = (side: string): string =>
      postings
        .filter((posting) => posting.side === side)
        .map(({ account, amount }) => `${account.replace(/^(merchant):[^:]+/, '$1')} ${amount}`)
        .join(' + ');
    return `${category}: ${named('debit')} = ${named('credit')}`;
  });

const SALE = (amount: string, provider = 'vcard') =>
  `sale: provider:${provider}:receivable ${amount} = merchant:balance ${amount}`;
const REFUND = (amount: string, provider = 'vcard') =>
  `refund: merchant:balance ${amount} = provider:${provider}:receivable ${amount}`;

const isBalanced = ({ totals }: Answer['body']): boolean =>
  totals.every(({ debit, credit }: Fields) => debit === credit);

afterAll(async () => {
  await foldProjections(shop.gateway);
  expect((await verifyAt(shop.connection)).violations).toEqual([]);
  expect(isBalanced(await trial())).toBe(true);
});

describe.each(['before it is folded', 'after it is folded', 'after a rebuild'])('%s', (when) => {
  let merchant: Merchant;
  let ids: Record<'sale' | 'captured' | 'refunded' | 'disputed' | 'late' | 'payout' | 'declined', string>;
  beforeAll(async () => {
    merchant = await shop.newMerchant();
    const sold = async (fields: Fields = {}): Promise<string> => (await shop.sale(fields, merchant)).body.trans_id;
    ids = {
      sale: await sold({ order_amount: '100.00' }),
      captured: await sold({ auth: 'Y', order_amount: '50.00' }),
      refunded: await sold({ order_amount: '40.00' }),
      disputed: await at.sale('pin-a', merchant, { order_amount: '10.00' }, 'SETTLED'),
      late: '',
      payout: '',
      declined: '',
    };
    await shop.admin('POST', `/payments/${ids.captured}/capture`, { amount: '30.00' });
    await shop.admin('POST', `/payments/${ids.refunded}/refund`, { amount: '15.00' });
    await shop.admin('POST', `/payments/${ids.refunded}/refund`, {});
    await shop.admin('POST', `/payments/${ids.disputed}/refund`, { amount: '3.00' });
    await at.control(ids.disputed, { chargeback: true });
    if (when !== 'before it is folded') await foldProjections(shop.gateway);
    if (when === 'after a rebuild') {
      await rebuildProjection(shop.gateway, 'ledger');
      await foldProjections(shop.gateway);
    }
  });

  test('a sale is owed by the provider, and owed to the merchant', async () => {
    const [entry, ...more] = await entries(`payment_id=${ids.sale}`);
    expect(more).toEqual([]);
    expect(entry).toEqual({
      entry_id: expect.stringMatching(UUID),
      category: 'sale',
      mid: merchant.mid,
      payment_id: ids.sale,
      operation_id: null,
      posted_at: expect.stringMatching(DATE),
      available_on: expect.stringMatching(DAY),
      reverses: null,
      note: null,
      plan: null,
      postings: [
        { account: 'provider:vcard:receivable', side: 'debit', amount: '100.00', currency: 'USD' },
        { account: `merchant:${merchant.mid}:balance`, side: 'credit', amount: '100.00', currency: 'USD' },
      ],
    });
  });

  test('a capture and refunds have entries of their own, with their operations', async () => {
    const captured = await entries(`payment_id=${ids.captured}`);
    expect(lines(captured)).toEqual([SALE('30.00')]);
    const { operations } = await shop.inspect(ids.captured);
    expect(captured[0]).toMatchObject({ operation_id: operations[0].operation_id });
    expect(lines(await entries(`payment_id=${ids.refunded}`))).toEqual([
      REFUND('25.00'),
      REFUND('15.00'),
      SALE('40.00'),
    ]);
  });

  test('a chargeback takes what is left of the payment', async () => {
    expect(lines(await entries(`payment_id=${ids.disputed}`))).toEqual([
      'chargeback: merchant:balance 7.00 = provider:upstream:receivable 7.00',
      REFUND('3.00', 'upstream'),
      SALE('10.00', 'upstream'),
    ]);
    expect((await shop.inspect(ids.disputed)).money).toEqual({
      gross: '10.00',
      refunded: '3.00',
      charged_back: '7.00',
      fees: '0.00',
      costs: '0.00',
      net: '0.00',
    });
  });

  test('a payment has its money and its entries, oldest first', async () => {
    const payment = await shop.inspect(ids.refunded);
    expect(payment.money).toMatchObject({ gross: '40.00', refunded: '40.00', net: '0.00' });
    expect(payment.entries).toEqual((await entries(`payment_id=${ids.refunded}`)).toReversed());
  });

  test('the balance is the sum of the postings', async () => {
    expect(await balance(merchant)).toEqual({
      as_of: expect.stringMatching(DATE),
      complete: true,
      unpriced: true,
      items: [
        {
          currency: 'USD',
          available: '130.00',
          pending: '0.00',
          reserve: '0.00',
          in_transit: '0.00',
          total: '130.00',
          becoming_available: [],
        },
      ],
    });
  });

  test('lists are filtered, and have pages', async () => {
    const { mid } = merchant;
    const all = await entries(`mid=${mid}`);
    expect(all).toHaveLength(8);
    expect(lines(await entries(`mid=${mid}&category=refund`))).toHaveLength(3);
    expect(lines(await entries(`mid=${mid}&account=provider:upstream:receivable`))).toHaveLength(3);
    expect(await entries(`mid=${mid}&account=merchant:${mid}:balance`)).toEqual(all);
    expect(await entries(`mid=${mid}&account=merchant:${mid}:reserve`)).toEqual([]);
    expect(await entries(`mid=${mid}&from=2099-01-01`)).toEqual([]);
    expect(await entries(`mid=${mid}&to=2020-01-01`)).toEqual([]);
    const paged: Entry[] = [];
    for (let cursor = ''; ; ) {
      const { body } = await shop.admin('GET', `/ledger/entries?mid=${mid}&limit=3&cursor=${cursor}`);
      paged.push(...body.items);
      if (body.next_cursor === null) break;
      cursor = body.next_cursor;
    }
    expect(paged).toEqual(all);
  });

  test('the CSV has a line for each posting', async () => {
    const response = await fetch(`${shop.url}/admin/api/ledger/entries.csv?mid=${merchant.mid}`, {
      headers: { authorization: `Bearer ${ADMIN_TOKEN}` },
    });
    expect(response.headers.get('content-type')).toBe('text/csv; charset=utf-8');
    const text = (await response.text()).trimEnd().split('\r\n');
    expect(text[0]).toBe(
      'entry_id,category,mid,payment_id,operation_id,posted_at,available_on,reverses,note,plan_id,version,line,account,side,amount,currency',
    );
    expect(text).toHaveLength(1 + 8 * 2);
    expect(text[1]).toMatch(/^[0-9a-f-]{36},chargeback,.*,merchant:[0-9a-f-]{36}:balance,debit,7\.00,USD$/);
  });

  test('debits equal credits in the trial balance, also at an earlier moment', async () => {
    const now = await trial();
    expect(isBalanced(now)).toBe(true);
    expect(now.items).toContainEqual({
      account: `merchant:${merchant.mid}:balance`,
      currency: 'USD',
      debit: '50.00',
      credit: '180.00',
      balance: '130.00',
    });
    const { history } = await shop.inspect(ids.captured);
    const sold = history[0].at.replace(' ', 'T');
    const then = await trial(`?at=${sold}Z`);
    expect(isBalanced(then)).toBe(true);
    const own = then.items.find(({ account }: Fields) => account === `merchant:${merchant.mid}:balance`);
    expect(Number(own?.credit ?? 0)).toBeLessThan(180);
  });
});

test('what providers owe is in the books by age, and is that of the trial balance', async () => {
  await shop.sale();
  for (const isFolded of [false, true]) {
    if (isFolded) await foldProjections(shop.gateway);
    const { items } = (await shop.admin('GET', '/ledger/receivables')).body;
    const own = items.find(({ connector, currency }: Fields) => connector === 'vcard' && currency === 'USD');
    const owed = (await trial()).items.find(
      ({ account, currency }: Fields) => account === 'provider:vcard:receivable' && currency === 'USD',
    );
    expect(own.total).toBe(owed.balance);
    expect(own.ages.map(({ from_days, to_days }: Record<string, number>) => [from_days, to_days])).toEqual([
      [0, 7],
      [8, 30],
      [31, 60],
      [61, 90],
      [91, null],
    ]);
    expect(own.ages[0].amount).toBe(own.total);
  }
});

describe('amounts', () => {
  test.each([
    ['JPY', '100', '100.00', '100.00'],
    ['KWD', '1.250', '1.250', '1.250'],
    ['USD', '999999999999.99', '999999999999.99', '19999999999999.80'],
  ])('of %s are exact', async (currency, amount, one, all) => {
    const merchant = await shop.newMerchant();
    const count = currency === 'USD' ? 20 : 1;
    for (let made = 0; made < count; made++) {
      const { body } = await shop.sale({ order_amount: amount, order_currency: currency }, merchant);
      expect(body, JSON.stringify(body)).toMatchObject({ status: 'SETTLED' });
    }
    const [entry] = await entries(`mid=${merchant.mid}`);
    expect(entry?.postings.map((posting) => posting.amount)).toEqual([one, one]);
    expect((await balance(merchant)).items[0]).toMatchObject({ currency, available: all, total: all });
    await foldProjections(shop.gateway);
    expect((await balance(merchant)).items[0]).toMatchObject({ currency, available: all, total: all });
  });
});

describe('bad input', () => {
  test.each([
    ['/ledger/entries?mid=1', 'mid'],
    ['/ledger/entries?payment_id=x', 'payment_id'],
    ['/ledger/entries?category=sales', 'category'],
    ['/ledger/entries?category=sale.sale', 'category'],
    ['/ledger/entries?account=merchant:balance', 'account'],
    ['/ledger/entries?from=yesterday', 'from'],
    ['/ledger/entries?cursor=1', 'cursor'],
    ['/ledger/entries?payment=1', 'payment'],
    ['/ledger/trial-balance?at=1', 'at'],
    ['/ledger/trial-balance?from=2026-01-01', 'from'],
  ])('%s is refused, naming the parameter', async (path, field) => {
    const { status, body } = await shop.admin('GET', path);
    expect(status).toBe(400);
    expect(body.errors.map(({ param }: Fields) => param)).toEqual([field]);
    expect(body.errors[0].expected).toBeTruthy();
  });

  test('an account that does not exist has no balance', async () => {
    for (const mid of ['x', '01990000-0000-7000-8000-000000000000']) {
      expect(await shop.admin('GET', `/accounts/${mid}/balance`)).toMatchObject({
        status: 404,
        body: { error_message: 'Account does not exist.' },
      });
    }
  });
});

describe('merchants', () => {
  let merchant: Merchant;
  let other: Merchant;
  let token: string;
  beforeAll(async () => {
    merchant = await shop.newMerchant();
    other = await shop.newMerchant();
    await shop.sale({}, merchant);
    await shop.sale({}, other);
    const { body } = await shop.admin('POST', '/tokens', { name: 'Shop', role: 'merchant', mids: [merchant.mid] });
    token = body.token;
  });

  test('see their own ledger accounts only', async () => {
    const seen = await entries('', token);
    expect(seen).toHaveLength(1);
    expect(seen[0]?.postings).toEqual([
      { account: `merchant:${merchant.mid}:balance`, side: 'credit', amount: '10.00', currency: 'USD' },
    ]);
    expect(await entries(`mid=${other.mid}`, token)).toEqual([]);
    expect(await entries('account=provider:vcard:receivable', token)).toEqual([]);
    expect((await balance(merchant, token)).items).toHaveLength(1);
    expect((await shop.admin('GET', `/accounts/${other.mid}/balance`, undefined, token)).status).toBe(404);
    expect((await shop.admin('GET', '/ledger/trial-balance', undefined, token)).status).toBe(403);
  });

  test('see the money of a payment without costs', async () => {
    const { body } = await shop.admin('GET', '/payments', undefined, token);
    const { body: payment } = await shop.admin('GET', `/payments/${body.items[0].payment_id}`, undefined, token);
    expect(payment.money).toEqual({
      gross: '10.00',
      refunded: '0.00',
      charged_back: '0.00',
      fees: '0.00',
      net: '10.00',
    });
    expect(JSON.stringify(payment.entries)).not.toContain('provider:');
  });
});

describe('adjustments', () => {
  let merchant: Merchant;
  let tokens: Record<'owner' | 'operator' | 'viewer' | 'merchant' | 'foreign', string>;
  const propose = (body: object, token?: string): Promise<Answer> =>
    shop.admin(
      'POST',
      '/ledger/adjustments',
      { mid: merchant.mid, currency: 'EUR', reason: 'Goodwill', ...body },
      token,
    );
  const decide = (id: string, decision: string, token?: string): Promise<Answer> =>
    shop.admin('POST', `/ledger/adjustments/${id}/${decision}`, undefined, token);
  const euros = async (): Promise<string | undefined> =>
    (await balance(merchant)).items.find(({ currency }: Fields) => currency === 'EUR')?.total;
  beforeAll(async () => {
    merchant = await shop.newMerchant();
    const other = await shop.newMerchant();
    const tokenOf = async (role: string, mids?: string[]): Promise<string> =>
      (await shop.admin('POST', '/tokens', { name: role, role, ...(mids && { mids }) })).body.token;
    tokens = {
      owner: await tokenOf('owner'),
      operator: await tokenOf('operator'),
      viewer: await tokenOf('viewer'),
      merchant: await tokenOf('merchant', [merchant.mid]),
      foreign: await tokenOf('owner', [other.mid]),
    };
  });

  test('one person proposes, another one approves, and then the balance changes', async () => {
    const { status, body } = await propose({ amount: '12.50' });
    expect({ status, body }).toEqual({
      status: 201,
      body: {
        adjustment_id: expect.any(String),
        mid: merchant.mid,
        currency: 'EUR',
        amount: '12.50',
        reason: 'Goodwill',
        state: 'waiting',
        proposed_by: expect.any(String),
        proposed_at: expect.stringMatching(DATE),
        decided_by: null,
        decided_at: null,
      },
    });
    expect(await euros()).toBeUndefined();
    expect(await decide(body.adjustment_id, 'approve')).toMatchObject({
      status: 403,
      body: { error_message: 'Another person has to decide about this adjustment.' },
    });
    expect(await euros()).toBeUndefined();
    expect(await decide(body.adjustment_id, 'approve', tokens.operator)).toMatchObject({
      status: 200,
      body: { state: 'approved', decided_by: 'operator' },
    });
    expect(await euros()).toBe('12.50');
    const [entry] = await entries(`mid=${merchant.mid}&category=adjustment`);
    expect(lines([entry as Entry])).toEqual(['adjustment: operator:adjustments 12.50 = merchant:balance 12.50']);
    expect(entry).toMatchObject({ payment_id: null, note: 'Goodwill' });
    for (const decision of ['approve', 'refuse']) {
      expect(await decide(body.adjustment_id, decision, tokens.operator)).toMatchObject({
        status: 400,
        body: { error_message: 'This adjustment is decided already.' },
      });
    }
    expect(await euros()).toBe('12.50');
  });

  test('a negative one reduces the balance; a refused one changes nothing', async () => {
    const before = Number(await euros());
    const negative = (await propose({ amount: '-2.00' }, tokens.operator)).body.adjustment_id;
    const refusedOne = (await propose({ amount: '100.00' }, tokens.operator)).body.adjustment_id;
    expect((await decide(refusedOne, 'refuse', tokens.operator)).status).toBe(403);
    expect((await decide(refusedOne, 'refuse', tokens.owner)).body.state).toBe('refused');
    expect((await decide(negative, 'approve', tokens.owner)).body.state).toBe('approved');
    expect(Number(await euros())).toBe(before - 2);
    expect(lines(await entries(`mid=${merchant.mid}&account=operator:adjustments`))[0]).toBe(
      'adjustment: merchant:balance 2.00 = operator:adjustments 2.00',
    );
    const { body } = await shop.admin('GET', `/ledger/adjustments?mid=${merchant.mid}&state=refused`);
    expect(body.items.map(({ adjustment_id }: Fields) => adjustment_id)).toEqual([refusedOne]);
    const { body: log } = await shop.admin('GET', '/audit?action=adjustments.approve');
    expect(log.items[0]).toMatchObject({ mid: merchant.mid, subject: negative, after: { state: 'approved' } });
  });

  test('they stay when the ledger is built again', async () => {
    const before = await entries(`mid=${merchant.mid}`);
    const balanceBefore = await euros();
    await rebuildProjection(shop.gateway, 'ledger');
    await foldProjections(shop.gateway);
    expect(await entries(`mid=${merchant.mid}`)).toEqual(before);
    expect(await euros()).toBe(balanceBefore);
  });

  test('of several approvals at the same time, one posts the entry', async () => {
    const { adjustment_id } = (await propose({ amount: '5.00' })).body;
    const answers = await Promise.all(
      ['owner', 'operator', 'owner', 'operator'].map((role) =>
        decide(adjustment_id, 'approve', tokens[role as 'owner']),
      ),
    );
    expect(answers.map(({ status }) => status).sort()).toEqual([200, 400, 400, 400]);
    expect(await entries(`mid=${merchant.mid}&category=adjustment&limit=1`)).toHaveLength(1);
  });

  test.each([
    [{ amount: '0.00' }, 'amount'],
    [{ amount: 5 }, 'amount'],
    [{ amount: '1.234' }, 'amount'],
    [{ amount: '--1.00' }, 'amount'],
    [{}, 'amount'],
    [{ amount: '1.00', currency: 'XXX' }, 'currency'],
    [{ amount: '1.00', reason: ' ' }, 'reason'],
    [{ amount: '1.00', reason: 'The card 4111111111111111' }, 'reason'],
    [{ amount: '1.00', mid: 'x' }, 'mid'],
    [{ amount: '1.00', note: 'x' }, 'note'],
  ])('%j is refused, naming the field', async (body, field) => {
    const answer = await propose(body);
    expect(answer.status).toBe(400);
    expect(answer.body.errors.map(({ param }: Fields) => param)).toEqual([field]);
  });

  test('are for the roles that may, and for accounts that they see', async () => {
    const { adjustment_id } = (await propose({ amount: '1.00' })).body;
    for (const role of ['viewer', 'merchant'] as const) {
      expect((await propose({ amount: '1.00' }, tokens[role])).status).toBe(403);
      expect((await decide(adjustment_id, 'approve', tokens[role])).status).toBe(403);
    }
    expect((await shop.admin('GET', '/ledger/adjustments', undefined, tokens.merchant)).status).toBe(403);
    expect((await propose({ amount: '1.00' }, tokens.foreign)).status).toBe(404);
    expect((await decide(adjustment_id, 'approve', tokens.foreign)).status).toBe(404);
    expect((await shop.admin('GET', '/ledger/adjustments', undefined, tokens.foreign)).body.items).toEqual([]);
    expect((await decide('x', 'approve')).status).toBe(404);
  });
});
