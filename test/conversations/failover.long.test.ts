/** Failover of card payments: when another connection takes one over, when none does, and that none is charged twice. */
import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest';
import { foldProjections, rebuildProjection } from '../../src/core/projections/projections.ts';
import { newId } from '../../src/lib/crypto/id.ts';
import { signatureOf } from '../../src/lib/crypto/signature.ts';
import { Deadline } from '../../src/lib/time/deadline.ts';
import { LIMITS } from '../../src/rules/limits.ts';
import { verifyAt } from '../../src/store/installation/verify.ts';
import { type AdyenDouble, startAdyen } from '../doubles/adyen.ts';
import { API_KEY, type MollieDouble, startMollie } from '../doubles/mollie.ts';
import { STRIPE_CARDS, STRIPE_CREDENTIALS, type StripeDouble, startStripe } from '../doubles/stripe.ts';
import { cardForm, checkoutOf, fill, inputs, show } from '../support/checkout.ts';
import { freePort } from '../support/free-port.ts';
import { type Fields, type Merchant, openShop, PROVIDER_POLL } from '../support/gateway.ts';
import { preparedPayment } from '../support/payments.ts';
import { connect, openProviders, route, type TestProvider } from '../support/providers.ts';
import { testCard, testSubmission } from '../support/submissions.ts';

const shop = openShop({ simulator: true });
const checkout = checkoutOf(shop);
const providers = openProviders(2);
let stripe: StripeDouble;
let adyen: AdyenDouble;
let mollie: MollieDouble;

/** The connections by name; those called `dead…` lead to a port at which nothing listens. */
const ids: Record<string, string> = {};
const nameOf = (id: string | null): string => Object.keys(ids).find((name) => ids[name] === id) ?? 'own';

beforeAll(async () => {
  [stripe, adyen, mollie] = await Promise.all([startStripe(), startAdyen(), startMollie()]);
  const [one, other] = providers as [TestProvider, TestProvider];
  const nowhere = `http://127.0.0.1:${await freePort()}`;
  const open = async (name: string, connector: string, credentials: Record<string, string>, settings = {}) => {
    ids[name] = await connect(shop, { credentials }, { name, connector, settings });
  };
  await open('one', 'upstream', one.credentials);
  await open('other', 'upstream', other.credentials);
  await open('dead', 'upstream', { ...one.credentials, url: nowhere });
  await open('stripe', 'stripe', STRIPE_CREDENTIALS, { api_base: stripe.url });
  await open('deadStripe', 'stripe', STRIPE_CREDENTIALS, { api_base: nowhere });
  await open('adyen', 'adyen', adyen.credentials, { api_base: adyen.url });
  await open('mollie', 'mollie', { api_key: API_KEY }, { api_base: mollie.url });
  await open('deadMollie', 'mollie', { api_key: API_KEY }, { api_base: nowhere });
  await open('stripePage', 'stripe-hosted', STRIPE_CREDENTIALS, { api_base: stripe.url });
});
beforeEach(() => {
  // Every test meets closed breakers.
  for (const [connector] of shop.gateway.health.all()) shop.gateway.health.answered(connector);
});
afterAll(async () => {
  expect([...stripe.problems, ...adyen.violations, ...mollie.violations]).toEqual([]);
  await Promise.all([stripe.close(), adyen.close(), mollie.close()]);
});

