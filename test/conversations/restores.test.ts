/** After a restore: nothing is charged or voided automatically, what may differ is reported, an operator releases it. */
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import type { Connector, Outcome } from '../../src/connectors/connector.ts';
import { createVcard } from '../../src/connectors/vcard.ts';
import { processEverythingDue } from '../../src/core/due/due.ts';
import { markRestored } from '../../src/core/installation/restores.ts';
import { commandCaller } from '../../src/core/operators/principal.ts';
import { BLANK } from '../support/brand-expectations.ts';
import { type Answer, DATE, newOrderId, openShop, sign } from '../support/gateway.ts';
import { signedIn } from '../support/operators.ts';

/** What the provider has, by our reference. */
const ledger = new Map<string, Outcome>();
const operated: string[] = [];
const usual = createVcard();
const provider: Connector = {
  ...usual,
  async submit(submission, deadline) {
    const outcome = await usual.submit(submission, deadline);
    ledger.set(submission.reference, outcome);
    return outcome;
  },
  query: ({ reference }) => ledger.get(reference) ?? { kind: 'notFound' },
  operate(operation) {
    operated.push(operation.verb);
    return { kind: 'done' };
  },
};
const shop = openShop({ connectors: { vcard: provider } });

const DAY = 86_400;
const NOTE = 'Compared with the statement of the provider.';
const get = (token?: string): Promise<Answer> => shop.admin('GET', '/restore', undefined, token);
const release = (body: unknown = { note: NOTE }, token?: string): Promise<Answer> =>
  shop.admin('POST', '/restore/release', body, token);
const mark = () => markRestored(shop.gateway, commandCaller('backup --restored-from'), Date.now() - 3_600_000);
const answered = ({ status, body }: Answer) => ({ status, body });
const NOTHING_HELD = {
  status: 400,
  body: {
    result: 'ERROR',
    error_code: 100000,
    error_message: 'Nothing is held: no backup was restored, or the restore was released already.',
    errors: [],
  },
};
const heldMetric = async (): Promise<string | undefined> =>
  /^turnpike_restore_held (\d)$/m.exec(await (await fetch(`${shop.url}/metrics`)).text())?.[1];

/** A new account with a daily subscription. */
async function subscribed() {
  const merchant = await shop.newMerchant();
  const { mid, client_key, password } = merchant;
  const terms = { name: 'Plan', interval_length: '1', interval_unit: 'day', payments_count: '12' };
  const create = { action: 'CREATE_SCHEDULE', client_key, ...terms, hash: sign(password) };
  const { schedule_id } = (await shop.post(create)).body;
  const order_id = newOrderId();
  const { trans_id } = (await shop.sale({ recurring_init: 'Y', schedule_id, order_id }, merchant)).body;
  return {
    merchant,
    mid,
    order_id,
    pass: (seconds: number) => shop.advanceClock(seconds, mid),
    charges: async (): Promise<Answer['body'][]> =>
      (await shop.admin('GET', `/payments?schedule_id=${schedule_id}`)).body.items
        .filter((item: { payment_id: string }) => item.payment_id !== trans_id)
        .reverse(),
  };
}

/** A payment that waits for a review of a day. */
async function reviewed(then: string) {
  const merchant = await shop.newMerchant();
  const condition = { field: 'brand', op: '=', value: 'vcard' };
  const action = { kind: 'review', hours: 24, then };
  const rule = { mid: merchant.mid, name: 'Every payment', condition, action, state: 'on' };
  expect((await shop.admin('POST', '/risk/rules', rule)).status).toBe(201);
  const { trans_id, status } = (await shop.sale({}, merchant)).body;
  expect(status).toBe('PENDING');
  return { merchant, trans_id };
}

