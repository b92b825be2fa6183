/** The panel's pages on the attention list, chargebacks, schedules and resends: what operators see, confirm and are refused. */
import { randomUUID } from 'node:crypto';
import { beforeAll, describe, expect, test } from 'vitest';
import type { Role } from '../../src/rules/roles.ts';
import { entryOf } from '../support/entries.ts';
import { openShop, PROVIDER_POLL, sign } from '../support/gateway.ts';
import { brandSale, operationsOf } from '../support/operations.ts';
import { COOKIE, signedIn, type TestOperator } from '../support/operators.ts';

const shop = openShop({ simulator: true });
let operator: TestOperator;
let support: TestOperator;
let foreign: TestOperator;
beforeAll(async () => {
  const { mid } = await shop.newMerchant();
  operator = await signedIn(shop, 'operator');
  support = await signedIn(shop, 'support');
  foreign = await signedIn(shop, 'merchant', [mid]);
});

async function lateSuccess(): Promise<string> {
  await operationsOf(shop).fault('late_success', { mid: shop.merchant.mid, brand: 'pin-a' });
  const { body } = await shop.post(brandSale('pin-a', shop.merchant));
  await expect.poll(async () => (await shop.inspect(body.trans_id)).attention, PROVIDER_POLL).toBe('late_success');
  return body.trans_id;
}

const formToken = async (one: TestOperator): Promise<string> =>
  /name="form_token" value="([^"]+)"/.exec((await one.get('/admin/payments')).text)?.[1] ?? '';

describe('the attention list', () => {
  test('says that nothing needs attention, then counts the marks and offers the decisions', async () => {
    expect((await operator.get('/admin/attention')).text).toContain('Nothing needs your attention');
    const id = await lateSuccess();
    const { text } = await operator.get('/admin/attention');
    expect(text).toContain('Late success <span class="badge bad">1</span>');
    expect(text).toContain('Needs attention <span class="badge bad">1</span></a>');
    for (const resolve of ['accept', 'refund', 'dismiss']) {
      expect(text).toContain(`/admin/payments/${id}/attention/${resolve}"`);
    }
    expect((await operator.get('/admin')).text).toContain('/admin/attention?mark=late_success');
    const seen = (await support.get('/admin/attention')).text;
    expect(seen).toContain(`/admin/payments/${id}"`);
    expect(seen).not.toContain(`/attention/accept`);
    expect((await foreign.get('/admin/attention')).text).toContain('Nothing needs your attention');
    expect((await operator.get(`/admin/attention?mid=${randomUUID()}&mark=conflict`)).status).toBe(200);
  });

  test.each([
    ['accept', 'SETTLED', 'The payment is settled'],
    ['refund', 'DECLINED', 'The money is sent back to the payer.'],
    ['dismiss', 'DECLINED', 'The mark is removed.'],
  ])('%s is confirmed with a note', async (resolve, status, said) => {
    const id = await lateSuccess();
    const path = `/admin/payments/${id}/attention/${resolve}`;
    const page = await operator.get(path);
    expect([page.status, page.text.includes('USD\u00a010.00')]).toEqual([200, true]);
    expect((await shop.inspect(id)).attention).toBe('late_success');
    const operation_id = /name="operation_id" value="([^"]+)"/.exec(page.text)?.[1] ?? '';
    const { location } = await operator.submit(path, { note: 'A <note>', operation_id });
    const after = await operator.get(location ?? '');
    expect(after.text).toContain(said);
    expect(after.text).toContain('A &lt;note&gt;');
    expect(await shop.inspect(id)).toMatchObject({ status, attention: null });
    const again = await operator.get(path);
    expect([again.status, again.text]).toEqual([400, expect.stringContaining('does not need attention')]);
  });

  test('a refusal is shown on the page, with what was typed', async () => {
    const id = await lateSuccess();
    const path = `/admin/payments/${id}/attention/accept`;
    const long = await operator.submit(path, { note: 'x'.repeat(1001) });
    expect([long.status, long.text]).toEqual([400, expect.stringMatching(/id="note-error">This value is too long/)]);
    expect(long.text).toContain('x'.repeat(1001));
    await operator.submit(`/admin/payments/${id}/attention/dismiss`);
    const late = await operator.submit(path, { note: 'mine' });
    expect([late.status, late.text]).toEqual([
      400,
      expect.stringContaining('does not need attention, or no longer does'),
    ]);
    expect((await support.get(path)).status).toBe(403);
    expect((await foreign.submit(path)).status).toBe(403);
  });

  test('a declined refund says so, and the mark stays', async () => {
    for (const mode of ['late_success', 'wrong_amount']) {
      await operationsOf(shop).fault(mode, { mid: shop.merchant.mid, brand: 'pin-a' });
    }
    const { body } = await shop.post(brandSale('pin-a', shop.merchant));
    const path = `/admin/payments/${body.trans_id}`;
    await expect.poll(async () => (await shop.inspect(body.trans_id)).attention, PROVIDER_POLL).toBe('wrong_amount');
    expect((await operator.get(path)).text).toContain('Reported by the provider: USD\u00a010.01.');
    const { location } = await operator.submit(`${path}/attention/refund`);
    const { text } = await operator.get(location ?? '');
    expect(text).toContain('The provider declined the refund.');
    expect(text).toContain('The amount is more than what is left of the payment.');
    expect(text).toContain(`${path}/attention/dismiss`);
  });
});