const routed = async (...names: string[]): Promise<Merchant> => {
  const merchant = await shop.newMerchant({ card_failures_per_address: 0, card_failures_per_account: 0 });
  const routes = names.map((name) => ({ connection_id: ids[name] ?? null }));
  await route(shop, merchant.mid, routes);
  return merchant;
};
/** The payer enters a card on the payment page. */
const pay = async (merchant: Merchant, form: Fields = {}) => {
  const session = await checkout.open({ methods: ['card'] }, merchant);
  const page = await fill(session.url, cardForm(form));
  expect(page.status, page.text).toBe(303);
  return { ...session, merchant, location: page.location };
};
/** The bank confirms the payer, who was sent to its challenge. */
async function passChallenge(id: string): Promise<void> {
  const [row] = await shop.rows(`select next_step ->> 'acsTransId' as acs from payments where payment_id = '${id}'`);
  const bytes = JSON.stringify({
    ...{ messageType: 'RReq', messageVersion: '2.2.0', threeDSServerTransID: id, acsTransID: row?.acs },
    ...{ dsTransID: newId(), transStatus: 'Y', eci: '05', authenticationValue: 'proof', interactionCounter: '01' },
  });
  const headers = signatureOf(newId(), Date.now(), bytes, [shop.provider?.notificationSecret ?? '']);
  const sent = { method: 'POST', body: bytes, headers: { ...headers, 'content-type': 'application/json' } };
  expect((await fetch(`${shop.url}/inbound/3ds`, sent)).status).toBe(200);
}
/** The submissions of a payment, with their outcomes. */
const submissions = async (id: string): Promise<string[]> =>
  (await shop.inspect(id)).provider_calls
    .filter(({ verb }: { verb: string }) => verb === 'submit')
    .map((call: { connection_id: string; outcome: string }) => `${nameOf(call.connection_id)}: ${call.outcome}`);
/** What all providers together hold for a payment, under every reference that it may have had. */
async function moneyOf(id: string): Promise<bigint> {
  const references = [id, ...[2, 3, 4, 5].map((submission) => `${id}-${submission}`)];
  let sum = 0n;
  for (const reference of references) {
    sum += stripe.balance(reference) + BigInt(adyen.balance(reference)) + mollie.balance(reference);
    for (const provider of providers) {
      const { status, amount } = await provider.control(`/payments/${reference}`);
      if (status === 'settled') sum += BigInt(String(amount));
    }
  }
  return sum;
}
const statusOf = async (id: string): Promise<string> => (await shop.inspect(id)).status;
const first = (): TestProvider => providers[0] as TestProvider;

describe.each<[what: string, expiry: string, isChallenged: boolean, faults: string[]]>([
  ['without 3DS', '01/38', false, ['timeout_before', 'timeout_after', 'error_500']],
  ['authenticated by the gateway without a challenge', '07/38', false, ['timeout_after']],
  ['authenticated by the gateway in a challenge', '05/38', true, ['timeout_before', 'timeout_after']],
])('a card %s', (_, card_expiry, isChallenged, faults) => {
  const paid = async (merchant: Merchant) => {
    const { id } = await pay(merchant, { card_expiry });
    if (isChallenged) await passChallenge(id);
    return id;
  };

  test('goes to the next route if nothing was sent, or the call was rejected unprocessed', async () => {
    const unreachable = await paid(await routed('dead', 'other'));
    expect(await submissions(unreachable)).toEqual(['dead: not sent', 'other: settled']);
    await first().control('/faults', { mode: 'rate_limited', count: 1 });
    const limited = await paid(await routed('one', 'other'));
    expect(await submissions(limited)).toEqual(['one: not sent', 'other: settled']);
    for (const id of [unreachable, limited]) expect(await moneyOf(id)).toBe(1000n);
    expect(await shop.inspect(limited)).toMatchObject({
      status: 'SETTLED',
      connection_id: ids.other,
      route_reason: 'Route 2 (other); after submission 1: not sent',
    });
  });

  test('goes to the next route after a soft decline only; each attempt has its reason', async () => {
    await first().control('/faults', { mode: 'soft_decline', count: 1 });
    const soft = await paid(await routed('one', 'other'));
    expect(await submissions(soft)).toEqual(['one: declined', 'other: settled']);
    expect(await moneyOf(soft)).toBe(1000n);
    const { provider_calls } = await shop.inspect(soft);
    const [declined] = provider_calls.filter(({ outcome }: { outcome: string }) => outcome === 'declined');
    expect(declined).toMatchObject({ connection_id: ids.one, reason: expect.stringMatching(/./) });
    const events = await shop.events(soft);
    expect(events.filter((event) => event === 'rerouted')).toHaveLength(1);
  });

  test.each(faults)('stays where its outcome is unknown (%s), and is queried there', async (mode) => {
    const merchant = await routed('one', 'other');
    await first().control('/faults', { mode, count: 1 });
    const id = await paid(merchant);
    expect(await submissions(id)).toEqual(['one: no answer']);
    for (const seconds of [6, 120, 120]) await shop.advanceClock(seconds, merchant.mid);
    const isTaken = mode === 'timeout_after';
    await expect.poll(() => statusOf(id), PROVIDER_POLL).toBe(isTaken ? 'SETTLED' : 'DECLINED');
    expect(await submissions(id)).toEqual(['one: no answer']);
    expect(await moneyOf(id)).toBe(isTaken ? 1000n : 0n);
  });
});

