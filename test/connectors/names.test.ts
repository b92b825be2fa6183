/** Host names are resolved by the hosts file, the name servers or the system, and none waits for another. */
import type { LookupAddress } from 'node:dns';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import type { LookupFunction } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test } from 'vitest';
import { createLookup, type LookupOptions } from '../../src/connectors/names.ts';
import { createReceiver, type Receiver } from '../../src/connectors/receiver.ts';
import { callbackReach } from '../../src/rules/callback-address.ts';
import { startNameServer } from '../support/name-server.ts';
import { startReceiver, type TestReceiver } from '../support/receivers.ts';

/** Long enough that no result is due to a timeout. */
const LONG_MS = 60_000;
const LONG_TIMEOUTS = { serverTimeoutMs: LONG_MS, totalMs: LONG_MS };

let server: Awaited<ReturnType<typeof startNameServer>>;
let shop: TestReceiver;
let folder: string;
const opened: Receiver[] = [];
beforeAll(async () => {
  shop = await startReceiver();
  folder = await mkdtemp(join(tmpdir(), 'turnpike-names-'));
});
afterAll(async () => {
  await shop.close();
  await rm(folder, { recursive: true });
});
beforeEach(async () => {
  server = await startNameServer();
});
afterEach(async () => {
  for (const receiver of opened.splice(0)) await receiver.close();
  await server.close();
});

/** A system resolver that knows the names of a list and records the lookups. */
function systemWith(known: Record<string, string> = {}) {
  const lookups: string[] = [];
  const system: LookupFunction = (name, _options, callback) => {
    lookups.push(name);
    const address = known[name];
    const unknown = Object.assign(new Error(`getaddrinfo ENOTFOUND ${name}`), { code: 'ENOTFOUND' });
    setImmediate(() => (address ? callback(null, [{ address, family: 4 }]) : callback(unknown, [])));
  };
  return { system, lookups };
}

/** A system resolver that knows every name and answers when the test lets it. */
function slowSystem() {
  const lookups: string[] = [];
  const answers: (() => void)[] = [];
  const system: LookupFunction = (name, _options, callback) => {
    lookups.push(name);
    answers.push(() => callback(null, [{ address: '10.0.0.4', family: 4 }]));
  };
  return { system, lookups, answers };
}

const lookupWith = (options: LookupOptions = {}): LookupFunction =>
  createLookup({ ...LONG_TIMEOUTS, servers: [server.address], hostsFile: '/nowhere', ...systemWith(), ...options });

/** The addresses of a name, or the error code. */
const find = (lookup: LookupFunction, name: string): Promise<string[] | string | undefined> =>
  new Promise((resolve) =>
    lookup(name, { all: true }, (error, found) =>
      resolve(error ? error.code : (found as LookupAddress[]).map(({ address }) => address)),
    ),
  );

const receiverWith = (options: LookupOptions = {}): Receiver => {
  const timeouts = { totalMs: LONG_MS, connectMs: LONG_MS };
  const receiver = createReceiver({ ...callbackReach(true, []), ...timeouts, lookup: lookupWith(options) });
  opened.push(receiver);
  return receiver;
};
const send = (receiver: Receiver, name: string) =>
  receiver.send({ url: `http://${name}:${shop.port}/`, headers: {}, body: 'event' });

describe('name servers that hang', () => {
  const SILENT = Array.from({ length: 100 }, (_, index) => `silent-${index}.example`);

  test('do not delay callbacks to other names', async () => {
    const receiver = receiverWith(systemWith({ localhost: '127.0.0.1' }));
    let undecided = SILENT.length;
    const hung = SILENT.map((name) => send(receiver, name).finally(() => undecided--));
    await expect.poll(() => new Set(server.queries).size, { timeout: 20_000 }).toBe(2 * SILENT.length);
    for (const name of ['shop.example', 'localhost', 'other.example']) {
      expect(await send(receiver, name)).toMatchObject({ status: 200 });
      expect(undecided).toBe(SILENT.length);
    }
    await receiver.close();
    await Promise.all(hung);
  });

  test('cause a timeout, and the system is not queried', async () => {
    const { system, lookups } = systemWith({ 'silent.example': '127.0.0.1' });
    expect(await find(lookupWith({ system, totalMs: 50 }), 'silent.example')).toBe('ETIMEDOUT');
    expect(await send(receiverWith({ system, totalMs: 50 }), 'silent.example')).toMatchObject({ fault: 'timeout' });
    expect(lookups).toEqual([]);
  });

  test('for one address family do not affect the other', async () => {
    expect(await find(lookupWith(), 'half.example')).toEqual(['127.0.0.1']);
    expect(server.queries.toSorted()).toEqual(['A half.example', 'AAAA half.example']);
  });

  test('are skipped when another one answers', async () => {
    const dead = [await startNameServer({ isDead: true }), await startNameServer({ isDead: true })];
    const servers = [...dead, server].map(({ address }) => address);
    expect(await find(lookupWith({ servers, serverTimeoutMs: 300 }), 'shop.example')).toEqual(['127.0.0.1']);
    for (const { queries, close } of dead) {
      expect(queries).toContain('A shop.example');
      await close();
    }
  });
});

