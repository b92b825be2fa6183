/** Erasure of personal data: of a payment, of a payer, of a saved card; what is refused, what stays, and that nothing is left. */
import { randomUUID } from 'node:crypto';
import { describe, expect, test } from 'vitest';
import { foldProjections } from '../../src/core/projections/projections.ts';
import { verifyAt } from '../../src/store/installation/verify.ts';
import { type Body, checkoutOf, creditFields, fill, refusal, VCARD } from '../support/checkout.ts';
import { entryOf } from '../support/entries.ts';
import { type Answer, type Fields, type Merchant, newOrderId, openShop, sign } from '../support/gateway.ts';
import { leftovers } from '../support/leftovers.ts';
import { operationFields } from '../support/operations.ts';
import { signedIn } from '../support/operators.ts';

const shop = openShop({ simulator: true });
const checkout = checkoutOf(shop);

const DAY = 86_400;

/** A payer whose data occurs nowhere else. */
function newPayer() {
  const mark = randomUUID()
    .slice(0, 8)
    .replace(/\d/g, (digit) => 'ghijklmnop'[Number(digit)] as string);
  return {
    first: `Ada${mark}`,
    last: `Byron${mark}`,
    email: `ada.${mark}@example.com`,
    phone: `+4420${Date.now()}`,
    address: `Great ${mark} Street 12`,
  };
}
type Payer = ReturnType<typeof newPayer>;

const personal = ({ first, last, email, phone, address }: Payer): string[] => [first, last, email, phone, address];
const payerFields = ({ first, last, email, phone, address }: Payer): Fields => ({
  ...{ payer_first_name: first, payer_last_name: last, payer_email: email, payer_phone: phone },
  ...{ payer_address: address, 'custom_data[customer]': email, order_description: `Tea for ${first}, green` },
});
const customer = ({ first, last, email, phone, address }: Payer): Body => ({
  customer: { name: `${first} ${last}`, email, phone },
  billing_address: { country: 'GB', city: 'London', address, zip: 'W1A 1AA', phone },
  success_url: `https://shop.example/thanks?of=${encodeURIComponent(email)}`,
});

const erase = (id: string, token?: string) => shop.admin('POST', `/payments/${id}/erase`, undefined, token);
const eraseByEmail = ({ mid }: Merchant, body: unknown, token?: string) =>
  shop.admin('POST', `/accounts/${mid}/erase`, body, token);
const removeCard = ({ mid }: Merchant, cardToken: string, token?: string) =>
  shop.admin('DELETE', `/accounts/${mid}/cards/${cardToken}`, undefined, token);
const isSound = async () => expect((await verifyAt(shop.connection)).violations).toEqual([]);
const refused = (entry: string) => ({
  status: 400,
  body: { result: 'ERROR', error_code: 100000, error_message: 'Request data is invalid.', errors: [entryOf(entry)] },
});
const answered = ({ status, body }: Answer) => ({ status, body });
const newToken = async (role: string, mids?: string[]): Promise<string> =>
  (await shop.admin('POST', '/tokens', { name: role, role, ...(mids && { mids }) })).body.token;
const sold = async (payer: Payer, fields: Fields = {}, merchant = shop.merchant): Promise<string> => {
  const { body } = await shop.sale({ ...payerFields(payer), ...fields }, merchant);
  expect(body.status, JSON.stringify(body)).toBe('SETTLED');
  return body.trans_id;
};
const withInbox = async (): Promise<Merchant> => {
  const merchant = await shop.newMerchant();
  const callback_url = `${shop.url}/sandbox/callbacks/${merchant.mid}`;
  await shop.admin('PATCH', `/accounts/${merchant.mid}`, { callback_url });
  return merchant;
};

