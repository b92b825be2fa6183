/** Risk in the panel: lists with their entries, blocking from a payment, and what a rule would do before it is switched on. */
import { describe, expect, test } from 'vitest';
import { LIMITS } from '../../src/rules/limits.ts';
import { openShop } from '../support/gateway.ts';
import { signedIn } from '../support/operators.ts';

const shop = openShop();
const LISTS = '/admin/risk/lists';
const RULES = '/admin/risk/rules';

describe('a list', () => {
  test('gets entries by a form and by a file, and loses them again', async () => {
    const { mid } = await shop.newMerchant();
    const owner = await signedIn(shop, 'owner');
    const created = await owner.submit(LISTS, { name: 'Bad domains', kind: 'email_domain', mid });
    const location = created.location ?? '';
    expect(location).toMatch(/^\/admin\/risk\/lists\/[\w-]+$/);
    expect((await owner.get(location)).text).toContain('The list is empty');
    await owner.submit(`${location}/entries`, { value: 'Trash.example', reason: 'Disposable', expires: '2099-12-31' });
    const wrong = await owner.submit(`${location}/entries`, { value: 'no domain' });
    expect([wrong.status, wrong.text.includes('id="value-error"')]).toEqual([400, true]);
    const past = await owner.submit(`${location}/entries`, { value: 'a.example', expires: '2001-01-01' });
    expect([past.status, past.text.includes('id="expires-error"')]).toEqual([400, true]);
    const long = await owner.submit(`${location}/entries`, { value: 'a.example', reason: 'x'.repeat(256) });
    expect([long.status, long.text.includes('id="reason-error"')]).toEqual([400, true]);
    const imported = await owner.upload(`${location}/import`, new File(['value\nmail.example\nspam.example'], 'a.csv'));
    expect(imported.location).toBe(`${location}?done=added`);
    const broken = await owner.upload(`${location}/import`, new File(['value\nfine.example\nnot one'], 'a.csv'));
    expect([broken.status, broken.text.includes('id="file-error"')]).toEqual([400, true]);
    const { text } = await owner.get(location);
    for (const value of ['trash.example', 'mail.example', 'spam.example', 'Disposable']) expect(text).toContain(value);
    expect(text).not.toContain('fine.example');
    const entry = /entries\/([\w-]+)\/delete/.exec(text)?.[1];
    expect((await owner.submit(`${location}/entries/${entry}/delete`)).location).toBe(`${location}?done=removed`);
    expect((await owner.get(LISTS)).text).toContain('Bad domains');
    expect((await owner.submit(`${location}/delete`)).location).toBe(`${LISTS}?done=deleted`);
  });

  test('that a rule uses is not deleted, and the page says which', async () => {
    const { mid } = await shop.newMerchant();
    const owner = await signedIn(shop, 'owner');
    const { body: list } = await shop.admin('POST', '/risk/lists', { mid, name: 'Used', kind: 'email' });
    const condition = { field: 'email', op: 'in_list', value: list.list_id };
    const rule = { mid, name: 'The user of it', condition, action: { kind: 'block' }, state: 'off' };
    await shop.admin('POST', '/risk/rules', rule);
    const { status, text } = await owner.submit(`${LISTS}/${list.list_id}/delete`);
    expect([status, text.includes('The user of it')]).toEqual([400, true]);
  });
});