describe('an installation that was never restored', () => {
  test('has nothing to show and nothing to release', async () => {
    const nothing = { restored_at: null, backup_at: null, released_at: null, released_by: null, note: null };
    const report = { charges: null, statements: null, access: null };
    expect(answered(await get())).toEqual({ status: 200, body: { held: false, ...nothing, ...report } });
    expect(answered(await release())).toEqual(NOTHING_HELD);
    expect(answered(await release({ note: '' }))).toEqual(NOTHING_HELD);
    expect(await heldMetric()).toBe('0');
    const owner = await signedIn(shop, 'owner');
    expect((await owner.get('/admin/restore')).text).toContain('No backup was restored');
    expect((await owner.get('/admin')).text).not.toContain('restored from a backup');
  });
});

test('numbers that invoices may have got since the backup are skipped, once for each restore', async () => {
  const [some, none] = [await shop.newMerchant(), await shop.newMerchant()];
  const numberFor = async ({ mid }: { mid: string }): Promise<number> => {
    const line = { description: 'Tea', quantity: '1', unit_amount: '1.00' };
    const payer = { name: 'Ana', email: 'ana@example.com' };
    const terms = { mid, currency: 'EUR', lines: [line], payer, due_on: '2099-01-31' };
    return Number(/\d+$/.exec((await shop.admin('POST', '/invoices', terms)).body.number)?.[0]);
  };
  const restored = async () => {
    expect(await mark()).toBe(true);
    expect((await release()).status).toBe(200);
  };
  expect([await numberFor(some), await numberFor(some)]).toEqual([1, 2]);
  await restored();
  // The 61st minute of the lost time has begun, and one more counts, with 600 invoices in each.
  const skipped = 62 * 600;
  expect([await numberFor(some), await numberFor(some)]).toEqual([3 + skipped, 4 + skipped]);
  expect([await numberFor(none), await numberFor(none)]).toEqual([1 + skipped, 2 + skipped]);
  await restored();
  expect([await numberFor(some), await numberFor(await shop.newMerchant())]).toEqual([5 + 2 * skipped, 1]);
  await shop.rows('delete from restores');
});