describe('a payment', () => {
  test('of a sale has nothing personal left, and keeps its books', async () => {
    const payer = newPayer();
    const merchant = await withInbox();
    const id = await sold(payer, { identifier: 'success@example.com' }, merchant);
    await shop.gateway.deliverer.drain();
    await shop.gateway.callRecorder.flush();
    expect(await leftovers(shop, [payer.email])).toEqual([
      ...['api_calls', 'callback_inbox_entries', 'callbacks', 'payments'].map((table) => `${table}: ${payer.email}`),
    ]);
    const before = await shop.inspect(id);
    const { status, body } = await erase(id);
    expect([status, body.erased, body.status]).toEqual([200, [id], 'SETTLED']);
    expect(await leftovers(shop, personal(payer))).toEqual([]);
    const after = await shop.inspect(id);
    for (const name of ['amount', 'captured', 'order_id', 'status', 'created_at', 'updated_at', 'provider_reference']) {
      expect(after[name], name).toEqual(before[name]);
    }
    expect(after.details).toMatchObject({ payer: {}, description: 'Tea for [erased], green' });
    expect(after.details.erased_at).toBeDefined();
    expect(after.details.custom_data).toBeUndefined();
    expect(after.history).toHaveLength(before.history.length + 1);
    expect(after.history.at(-1)).toMatchObject({ event: 'erased', from: 'SETTLED', to: 'SETTLED', actor: 'operator' });
    await isSound();
  });

  test('of a session has nothing personal left in any attempt of its order', async () => {
    const payer = newPayer();
    const merchant = await shop.newMerchant();
    const session = await checkout.paid({ ...customer(payer), order: { description: 'Tea' } }, merchant);
    expect((await erase(session.id)).body.erased).toEqual([session.id]);
    expect(await leftovers(shop, personal(payer))).toEqual([]);
    await isSound();
  });

  test('can be refunded and charged back afterwards, and its callbacks arrive with a valid hash', async () => {
    const merchant = await withInbox();
    const id = await sold(newPayer(), {}, merchant);
    await shop.gateway.deliverer.drain();
    await erase(id);
    const { body } = await shop.admin('POST', `/payments/${id}/refund`, { amount: '4.00' });
    expect(body.operation.state).toBe('done');
    await shop.gateway.deliverer.drain();
    const { body: inbox } = await shop.sandbox('GET', `/callbacks/${merchant.mid}`);
    expect(inbox.items).toHaveLength(1);
    expect(inbox.items[0]).toMatchObject({ hash_is_valid: true, signature_is_valid: true });
    await isSound();
  });

  test('loses the bodies of its callbacks, which are not resent', async () => {
    const merchant = await withInbox();
    const id = await sold(newPayer(), {}, merchant);
    await shop.gateway.deliverer.drain();
    await erase(id);
    expect((await shop.admin('POST', '/callbacks/resend', { payment_id: id })).body).toMatchObject({ resent: 0 });
    const [{ id: callback }] = (await shop.inspect(id)).callbacks;
    expect(answered(await shop.admin('POST', `/callbacks/${callback}/resend`))).toEqual(
      refused('id: The body of this callback was erased.'),
    );
    const [{ body, state } = {}] = await shop.rows(`select body, state from callbacks where payment_id = '${id}'`);
    expect([body, state]).toEqual(['', 'delivered']);
  });

  test('is erased once: the second request changes nothing', async () => {
    const id = await sold(newPayer());
    await erase(id);
    const { history, details } = await shop.inspect(id);
    const [{ entries } = {}] = await shop.rows('select count(*)::int as entries from audit_log');
    expect((await erase(id)).body.erased).toEqual([]);
    const again = await shop.inspect(id);
    expect([again.history, again.details]).toEqual([history, details]);
    expect(await shop.rows('select count(*)::int as entries from audit_log')).toEqual([{ entries }]);
  });

  test('is recorded under the name of the caller, without personal data', async () => {
    const payer = newPayer();
    const id = await sold(payer);
    const token = await newToken('operator');
    await erase(id, token);
    expect((await shop.inspect(id)).history.at(-1).actor_name).toBe('operator');
    const { body } = await shop.admin('GET', '/audit?action=payments.erase');
    expect(body.items[0]).toMatchObject({ subject: id, mid: shop.merchant.mid, before: null, after: null });
  });
});