describe('blocking from a payment', () => {
  test('declines further payments of the payer until the time is over; a second time needs no second rule', async () => {
    const merchant = await shop.newMerchant();
    const owner = await signedIn(shop, 'owner');
    const pay = async (payer_email: string) => (await shop.sale({ payer_email }, merchant)).body;
    const { trans_id } = await pay('mallory@example.com');
    const page = (await owner.get(`/admin/payments/${trans_id}`)).text;
    expect(page).toContain(`action="/admin/payments/${trans_id}/block"`);
    // The payment has no card.
    expect(page).not.toContain('<option value="card"');
    const blocked = await owner.submit(`/admin/payments/${trans_id}/block`, { what: 'email', days: '7' });
    expect(blocked.location).toBe(`/admin/payments/${trans_id}?done=blocked`);
    expect((await owner.get(blocked.location as string)).text).toContain('Further payments are blocked.');
    expect((await pay('Mallory@example.com')).status).toBe('DECLINED');
    const other = await pay('trudy@example.com');
    expect(other.status).toBe('SETTLED');
    await owner.submit(`/admin/payments/${other.trans_id}/block`, { what: 'email', days: '1' });
    expect((await pay('trudy@example.com')).status).toBe('DECLINED');
    expect((await shop.admin('GET', `/risk/rules?mid=${merchant.mid}`)).body.items).toHaveLength(1);
    await shop.advanceClock(7 * 86_400 + 1, merchant.mid);
    expect((await pay('mallory@example.com')).status).toBe('SETTLED');
    const refused = await owner.submit(`/admin/payments/${trans_id}/block`, { what: 'email', days: 'ever' });
    expect(refused.status).toBe(400);
  });

  test('adds a rule if the one with the list blocks only some of its entries', async () => {
    const merchant = await shop.newMerchant();
    const owner = await signedIn(shop, 'owner');
    const pay = async () => (await shop.sale({ payer_email: 'mallory@example.com' }, merchant)).body;
    const { trans_id } = await pay();
    const block = () => owner.submit(`/admin/payments/${trans_id}/block`, { what: 'email', days: '7' });
    await block();
    const [rule] = (await shop.admin('GET', `/risk/rules?mid=${merchant.mid}`)).body.items;
    const large = { field: 'amount', op: '>', value: '500.00', currency: 'USD' };
    await shop.admin('PATCH', `/risk/rules/${rule.rule_id}`, { condition: { all: [rule.condition, large] } });
    expect((await pay()).status).toBe('SETTLED');
    await block();
    expect((await pay()).status).toBe('DECLINED');
  });

  test('is not offered to those who may not manage rules', async () => {
    const { trans_id } = (await shop.sale()).body;
    const viewer = await signedIn(shop, 'viewer');
    expect((await viewer.get(`/admin/payments/${trans_id}`)).text).not.toContain('/block"');
  });
});

/** The inputs of a group of comparisons. */
const group = (index: number, join: string, ...rows: Record<string, string>[]): Record<string, string> =>
  Object.fromEntries([
    [`c.${index}.join`, join],
    ...rows.flatMap((row, position) =>
      Object.entries(row).map(([name, value]) => [`c.${index}.${position}.${name}`, value]),
    ),
  ]);

