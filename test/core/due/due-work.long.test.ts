/** Slow and dead providers: calls are bounded in time and number, and what is due elsewhere goes on meanwhile. */
import { setTimeout as pause } from 'node:timers/promises';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { LIMITS } from '../../../src/rules/limits.ts';
import { verifyAt } from '../../../src/store/installation/verify.ts';
import { startWorkLoop, type WorkLoop } from '../../../src/work/loop.ts';
import { BRAND_EXPECTATIONS } from '../../support/brand-expectations.ts';
import { type Answer, type Fields, openShop, saleFields, sign } from '../../support/gateway.ts';
import { shortenLimits } from '../../support/limits.ts';
import { operationFields } from '../../support/operations.ts';
import { scriptProvider } from '../../support/scripted-provider.ts';

const CONCURRENCY = 4;
// Fewer payments than usual, so that their calls begin in time on a slow machine.
shortenLimits({ providerWaiting: 64 });
const usual = scriptProvider();
const slow = scriptProvider({ concurrency: CONCURRENCY });
const shop = openShop({ connectors: { vcard: usual.connector, upstream: slow.connector } });

let loop: WorkLoop | undefined;
beforeEach(() => {
  usual.does({});
  slow.does({});
});
afterEach(async () => {
  await loop?.stop();
  loop = undefined;
});

const pinSale = (fields: Fields = {}): Promise<Answer> =>
  shop.post(
    saleFields(shop.merchant, { brand: 'pin-a', identifier: '', ...BRAND_EXPECTATIONS['pin-a']?.complete, ...fields }),
  );
/** A call that never ends, whatever its deadline. */
const never = (): Promise<never> => new Promise(() => undefined);

describe('a provider that takes so many payments at a time', () => {
  test('gets no more than that; the others wait for their turn', async () => {
    let running = 0;
    let most = 0;
    const full = Promise.withResolvers<void>();
    slow.does({
      async submit() {
        most = Math.max(most, ++running);
        if (running === CONCURRENCY) full.resolve();
        await full.promise;
        await pause(20);
        running--;
        return { kind: 'settled' };
      },
    });
    const answers = await Promise.all(Array.from({ length: 30 }, () => pinSale()));
    expect(answers.map(({ body }) => body.status)).toEqual(Array(30).fill('SETTLED'));
    expect(most).toBe(CONCURRENCY);
  });

  test('refuses early and clearly when too many wait, and writes nothing for those', async () => {
    const { promise: go, resolve } = Promise.withResolvers<void>();
    slow.does({ submit: () => go.then(() => ({ kind: 'settled' })) });
    const waiting = Array.from({ length: CONCURRENCY + LIMITS.providerWaiting }, () => pinSale());
    const orders = async (): Promise<number> =>
      Number((await shop.rows(`select count(*) from payments where state = 'PREPARE' and brand = 'pin-a'`))[0]?.count);
    await expect.poll(orders).toBe(CONCURRENCY + LIMITS.providerWaiting);
    const refused = await pinSale({ order_id: 'one-too-many' });
    expect(refused).toMatchObject({
      status: 503,
      body: {
        error_code: 100000,
        error_message:
          'The provider has too many payments under way. Nothing was charged; send the request again later.',
        errors: [],
      },
    });
    expect(refused.headers.get('retry-after')).toBe('5');
    expect(await shop.rows(`select from payments where order_id = 'one-too-many'`)).toEqual([]);
    // Other providers, and status queries, do not notice.
    expect((await shop.sale()).body.status).toBe('SETTLED');
    resolve();
    const answers = await Promise.all(waiting);
    expect(new Set(answers.map(({ body }) => body.status))).toEqual(new Set(['SETTLED']));
    expect((await pinSale({ order_id: 'one-too-many' })).body.status).toBe('SETTLED');
  });
});

describe('a provider that never answers', () => {
  // A call ends so long before its row is due, and the row is due after half a minute.
  shortenLimits({ providerTimeoutMs: 3000, submissionMarginMs: LIMITS.submissionMs - 3000, providerLeastTimeMs: 100 });

  test.each([
    ['CAPTURE', { auth: 'Y' }],
    ['CREDITVOID', {}],
  ] as const)('%s is answered when the provider’s time is over', async (action, fields) => {
    const { body } = await pinSale(fields);
    slow.does({ operate: never });
    const answer = await shop.post(operationFields(shop.merchant, action, body.trans_id));
    expect(['UNDEFINED', 'ACCEPTED']).toContain(answer.body.result);
    slow.does({});
    await shop.advanceClock(60);
    expect((await shop.inspect(body.trans_id)).operations).toMatchObject([{ state: 'done' }]);
  });

  test('holds up neither other providers nor schedules', { timeout: 60_000 }, async () => {
    slow.does({ submit: () => ({ kind: 'unknown' }) });
    await Promise.all(Array.from({ length: 3 * LIMITS.dueAtATime }, () => pinSale()));
    usual.does({ submit: () => ({ kind: 'unknown' }) });
    const open = (await shop.sale()).body.trans_id;
    usual.does({});
    const { body: schedule } = await shop.post({
      action: 'CREATE_SCHEDULE',
      client_key: shop.merchant.client_key,
      ...{ name: 'Plan', interval_length: '1', interval_unit: 'day', payments_count: '3' },
      hash: sign(shop.merchant.password),
    });
    const { schedule_id } = schedule;
    await shop.sale({ schedule_id, recurring_init: 'Y' });
    slow.does({ query: never });
    // Everything is due at once, and only the loop does it.
    await shop.gateway.installation.moveClock(undefined, 2 * LIMITS.dayMs);
    loop = startWorkLoop(shop.gateway);
    await expect.poll(async () => (await shop.inspect(open)).status).toBe('SETTLED');
    const charges = async (): Promise<number> =>
      (await shop.admin('GET', `/payments?schedule_id=${schedule_id}`)).body.items.length;
    await expect.poll(charges).toBeGreaterThan(1);
    slow.does({});
  });
});

test('a loop that is stopped finishes what it has claimed, and claims nothing more', { timeout: 60_000 }, async () => {
  slow.does({ submit: () => ({ kind: 'unknown' }) });
  await Promise.all(Array.from({ length: 4 * LIMITS.dueAtATime }, () => pinSale()));
  let asked = 0;
  const stopping = Promise.withResolvers<void>();
  slow.does({
    async query() {
      asked++;
      await stopping.promise;
      return { kind: 'settled' };
    },
  });
  await shop.gateway.installation.moveClock(undefined, LIMITS.dayMs);
  const stopped = startWorkLoop(shop.gateway);
  await expect.poll(() => asked).toBeGreaterThan(0);
  const ended = stopped.stop();
  stopping.resolve();
  await ended;
  const atTheEnd = asked;
  expect(atTheEnd).toBeLessThanOrEqual(2 * LIMITS.dueAtATime);
  await pause(400);
  expect(asked).toBe(atTheEnd);
  slow.does({});
  await shop.advanceClock(60);
});

test('after all of this every invariant holds', async () => {
  expect((await verifyAt(shop.connection)).violations).toEqual([]);
});