describe('refusals, in their order', () => {
  test('a role without the permission, then an unknown payment, then one of another account', async () => {
    const id = await sold(newPayer());
    const other = await shop.newMerchant();
    for (const role of ['support', 'viewer']) expect((await erase(id, await newToken(role))).status).toBe(403);
    expect((await erase('nonsense', await newToken('merchant', [shop.merchant.mid]))).status).toBe(403);
    const scoped = await newToken('operator', [other.mid]);
    const unknown = await erase(randomUUID(), scoped);
    expect(answered(await erase(id, scoped))).toEqual(answered(unknown));
    expect(unknown.status).toBe(404);
  });

  test('an open payment keeps its data', async () => {
    const payer = newPayer();
    const { body } = await shop.sale({ ...payerFields(payer), auth: 'Y' });
    expect(body.status).toBe('PENDING');
    const entry = 'payment_id: The payment is open, in the state PENDING. Wait for its outcome, or void it.';
    expect(answered(await erase(body.trans_id))).toEqual(refused(entry));
    expect((await shop.inspect(body.trans_id)).details.payer.email).toBe(payer.email);
    await shop.post(operationFields(shop.merchant, 'VOID', body.trans_id));
    expect((await erase(body.trans_id)).status).toBe(200);
  });

  test('a declined payment whose payer can try again in the session', async () => {
    const merchant = await shop.newMerchant();
    const { id } = await checkout.paid(customer(newPayer()), merchant, 'decline');
    const { status, body } = await erase(id);
    expect([status, body.errors[0].error_message]).toEqual([
      400,
      expect.stringContaining('The payer can try again in the session of this payment until 2'),
    ]);
    await shop.advanceClock(2 * DAY, merchant.mid);
    expect((await erase(id)).status).toBe(200);
    await isSound();
  });

  test.each(['by payment', 'by e-mail address'])(
    'a decline after which the payer has paid does not count, %s',
    async (by) => {
      const payer = newPayer();
      const merchant = await shop.newMerchant();
      const declined = await checkout.paid(customer(payer), merchant, 'decline');
      const again = await fill(declined.url, VCARD.success);
      expect(again.status).toBe(303);
      const { body: paid } = await checkout.send('payment/status', { order_id: declined.orderId }, merchant);
      expect(paid.status).toBe('settled');
      expect(paid.payment_id).not.toBe(declined.id);
      const ids = [declined.id, paid.payment_id].toSorted();
      if (by === 'by payment') {
        const { status, body } = await erase(declined.id);
        expect([status, body.erased?.toSorted()]).toEqual([200, ids]);
      } else {
        const { status, body } = await eraseByEmail(merchant, { email: payer.email });
        expect([status, body.erased.toSorted(), body.refused]).toEqual([200, ids, []]);
      }
      expect(await leftovers(shop, personal(payer))).toEqual([]);
      await isSound();
    },
  );

  test('two declines: while the payer can try again, neither attempt is erased', async () => {
    const payer = newPayer();
    const merchant = await shop.newMerchant();
    const { id, url } = await checkout.paid(customer(payer), merchant, 'decline');
    await fill(url, VCARD.decline);
    expect((await erase(id)).status).toBe(400);
    const { body } = await eraseByEmail(merchant, { email: payer.email });
    expect([body.erased, body.refused.length]).toEqual([[], 2]);
    expect((await fill(url, VCARD.success)).status).toBe(303);
    expect((await eraseByEmail(merchant, { email: payer.email })).body.erased).toHaveLength(3);
    await isSound();
  });

  test('an undelivered callback is delivered first', async () => {
    const merchant = await withInbox();
    await shop.sandbox('POST', `/callbacks/${merchant.mid}`, { answer: 500, count: 1 });
    const payer = newPayer();
    const id = await sold(payer, {}, merchant);
    await shop.gateway.deliverer.drain();
    const [waiting] = await shop.rows(`select state from callbacks where payment_id = '${id}'`);
    const entry = 'payment_id: A callback of this payment is not delivered yet. Wait until it is delivered or parked.';
    expect([waiting?.state, answered(await erase(id))]).toEqual(['waiting', refused(entry)]);
    expect((await shop.inspect(id)).details.payer.email).toBe(payer.email);
    await shop.advanceClock(3600, merchant.mid);
    expect((await erase(id)).status).toBe(200);
  });
});