test('a hard decline is final', async () => {
  const { id } = await pay(await routed('one', 'other'), { card_expiry: '02/38' });
  expect(await submissions(id)).toEqual(['one: declined']);
  expect([await statusOf(id), await moneyOf(id)]).toEqual(['DECLINED', 0n]);
});

test('every route is tried once; all attempts and their reasons are recorded', async () => {
  await first().control('/faults', { mode: 'soft_decline', count: 1 });
  const { id } = await pay(await routed('dead', 'one', 'deadStripe'));
  expect(await submissions(id)).toEqual(['dead: not sent', 'one: declined', 'deadStripe: not sent']);
  const payment = await shop.inspect(id);
  expect(payment).toMatchObject({ status: 'DECLINED', decline_reason: 'The provider never received the payment.' });
  for (const { reason } of payment.provider_calls) expect(reason).toMatch(/./);
  expect(await moneyOf(id)).toBe(0n);
});

test('an authentication is priced by the route that the payment had then', async () => {
  const admin = async (method: string, path: string, body: unknown) => {
    const answer = await shop.admin(method, path, body);
    expect(answer.status, JSON.stringify(answer.body)).toBeLessThan(300);
    return answer.body;
  };
  for (const [name, fixed] of [
    ['one', '0.10'],
    ['other', '0.20'],
  ] as const) {
    const { plan_id } = await admin('POST', '/price-plans', { name, side: 'buy' });
    const lines = [{ event: 'three_ds', currencies: ['USD'], fixed }];
    await admin('POST', `/price-plans/${plan_id}/versions`, { lines });
    await admin('PUT', `/connections/${ids[name]}/price-plan`, { plan_id });
  }
  const { id } = await pay(await routed('one', 'other'), { card_expiry: '05/38' });
  await foldProjections(shop.gateway);
  await first().control('/faults', { mode: 'soft_decline', count: 1 });
  await passChallenge(id);
  expect(await submissions(id)).toEqual(['one: declined', 'other: settled']);
  const costs = async (): Promise<unknown> => (await shop.inspect(id)).money.costs;
  expect(await costs()).toBe('0.10');
  await foldProjections(shop.gateway);
  expect((await verifyAt(shop.connection)).violations).toEqual([]);
  await rebuildProjection(shop.gateway, 'ledger');
  await foldProjections(shop.gateway);
  expect(await costs()).toBe('0.10');
  expect(await shop.rows(`select connector from ledger_entries where payment_id = '${id}' order by seq`)).toEqual([
    { connector: `upstream/${ids.one}` },
    { connector: `upstream/${ids.other}` },
  ]);
});

