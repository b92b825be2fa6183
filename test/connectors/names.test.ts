/** Where names lead: what this machine lists, what name servers say, what only the system knows; nobody waits for others. */
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

/** So long that nothing is decided only because its time was over. */
const PATIENCE_MS = 60_000;
const PATIENT = { serverTimeoutMs: PATIENCE_MS, totalMs: PATIENCE_MS };

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

/** A system that knows what is in a list, and notes who was asked for. */
function systemWith(known: Record<string, string> = {}) {
  const asked: string[] = [];
  const system: LookupFunction = (name, _options, callback) => {
    asked.push(name);
    const address = known[name];
    const unknown = Object.assign(new Error(`getaddrinfo ENOTFOUND ${name}`), { code: 'ENOTFOUND' });
    setImmediate(() => (address ? callback(null, [{ address, family: 4 }]) : callback(unknown, [])));
  };
  return { system, asked };
}

/** A system that knows every name, and answers when it is told to. */
function slowSystem() {
  const asked: string[] = [];
  const answers: (() => void)[] = [];
  const system: LookupFunction = (name, _options, callback) => {
    asked.push(name);
    answers.push(() => callback(null, [{ address: '10.0.0.4', family: 4 }]));
  };
  return { system, asked, answers };
}

const lookupWith = (options: LookupOptions = {}): LookupFunction =>
  createLookup({ ...PATIENT, servers: [server.address], hostsFile: '/nowhere', ...systemWith(), ...options });

/** The addresses of a name, or the code of what went wrong. */
const find = (lookup: LookupFunction, name: string): Promise<string[] | string | undefined> =>
  new Promise((resolve) =>
    lookup(name, { all: true }, (error, found) =>
      resolve(error ? error.code : (found as LookupAddress[]).map(({ address }) => address)),
    ),
  );

const receiverWith = (options: LookupOptions = {}): Receiver => {
  const patience = { totalMs: PATIENCE_MS, connectMs: PATIENCE_MS };
  const receiver = createReceiver({ ...callbackReach(true, []), ...patience, lookup: lookupWith(options) });
  opened.push(receiver);
  return receiver;
};
const send = (receiver: Receiver, name: string) =>
  receiver.send({ url: `http://${name}:${shop.port}/`, headers: {}, body: 'news' });

describe('name servers that hang', () => {
  const SILENT = Array.from({ length: 100 }, (_, index) => `silent-${index}.example`);

  test('keep nobody else from being told', async () => {
    const receiver = receiverWith(systemWith({ localhost: '127.0.0.1' }));
    let undecided = SILENT.length;
    const hung = SILENT.map((name) => send(receiver, name).finally(() => undecided--));
    await expect.poll(() => new Set(server.asked).size, { timeout: 20_000 }).toBe(2 * SILENT.length);
    for (const name of ['shop.example', 'localhost', 'other.example']) {
      expect(await send(receiver, name)).toMatchObject({ status: 200 });
      expect(undecided).toBe(SILENT.length);
    }
    await receiver.close();
    await Promise.all(hung);
  });

  test('have had their chance: nobody else is asked, and it is told as what it is', async () => {
    const { system, asked } = systemWith({ 'silent.example': '127.0.0.1' });
    expect(await find(lookupWith({ system, totalMs: 50 }), 'silent.example')).toBe('ETIMEDOUT');
    expect(await send(receiverWith({ system, totalMs: 50 }), 'silent.example')).toMatchObject({ fault: 'timeout' });
    expect(asked).toEqual([]);
  });

  test('for one family only leave the other', async () => {
    expect(await find(lookupWith(), 'half.example')).toEqual(['127.0.0.1']);
    expect(server.asked.toSorted()).toEqual(['A half.example', 'AAAA half.example']);
  });

  test('are passed over for one that answers', async () => {
    const dead = [await startNameServer({ isDead: true }), await startNameServer({ isDead: true })];
    const servers = [...dead, server].map(({ address }) => address);
    expect(await find(lookupWith({ servers, serverTimeoutMs: 100 }), 'shop.example')).toEqual(['127.0.0.1']);
    for (const { asked, close } of dead) {
      expect(asked).toContain('A shop.example');
      await close();
    }
  });
});