describe('a rule from choices', () => {
  const amount = { kind: 'field', field: 'amount', op: '>=', value: '300.00', currency: 'eur' };
  const country = { kind: 'field', field: 'payer_country', op: 'in', value: 'de, FR', unknown: 'match' };
  const isNew = { kind: 'field', field: 'is_new_card', op: '=', value: 'true' };
  const cards = {
    ...{ kind: 'velocity', measure: 'distinct', of: 'card', by: 'email', second: 'ip', within: '24h' },
    ...{ outcome: 'declined', op: '>=', value: '3' },
  };
  const shown = (condition: unknown) => ({
    condition,
    action: { kind: 'review', hours: 48, then: 'approve' },
    state: 'shadow',
  });
  const sent = (mid: string, more: Record<string, string>) => ({
    ...{ mid, name: 'Built', state: 'shadow', action: 'review', hours: '48', then: 'approve', json: '' },
    ...{ 'c.join': 'all', ...more },
  });
  const rulesOf = async (mid: string) => (await shop.admin('GET', `/risk/rules?mid=${mid}`)).body.items;

  test('has groups of comparisons and velocities; its page shows them again, and changes them', async () => {
    const { mid } = await shop.newMerchant();
    const owner = await signedIn(shop, 'owner');
    const groups = { ...group(0, 'all', amount, { ...amount, value: '' }), ...group(1, 'any', country, cards) };
    expect((await owner.submit(RULES, sent(mid, groups))).location).toBe(`${RULES}?done=saved`);
    const velocity = { measure: 'distinct', of: 'card', by: ['email', 'ip'], within: '24h', outcome: 'declined' };
    const condition = {
      all: [
        { field: 'amount', op: '>=', value: '300.00', currency: 'EUR' },
        {
          any: [
            { field: 'payer_country', op: 'in', value: ['de', 'FR'], unknown: 'match' },
            { velocity, op: '>=', value: 3 },
          ],
        },
      ],
    };
    const [rule] = await rulesOf(mid);
    expect(rule).toMatchObject(shown(condition));
    const { text } = await owner.get(`${RULES}/${rule.rule_id}`);
    for (const input of [
      'name="c.0.0.value" value="300.00"',
      'name="c.1.0.value" value="de, FR"',
      'name="c.1.1.within" value="24h"',
      'name="hours" type="number" value="48"',
    ])
      expect(text).toContain(input);
    const changed = { ...group(0, 'none', isNew, country) };
    await owner.submit(`${RULES}/${rule.rule_id}`, sent(mid, changed));
    expect((await rulesOf(mid))[0]).toMatchObject(
      shown({
        not: {
          any: [
            { field: 'is_new_card', op: '=', value: true },
            { field: 'payer_country', op: 'in', value: ['de', 'FR'], unknown: 'match' },
          ],
        },
      }),
    );
  });

  test('rows and groups are added and removed without a script, and nothing is saved by that', async () => {
    const { mid } = await shop.newMerchant();
    const owner = await signedIn(shop, 'owner');
    const one = sent(mid, group(0, 'all', amount, isNew));
    const names = (text: string) => [...text.matchAll(/name="(c\.[\d.]+(?:kind|join))"/g)].map(([, name]) => name);
    const add = async (value: string) => (await owner.submit(RULES, { ...one, add: value })).text;
    expect(names(await add('0.velocity'))).toEqual(['c.0.join', 'c.0.0.kind', 'c.0.1.kind', 'c.0.2.kind']);
    expect(await add('0.velocity')).toContain('name="c.0.2.measure"');
    expect(names(await add('group'))).toEqual(['c.0.join', 'c.0.0.kind', 'c.0.1.kind', 'c.1.join', 'c.1.0.kind']);
    const removed = (await owner.submit(RULES, { ...one, remove: '0.0' })).text;
    expect(names(removed)).toEqual(['c.0.join', 'c.0.0.kind']);
    expect(removed).toContain('<option value="is_new_card" selected');
    expect(await rulesOf(mid)).toEqual([]);
  });

  test('a refusal is shown at the row that it concerns', async () => {
    const { mid } = await shop.newMerchant();
    const owner = await signedIn(shop, 'owner');
    const wrong = { ...country, value: 'Germany' };
    const { status, text } = await owner.submit(RULES, sent(mid, { ...group(0, 'any', isNew, wrong) }));
    expect(status).toBe(400);
    expect(text).toContain('name="c.0.1.value" aria-invalid="true"');
    expect(text).not.toContain('name="c.0.0.value" aria-invalid="true"');
    const hours = await owner.submit(RULES, { ...sent(mid, group(0, 'all', isNew)), hours: '999' });
    expect([hours.status, hours.text.includes('id="hours-error"')]).toEqual([400, true]);
    const nothing = await owner.submit(RULES, sent(mid, group(0, 'all', { ...isNew, value: '' })));
    expect(nothing.status).toBe(400);
  });

  test('has a priority, which its page shows and changes', async () => {
    const { mid } = await shop.newMerchant();
    const owner = await signedIn(shop, 'owner');
    expect((await owner.get(`${RULES}/new`)).text).toContain(
      'name="priority" aria-describedby="priority-hint" type="number" value="100"',
    );
    const form = sent(mid, group(0, 'all', amount));
    await owner.submit(RULES, { ...form, priority: '7' });
    const [{ rule_id, priority }] = await rulesOf(mid);
    expect(priority).toBe(7);
    const { text } = await owner.get(`${RULES}/${rule_id}`);
    expect(text).toMatch(/name="priority"[^>]* value="7"/);
    await owner.submit(`${RULES}/${rule_id}`, { ...form, priority: '8' });
    expect((await rulesOf(mid))[0].priority).toBe(8);
    for (const wrong of ['10001', '-1', '1.5', 'first', '']) {
      const refused = await owner.submit(`${RULES}/${rule_id}`, { ...form, priority: wrong });
      expect([wrong, refused.status, refused.text.includes('id="priority-error"')]).toEqual([wrong, 400, true]);
    }
    expect((await rulesOf(mid))[0].priority).toBe(8);
  });

  test('a deeper tree stays JSON', async () => {
    const { mid } = await shop.newMerchant();
    const owner = await signedIn(shop, 'owner');
    const leaf = { field: 'hour', op: '=', value: 3 };
    const condition = { not: { all: [leaf, { not: leaf }] } };
    const rule = { mid, name: 'Deep', condition, action: { kind: 'block' }, state: 'off' };
    const { body } = await shop.admin('POST', '/risk/rules', rule);
    const { text } = await owner.get(`${RULES}/${body.rule_id}`);
    expect(text).not.toContain('name="c.0.join"');
    expect(text).toContain('&quot;not&quot;');
  });
});

