/** DNS rebinding, with a real name server: a connection goes to an address that was checked, or is not made. */
import { setTimeout as pause } from 'node:timers/promises';
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test } from 'vitest';
import { requestMerchantSession } from '../../src/connectors/merchant-session.ts';
import { createLookup } from '../../src/connectors/names.ts';
import { createReceiver } from '../../src/connectors/receiver.ts';
import { addressList } from '../../src/lib/http/address.ts';
import { openShop } from '../support/gateway.ts';
import { startNameServer, type Zone } from '../support/name-server.ts';
import { signedIn } from '../support/operators.ts';
import { answers, redirectsTo, startReceiver, type TestReceiver } from '../support/receivers.ts';

/** Stands for a public address: it is the only address of this machine that may be called. */
const PUBLIC = '127.0.0.1';
const PRIVATE = '127.0.0.2';
const ROUNDS = 40;

/** Names that are public when they are first resolved, and then private; each is resolved from the start of its list. */
const TURNS: Record<string, readonly (readonly string[])[]> = {
  'at the second time': [[PUBLIC], [PRIVATE]],
  'in turn': Array.from({ length: ROUNDS }, (_, turn) => [turn % 2 === 0 ? PUBLIC : PRIVATE]),
  'to IPv6': [[PUBLIC], ['::1']],
  'to a mapped address': [[PUBLIC], ['::ffff:127.0.0.2']],
  'to no address': [[PUBLIC], ['0.0.0.0']],
  'to NAT64': [[PUBLIC], ['64:ff9b::7f00:2']],
  'to an alias': [[PUBLIC], ['inner.example']],
};

/** Names that have a private address at once. */
const AT_ONCE: Record<string, readonly string[]> = {
  'a private address': [PRIVATE],
  'a private address after a public one': [PUBLIC, PRIVATE],
  'a private address before a public one': [PRIVATE, PUBLIC],
  'a private address of the other family': [PUBLIC, '::1'],
  'many public addresses and a private one': ['8.8.8.8', '1.1.1.1', '9.9.9.9', '10.0.0.1', PUBLIC],
  'the address of all networks': ['0.0.0.0'],
  'the address of all networks in IPv6': ['::'],
  'a mapped address': ['::ffff:127.0.0.2'],
  'a compatible address': ['::127.0.0.2'],
  'an address behind NAT64': ['64:ff9b::127.0.0.2'],
  'the metadata service of a cloud': ['169.254.169.254'],
  'the metadata service of a cloud behind NAT64': ['64:ff9b::169.254.169.254'],
  'an alias of a private name': ['inner.example'],
  'an alias of an alias': ['outer.example'],
  'an alias of a name with both': ['both.example'],
};

const named = (titles: Record<string, unknown>, prefix: string): [string, string][] =>
  Object.keys(titles).map((title, index) => [title, `${prefix}${index}.example`]);
const [TURNING, PRIVATE_NAMES] = [named(TURNS, 'turn'), named(AT_ONCE, 'private')];

const zone: Zone = {
  ...Object.fromEntries(TURNING.map(([title, name]) => [name, TURNS[title] ?? []])),
  ...Object.fromEntries(PRIVATE_NAMES.map(([title, name]) => [name, [AT_ONCE[title] ?? []]])),
  'inner.example': [[PRIVATE]],
  'outer.example': [['inner.example']],
  'both.example': [[PUBLIC, PRIVATE]],
  'alias.example': [['public.example']],
  'public.example': [[PUBLIC]],
};

/** A slow machine is not the subject. */
const LONG_MS = 30_000;

const shop = openShop();
/** Listens on every address of this machine. */
let target: TestReceiver;
let server: Awaited<ReturnType<typeof startNameServer>>;
let visitors = 0;
beforeAll(async () => {
  target = await startReceiver(answers(200), { host: '' });
});
afterEach(() => server.close());
beforeEach(async () => {
  server = await startNameServer({ zone });
  visitors = target.connections;
  target.behaviour = answers(200);
});
afterAll(() => target.close());

const options = () => ({
  allowsHttp: true,
  allowsAddress: addressList([PUBLIC]),
  ...{ totalMs: LONG_MS, connectMs: LONG_MS },
  lookup: createLookup({
    servers: [server.address],
    hostsFile: '/nowhere',
    ...{ serverTimeoutMs: LONG_MS, totalMs: LONG_MS },
  }),
});
const urlOf = (name: string): string => `http://${name}:${target.port}/`;