describe('a payer by e-mail address', () => {
  test('loses the data of all payments of the account, and of no other account', async () => {
    const payer = newPayer();
    const merchant = await shop.newMerchant();
    const other = await shop.newMerchant();
    const [first, second] = [await sold(payer, {}, merchant), await sold(payer, {}, merchant)];
    const elsewhere = await sold(payer, {}, other);
    const open = (await shop.sale({ ...payerFields(payer), auth: 'Y' }, merchant)).body.trans_id;
    const { status, body } = await eraseByEmail(merchant, { email: payer.email.toUpperCase() });
    expect(status).toBe(200);
    expect(body.erased).toEqual([first, second]);
    const reason = 'The payment is open, in the state PENDING. Wait for its outcome, or void it.';
    expect(body).toMatchObject({ refused: [{ payment_id: open, reason }], next_cursor: null });
    expect((await shop.inspect(elsewhere)).details.payer.email).toBe(payer.email);
    // The same request continues where an interruption or a refusal left payments.
    await shop.post(operationFields(merchant, 'VOID', open));
    expect((await eraseByEmail(merchant, { email: payer.email })).body).toMatchObject({ erased: [open], refused: [] });
    expect((await eraseByEmail(merchant, { email: payer.email })).body).toMatchObject({ erased: [], refused: [] });
    await eraseByEmail(other, { email: payer.email });
    expect(await leftovers(shop, personal(payer))).toEqual([]);
    await isSound();
  });

  test('a fault between two payments leaves the rest to the next request', async () => {
    const payer = newPayer();
    const merchant = await shop.newMerchant();
    const ids = [await sold(payer, {}, merchant), await sold(payer, {}, merchant), await sold(payer, {}, merchant)];
    // The history of the second payment cannot be written, as after a crash.
    await shop.rows(`create function fail_once() returns trigger language plpgsql as $$ begin
      if new.payment_id = '${ids[1]}' then raise exception 'interrupted'; end if; return new; end $$;
      create trigger fail_once before insert on history for each row execute function fail_once()`);
    expect((await eraseByEmail(merchant, { email: payer.email })).status).toBe(500);
    await shop.rows('drop trigger fail_once on history');
    const events = await Promise.all(ids.map((id) => shop.events(id)));
    expect(events.map((each) => each.includes('erased'))).toEqual([true, false, false]);
    expect((await shop.inspect(ids[1] as string)).details.payer.email).toBe(payer.email);
    expect((await eraseByEmail(merchant, { email: payer.email })).body.erased).toEqual(ids.slice(1));
    expect(await leftovers(shop, personal(payer))).toEqual([]);
    await isSound();
  });

  test.each([
    [{}, 'email: This value should be an e-mail address.'],
    [{ email: 'ada' }, 'email: This value should be an e-mail address.'],
    [{ email: 'a@example.com', cursor: 'x' }, 'cursor: This value is not valid.'],
    [{ email: 'a@example.com', mid: 'x' }, 'mid: This value does not exist.'],
  ])('%j is refused', async (body, entry) => {
    const answer = await eraseByEmail(shop.merchant, body);
    expect([answer.status, answer.body.errors[0].error_message]).toEqual([400, expect.stringContaining(entry)]);
  });

  test('an account that the caller may not see is unknown', async () => {
    const scoped = await newToken('operator', [(await shop.newMerchant()).mid]);
    expect((await eraseByEmail(shop.merchant, { email: 'a@example.com' }, scoped)).status).toBe(404);
  });
});

const recur = async (merchant: Merchant, firstId: string, token: string): Promise<Answer> => {
  const order_id = newOrderId();
  const fields = { recurring_first_trans_id: firstId, recurring_token: token, order_id, order_amount: '3.00' };
  return shop.post({
    ...{ action: 'RECURRING_SALE', client_key: merchant.client_key, ...fields, order_description: 'Tea' },
    hash: sign(merchant.password, order_id),
  });
};
const credit = (card_token: string, merchant: Merchant) =>
  checkout.send('payment/card/credit', creditFields({ card_token }), merchant);