test('the report on rules that only watch shows what each would have done, by day, of the own accounts only', async () => {
  const [merchant, other] = [await shop.newMerchant(), await shop.newMerchant()];
  const watch = (mid: string | null, name: string) =>
    shop.admin('POST', '/risk/rules', {
      ...{ mid, name, state: 'shadow', action: { kind: 'block' } },
      condition: { field: 'amount', op: '>=', value: '20.00', currency: 'USD' },
    });
  await watch(merchant.mid, 'From twenty');
  await watch(other.mid, 'Of the other');
  for (const order_amount of ['19.00', '20.00', '21.50']) await shop.sale({ order_amount }, merchant);
  await shop.sale({ order_amount: '99.00' }, other);
  const owner = await signedIn(shop, 'owner');
  const { text } = await owner.get('/admin/risk/shadow');
  expect(text).toContain('From twenty');
  expect(text).toContain('Of the other');
  expect(text).toMatch(/2 <span class="soft">USD\s41\.50/);
  const support = await signedIn(shop, 'merchant', [merchant.mid]);
  const own = (await support.get('/admin/risk/shadow')).text;
  expect(own).toContain('From twenty');
  expect(own).not.toContain('Of the other');
  expect(own).not.toContain('/admin/risk/fraud-rates');
});

test.each([
  ['require_3ds', { kind: 'require_3ds' }, 'The bank was asked for a challenge'],
  ['skip_3ds', { kind: 'skip_3ds' }, '3-D Secure was skipped'],
  ['exempt', { kind: 'exempt', reason: 'low_value' }, 'An exemption for a low amount was asked for'],
])('the timeline says what %s asked for, and that the provider has no words for it', async (_, action, words) => {
  const merchant = await shop.newMerchant();
  const condition = { field: 'currency', op: '=', value: 'USD' };
  const rule = { mid: merchant.mid, name: 'Dollars', state: 'on', action, condition };
  expect((await shop.admin('POST', '/risk/rules', rule)).status).toBe(201);
  const { body } = await shop.sale({ order_amount: '10.00' }, merchant);
  const owner = await signedIn(shop, 'owner');
  const { text } = await owner.get(`/admin/payments/${body.trans_id}`);
  expect(text).toContain(`<h3>${words} (the provider has no words for it)</h3>`);
});

