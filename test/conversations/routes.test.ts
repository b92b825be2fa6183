/** Routes and failover: which connection gets a payment, why, and what happens when it does not answer. */
import { randomUUID } from 'node:crypto';
import { createServer } from 'node:net';
import { beforeAll, describe, expect, test } from 'vitest';
import { receiveNotifications } from '../../src/core/payments/notifications.ts';
import { verifyAt } from '../../src/store/installation/verify.ts';
import { BRAND_EXPECTATIONS } from '../support/brand-expectations.ts';
import { type Fields, type Merchant, newOrderId, openShop, PROVIDER_POLL } from '../support/gateway.ts';
import { connect, openProviders, route, type TestProvider } from '../support/providers.ts';

const shop = openShop({ simulator: true });
const providers = openProviders(2);
const [A, B] = [0, 1].map((index) => () => providers[index] as TestProvider) as [
  () => TestProvider,
  () => TestProvider,
];

let first: string;
let second: string;
let dead: string;
beforeAll(async () => {
  first = await connect(shop, A(), { name: 'First' });
  second = await connect(shop, B(), { name: 'Second' });
  // A port at which nothing listens.
  const server = createServer().listen(0, '127.0.0.1');
  await new Promise((resolve) => server.once('listening', resolve));
  const { port } = server.address() as { port: number };
  await new Promise((resolve) => server.close(resolve));
  const credentials = { ...A().credentials, url: `http://127.0.0.1:${port}` };
  dead = await connect(shop, { credentials }, { name: 'Dead' });
});

const sale = async (merchant: Merchant, fields: Fields = {}) => {
  const complete = { brand: 'pin-a', identifier: '', ...BRAND_EXPECTATIONS['pin-a']?.complete };
  const { body } = await shop.sale({ ...complete, order_id: newOrderId(), ...fields }, merchant);
  return body;
};
const routed = async (...routes: Record<string, unknown>[]): Promise<Merchant> => {
  const merchant = await shop.newMerchant();
  await route(shop, merchant.mid, routes);
  return merchant;
};
const calls = async (id: string): Promise<unknown[]> =>
  (await shop.inspect(id)).provider_calls.map(
    (call: { verb: string; connection_id: string | null; outcome: string }) =>
      `${call.verb} ${call.connection_id === dead ? 'dead' : call.connection_id === first ? 'first' : 'second'}: ${call.outcome}`,
  );