describe('a name', () => {
  test('is asked for anew every time, so that it cannot be kept', async () => {
    const lookup = lookupWith();
    await find(lookup, 'shop.example');
    await find(lookup, 'shop.example');
    expect(server.asked.filter((one) => one === 'A shop.example')).toHaveLength(2);
  });

  test('is asked for once by those who ask at the same time', async () => {
    const lookup = lookupWith();
    const found = await Promise.all(Array.from({ length: 10 }, () => find(lookup, 'shop.example')));
    expect(found).toEqual(Array(10).fill(['127.0.0.1']));
    expect(server.asked.toSorted()).toEqual(['A shop.example', 'AAAA shop.example']);
  });

  test('that leads to a private address is not called, whoever found the address', async () => {
    await writeFile(join(folder, 'private'), '127.0.0.1 listed.example\n');
    const { system } = systemWith({ single: '127.0.0.1', 'nobody.example': '127.0.0.1' });
    const options = { hostsFile: join(folder, 'private'), system };
    const strict = createReceiver({ allowsHttp: true, lookup: lookupWith(options) });
    opened.push(strict);
    const before = shop.connections;
    for (const name of ['listed.example', 'shop.example', 'single', 'nobody.example']) {
      expect(await send(strict, name)).toMatchObject({ fault: 'privateAddress' });
    }
    expect(shop.connections).toBe(before);
  });

  test('that nobody knows is not found', async () => {
    const { system, asked } = systemWith();
    expect(await send(receiverWith({ system }), 'nobody.example')).toMatchObject({ fault: 'nameNotFound' });
    expect(asked).toEqual(['nobody.example']);
  });
});

describe('what the machine itself knows', () => {
  test('stands in its hosts file, and goes before what name servers say', async () => {
    const hostsFile = join(folder, 'hosts');
    const lookup = lookupWith({ hostsFile });
    await writeFile(
      hostsFile,
      '# 10.0.0.9 shop.example\n10.0.0.1\tshop.example Shop # ours\n\n::1 shop.example\nnone x\n',
    );
    expect(await find(lookup, 'shop.example')).toEqual(['10.0.0.1', '::1']);
    expect(await find(lookup, 'shop.example.')).toEqual(['10.0.0.1', '::1']);
    expect(await find(lookup, 'shop')).toEqual(['10.0.0.1']);
    expect(server.asked).toEqual([]);
    await writeFile(hostsFile, '10.0.0.2 other.example\n');
    expect(await find(lookup, 'shop.example')).toEqual(['127.0.0.1']);
  });

  test.each(['localhost', 'a.localhost', 'receiver', 'receiver.'])('%s is asked of the system alone', async (name) => {
    expect(await find(lookupWith(systemWith({ [name]: '127.0.0.7' })), name)).toEqual(['127.0.0.7']);
    expect(server.asked).toEqual([]);
  });

  test('is asked of the system when name servers do not know it, as in a cluster', async () => {
    const { system } = systemWith({ 'nobody.shops': '10.0.0.3' });
    expect(await find(lookupWith({ system }), 'nobody.shops')).toEqual(['10.0.0.3']);
  });

  test('is found without any name server', async () => {
    const { system } = systemWith({ 'shop.example': '10.0.0.3' });
    expect(await find(lookupWith({ system, servers: ['127.0.0.1:1'] }), 'shop.example')).toEqual(['10.0.0.3']);
  });

  test('is asked of the system one name at a time; the next has its turn, or its time is over', async () => {
    const { system, asked, answers } = slowSystem();
    const lookup = lookupWith({ system });
    const hurried = lookupWith({ system, totalMs: 50 });
    const found = ['a', 'b', 'b', 'c'].map((name) => find(lookup, name));
    await expect.poll(() => asked).toEqual(['a']);
    expect(await find(lookup, 'shop.example')).toEqual(['127.0.0.1']);
    for (const turn of [0, 1, 2]) answers[turn]?.();
    expect(await Promise.all(found)).toEqual(Array(4).fill(['10.0.0.4']));
    expect(asked).toEqual(['a', 'b', 'c']);

    const given = ['d', 'e', 'f'].map((name) => find(hurried, name));
    expect(await Promise.all(given)).toEqual(['ETIMEDOUT', 'ETIMEDOUT', 'ETIMEDOUT']);
    expect(asked.slice(3)).toEqual(['d']);
    answers[3]?.();
    void find(hurried, 'g');
    expect(asked.slice(3)).toEqual(['d', 'g']);
  });

  test('does not wait for names that nobody knows, nor they for it', async () => {
    const { system, asked, answers } = slowSystem();
    const lookup = lookupWith({ system });
    const found = [find(lookup, 'nobody.example')];
    await expect.poll(() => asked).toEqual(['nobody.example']);
    found.push(find(lookup, 'nobody.other'), find(lookup, 'shop'), find(lookup, 'bank'));
    // What name servers know comes after they have denied the other name, which waits for the first all the same.
    expect(await find(lookup, 'shop.example')).toEqual(['127.0.0.1']);
    expect(asked).toEqual(['nobody.example', 'shop']);
    answers[0]?.();
    await expect.poll(() => asked).toEqual(['nobody.example', 'shop', 'nobody.other']);
    for (const turn of [1, 2, 3]) answers[turn]?.();
    expect(await Promise.all(found)).toEqual(Array(4).fill(['10.0.0.4']));
  });
});