describe('chargebacks', () => {
  let id: string;
  beforeAll(async () => {
    id = (await shop.post(brandSale('pin-a', shop.merchant))).body.trans_id;
    await shop.sandbox('POST', `/payments/${id}`, { chargeback: { respond_by: '2020-01-01T00:00:00Z' } });
  });

  const upload = async (one: TestOperator, name: string, content: string, token?: string) => {
    const body = new FormData();
    body.set('form_token', token ?? (await formToken(one)));
    body.set('file', new File([content], name));
    const headers = { cookie: `${COOKIE}=${one.cookie}` };
    const url = `${shop.url}/admin/chargebacks/${id}/evidence`;
    const response = await fetch(url, { method: 'POST', body, headers, redirect: 'manual' });
    return { status: response.status, text: await response.text(), location: response.headers.get('location') };
  };

  test('are listed with the deadline, and filtered', async () => {
    const { text } = await operator.get('/admin/chargebacks');
    expect(text).toContain(`/admin/chargebacks/${id}"`);
    expect(text).toContain('<span class="badge bad">overdue</span>');
    expect((await operator.get('/admin/chargebacks?state=closed')).text).toContain('No chargeback matches');
    expect((await foreign.get('/admin/chargebacks')).text).toContain('No chargebacks');
    expect((await foreign.get(`/admin/chargebacks/${id}`)).status).toBe(404);
  });

  test('get a note and a state; a note that is too long is refused beside the field', async () => {
    const path = `/admin/chargebacks/${id}`;
    expect((await operator.submit(path, { state: 'answered', note: 'Sent' })).location).toBe(`${path}?done=saved`);
    const { text } = await operator.get(path);
    expect(text).toMatch(/<option value="answered" selected>/);
    expect(text).toContain('>Sent</textarea>');
    const refused = await operator.submit(path, { state: 'closed', note: 'x'.repeat(1001) });
    expect([refused.status, refused.text]).toEqual([400, expect.stringContaining('id="note-error"')]);
    expect((await support.get(path)).text).not.toContain('<textarea');
    expect((await support.submit(path, { note: 'x' })).status).toBe(403);
  });

  test('get files, which are downloaded as attachments and deleted after a confirmation', async () => {
    const path = `/admin/chargebacks/${id}`;
    expect((await upload(operator, 'Quittung für Zoë.txt', 'paid in full')).location).toBe(`${path}?done=added`);
    const { text } = await operator.get(path);
    const [, evidence] = new RegExp(`href="(${path}/evidence/[^"/]+)">Quittung für Zoë.txt<`).exec(text) ?? [];
    const file = await support.get(evidence ?? '');
    expect([file.status, file.text]).toEqual([200, 'paid in full']);
    expect(Object.fromEntries(file.headers)).toMatchObject({
      'content-disposition': expect.stringMatching(/^attachment; /),
      'x-content-type-options': 'nosniff',
      'content-security-policy': expect.stringContaining("default-src 'none'"),
    });
    expect((await foreign.get(evidence ?? '')).status).toBe(404);
    expect((await operator.get(`${evidence}/delete`)).text).toContain('This cannot be undone.');
    expect((await operator.submit(`${evidence}/delete`)).location).toBe(`${path}?done=deleted`);
    expect((await operator.get(evidence ?? '')).status).toBe(404);
  });

  test('refuse other files, large ones, foreign forms and forms without a file', async () => {
    const other = await upload(operator, 'a.pdf', '\0\0\0');
    expect([other.status, other.text]).toEqual([400, expect.stringContaining('The file should be a PDF')]);
    expect((await upload(operator, '', '')).text).toContain('Choose a file.');
    expect((await operator.submit(`/admin/chargebacks/${id}/evidence`)).text).toContain('Choose a file.');
    expect((await upload(operator, 'a.txt', 'x'.repeat(2 * 1024 * 1024 + 1))).text).toContain('The file is too large.');
    expect((await upload(operator, 'a.txt', 'x', 'wrong')).status).toBe(403);
    expect((await upload({ ...operator, cookie: '0'.repeat(64) }, 'a.txt', 'x', 'x')).location).toBe('/admin/sign-in');
  });
});