describe('a payment', () => {
  test('without routes goes to the installation’s own provider', async () => {
    const merchant = await shop.newMerchant();
    const { trans_id } = await sale(merchant);
    expect(await shop.inspect(trans_id)).toMatchObject({
      status: 'SETTLED',
      connector: 'upstream',
      connection_id: null,
      route_reason: null,
    });
  });

  test('goes to the first route that takes it, and the provider of that route has it', async () => {
    const merchant = await routed({ connection_id: first, currencies: ['EUR'] }, { connection_id: second });
    const { trans_id } = await sale(merchant);
    expect(await shop.inspect(trans_id)).toMatchObject({
      status: 'SETTLED',
      connector: 'upstream',
      connection_id: second,
      route_reason: 'Route 2 (Second)',
      provider_reference: expect.stringMatching(/^prv_/),
    });
    expect(await B().control(`/payments/${trans_id}`)).toMatchObject({ status: 'settled' });
    const inEuro = await sale(merchant, { order_currency: 'EUR' });
    expect(await shop.inspect(inEuro.trans_id)).toMatchObject({
      connection_id: first,
      route_reason: 'Route 1 (First)',
    });
  });

  test('that no route takes goes to the own provider', async () => {
    const merchant = await routed({ connection_id: first, min_amount: '10.01' });
    const { trans_id } = await sale(merchant);
    expect(await shop.inspect(trans_id)).toMatchObject({
      connection_id: null,
      route_reason: 'No route matches: own provider',
    });
  });

  test('is captured, refunded and notified at its connection', async () => {
    const merchant = await routed({ connection_id: first });
    const { trans_id } = await sale(merchant, { auth: 'Y' });
    expect((await shop.inspect(trans_id)).status).toBe('PENDING');
    expect((await shop.admin('POST', `/payments/${trans_id}/capture`, { amount: '6.00' })).body.status).toBe('SETTLED');
    expect((await shop.admin('POST', `/payments/${trans_id}/refund`, { amount: '2.00' })).body.refunded).toBe('2.00');
    await A().control(`/payments/${trans_id}`, { chargeback: true });
    await expect.poll(async () => (await shop.inspect(trans_id)).status, PROVIDER_POLL).toBe('CHARGEBACK');
    expect((await shop.inspect(trans_id)).notifications).toMatchObject([{ connection_id: first, state: 'applied' }]);
  });

  test('a route without a share takes nothing, and the rest of the only route goes to the own provider', async () => {
    const none = await sale(await routed({ connection_id: first, share: 0 }));
    expect(await shop.inspect(none.trans_id)).toMatchObject({ connection_id: null });
    const merchant = await routed({ connection_id: first, share: 50 });
    const ids = await Promise.all(Array.from({ length: 20 }, async () => (await sale(merchant)).trans_id as string));
    const taken = await Promise.all(ids.map(async (id) => (await shop.inspect(id)).connection_id));
    expect(new Set(taken)).toEqual(new Set([first, null]));
  });

  test('is in the share of a route by its id, about as often as the share says', async () => {
    const merchant = await routed({ connection_id: first, share: 30 }, { connection_id: second });
    const ids = await Promise.all(Array.from({ length: 60 }, async () => (await sale(merchant)).trans_id as string));
    const taken = await Promise.all(ids.map(async (id) => (await shop.inspect(id)).connection_id === first));
    const share = taken.filter(Boolean).length;
    expect(share).toBeGreaterThan(2);
    expect(share).toBeLessThan(36);
    const { items } = (await shop.admin('GET', `/payments?mid=${merchant.mid}&limit=100`)).body;
    expect(items.map((item: { route_reason: string }) => item.route_reason)).toContain(
      'Route 2 (Second); route 1 takes 30 %',
    );
  });
});

