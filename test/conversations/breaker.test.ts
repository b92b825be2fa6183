/** The circuit breaker of a connection: when it opens, how it is tested again, and what each process knows of it. */
import { createHash } from 'node:crypto';
import { createServer, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { afterAll, beforeAll, beforeEach, expect, test } from 'vitest';
import { readClock } from '../../src/core/sandbox/clock.ts';
import { createLimiter } from '../../src/lib/flow/limiter.ts';
import { addressList } from '../../src/lib/http/address.ts';
import { Deadline } from '../../src/lib/time/deadline.ts';
import { createApp } from '../../src/server/app.ts';
import { BRAND_EXPECTATIONS } from '../support/brand-expectations.ts';
import { ADMIN_TOKEN, type Merchant, openShop, saleFields } from '../support/gateway.ts';
import { connect, openProviders, route, type TestProvider } from '../support/providers.ts';

const shop = openShop({ simulator: true });
const providers = openProviders(2);

/** What the first provider does: it works, limits the rate of all calls, or keeps them waiting. */
let mode: 'up' | 'limited' | 'held' = 'up';
const held: (() => void)[] = [];
let calls = 0;
let first: string;
let second: string;
let merchant: Merchant;
const key = (): string => `upstream/${first}`;

/** Stands between the gateway and the first provider. */
const proxy = createServer(async (request, response) => {
  const parts: Buffer[] = [];
  for await (const part of request) parts.push(part);
  if (request.method === 'POST') calls += 1;
  if (mode === 'limited') return void response.writeHead(429).end('{}');
  const forward = async (): Promise<void> => {
    const answer = await fetch(`${(providers[0] as TestProvider).url}${request.url}`, {
      method: request.method as string,
      headers: { authorization: request.headers.authorization ?? '', 'content-type': 'application/json' },
      ...(parts.length > 0 && { body: Buffer.concat(parts) }),
    });
    (response as ServerResponse).writeHead(answer.status, { 'content-type': 'application/json' });
    response.end(await answer.text());
  };
  if (mode === 'held') held.push(() => void forward());
  else await forward();
});

beforeAll(async () => {
  await new Promise<void>((resolve) => proxy.listen(0, '127.0.0.1', resolve));
  const url = `http://127.0.0.1:${(proxy.address() as AddressInfo).port}`;
  const [one, other] = providers as [TestProvider, TestProvider];
  first = await connect(shop, { credentials: { ...one.credentials, url } }, { name: 'First' });
  second = await connect(shop, other, { name: 'Second' });
  merchant = await shop.newMerchant();
  await route(shop, merchant.mid, [{ connection_id: first }, { connection_id: second }]);
});
afterAll(() => {
  proxy.closeAllConnections();
  proxy.close();
});
beforeEach(() => {
  mode = 'up';
  calls = 0;
  shop.gateway.health.answered(key());
});

const fields = () => saleFields(merchant, { brand: 'pin-a', identifier: '', ...BRAND_EXPECTATIONS['pin-a']?.complete });
/** A sale, and the connection that took it. */
const sale = async (): Promise<string> => {
  const { body } = await shop.post(fields());
  const { status, connection_id } = await shop.inspect(body.trans_id);
  expect(status).toBe('SETTLED');
  return connection_id === first ? 'first' : 'second';
};
const fail = async (): Promise<void> => {
  mode = 'limited';
  for (let failures = 0; failures < 3; failures++) expect(await sale()).toBe('second');
};
const health = async () => (await shop.admin('GET', `/connections/${first}`)).body.health;
const metric = async (url = shop.url): Promise<string | undefined> =>
  new RegExp(`^turnpike_breaker{connection="${key()}"} (\\d)$`, 'm').exec(
    await (await fetch(`${url}/metrics`)).text(),
  )?.[1];

test('opens after three failures in a row, and routes pass the connection over', async () => {
  mode = 'limited';
  await sale();
  await sale();
  mode = 'up';
  expect(await sale()).toBe('first');
  // An answer in between begins the count again.
  calls = 0;
  await fail();
  expect(calls).toBe(3);
  expect(await health()).toMatchObject({
    state: 'open',
    since: expect.any(String),
    last_error: expect.stringMatching(/./),
  });
  expect(await metric()).toBe('2');
  mode = 'up';
  expect(await sale()).toBe('second');
  expect(calls).toBe(3);
});

test('is tested by one payment after the pause, while the others take the other route; an answer closes it', async () => {
  await fail();
  await shop.advanceClock(10);
  expect((await health()).state).toBe('open');
  await shop.advanceClock(21);
  expect([(await health()).state, await metric()]).toEqual(['half_open', '1']);
  [mode, calls] = ['held', 0];
  const probe = sale();
  await expect.poll(() => held.length).toBe(1);
  expect(await Promise.all(Array.from({ length: 5 }, sale))).toEqual(Array(5).fill('second'));
  expect([calls, (await health()).state]).toEqual([1, 'half_open']);
  mode = 'up';
  for (const release of held.splice(0)) release();
  expect(await probe).toBe('first');
  expect([await health(), await metric()]).toMatchObject([{ state: 'closed', last_error: null }, '0']);
  expect(await sale()).toBe('first');
});

test('of payments that arrive together, one tests the connection; its failure opens the breaker again', async () => {
  await fail();
  await shop.advanceClock(31);
  calls = 0;
  expect(await Promise.all(Array.from({ length: 5 }, sale))).toEqual(Array(5).fill('second'));
  expect([calls, (await health()).state, await metric()]).toEqual([1, 'open', '2']);
  await shop.advanceClock(31);
  mode = 'up';
  expect((await health()).state).toBe('half_open');
  expect([await sale(), (await health()).state]).toEqual(['first', 'closed']);
});

test('a test that got nowhere is followed by another one', async () => {
  await fail();
  await shop.advanceClock(31);
  // A payment was routed there, and its payer has left.
  shop.gateway.health.chosen(key());
  mode = 'up';
  expect(await sale()).toBe('second');
  await shop.advanceClock(31);
  expect(await sale()).toBe('first');
});

test('the check of a connection closes its breaker', async () => {
  await fail();
  mode = 'up';
  expect((await shop.admin('POST', `/connections/${first}/check`)).body.ok).toBe(true);
  expect([(await health()).state, await sale()]).toEqual(['closed', 'first']);
});

test('each process counts for itself, and finds out by itself', async () => {
  const other = await shop.anotherGateway();
  const app = createApp(other, {
    isTrustedProxy: addressList([]),
    takesRequests: true,
    adminTokenDigest: createHash('sha256').update(ADMIN_TOKEN).digest(),
  });
  const url = await app.listen({ port: 0, host: '127.0.0.1' });
  try {
    other.inboundUrl = shop.url;
    await readClock(other);
    await fail();
    expect([(await health()).state, other.health.of(key()).state, await metric(url)]).toEqual([
      'open',
      'closed',
      undefined,
    ]);
    mode = 'up';
    const response = await fetch(`${url}/post`, { method: 'POST', body: new URLSearchParams(fields()) });
    const { trans_id } = (await response.json()) as { trans_id: string };
    expect((await shop.inspect(trans_id)).connection_id).toBe(first);
    // The answer that the other process got says nothing to this one.
    expect([await sale(), (await health()).state]).toEqual(['second', 'open']);
  } finally {
    await app.close();
  }
});

test('a connection whose queue is full is passed over; without another route, new payments are refused', async () => {
  const { promise, resolve } = Promise.withResolvers<void>();
  const submissions = createLimiter(1, 1);
  const deadline = new Deadline(60_000);
  const waiting = [1, 2].map(() => submissions.run(() => promise, deadline));
  const usual = shop.gateway.providerLimits.get(key());
  shop.gateway.providerLimits.set(key(), { submissions, queries: createLimiter(1, 1) });
  try {
    const { body } = await shop.post(fields());
    expect(await shop.inspect(body.trans_id)).toMatchObject({
      status: 'SETTLED',
      connection_id: second,
      route_reason: 'Route 2 (Second); route 1 has too many calls waiting',
    });
    const alone = await shop.newMerchant();
    await route(shop, alone.mid, [{ connection_id: first }]);
    const refused = await shop.sale(
      { brand: 'pin-a', identifier: '', ...BRAND_EXPECTATIONS['pin-a']?.complete },
      alone,
    );
    expect([refused.status, refused.headers.get('retry-after')]).toEqual([503, '5']);
  } finally {
    resolve();
    await Promise.all(waiting);
    deadline.clear();
    if (usual) shop.gateway.providerLimits.set(key(), usual);
    else shop.gateway.providerLimits.delete(key());
  }
});