describe('schedules', () => {
  async function subscribed() {
    const { mid, client_key, password } = shop.merchant;
    const terms = { name: 'Weekly <box>', interval_length: '1', interval_unit: 'week', payments_count: '3' };
    const { body } = await shop.post({
      action: 'CREATE_SCHEDULE',
      client_key,
      ...terms,
      hash: sign(password),
    });
    const scheduleId: string = body.schedule_id;
    const sale = { recurring_init: 'Y', schedule_id: scheduleId };
    const { body: first } = await shop.sale(sale);
    expect([scheduleId, first.status], JSON.stringify([body, first])).toEqual([expect.any(String), 'SETTLED']);
    return {
      path: `/admin/schedules/${mid}/${scheduleId}`,
      api: `/schedules/${scheduleId}?mid=${mid}`,
      first,
      scheduleId,
      mid,
    };
  }

  test('show the next charges and the payments, and stop after a confirmation', async () => {
    const { path, api, first, scheduleId, mid } = await subscribed();
    await shop.advanceClock(7 * 86_400, mid);
    const { text } = await operator.get(path);
    expect(text).toContain('Weekly &lt;box&gt;');
    expect(text).toContain(`/admin/payments/${first.trans_id}`);
    expect(text).toContain('1 / 3');
    expect((await operator.get('/admin/schedules')).text).toContain(`href="${path}"`);
    expect((await support.get(path)).text).not.toContain('/stop"');
    expect((await support.submit(`${path}/stop`)).status).toBe(403);
    expect((await foreign.get(path)).status).toBe(404);
    expect((await operator.get(`${path}/stop`)).text).toContain('Nothing more is charged');
    expect((await operator.submit(`${path}/stop`)).location).toBe(`${path}?done=schedule`);
    expect((await operator.get(path)).text).toContain('Stopped');
    const payments = async () => (await shop.admin('GET', `/payments?schedule_id=${scheduleId}`)).body.items.length;
    const before = await payments();
    await shop.advanceClock(14 * 86_400, mid);
    expect(await payments()).toBe(before);
    const again = await shop.admin('DELETE', api);
    expect([again.status, again.body.errors]).toEqual([
      400,
      [entryOf('schedule_id: The schedule was stopped already.')],
    ]);
    expect((await operator.submit(`${path}/stop`)).status).toBe(400);
    expect((await shop.admin('GET', '/audit?action=schedules.stop')).body.items).toMatchObject([
      { actor: { name: 'the operator' }, subject: scheduleId, mid },
    ]);
  });

  test('of two operators who stop a schedule at the same time, one does, and the audit log has one entry', async () => {
    const { api, scheduleId } = await subscribed();
    const answers = await Promise.all([shop.admin('DELETE', api), shop.admin('DELETE', api)]);
    expect(answers.map(({ status }) => status).toSorted()).toEqual([200, 400]);
    const { items } = (await shop.admin('GET', '/audit?action=schedules.stop')).body;
    expect(items.filter(({ subject }: { subject: string }) => subject === scheduleId)).toHaveLength(1);
  });

  test('one subscription stops, and the others go on', async () => {
    const { path, scheduleId, mid, first } = await subscribed();
    const other = (await shop.sale({ recurring_init: 'Y', schedule_id: scheduleId })).body.trans_id;
    const subscriptions = async () =>
      (await shop.admin('GET', `/schedules/${scheduleId}/subscriptions?mid=${mid}`)).body.items;
    const of = async (id: string) =>
      (await subscriptions()).find((one: { first_payment_id: string }) => one.first_payment_id === id);
    const { subscription_id } = await of(first.trans_id);
    const link = `${path}/subscriptions/${subscription_id}/stop`;
    expect((await operator.get(path)).text).toContain(link);
    expect((await operator.submit(link)).location).toBe(`${path}?done=subscription`);
    expect((await operator.submit(link)).status).toBe(400);
    await shop.advanceClock(7 * 86_400, mid);
    expect(await of(first.trans_id)).toMatchObject({ state: 'ended', occurrences: 0, next_charge_at: null });
    expect(await of(other)).toMatchObject({ state: 'active', occurrences: 1 });
    const unknown = await shop.admin('DELETE', `/schedules/${scheduleId}/subscriptions/${randomUUID()}?mid=${mid}`);
    expect(unknown.body.errors).toEqual([
      entryOf('subscription_id: The schedule has no active subscription with this id.'),
    ]);
  });

  test.each<[string, number, string]>([
    ['{id}', 400, 'mid: This value should not be blank.'],
    ['{id}?mid=x', 400, 'mid: This value is not valid.'],
    [`{id}?mid=${randomUUID()}`, 404, ''],
    [`${randomUUID()}?mid={mid}`, 404, ''],
    ['nonsense?mid={mid}', 404, ''],
  ])('DELETE /schedules/%s is refused', async (path, status, entry) => {
    const { scheduleId, mid } = await subscribed();
    const answer = await shop.admin('DELETE', `/schedules/${path.replace('{id}', scheduleId).replace('{mid}', mid)}`);
    expect([answer.status, answer.body.errors[0]?.error_message ?? '']).toEqual([status, entry]);
  });
});