describe('a name', () => {
  test('is resolved again each time: answers are not cached', async () => {
    const lookup = lookupWith();
    await find(lookup, 'shop.example');
    await find(lookup, 'shop.example');
    expect(server.queries.filter((query) => query === 'A shop.example')).toHaveLength(2);
  });

  test('is resolved once for concurrent lookups', async () => {
    const lookup = lookupWith();
    const found = await Promise.all(Array.from({ length: 10 }, () => find(lookup, 'shop.example')));
    expect(found).toEqual(Array(10).fill(['127.0.0.1']));
    expect(server.queries.toSorted()).toEqual(['A shop.example', 'AAAA shop.example']);
  });

  test('that resolves to a private address is not called, whichever source the address has', async () => {
    await writeFile(join(folder, 'private'), '127.0.0.1 listed.example\n');
    const { system } = systemWith({ single: '127.0.0.1', 'unknown.example': '127.0.0.1' });
    const options = { hostsFile: join(folder, 'private'), system };
    const strict = createReceiver({ allowsHttp: true, lookup: lookupWith(options) });
    opened.push(strict);
    const before = shop.connections;
    for (const name of ['listed.example', 'shop.example', 'single', 'unknown.example']) {
      expect(await send(strict, name)).toMatchObject({ fault: 'privateAddress' });
    }
    expect(shop.connections).toBe(before);
  });

  test('that no source knows is not found', async () => {
    const { system, lookups } = systemWith();
    expect(await send(receiverWith({ system }), 'unknown.example')).toMatchObject({ fault: 'nameNotFound' });
    expect(lookups).toEqual(['unknown.example']);
  });
});

describe('a name that this machine knows', () => {
  test('is found in the hosts file, which precedes the name servers', async () => {
    const hostsFile = join(folder, 'hosts');
    const lookup = lookupWith({ hostsFile });
    await writeFile(
      hostsFile,
      '# 10.0.0.9 shop.example\n10.0.0.1\tshop.example Shop # ours\n\n::1 shop.example\nnone x\n',
    );
    expect(await find(lookup, 'shop.example')).toEqual(['10.0.0.1', '::1']);
    expect(await find(lookup, 'shop.example.')).toEqual(['10.0.0.1', '::1']);
    expect(await find(lookup, 'shop')).toEqual(['10.0.0.1']);
    expect(server.queries).toEqual([]);
    await writeFile(hostsFile, '10.0.0.2 other.example\n');
    expect(await find(lookup, 'shop.example')).toEqual(['127.0.0.1']);
  });

  test.each(['localhost', 'a.localhost', 'receiver', 'receiver.'])('%s is passed to the system only', async (name) => {
    expect(await find(lookupWith(systemWith({ [name]: '127.0.0.7' })), name)).toEqual(['127.0.0.7']);
    expect(server.queries).toEqual([]);
  });

  test('is passed to the system when the name servers do not know it, as in a cluster', async () => {
    const { system } = systemWith({ 'unknown.shops': '10.0.0.3' });
    expect(await find(lookupWith({ system }), 'unknown.shops')).toEqual(['10.0.0.3']);
  });

  test('is found without a name server', async () => {
    const { system } = systemWith({ 'shop.example': '10.0.0.3' });
    expect(await find(lookupWith({ system, servers: ['127.0.0.1:1'] }), 'shop.example')).toEqual(['10.0.0.3']);
  });

  test('is passed to the system one at a time; the next one waits until then, or times out', async () => {
    const { system, lookups, answers } = slowSystem();
    const lookup = lookupWith({ system });
    const impatient = lookupWith({ system, totalMs: 50 });
    const found = ['a', 'b', 'b', 'c'].map((name) => find(lookup, name));
    await expect.poll(() => lookups).toEqual(['a']);
    expect(await find(lookup, 'shop.example')).toEqual(['127.0.0.1']);
    for (const turn of [0, 1, 2]) answers[turn]?.();
    expect(await Promise.all(found)).toEqual(Array(4).fill(['10.0.0.4']));
    expect(lookups).toEqual(['a', 'b', 'c']);

    const timedOut = ['d', 'e', 'f'].map((name) => find(impatient, name));
    expect(await Promise.all(timedOut)).toEqual(['ETIMEDOUT', 'ETIMEDOUT', 'ETIMEDOUT']);
    expect(lookups.slice(3)).toEqual(['d']);
    answers[3]?.();
    void find(impatient, 'g');
    expect(lookups.slice(3)).toEqual(['d', 'g']);
  });

  test('does not wait for unknown names, nor do they wait for it', async () => {
    const { system, lookups, answers } = slowSystem();
    const lookup = lookupWith({ system });
    const found = [find(lookup, 'unknown.example')];
    await expect.poll(() => lookups).toEqual(['unknown.example']);
    found.push(find(lookup, 'unknown.other'), find(lookup, 'shop'), find(lookup, 'bank'));
    // When they answer for shop.example, the name servers have denied unknown.other, which waits for unknown.example.
    expect(await find(lookup, 'shop.example')).toEqual(['127.0.0.1']);
    expect(lookups).toEqual(['unknown.example', 'shop']);
    answers[0]?.();
    await expect.poll(() => lookups).toEqual(['unknown.example', 'shop', 'unknown.other']);
    for (const turn of [1, 2, 3]) answers[turn]?.();
    expect(await Promise.all(found)).toEqual(Array(4).fill(['10.0.0.4']));
  });
});