describe('a rule that is switched on', () => {
  const form = {
    ...{ name: 'Small', action: 'block', json: '', 'c.join': 'all' },
    ...group(0, 'all', { kind: 'field', field: 'amount', op: '<=', value: '10.00', currency: 'USD' }),
  };

  test('shows first what it would have done, and is saved by the second form', async () => {
    const merchant = await shop.newMerchant();
    const owner = await signedIn(shop, 'owner');
    for (const amount of ['10.00', '20.00', '30.00']) await shop.sale({ order_amount: amount }, merchant);
    const rules = async () => (await shop.admin('GET', `/risk/rules?mid=${merchant.mid}`)).body.items;
    const on = { ...form, mid: merchant.mid, state: 'on' };
    const { status, text } = await owner.submit(RULES, on);
    expect([status, text.includes('What the rule would have done')]).toEqual([200, true]);
    expect(text).toMatch(/USD\s10\.00/);
    expect(text).toContain('name="seen" value="1"');
    expect(await rules()).toEqual([]);
    expect((await owner.submit(RULES, { ...on, seen: '1' })).location).toBe(`${RULES}?done=saved`);
    expect(await rules()).toMatchObject([{ name: 'Small', state: 'on' }]);
    const [{ rule_id }] = await rules();
    expect((await owner.get(`${RULES}/${rule_id}`)).text).toContain('What the rule would have done');
  });

  test.each([
    ['another condition', { 'c.0.0.value': '15.00' }],
    ['another action', { action: 'review' }],
    ['an action with points', { action: 'score', points: '10' }],
  ])('and changed afterwards shows it for %s, and not for another name', async (_, change) => {
    const merchant = await shop.newMerchant();
    const owner = await signedIn(shop, 'owner');
    await owner.submit(RULES, { ...form, mid: merchant.mid, state: 'on', seen: '1' });
    const [{ rule_id }] = (await shop.admin('GET', `/risk/rules?mid=${merchant.mid}`)).body.items;
    const save = (fields: Record<string, string>) =>
      owner.submit(`${RULES}/${rule_id}`, { ...form, state: 'on', ...fields });
    expect((await save({ name: 'Renamed' })).location).toBe(`${RULES}?done=saved`);
    const { status, text } = await save(change);
    expect([status, text.includes('What the rule would have done')]).toEqual([200, true]);
    expect((await save({ ...change, seen: '1' })).location).toBe(`${RULES}?done=saved`);
  });

  test('that only watches is saved at once', async () => {
    const merchant = await shop.newMerchant();
    const owner = await signedIn(shop, 'owner');
    const saved = await owner.submit(RULES, { ...form, mid: merchant.mid, state: 'shadow' });
    expect(saved.location).toBe(`${RULES}?done=saved`);
  });

  test('above the share asks for more than a second look', async () => {
    const merchant = await shop.newMerchant();
    const owner = await signedIn(shop, 'owner');
    for (let count = 0; count < 12; count++) await shop.sale({}, merchant);
    const on = { ...form, mid: merchant.mid, state: 'on' };
    const { status, text } = await owner.submit(RULES, on);
    expect([status, text.includes('name="confirm"'), text.includes('name="seen"')]).toEqual([400, true, true]);
    expect((await owner.submit(RULES, { ...on, seen: '1' })).status).toBe(400);
    expect((await owner.submit(RULES, { ...on, seen: '1', confirm: '1' })).location).toBe(`${RULES}?done=saved`);
  });
});

test('the page of an account shows what is left of its limits', async () => {
  const merchant = await shop.newMerchant({
    volume_limits: [{ per: 'day', currency: 'USD', brands: [], amount: '100.00' }],
  });
  await shop.sale({ order_amount: '30.00' }, merchant);
  const owner = await signedIn(shop, 'owner');
  const { text } = await owner.get(`/admin/accounts/${merchant.mid}`);
  expect(text).toMatch(/USD\s30\.00/);
  expect(text).toMatch(/USD\s70\.00/);
});