describe('a saved card', () => {
  test('is removed with the data of its payer: the token and the series end', async () => {
    const payer = newPayer();
    const merchant = await shop.newMerchant();
    const paid = await checkout.paidByCard({ ...customer(payer), recurring_init: true }, merchant);
    const { recurring_token } = (await checkout.status({ payment_id: paid.id }, merchant)).body;
    const again = (await recur(merchant, paid.id, recurring_token as string)).body.trans_id;
    const last = (await recur(merchant, paid.id, recurring_token as string)).body.trans_id;
    expect((await erase(paid.id)).status).toBe(200);
    expect(await shop.rows(`select from cards where mid = '${merchant.mid}'`)).toEqual([]);
    expect(await leftovers(shop, [paid.token, recurring_token as string])).toEqual([
      // The repetition keeps its callbacks; it is a payment of its own.
      ...[paid.token].map((token) => `callbacks: ${token}`),
    ]);
    expect(answered(await credit(paid.token, merchant))).toEqual(refusal('noCardToken'));
    const repeated = await recur(merchant, paid.id, recurring_token as string);
    expect([repeated.status, repeated.body.error_message]).toEqual([400, 'Incorrect transaction']);
    const { details, history } = await shop.inspect(again);
    expect(details.card).toMatchObject({ masked: '411111******1111', removed: true });
    expect([details.payer.email, history.at(-1).event]).toEqual([payer.email, 'cardRemoved']);
    await eraseByEmail(merchant, { email: payer.email });
    expect((await shop.events(last)).filter((event) => event === 'cardRemoved')).toHaveLength(1);
    expect(await leftovers(shop, [...personal(payer), paid.token, recurring_token as string])).toEqual([]);
    await isSound();
  });

  test('is removed by its token, and the subscriptions that charge it end', async () => {
    const payer = newPayer();
    const merchant = await shop.newMerchant();
    const { body: schedule } = await shop.post({
      ...{ action: 'CREATE_SCHEDULE', client_key: merchant.client_key, hash: sign(merchant.password) },
      ...{ name: 'Tea', interval_length: '1', interval_unit: 'month', payments_count: '5' },
    });
    const { schedule_id } = schedule;
    const paid = await checkout.paidByCard({ ...customer(payer), recurring_init: true, schedule_id }, merchant);
    const merchants = await newToken('merchant', [merchant.mid]);
    const { status, body } = await removeCard(merchant, paid.token, merchants);
    expect([status, body]).toEqual([200, { card: '411111******1111', payments_changed: 1, subscriptions_ended: 1 }]);
    const { items } = (await shop.admin('GET', `/schedules/${schedule_id}/subscriptions`)).body;
    expect(items).toMatchObject([{ state: 'ended', reason: 'card_removed', next_charge_at: null }]);
    expect((await shop.inspect(paid.id)).details.payer.email).toBe(payer.email);
    expect(answered(await credit(paid.token, merchant))).toEqual(refusal('noCardToken'));
    const { error_code } = (await removeCard(merchant, paid.token)).body;
    expect(error_code).toBe(205005);
    await shop.advanceClock(40 * DAY, merchant.mid);
    expect((await shop.admin('GET', `/payments?mid=${merchant.mid}`)).body.items).toHaveLength(1);
    const { body: audit } = await shop.admin('GET', '/audit?action=cards.remove');
    expect(JSON.stringify(audit)).not.toContain(paid.token);
    expect(shop.logs.join('')).not.toContain(paid.token);
    await isSound();
  });

  test('of another account is unknown', async () => {
    const { token } = await checkout.paidByCard();
    const other = await shop.newMerchant();
    expect((await removeCard(other, token)).body.error_code).toBe(205005);
    expect((await removeCard(shop.merchant, token, await newToken('merchant', [other.mid]))).status).toBe(404);
    expect((await removeCard(shop.merchant, token, await newToken('support'))).status).toBe(403);
  });

  test('stays while an open payment uses it', async () => {
    const merchant = await shop.newMerchant();
    const paid = await checkout.paidByCard({}, merchant);
    await shop.rows(
      `update payments set state = 'PREPARE', authorised = 0, captured = 0 where payment_id = '${paid.id}'`,
    );
    const entry = 'card_token: An open payment uses this card. Wait for its outcome.';
    expect(answered(await removeCard(merchant, paid.token))).toEqual(refused(entry));
    await shop.rows(`update payments set state = 'SETTLED', authorised = amount, captured = amount
      where payment_id = '${paid.id}'`);
    expect((await removeCard(merchant, paid.token)).status).toBe(200);
  });
});