/** Sends with a connection of its own. */
async function send(name: string) {
  const receiver = createReceiver(options());
  const delivery = await receiver.send({ url: urlOf(name), headers: {}, body: 'event' });
  await receiver.close();
  return delivery.kind === 'answered' ? delivery.status : delivery.fault;
}

/** How many connections arrived, at any address of this machine. */
const arrivals = (): number => target.connections - visitors;

test.each(PRIVATE_NAMES)('a name with %s is not called', async (_, name) => {
  expect(await send(name)).toBe('privateAddress');
  expect(server.queries).toEqual(expect.arrayContaining([`A ${name}`, `AAAA ${name}`]));
  expect(arrivals()).toBe(0);
});

test('a name with public addresses is called, also by an alias', async () => {
  for (const name of ['public.example', 'alias.example']) expect(await send(name)).toBe(200);
  expect(arrivals()).toBe(2);
});

test.each(TURNING)('a name that changes %s', async (title, name) => {
  const times = TURNS[title] as readonly (readonly string[])[];
  for (let turn = 0; turn < times.length; turn++) {
    const isPublic = times[turn]?.[0] === PUBLIC;
    expect(await send(name)).toBe(isPublic ? 200 : 'privateAddress');
    // One lookup per connection: the address that was checked is the one that is called.
    expect(server.queries.filter((query) => query === `A ${name}`)).toHaveLength(turn + 1);
  }
  expect(arrivals()).toBe(times.filter(([address]) => address === PUBLIC).length);
});

test('many calls at the same time to a name that changes: each goes to the public address, or nowhere', async () => {
  const name = TURNING.find(([title]) => title === 'in turn')?.[1] as string;
  const outcomes = await Promise.all(Array.from({ length: ROUNDS }, () => send(name)));
  expect(new Set([...outcomes, 200, 'privateAddress'])).toEqual(new Set([200, 'privateAddress']));
  expect(arrivals()).toBe(outcomes.filter((outcome) => outcome === 200).length);
});

test('an open connection stays with the address that was checked', async () => {
  const receiver = createReceiver(options());
  const [, name] = TURNING[0] as [string, string];
  for (let call = 0; call < 3; call++) {
    expect(await receiver.send({ url: urlOf(name), headers: {}, body: '' })).toMatchObject({ status: 200 });
    // The connection is free for the next call a moment later.
    await pause(500);
  }
  expect(server.queries.filter((query) => query.startsWith('A '))).toHaveLength(1);
  expect(arrivals()).toBe(1);
  await receiver.close();
});

test.each(['inner.example', 'both.example', PRIVATE])('a redirect to %s is not followed', async (host) => {
  target.behaviour = redirectsTo(urlOf(host), 307);
  expect(await send('public.example')).toBe(307);
  expect(arrivals()).toBe(1);
});

describe('the other ways to a merchant’s address', () => {
  test('the test callback of the admin API and the panel', async () => {
    const [, name] = TURNING[0] as [string, string];
    const { mid } = await shop.newMerchant({ callback_url: urlOf(name) });
    const path = `/accounts/${mid}/test-callback`;
    const before = shop.gateway.receiver;
    const problems: unknown[] = [];
    for (const ask of [
      async () => (await shop.admin('POST', path)).body.problem,
      async () => (await shop.admin('POST', path)).body.problem,
      async () => (await (await signedIn(shop, 'owner')).submit(`/admin${path}`)).text,
    ]) {
      shop.gateway.receiver = createReceiver(options());
      problems.push(await ask());
      await shop.gateway.receiver.close();
    }
    shop.gateway.receiver = before;
    const isPrivate = expect.stringContaining('The address is private');
    expect(problems).toEqual([null, isPrivate, isPrivate]);
    expect(arrivals()).toBe(1);
  });

  test('the validation of a merchant by the vendor of a wallet', async () => {
    const content = {
      merchantIdentifier: 'm',
      displayName: 'Shop',
      initiative: 'web',
      initiativeContext: 'pay.example',
    } as const;
    for (const [, name] of PRIVATE_NAMES) {
      const url = `https://${name}:${target.port}/paymentservices/startSession`;
      await expect(requestMerchantSession(url, content, options())).rejects.toThrow('private');
    }
    expect(arrivals()).toBe(0);
  });
});