test('fraud rates stand beside the bands of the exemption', async () => {
  await shop.rows(`insert into risk_fraud_rates (connector, quarter, currency, captured, fraud, computed_at) values
    ('first', '2026-01-01Z', 'EUR', 1000000, 500, now()), ('second', '2026-01-01Z', 'EUR', 1000000, 2000, now())`);
  const owner = await signedIn(shop, 'owner');
  const { text } = await owner.get('/admin/risk/fraud-rates');
  const rowOf = (name: string) => new RegExp(`<tr>(?:(?!</tr>).)*${name}(?:(?!</tr>).)*</tr>`, 's').exec(text)?.[0];
  expect(rowOf('first')).toMatch(/0\.0500 %.*EUR\s250\.00/s);
  expect(rowOf('second')).toMatch(/0\.2000 %.*Above all bands/s);
  expect(text).toContain('0.13 %');
});

test('rules, lists and entries are shown in pages', async () => {
  const { mid } = await shop.newMerchant();
  const merchant = await signedIn(shop, 'merchant', [mid]);
  const condition = { field: 'brand', op: '=', value: 'card' };
  const add = (path: string, body: object) => shop.admin('POST', `/risk/${path}`, body);
  const numbers = Array.from({ length: LIMITS.adminPageSize + 1 }, (_, number) => String(number).padStart(3, '0'));
  for (const number of numbers) {
    await add('rules', { mid, name: `Rule ${number}`, condition, action: { kind: 'allow' }, state: 'off' });
    await add('lists', { mid, name: `List ${number}`, kind: 'email' });
  }
  const { list_id } = (await add('lists', { mid, name: 'Long', kind: 'email' })).body;
  const items = numbers.map((number) => ({ value: `p${number}@example.com` }));
  expect((await add(`lists/${list_id}/entries`, { items })).status).toBe(201);
  for (const [path, pattern] of [
    [RULES, /Rule \d{3}/g],
    [LISTS, /List \d{3}/g],
    [`${LISTS}/${list_id}`, /p\d{3}@example\.com/g],
  ] as const) {
    const first = await merchant.get(path);
    const [, next = ''] = /href="([^"]*\?cursor=[^"]*)"/.exec(first.text) ?? [];
    const second = await merchant.get(next);
    const seen = [first, second].flatMap(({ text }) => text.match(pattern) ?? []);
    expect(new Set(seen).size, path).toBe(numbers.length);
    expect(second.text).not.toContain('?cursor=');
    expect((await merchant.get(`${path}?cursor=nothing`)).text).toContain('?cursor=');
  }
});

test('the queue of reviews names the rules of the installation to operators of all accounts only', async () => {
  const merchant = await shop.newMerchant();
  const payer_email = `${crypto.randomUUID()}@example.com`;
  const rule = {
    ...{ mid: null, name: 'Secret watch', state: 'on', action: { kind: 'review', hours: 24, then: 'approve' } },
    condition: { field: 'email', op: '=', value: payer_email },
  };
  const { body } = await shop.admin('POST', '/risk/rules', rule);
  const { trans_id } = (await shop.sale({ payer_email }, merchant)).body;
  await shop.admin('DELETE', `/risk/rules/${body.rule_id}`);
  const pages = [await signedIn(shop, 'owner'), await signedIn(shop, 'merchant', [merchant.mid])].map(
    async (operator) => (await operator.get('/admin/risk')).text,
  );
  const [ofAll = '', ofAccount = ''] = await Promise.all(pages);
  for (const page of [ofAll, ofAccount]) expect(page).toContain(trans_id);
  expect([ofAll.includes('Secret watch'), ofAccount.includes('Secret watch')]).toEqual([true, false]);
  expect(ofAccount).toContain('a rule of the installation');
});