describe('the panel', () => {
  test('says what is lost, and erases after the confirmation', async () => {
    const payer = newPayer();
    const [id, other] = [await sold(payer), await sold(payer)];
    const operator = await signedIn(shop, 'operator');
    const path = `/admin/payments/${id}/erase`;
    expect((await operator.get(`/admin/payments/${id}`)).text).toContain(path);
    const page = await operator.get(path);
    expect(page.text).toContain('This cannot be undone');
    expect(page.text).toContain(payer.email);
    const done = await operator.submit(path, { scope: 'order' });
    expect([done.status, done.location]).toEqual([303, `/admin/payments/${id}?done=erased`]);
    const after = await operator.get(`/admin/payments/${id}`);
    expect(after.text).not.toContain(payer.email);
    expect(after.text).not.toContain(path);
    expect(after.text).toContain('Personal data erased');
    expect((await shop.inspect(other)).details.payer.email).toBe(payer.email);
    await operator.submit(`/admin/payments/${other}/erase`, { scope: 'payer' });
    expect(await leftovers(shop, personal(payer))).toEqual([]);
  });

  test('asks for the sign-in again, shows refusals, and hides the action from other roles', async () => {
    const { body } = await shop.sale({ ...payerFields(newPayer()), auth: 'Y' });
    const operator = await signedIn(shop, 'operator');
    const path = `/admin/payments/${body.trans_id}/erase`;
    const refusedPage = await operator.submit(path, { scope: 'order' });
    expect([refusedPage.status, refusedPage.text.includes('The payment is open')]).toEqual([400, true]);
    await shop.rows(`update operator_sessions set confirmed_at = now() - interval '1 hour'`);
    const { status, location } = await operator.get(path);
    expect([status, location]).toEqual([303, expect.stringContaining(encodeURIComponent(path))]);
    expect((await operator.submit(path, { scope: 'order' })).status).toBe(403);
    expect((await shop.inspect(body.trans_id)).details.payer).toHaveProperty('email');
    const support = await signedIn(shop, 'support');
    expect((await support.get(`/admin/payments/${body.trans_id}`)).text).not.toContain(path);
    expect((await support.submit(path)).status).toBe(403);
  });
});

describe('retention', () => {
  const inDays = async (retention: object, days: number, { mid }: Merchant) => {
    const { gateway } = shop;
    const before = gateway.retention;
    gateway.retention = { ...before, ...retention };
    await shop.advanceClock(days * DAY, mid).finally(() => {
      gateway.retention = before;
    });
  };

  test('erases the personal data of payments that have not changed for long, and no other', async () => {
    const [payer, subscriber] = [newPayer(), newPayer()];
    const merchant = await shop.newMerchant();
    const id = await sold(payer, {}, merchant);
    const open = (await shop.sale({ ...payerFields(payer), auth: 'Y' }, merchant)).body.trans_id;
    const saved = await checkout.paidByCard(customer(subscriber), merchant);
    await inDays({ personalData: 3 }, 2, merchant);
    expect(await shop.events(id)).not.toContain('erased');
    await inDays({ personalData: 3 }, 2, merchant);
    const { history, details } = await shop.inspect(id);
    expect(history.at(-1)).toMatchObject({ event: 'erased', actor: 'clock', actor_name: null });
    expect(details.payer).toEqual({});
    expect(await shop.events(open)).not.toContain('erased');
    // The card of this payer is saved.
    expect((await shop.inspect(saved.id)).details.payer.email).toBe(subscriber.email);
    await isSound();
  });

  test('erases the bodies of callbacks, and nothing for ever by default', async () => {
    const payer = newPayer();
    const merchant = await withInbox();
    const id = await sold(payer, {}, merchant);
    await shop.gateway.deliverer.drain();
    const body = async () => (await shop.rows(`select body from callbacks where payment_id = '${id}'`))[0]?.body;
    await inDays({}, 400, merchant);
    expect(await body()).not.toBe('');
    await foldProjections(shop.gateway);
    const setAge = async (age: string) => {
      for (const table of ['callbacks', 'callback_log']) {
        await shop.rows(`update ${table} c set created_at = h.at - interval '${age}' from history h
          where h.payment_id = c.payment_id and h.seq = c.seq and h.payment_id = '${id}'`);
      }
    };
    await setAge('5 days');
    await inDays({ callbackBodies: 6 }, 0, merchant);
    expect(await body()).not.toBe('');
    await inDays({ callbackBodies: 4 }, 0, merchant);
    expect(await body()).toBe('');
    expect(await shop.gateway.metrics.text()).toContain('turnpike_erased_total{what="callback_bodies"} ');
    await setAge('0 days');
    await isSound();
  });

  test('erases the bodies of processed notifications, but not their facts', async () => {
    const merchant = await shop.newMerchant();
    const id = await sold(newPayer(), {}, merchant);
    await shop.sandbox('POST', `/payments/${id}`, { chargeback: true });
    await shop.rows(`update provider_notifications set received_at = now() - interval '5 days'
      where reference = '${id}'`);
    await inDays({ notifications: 4 }, 0, merchant);
    const [row] = await shop.rows(`select body from provider_notifications where reference = '${id}'`);
    expect(Object.keys(row?.body as object)).toEqual(['type']);
    expect((await shop.inspect(id)).notifications).toMatchObject([{ type: 'chargeback', state: 'applied' }]);
  });
});