describe('failover', () => {
  test('a submission that was not sent goes to the next route, and each attempt is recorded', async () => {
    const merchant = await routed({ connection_id: dead }, { connection_id: second });
    const { trans_id } = await sale(merchant);
    expect(await shop.inspect(trans_id)).toMatchObject({
      status: 'SETTLED',
      connection_id: second,
      route_reason: expect.stringMatching(/^Route 2 \(Second\).*; after submission 1: not sent$/),
    });
    expect(await calls(trans_id)).toEqual(['submit dead: not sent', 'submit second: settled']);
    expect(await shop.events(trans_id)).toEqual(['opened', 'rerouted', 'settled']);
    // The second submission has a reference of its own.
    expect(await B().control(`/payments/${trans_id}-2`)).toMatchObject({ status: 'settled' });
  });

  test('the last route decides: without a further one, the payment is declined', async () => {
    const { trans_id, status } = await sale(await routed({ connection_id: dead }));
    expect(status).toBe('DECLINED');
    expect((await shop.inspect(trans_id)).decline_reason).toBe('The provider never received the payment.');
  });

  test('a soft decline goes to the next route, a hard one does not', async () => {
    const merchant = await routed({ connection_id: first }, { connection_id: second });
    await A().control('/faults', { mode: 'soft_decline', count: 1 });
    const soft = await sale(merchant);
    expect(soft.status).toBe('SETTLED');
    expect(await calls(soft.trans_id)).toEqual(['submit first: declined', 'submit second: settled']);
    const hard = await sale(merchant, { identifier: 'decline@example.com' });
    expect(hard.status).toBe('DECLINED');
    expect(await calls(hard.trans_id)).toEqual(['submit first: declined']);
  });

  test.each(['timeout_before', 'timeout_after', 'error_500'])(
    'an unknown outcome (%s) stays where it is, and is queried there',
    async (mode) => {
      const merchant = await routed({ connection_id: first }, { connection_id: second });
      await A().control('/faults', { mode, count: 1 });
      const { trans_id } = await sale(merchant);
      expect(await calls(trans_id)).toEqual(['submit first: no answer']);
      await shop.advanceClock(6, merchant.mid);
      if (mode === 'timeout_after') expect((await shop.inspect(trans_id)).status).toBe('SETTLED');
      expect((await calls(trans_id)).every((call) => String(call).includes('first'))).toBe(true);
    },
  );

  test('a chargeback at the first connection goes to the attention list, and that at the second changes the state', async () => {
    const merchant = await routed({ connection_id: first }, { connection_id: second });
    await A().control('/faults', { mode: 'soft_decline', count: 1 });
    const { trans_id: id } = await sale(merchant);
    const tell = (at: string, reference: string, type: string, chargeback?: string) =>
      receiveNotifications(shop.gateway, `upstream/${at}`, [
        { eventId: randomUUID(), reference, body: { reference, type, chargeback, amount: '300', currency: 'USD' } },
      ]);
    const shown = async () => {
      const { status, attention, history } = await shop.inspect(id);
      return [status, attention, history.at(-1).event];
    };
    await tell(first, id, 'chargeback', 'cb-1');
    expect(await shown()).toEqual(['SETTLED', 'unexpected_chargeback', 'noted chargedBack']);
    const { length } = await shop.events(id);
    await tell(first, id, 'chargeback', 'cb-1');
    expect(await shop.events(id)).toHaveLength(length);
    await tell(second, `${id}-2`, 'chargeback');
    expect(await shown()).toEqual(['CHARGEBACK', 'unexpected_chargeback', 'chargedBack']);
    await tell(second, `${id}-2`, 'chargeback_reversed');
    expect(await shown()).toEqual(['SETTLED', 'unexpected_chargeback', 'chargebackReversed']);
    await tell(first, id, 'chargeback_reversed', 'cb-2');
    expect(await shown()).toEqual(['SETTLED', 'unexpected_chargeback', 'noted chargebackReversed']);
    await tell(first, id, 'chargeback_reversed', 'cb-1');
    expect(await shown()).toEqual(['SETTLED', null, 'noted chargebackReversed']);
  });

  test('a late success of the first connection goes to the attention list', async () => {
    const merchant = await routed({ connection_id: first }, { connection_id: second });
    await A().control('/faults', { mode: 'soft_decline', count: 1 });
    const { trans_id } = await sale(merchant);
    await A().control(`/payments/${trans_id}`, { provider_status: 'executed' });
    await expect.poll(async () => (await shop.inspect(trans_id)).attention, PROVIDER_POLL).toBe('late_success');
    expect(await shop.inspect(trans_id)).toMatchObject({ status: 'SETTLED', connection_id: second, captured: '10.00' });
    for (const resolve of ['accept', 'refund']) {
      const refused = await shop.admin('POST', `/payments/${trans_id}/attention`, { resolve });
      expect([refused.status, refused.body.errors[0].error_message]).toEqual([
        400,
        expect.stringMatching(/^resolve: /),
      ]);
    }
    const dismissed = await shop.admin('POST', `/payments/${trans_id}/attention`, { resolve: 'dismiss' });
    expect(dismissed.body).toMatchObject({ attention: null, status: 'SETTLED' });
    // A webhook that is repeated marks it no more.
    const { length } = await shop.events(trans_id);
    await receiveNotifications(shop.gateway, `upstream/${first}`, [
      { eventId: randomUUID(), reference: trans_id, body: { reference: trans_id, type: 'payment', status: 'settled' } },
    ]);
    expect((await shop.inspect(trans_id)).attention).toBe(null);
    expect(await shop.events(trans_id)).toHaveLength(length);
  });

  test('a connection that keeps failing is skipped, and its health shows why', async () => {
    const merchant = await routed({ connection_id: dead }, { connection_id: second });
    for (let failures = 0; failures < 3; failures++) await sale(merchant);
    const { trans_id } = await sale(merchant);
    expect(await calls(trans_id)).toEqual(['submit second: settled']);
    expect((await shop.inspect(trans_id)).route_reason).toBe('Route 2 (Second); route 1 keeps failing');
    const { body } = await shop.admin('GET', `/connections/${dead}`);
    expect(body.health).toMatchObject({ state: 'open', since: expect.any(String), last_error: expect.any(String) });
    const metrics = await (await fetch(`${shop.url}/metrics`)).text();
    expect(metrics).toContain(`turnpike_breaker{connection="upstream/${dead}"} 2`);
  });
});