describe('a card whose payer the provider authenticates', () => {
  test('goes to the next provider if nothing was sent, or after a soft decline', async () => {
    const unreachable = await pay(await routed('deadStripe', 'adyen'));
    expect(await submissions(unreachable.id)).toEqual(['deadStripe: not sent', 'adyen: settled']);
    const soft = await pay(await routed('stripe', 'adyen'), { card_number: STRIPE_CARDS.processingError });
    expect(await submissions(soft.id)).toEqual(['stripe: declined', 'adyen: settled']);
    for (const { id } of [unreachable, soft])
      expect([await statusOf(id), await moneyOf(id)]).toEqual(['SETTLED', 1000n]);
  });

  test.each(['insufficientFunds', 'stolen', 'expired', 'wrongCvc'] as const)(
    'is not tried elsewhere after a hard decline (%s)',
    async (card) => {
      const { id } = await pay(await routed('stripe', 'adyen'), { card_number: STRIPE_CARDS[card] });
      expect(await submissions(id)).toEqual(['stripe: declined']);
      expect([await statusOf(id), await moneyOf(id)]).toEqual(['DECLINED', 0n]);
    },
  );

  test.each(['lost_before', 'lost_after', 'error_500'] as const)(
    'stays where its outcome is unknown (%s)',
    async (fault) => {
      const merchant = await routed('stripe', 'adyen');
      stripe.fault(fault);
      const { id } = await pay(merchant);
      expect(await submissions(id)).toEqual(['stripe: no answer']);
      for (const seconds of [6, 120, 120]) await shop.advanceClock(seconds, merchant.mid);
      await expect.poll(() => statusOf(id), PROVIDER_POLL).toBe(fault === 'lost_after' ? 'SETTLED' : 'DECLINED');
      expect(await submissions(id)).toHaveLength(1);
      expect(await moneyOf(id)).toBe(fault === 'lost_after' ? 1000n : 0n);
    },
  );

  test('is authenticated by the gateway if the next provider does not', async () => {
    const { id } = await pay(await routed('deadStripe', 'dead', 'one'), { card_expiry: '05/38' });
    expect(await submissions(id)).toEqual(['deadStripe: not sent']);
    expect(await statusOf(id)).toBe('3DS');
    await passChallenge(id);
    expect(await submissions(id)).toEqual(['deadStripe: not sent', 'dead: not sent', 'one: settled']);
    expect(await moneyOf(id)).toBe(1000n);
    const declined = await pay(await routed('deadStripe', 'one'), { card_expiry: '11/38' });
    expect(await submissions(declined.id)).toEqual(['deadStripe: not sent']);
    expect(await statusOf(declined.id)).toBe('DECLINED');
  });

  test('after a challenge of the gateway, no provider sends the payer to another one', async () => {
    await first().control('/faults', { mode: 'soft_decline', count: 1 });
    const { id } = await pay(await routed('one', 'stripe', 'other'), { card_expiry: '05/38' });
    await passChallenge(id);
    expect(await submissions(id)).toEqual(['one: declined', 'other: settled']);
  });

  test('after a challenge of the provider, no other provider gets the payment', async () => {
    const form = { card_number: STRIPE_CARDS.challenge };
    const { id, location } = await pay(await routed('stripe', 'adyen', 'one'), form);
    expect(location).toMatch(stripe.url);
    await show(String(await stripe.pay(location, 'fail')));
    expect([await statusOf(id), await moneyOf(id)]).toEqual(['DECLINED', 0n]);
    expect(await submissions(id)).toEqual(['stripe: redirected']);
  });

  test('without a challenge of the gateway, the next provider may send the payer to its own', async () => {
    await first().control('/faults', { mode: 'soft_decline', count: 1 });
    const form = { card_number: STRIPE_CARDS.challenge, card_expiry: '07/38' };
    const { id, location } = await pay(await routed('one', 'stripe'), form);
    expect(location).toMatch(stripe.url);
    await show(String(await stripe.pay(location)));
    expect([await statusOf(id), await moneyOf(id)]).toEqual(['SETTLED', 1000n]);
  });
});

describe('a card that providers ask for on their pages', () => {
  const hosted = async (merchant: Merchant) => {
    const session = await checkout.open({ methods: ['card'] }, merchant);
    expect(inputs((await show(session.url)).text)).toEqual([]);
    const { location } = await fill(session.url, { method: 'card' });
    return { ...session, location };
  };

  test('leads to the page of the next provider if the first one cannot be reached, and to that page only', async () => {
    const { id, location } = await hosted(await routed('deadMollie', 'one', 'stripePage'));
    expect(location).toMatch(stripe.url);
    expect(await submissions(id)).toEqual(['deadMollie: not sent', 'stripePage: redirected']);
    await show(String(await stripe.pay(location)));
    expect([await statusOf(id), await moneyOf(id)]).toEqual(['SETTLED', 1000n]);
  });

  test('stays there if the payer fails or leaves', async () => {
    const { id, location } = await hosted(await routed('stripePage', 'mollie'));
    await show(String(await stripe.pay(location, 'back')));
    expect([await statusOf(id), await submissions(id)]).toEqual(['DECLINED', ['stripePage: redirected']]);
    expect(mollie.find(`${id}-2`)).toBeUndefined();
  });

  test('is not asked for again after it was entered: the routes of such pages come last', async () => {
    const merchant = await routed('stripe', 'mollie', 'adyen');
    const session = await checkout.open({ methods: ['card'] }, merchant);
    expect(inputs((await show(session.url)).text)).toContain('card_number');
    // Meanwhile the first connection fails.
    const key = `stripe/${ids.stripe}`;
    for (let failures = 0; failures < LIMITS.connectorFailures; failures++) shop.gateway.health.failed(key, 'test');
    await fill(session.url, cardForm());
    expect(await submissions(session.id)).toEqual(['adyen: settled']);
    expect((await shop.inspect(session.id)).route_reason).toBe(
      'Route 3 (adyen); route 1 keeps failing; route 2 asks for the card again',
    );
    expect(await moneyOf(session.id)).toBe(1000n);
  });

  test('is asked for there by a payment that does not exist yet, whatever its number', async () => {
    const { mid } = await routed('mollie', 'stripe');
    const facts = { brand: 'card', currency: 'USD', amount: '10.00', network: 'visa', bin: '411111' };
    const { body } = await shop.admin('POST', `/accounts/${mid}/routes/try`, facts);
    expect(body).toMatchObject({ connection_id: ids.mollie, reason: 'Route 1 (mollie)' });
  });
});