describe('a payment that waits for a review', () => {
  const REVIEW = { action: { kind: 'review', hours: 24, then: 'refuse' }, state: 'on' };

  test('is decided on its own page, which offers no capture until then and says who decided', async () => {
    const merchant = await shop.newMerchant();
    const condition = { field: 'amount', op: '>', value: '50.00', currency: 'USD' };
    await shop.admin('POST', '/risk/rules', { ...REVIEW, mid: merchant.mid, name: 'Large', condition });
    const owner = await signedIn(shop, 'owner');
    const support = await signedIn(shop, 'support');
    const decisions = { approve: ['SETTLED', 'Approved in the review'], refuse: ['VOID', 'Refused in the review'] };
    for (const [decision, [state, said]] of Object.entries(decisions)) {
      const { trans_id: id } = (await shop.sale({ order_amount: '60.00' }, merchant)).body;
      const page = `/admin/payments/${id}`;
      const waiting = (await owner.get(page)).text;
      expect(waiting).toContain('Without a decision the payment is refused on');
      expect(waiting).not.toContain(`${page}/capture`);
      expect(waiting).toContain(`${page}/void`);
      const read = (await support.get(page)).text;
      expect(read).toContain('Waits for a review');
      expect(read).not.toContain(`action="/admin/risk/${id}"`);
      const decided = await owner.submit(`/admin/risk/${id}`, { decision, then: 'payment' });
      expect(decided.location).toBe(`${page}?done=review_${decision}`);
      const { text } = await owner.get(decided.location as string);
      expect(text).toContain(`The payment was ${decision}d.`);
      expect(text).toMatch(new RegExp(`${said}</h3><p class="soft small">By the owner</p>`));
      expect(text).not.toContain('Waits for a review');
      expect((await shop.inspect(id)).status).toBe(state);
    }
  });

  test('because of a rule of the installation cannot be approved by the merchant, who can refuse it', async () => {
    const merchant = await shop.newMerchant();
    const payer_email = `${crypto.randomUUID()}@example.com`;
    const condition = { field: 'email', op: '=', value: payer_email };
    const { body: rule } = await shop.admin('POST', '/risk/rules', { ...REVIEW, mid: null, name: 'Watch', condition });
    const ids: string[] = [];
    for (const _ of ['to approve', 'to refuse']) ids.push((await shop.sale({ payer_email }, merchant)).body.trans_id);
    await shop.admin('DELETE', `/risk/rules/${rule.rule_id}`);
    const [first = '', second = ''] = ids;
    const own = await signedIn(shop, 'merchant', [merchant.mid]);
    const owner = await signedIn(shop, 'owner');
    const APPROVE = 'name="decision" value="approve"';
    for (const page of ['/admin/risk', `/admin/payments/${first}`]) {
      const [seen, all] = [(await own.get(page)).text, (await owner.get(page)).text];
      expect([seen.includes(APPROVE), all.includes(APPROVE)]).toEqual([false, true]);
      expect(seen).toContain('name="decision" value="refuse"');
    }
    expect((await own.get(`/admin/payments/${first}`)).text).toContain('Only the operator of this installation can');
    const { token } = (await shop.admin('POST', '/tokens', { name: 'm', role: 'merchant', mids: [merchant.mid] })).body;
    const decide = (id: string, decision: string, by?: string) =>
      shop.admin('POST', `/risk/reviews/${id}`, { decision }, by);
    expect(await decide(first, 'approve', token)).toMatchObject({
      status: 403,
      body: { error_code: 100000, error_message: 'Only the operator of the installation can approve this payment.' },
    });
    expect((await shop.inspect(first)).status).toBe('PENDING');
    expect((await decide(second, 'refuse', token)).body.status).toBe('VOID');
    expect((await decide(first, 'approve')).body.status).toBe('SETTLED');
    // Now the review has ended for everybody.
    expect((await decide(first, 'approve', token)).body.error_message).toBe('The review has ended.');
  });

  test('that nobody decided says that the time was over', async () => {
    const merchant = await shop.newMerchant();
    const condition = { field: 'amount', op: '>', value: '50.00', currency: 'USD' };
    await shop.admin('POST', '/risk/rules', { ...REVIEW, mid: merchant.mid, name: 'Large', condition });
    const { trans_id: id } = (await shop.sale({ order_amount: '60.00' }, merchant)).body;
    await shop.advanceClock(86_401, merchant.mid);
    const owner = await signedIn(shop, 'owner');
    const { text } = await owner.get(`/admin/payments/${id}`);
    expect(text).toMatch(/Refused in the review<\/h3><p class="soft small">By the gateway, on time<\/p>/);
  });
});