describe('routes/try', () => {
  const tried = async (merchant: Merchant, facts: Record<string, unknown> = {}) =>
    (
      await shop.admin('POST', `/accounts/${merchant.mid}/routes/try`, {
        brand: 'card',
        currency: 'USD',
        amount: '10.00',
        ...facts,
      })
    ).body;

  test('names the connection, the reason and the alternatives', async () => {
    const merchant = await routed(
      { connection_id: first, brands: ['card'], networks: ['visa'], bins: ['411111'] },
      { connection_id: second, countries: ['DE'] },
      { connection_id: null },
    );
    expect(await tried(merchant, { network: 'visa', bin: '41111111', country: 'DE' })).toEqual({
      connection_id: first,
      reason: 'Route 1 (First)',
      alternatives: [
        { connection_id: second, reason: 'Route 2 (Second)' },
        { connection_id: null, reason: 'Route 3 (own provider)' },
      ],
    });
    expect(await tried(merchant, { network: 'visa' })).toMatchObject({ connection_id: null, alternatives: [] });
    expect(await tried(await shop.newMerchant())).toEqual({
      connection_id: null,
      reason: 'The account has no routes: own provider',
      alternatives: [],
    });
  });

  test.each<[string, Record<string, unknown>]>([
    ['brand', { brand: 'unknown' }],
    ['currency', { currency: 'XXL' }],
    ['amount', { amount: '0.00' }],
    ['amount', { amount: '-1' }],
    ['network', { network: 'dinersclub' }],
    ['country', { country: 'ZZ' }],
    ['bin', { bin: '41' }],
    ['colour', { colour: 'red' }],
  ])('refuses a bad %s', async (field, facts) => {
    const { errors } = await tried(shop.merchant, facts);
    expect(errors.map((error: { error_message: string }) => error.error_message.split(':')[0])).toEqual([field]);
  });
});

describe('PUT routes', () => {
  const refusedFields = async (body: unknown): Promise<string[]> => {
    const answer = await shop.admin('PUT', `/accounts/${shop.merchant.mid}/routes`, body);
    expect(answer.status).toBe(400);
    return answer.body.errors.map((error: { error_message: string }) => error.error_message.split(':')[0]);
  };

  test('returns them as they are stored, with defaults', async () => {
    const merchant = await routed({ connection_id: first, brands: ['card'], share: 40 });
    expect((await shop.admin('GET', `/accounts/${merchant.mid}/routes`)).body).toEqual([
      {
        connection_id: first,
        brands: ['card'],
        networks: [],
        currencies: [],
        countries: [],
        bins: [],
        min_amount: null,
        max_amount: null,
        share: 40,
      },
    ]);
  });

  test.each<[string, unknown, string[]]>([
    ['no list', {}, ['routes']],
    ['an entry that is no object', ['x'], ['routes[0]']],
    ['an unknown connection', [{ connection_id: randomUUID() }], ['routes[0].connection_id']],
    ['no connection', [{}], ['routes[0].connection_id']],
    [
      'bad values, all named',
      [{ connection_id: null, brands: ['x'], currencies: 'EUR', bins: ['4'], min_amount: 'a', share: 101, extra: 1 }],
      ['extra', 'brands', 'currencies', 'bins', 'min_amount', 'share'].map((name) => `routes[0].${name}`),
    ],
    ['an empty range', [{ connection_id: null, min_amount: '10.00', max_amount: '9.99' }], ['routes[0].max_amount']],
  ])('refuses %s', async (_, body, fields) => {
    expect((await refusedFields(body)).toSorted()).toEqual(fields.toSorted());
    expect((await shop.admin('GET', `/accounts/${shop.merchant.mid}/routes`)).body).toEqual([]);
  });

  test('refuses a connection of other accounts', async () => {
    const other = await shop.newMerchant();
    const own = await connect(shop, A(), { mids: [other.mid] });
    expect(await refusedFields([{ connection_id: own }])).toEqual(['routes[0].connection_id']);
    expect((await shop.admin('PUT', `/accounts/${other.mid}/routes`, [{ connection_id: own }])).status).toBe(200);
  });

  test('of an unknown account: 404', async () => {
    expect((await shop.admin('PUT', `/accounts/${randomUUID()}/routes`, [])).status).toBe(404);
  });
});

test('the database is consistent afterwards', async () => {
  expect((await verifyAt(shop.connection)).violations).toEqual([]);
});