describe('resending callbacks', () => {
  test('of a payment: the page says how many, and nothing is sent before the confirmation', async () => {
    const { body } = await shop.sale();
    const path = `/admin/callbacks/resend?payment_id=${body.trans_id}`;
    expect((await operator.get(`/admin/payments/${body.trans_id}`)).text).toContain(path);
    const { text } = await operator.get(path);
    expect(text).toContain('Callbacks that will be sent again: 1');
    const audited = async () => (await shop.admin('GET', '/audit?action=callbacks.resend')).body.items.length;
    const before = await audited();
    const { location } = await support.submit('/admin/callbacks/resend', { payment_id: body.trans_id });
    expect(location).toBe('/admin/callbacks/resend?resent=1');
    expect((await support.get(location ?? '')).text).toContain('Callbacks that are being sent again: 1');
    expect(await audited()).toBe(before + 1);
  });

  test('of an account, by state and days', async () => {
    const merchant = await shop.newMerchant();
    for (let sales = 0; sales < 2; sales++) await shop.sale({}, merchant);
    const path = `/admin/callbacks/resend?mid=${merchant.mid}`;
    expect((await operator.get(path)).text).toContain('will be sent again: 2');
    expect((await operator.get(`${path}&state=parked`)).text).toContain('will be sent again: 2');
    expect((await operator.get(`${path}&to=2020-01-01`)).text).toContain('Nothing to send');
    const fields = { mid: merchant.mid, state: 'parked', from: '2020-01-01' };
    expect((await operator.submit('/admin/callbacks/resend', fields)).location).toMatch(/resent=2$/);
  });

  test.each<[string, Record<string, string>]>([
    ['nothing chosen', {}],
    ['no account', { state: 'parked' }],
    ['a day that does not exist', { mid: '{mid}', from: '2026-02-30' }],
    ['an unknown state', { mid: '{mid}', state: 'lost' }],
  ])('%s resends nothing', async (_, fields) => {
    const filled = Object.fromEntries(
      Object.entries(fields).map(([name, value]) => [name, value.replace('{mid}', shop.merchant.mid)]),
    );
    const { status, text } = await operator.submit('/admin/callbacks/resend', filled);
    expect([status, text]).toEqual([400, expect.stringContaining('Choose an account, and valid days.')]);
  });

  test('another account is unknown, and a viewer may not', async () => {
    const { status, text } = await foreign.get(`/admin/callbacks/resend?mid=${shop.merchant.mid}`);
    expect([status, text]).toEqual([400, expect.stringContaining('Account does not exist.')]);
    expect((await foreign.submit('/admin/callbacks/resend', { mid: shop.merchant.mid })).status).toBe(404);
    const viewer = await signedIn(shop, 'viewer' satisfies Role);
    expect((await viewer.get('/admin/callbacks/resend')).status).toBe(403);
    expect((await viewer.get('/admin/callbacks')).text).not.toContain('/admin/callbacks/resend');
  });
});