describe('a process that dies', () => {
  /** A card payment that was submitted to the first connection; its process is gone. */
  const left = async (merchant: Merchant) => {
    const card = { id: newId(), masked: '411111******1111', network: 'visa', expiry: '01/2038' };
    const payment = preparedPayment(shop, {
      mid: merchant.mid,
      brand: 'card',
      connector: `upstream/${ids.one}`,
      routeReason: 'Route 1 (one)',
      details: { description: 'A test order', payer: {}, card },
    });
    expect(await shop.gateway.payments.open(payment)).toBe(true);
    return payment;
  };
  /** The submission of the process that died. */
  const submitAt = async (name: string, reference: string, year: string): Promise<void> => {
    const connector = await shop.gateway.connections.connector(`upstream/${ids[name]}`);
    const card = { ...testCard('4111111111111111'), month: '02', year };
    const submission = testSubmission({ reference, brand: 'card', currency: 'USD', card });
    await connector?.submit({ ...submission, notifyUrl: `${shop.url}/nowhere` }, new Deadline(5000));
  };
  const passTime = async (merchant: Merchant): Promise<void> => {
    for (const seconds of [40, 60, 120, 120]) await shop.advanceClock(seconds, merchant.mid);
  };

  test('after the decline, before the next attempt is written: the query finds the decline, which ends it', async () => {
    const merchant = await routed('one', 'other');
    const { paymentId } = await left(merchant);
    await submitAt('one', paymentId, '2038');
    await passTime(merchant);
    expect([await statusOf(paymentId), await moneyOf(paymentId)]).toEqual(['DECLINED', 0n]);
    expect(await shop.events(paymentId)).not.toContain('rerouted');
  });

  test.each([
    ['before it is submitted: it ends without money', false],
    ['after it was submitted: its outcome is found there', true],
  ])('after the next attempt is written, %s', async (_, isSubmitted) => {
    const merchant = await routed('one', 'other');
    const payment = await left(merchant);
    const after = {
      ...payment,
      connector: `upstream/${ids.other}`,
      routeReason: 'Route 2 (other); after submission 1: soft decline',
      providerData: { submission: 2 },
    };
    const { connector, providerReference, providerData } = payment;
    const former = { submission: 1, connector, providerReference, providerData };
    const call = { verb: 'submit', connector, outcome: 'declined', tookMs: 1 } as const;
    expect(await shop.gateway.payments.reroute(payment, after, former, call)).toBe(true);
    if (isSubmitted) await submitAt('other', `${payment.paymentId}-2`, '2040');
    await passTime(merchant);
    await expect.poll(() => statusOf(payment.paymentId), PROVIDER_POLL).toBe(isSubmitted ? 'SETTLED' : 'DECLINED');
    expect(await moneyOf(payment.paymentId)).toBe(isSubmitted ? 1000n : 0n);
    const { provider_calls } = await shop.inspect(payment.paymentId);
    const queried = provider_calls.filter(({ verb }: { verb: string }) => verb === 'query');
    expect(new Set(queried.map((each: { connection_id: string }) => nameOf(each.connection_id)))).toEqual(
      new Set(['other']),
    );
  });
});

test('the database is consistent afterwards', async () => {
  expect((await verifyAt(shop.connection)).violations).toEqual([]);
});