describe('while a restore is held', () => {
  beforeEach(async () => expect(await mark()).toBe(true));
  afterEach(() => shop.rows('delete from restores'));

  test('the report says when, from which moment, and what is back', async () => {
    const { status, body } = await get();
    expect(status).toBe(200);
    expect(body).toMatchObject({ held: true, released_at: null, released_by: null, note: null, statements: [] });
    expect([body.restored_at, body.backup_at]).toEqual([expect.stringMatching(DATE), expect.stringMatching(DATE)]);
    expect(body.backup_at < body.restored_at).toBe(true);
    expect(body.access).toEqual({
      api_tokens: expect.any(Number),
      operators: expect.any(Number),
      saved_cards: expect.any(Number),
    });
    expect(await heldMetric()).toBe('1');
    // A second mark would hide the first.
    expect(await mark()).toBe(false);
  });

  test('scheduled charges wait, also over several dates; then one is charged, and none is skipped by the hold', async () => {
    const { pass, charges, order_id } = await subscribed();
    await pass(3 * DAY + 60);
    expect(await charges()).toEqual([]);
    const { charges: waiting } = (await get()).body;
    expect(waiting.due).toBeGreaterThanOrEqual(1);
    expect(waiting.checked).toContainEqual(
      expect.objectContaining({
        order_id: `${order_id}:1`,
        at_provider: 'not_found',
        amount: '10.00',
        currency: 'USD',
      }),
    );
    expect((await release()).status).toBe(200);
    await pass(0);
    expect(await charges()).toMatchObject([{ order_id: `${order_id}:1`, status: 'SETTLED' }]);
    await pass(DAY);
    expect((await charges()).map((charge) => charge.order_id)).toEqual([`${order_id}:1`, `${order_id}:2`]);
  });

  test('a charge that the provider has already is reported, and booked after the release', async () => {
    const { pass, charges, order_id } = await subscribed();
    await pass(DAY + 60);
    const found = async () =>
      (await get()).body.charges.checked.find((one: { order_id: string }) => one.order_id === `${order_id}:1`);
    const { payment_id } = await found();
    ledger.set(payment_id, { kind: 'settled' });
    expect(await found()).toMatchObject({ payment_id, at_provider: 'settled' });
    const before = ledger.size;
    await release();
    await pass(0);
    expect(await charges()).toMatchObject([{ payment_id, order_id: `${order_id}:1`, status: 'SETTLED' }]);
    expect(ledger.size).toBe(before);
  });

  test('merchants sell and refund as before', async () => {
    const { body } = await shop.sale();
    expect(body.status).toBe('SETTLED');
    const refund = await shop.admin('POST', `/payments/${body.trans_id}/refund`, { amount: '1.00' });
    expect(refund.body.refunded).toBe('1.00');
  });

  test('authorisations are not voided when their time is over, but within an hour after the release', async () => {
    const merchant = await shop.newMerchant({ authorisation_days: 1 });
    const { trans_id } = (await shop.sale({ auth: 'Y' }, merchant)).body;
    operated.length = 0;
    await shop.advanceClock(3 * DAY, merchant.mid);
    expect((await shop.inspect(trans_id)).status).toBe('PENDING');
    expect(operated).toEqual([]);
    await release();
    await shop.advanceClock(3601, merchant.mid);
    expect((await shop.inspect(trans_id)).status).toBe('EXPIRED');
    expect(operated).toEqual(['void']);
  });

  test('a card check whose process died is voided within an hour after the release', async () => {
    const merchant = await shop.newMerchant();
    const { trans_id } = (await shop.sale({ auth: 'Y' }, merchant)).body;
    await shop.rows(`update payments set due_at = now(), details = details || '{"isCardCheck": true}'
      where payment_id = '${trans_id}'`);
    operated.length = 0;
    await shop.advanceClock(60, merchant.mid);
    expect([(await shop.inspect(trans_id)).status, operated]).toEqual(['PENDING', []]);
    await release();
    await shop.advanceClock(3601, merchant.mid);
    expect([(await shop.inspect(trans_id)).status, operated]).toEqual(['VOID', ['void']]);
  });

  test.each([
    ['approve', 'SETTLED', 'capture'],
    ['refuse', 'VOID', 'void'],
  ])('the deadline of a review waits for the release: %s', async (then, state, verb) => {
    const { merchant, trans_id } = await reviewed(then);
    operated.length = 0;
    await shop.advanceClock(25 * 3600, merchant.mid);
    await processEverythingDue(shop.gateway);
    expect([(await shop.inspect(trans_id)).status, operated]).toEqual(['PENDING', []]);
    await release();
    await processEverythingDue(shop.gateway);
    expect([(await shop.inspect(trans_id)).status, operated]).toEqual([state, [verb]]);
  });

  test('a payment that was captured since the backup is not refunded by the deadline of its review', async () => {
    const { merchant, trans_id } = await reviewed('refuse');
    await shop.advanceClock(25 * 3600, merchant.mid);
    ledger.set(trans_id, { kind: 'settled' });
    operated.length = 0;
    await release();
    await processEverythingDue(shop.gateway);
    await processEverythingDue(shop.gateway);
    const waiting = {
      ...{ status: 'SETTLED', attention: 'risk_review' },
      risk: expect.objectContaining({ review: expect.objectContaining({ state: 'waiting' }) }),
    };
    expect(await shop.inspect(trans_id)).toMatchObject(waiting);
    // It may have been refunded since the backup as well, so it waits for a person.
    await shop.advanceClock(25 * 3600, merchant.mid);
    expect(await shop.inspect(trans_id)).toMatchObject(waiting);
    await shop.rows(
      `update risk_decisions set review_state = 'refused', review_due_at = date_trunc('milliseconds', now()) where payment_id = '${trans_id}'`,
    );
    await processEverythingDue(shop.gateway);
    expect(await shop.inspect(trans_id)).toMatchObject(waiting);
    expect(operated).toEqual([]);
    const { status } = await shop.admin('POST', `/risk/reviews/${trans_id}`, { decision: 'refuse' });
    expect([status, operated]).toEqual([200, ['refund']]);
  });

  test('the release needs a note, is written to the audit log, and happens once', async () => {
    for (const body of [{}, { note: '' }, { note: '  ' }, { note: 7 }]) {
      expect(answered(await release(body))).toMatchObject({
        status: 400,
        body: { error_message: 'Request data is invalid.' },
      });
    }
    expect((await release({})).body.errors).toMatchObject([{ error_message: `note: ${BLANK}` }]);
    expect((await release({ note: '4111 1111 1111 1111' })).body.errors).toMatchObject([
      { error_message: 'note: This value should not contain a card number.' },
    ]);
    expect((await release({ note: NOTE, force: true })).body.errors).toMatchObject([{ param: 'force' }]);
    expect((await release('text')).body.errors).toMatchObject([{ param: 'body' }]);
    expect((await get()).body.held).toBe(true);

    const { status, body } = await release();
    expect(status).toBe(200);
    expect(body).toMatchObject({ held: false, released_at: expect.stringMatching(DATE), note: NOTE });
    expect(body.released_by).toBe('TURNPIKE_ADMIN_TOKEN');
    expect(answered(await release())).toEqual(NOTHING_HELD);
    expect(await heldMetric()).toBe('0');
    const { items } = (await shop.admin('GET', '/audit?action=restore.release')).body;
    expect(items[0]).toMatchObject({ actor: { name: 'TURNPIKE_ADMIN_TOKEN' }, after: { note: NOTE } });
  });

  test('a caller that is restricted to some accounts neither sees nor releases it', async () => {
    const mids = [shop.merchant.mid];
    const { token } = (await shop.admin('POST', '/tokens', { name: 'One account', role: 'operator', mids })).body;
    for (const answer of [await get(token), await release({ note: NOTE }, token)]) expect(answer.status).toBe(403);
    const restricted = await signedIn(shop, 'operator', mids);
    expect((await restricted.get('/admin/restore')).status).toBe(403);
    expect((await restricted.submit('/admin/restore/release', { note: NOTE })).status).toBe(403);
    expect((await restricted.get('/admin')).text).not.toContain('restored from a backup');
    expect((await get()).body.held).toBe(true);
  });

  test('the panel says so on every page, shows the report, and releases with a note', async () => {
    const { pass, order_id } = await subscribed();
    await pass(DAY + 60);
    const [operator, viewer] = [await signedIn(shop, 'operator'), await signedIn(shop, 'viewer')];
    for (const path of ['/admin', '/admin/payments', '/admin/schedules']) {
      for (const one of [operator, viewer]) {
        expect((await one.get(path)).text).toContain('This installation was restored from a backup.');
      }
    }
    const page = (await operator.get('/admin/restore')).text;
    expect(page).toContain('href="/admin/ledger/payouts"');
    expect(page).toContain(`${order_id}:1`);
    expect(page).toContain('Unknown there: it will be charged');
    const asViewer = (await viewer.get('/admin/restore')).text;
    expect(asViewer).toContain(`${order_id}:1`);
    expect(asViewer).not.toContain('action="/admin/restore/release"');
    expect((await viewer.submit('/admin/restore/release', { note: NOTE })).status).toBe(403);

    const empty = await operator.submit('/admin/restore/release', { note: ' ' });
    expect([empty.status, empty.text]).toEqual([400, expect.stringContaining('id="note-error"')]);
    const done = await operator.submit('/admin/restore/release', { note: NOTE });
    expect([done.status, done.location]).toEqual([303, '/admin/restore']);
    const released = (await operator.get('/admin/restore')).text;
    expect(released).toContain(NOTE);
    expect(released).not.toContain('This installation was restored from a backup.');
  });
});
