/** Sessions that set the first date and the amount of their scheduled charges. */
import { describe, expect, test } from 'vitest';
import { checkoutOf, fill, NO_METHOD_FITS, refusal, sessionFields, show, VCARD } from '../support/checkout.ts';
import { type Merchant, openShop, sign } from '../support/gateway.ts';
import { readable } from '../support/pages.ts';

const shop = openShop();
const checkout = checkoutOf(shop);
const DAY = 86_400;

async function merchantWithSchedule(): Promise<{ merchant: Merchant; schedule_id: string }> {
  const merchant = await shop.newMerchant();
  await shop.advanceClock(
    (Date.parse('2027-03-01T12:00:00Z') - shop.gateway.clock.now(merchant.mid)) / 1000,
    merchant.mid,
  );
  const { body } = await shop.post({
    action: 'CREATE_SCHEDULE',
    client_key: merchant.client_key,
    name: 'Plan',
    interval_length: '1',
    interval_unit: 'month',
    payments_count: '3',
    hash: sign(merchant.password),
  });
  return { merchant, schedule_id: body.schedule_id };
}

interface Charge {
  amount: string;
  created_at: string;
}

test('charges the amount of the session, from its start date on', async () => {
  const { merchant, schedule_id } = await merchantWithSchedule();
  const terms = { schedule_start_date: '2027-03-20', payment_schedule_amount: '2.50' };
  await checkout.paid({ recurring_init: true, schedule_id, ...terms }, merchant);
  const charges = async (): Promise<Charge[]> =>
    (await shop.admin('GET', `/payments?schedule_id=${schedule_id}`)).body.items.reverse();
  await shop.advanceClock(18 * DAY, merchant.mid);
  expect(await charges()).toHaveLength(1);
  await shop.advanceClock(2 * DAY, merchant.mid);
  await shop.advanceClock(31 * DAY, merchant.mid);
  expect((await charges()).map(({ amount, created_at }) => [amount, created_at.slice(0, 10)])).toEqual([
    ['10.00', '2027-03-01'],
    ['2.50', '2027-03-20'],
    ['2.50', '2027-04-20'],
  ]);
});

test.each([
  [
    'a start date without a schedule',
    { schedule_start_date: '2099-01-01' },
    'schedule_id: This value should not be blank.',
  ],
  ['an amount without a schedule', { payment_schedule_amount: '1.00' }, 'schedule_id: This value should not be blank.'],
  ['a day that does not exist', { schedule_start_date: '2027-02-30' }, 'schedule_start_date: This value is not valid.'],
  ['another date format', { schedule_start_date: '01.04.2027' }, 'schedule_start_date: This value is not valid.'],
  [
    'an amount of zero',
    { payment_schedule_amount: '0.00' },
    'payment_schedule_amount: This value should be greater than 0.',
  ],
  ['an amount as a number', { payment_schedule_amount: 1.5 }, 'payment_schedule_amount: This value should be a text.'],
  [
    'an unknown flag',
    { recurring_consent_required: 'perhaps' },
    'recurring_consent_required: The value you selected is not a valid choice.',
  ],
])('%s is refused', async (_, fields, entry) => {
  const { merchant, schedule_id } = await merchantWithSchedule();
  const isAlone = entry.startsWith('schedule_id');
  const schedule = isAlone ? {} : { recurring_init: 'Y', schedule_id };
  expect(await checkout.send('session', sessionFields({ ...schedule, ...fields }), merchant)).toMatchObject(
    refusal('invalidData', entry),
  );
});

test.each(['2027-03-01', '2026-12-31', '2037-04-01'])('the start date %s is refused', async (schedule_start_date) => {
  const { merchant, schedule_id } = await merchantWithSchedule();
  const fields = sessionFields({ recurring_init: 'Y', schedule_id, schedule_start_date });
  const sentence = 'schedule_start_date: This value should be a date after today, at most ten years ahead.';
  expect(await checkout.send('session', fields, merchant)).toMatchObject(refusal('invalidData', sentence));
});

test.each([
  ['an unknown method', ['paypal']],
  ['a method of another currency or country only', ['ips']],
  ['a method that cannot recur', ['doc-a']],
])('methods: %s is refused when none is left', async (_, methods) => {
  const session = { methods, recurring_init: 'Y', billing_address: { country: 'DE' } };
  expect(await checkout.send('session', sessionFields(session))).toMatchObject(NO_METHOD_FITS);
  expect((await checkout.send('session', sessionFields({ ...session, methods: [...methods, 'vcard'] }))).status).toBe(
    200,
  );
});

describe('recurring_consent_required', () => {
  const session = async () => {
    const { merchant, schedule_id } = await merchantWithSchedule();
    const terms = { schedule_start_date: '2027-03-20', payment_schedule_amount: '2.50' };
    const fields = { methods: ['vcard'], recurring_init: true, schedule_id, recurring_consent_required: true };
    return { merchant, ...(await checkout.open({ ...fields, ...terms }, merchant)) };
  };

  test('the page shows the terms, and takes nothing before the payer agrees', async () => {
    const { url, id } = await session();
    const { text } = await show(url);
    for (const term of ['2.50', '1 month', '3', 'March 20, 2027', 'contact Test Shop'])
      expect(readable(text)).toContain(term);
    const refused = await fill(url, VCARD.success);
    expect([refused.status, readable(refused.text)]).toEqual([
      422,
      expect.stringContaining('Please agree before you continue.'),
    ]);
    expect(await checkout.events(id)).toEqual(['opened']);
  });

  test('the consent is kept with the payment, also after a decline', async () => {
    const { url, id, orderId, merchant } = await session();
    expect((await fill(url, { ...VCARD.decline, consent: 'Y' })).status).toBe(303);
    expect((await fill(url, VCARD.success)).status).toBe(422);
    expect((await fill(url, { ...VCARD.success, consent: 'Y' })).status).toBe(303);
    const attempts = await checkout.attempts(orderId, merchant);
    expect(attempts).toHaveLength(2);
    for (const attempt of [id, ...attempts]) {
      expect((await checkout.inspect(attempt)).details.consent).toEqual({
        at: expect.stringMatching(/^2027-03-01/),
        text: expect.stringContaining('I agree that Test Shop charges me again'),
      });
    }
  });

  test('asks for nothing and keeps nothing if the payment is not recurring', async () => {
    const { url, id } = await checkout.open({ methods: ['vcard'], recurring_consent_required: true });
    expect((await show(url)).text).not.toContain('name="consent"');
    expect((await fill(url, { ...VCARD.success, consent: 'Y' })).status).toBe(303);
    const { status, details } = await checkout.inspect(id);
    expect([status, details.consent, details.session.recurring_consent_required]).toEqual([
      ...['SETTLED', undefined, undefined],
    ]);
    const { url: other } = await checkout.open({ methods: ['vcard'], recurring_consent_required: 'Y' });
    expect((await fill(other, VCARD.success)).status).toBe(303);
  });

  test('without it the page describes the series and asks for nothing', async () => {
    const { url } = await checkout.open({ methods: ['vcard'], recurring_init: true });
    expect(readable((await show(url)).text)).toContain('may charge this payment method again');
    expect((await fill(url, VCARD.success)).status).toBe(303);
    const { url: plain } = await checkout.open({ methods: ['vcard'] });
    expect(readable((await show(plain)).text)).not.toContain('Repeated payments');
  });
});
