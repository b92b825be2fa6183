/** Server-side request forgery: no spelling of a private address opens a connection, and each is reported as such. */
import type { LookupFunction } from 'node:net';
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test } from 'vitest';
import { createReceiver, type Delivery, type Receiver, type ReceiverOptions } from '../../src/connectors/receiver.ts';
import { addressList } from '../../src/lib/http/address.ts';
import { callbackReach } from '../../src/rules/callback-address.ts';
import { answers, redirectsTo, startReceiver, type TestReceiver } from '../support/receivers.ts';

/** Listens on every address of this machine; no request may arrive. */
let canary: TestReceiver;
let opened: Receiver[] = [];
let visitors = 0;
beforeAll(async () => {
  canary = await startReceiver(answers(200), { host: '' });
});
afterAll(() => canary.close());
beforeEach(() => {
  visitors = canary.connections;
});
afterEach(async () => {
  await Promise.all(opened.map((receiver) => receiver.close()));
  opened = [];
});

/** Plain HTTP is allowed and private addresses are not, so that only the address decides. */
function receiver(options: Partial<ReceiverOptions> = {}): Receiver {
  const made = createReceiver({ allowsHttp: true, totalMs: 5000, connectMs: 2000, ...options });
  opened.push(made);
  return made;
}

const send = (client: Receiver, url: string): Promise<Delivery> =>
  client.send({ url, headers: { 'content-type': 'text/plain' }, body: 'event' });
const failed = (fault: string) => ({ kind: 'failed', fault, tookMs: expect.any(Number) });
const delivered = { kind: 'answered', status: 200, retryAfterMs: undefined, tookMs: expect.any(Number) };
const noVisitors = (): void => expect(canary.connections - visitors).toBe(0);

/** Spellings of IP addresses as hosts. */
const LITERALS: Record<string, readonly string[]> = {
  'IPv4 loopback': [
    '127.0.0.1',
    '127.0.0.2',
    '127.1.2.3',
    '127.255.255.254',
    '127.1',
    '127.0.1',
    '2130706433',
    '0x7f000001',
    '0X7F000001',
    '017700000001',
    '0177.0.0.1',
    '0177.0.0.01',
    '0x7f.0.0.1',
    '0x7f.1',
    '0x7f.0x0.0x0.0x1',
    '127.0x1',
    '0177.0x0.1',
    '127.0.0.0x',
    '00000177.0.0.1',
    '127.000.000.001',
    '0x0000007f.0.0.1',
    '127.0.0.1.',
    '127.1.',
    '2130706433.',
    '0x7f000001.',
    '１２７.０.０.１',
    '１２７。０。０。１',
    '127。0。0。1',
    '127．0．0．1',
    '127｡0｡0｡1',
    '①②⑦.⓪.⓪.①',
    '𝟏𝟐𝟕.𝟎.𝟎.𝟏',
    '𝟙𝟚𝟟.𝟘.𝟘.𝟙',
    '¹²⁷.⁰.⁰.¹',
    '１２７.1',
    '２１３０７０６４３３',
    '０x7f000001',
    '0ｘ7f.1',
    '127.0.0.1%2e',
    '%31%32%37.0.0.1',
    '127%2e0%2e0%2e1',
    '%31%32%37%2e%30%2e%30%2e%31',
    '%EF%BC%91%EF%BC%92%EF%BC%97.0.0.1',
    '127.0.\u00ad0.1',
    '127.0.0\u200b.1',
  ],
  'the unspecified network': ['0.0.0.0', '0', '0.0', '0x0', '00', '0.', '0.0.0.1', '0000.0', '０', '⓪'],
  'private networks': [
    '10.0.0.1',
    '10.1',
    '167772161',
    '0xa000001',
    '012.0.0.1',
    '172.16.0.1',
    '172.31.255.255',
    '2886729729',
    '192.168.0.1',
    '192.168.1',
    '3232235521',
    '0xc0a80001',
    '0300.0250.0.1',
    '100.64.0.1',
    '198.18.0.1',
    '224.0.0.1',
    '240.0.0.1',
    '255.255.255.255',
    '4294967295',
    '192.0.2.1',
    '198.51.100.1',
    '203.0.113.1',
    '192.88.99.1',
  ],
  'cloud metadata': [
    '169.254.169.254',
    '169.254.170.2',
    '2852039166',
    '0xA9FEA9FE',
    '0251.0376.0251.0376',
    '0xa9.0xfe.0xa9.0xfe',
    '169.16689662',
    '１６９.２５４.１６９.２５４',
    '100.100.100.200',
    '192.0.0.192',
    '168.63.129.16',
    '[fd00:ec2::254]',
    '[::ffff:169.254.169.254]',
    '[64:ff9b::169.254.169.254]',
    '[64:ff9b::a9fe:a9fe]',
  ],
  'IPv6 loopback': [
    '[::1]',
    '[0:0:0:0:0:0:0:1]',
    '[0000:0000:0000:0000:0000:0000:0000:0001]',
    '[::0:1]',
    '[0::1]',
    '[::0.0.0.1]',
    '[::]',
    '[0:0:0:0:0:0:0:0]',
    '[::0.0.0.0]',
  ],
  'IPv4 inside IPv6': [
    '[::ffff:127.0.0.1]',
    '[::FFFF:127.0.0.1]',
    '[::ffff:7f00:1]',
    '[::ffff:7f00:0001]',
    '[0:0:0:0:0:ffff:7f00:1]',
    '[0000:0000:0000:0000:0000:ffff:127.0.0.1]',
    '[::ffff:10.0.0.1]',
    '[::ffff:c0a8:1]',
    '[::ffff:0.0.0.0]',
    '[::ffff:0:0]',
    '[::127.0.0.1]',
    '[::7f00:1]',
    '[::ffff:0:127.0.0.1]',
    '[::ffff:0:7f00:1]',
    '[64:ff9b::127.0.0.1]',
    '[64:ff9b::7f00:1]',
    '[0064:ff9b:0:0:0:0:7f00:0001]',
    '[64:ff9b::10.0.0.1]',
    '[64:ff9b:1::7f00:1]',
    '[64:ff9b:1:7f00:0:100::]',
    '[2002:7f00:1::]',
    '[2002:7f00:1::1]',
    '[2002:a00:1::1]',
    '[2001:0:7f00:1::]',
    '[2001:0:4136:e378:8000:63bf:80ff:fffe]',
  ],
  'other IPv6 ranges': [
    '[fe80::1]',
    '[febf::1]',
    '[fec0::1]',
    '[fc00::1]',
    '[fd12:3456:789a::1]',
    '[ff02::1]',
    '[ff05::2]',
    '[100::1]',
    '[2001:db8::1]',
    '[3fff::1]',
    '[5f00::1]',
  ],
};

describe.each(Object.entries(LITERALS))('%s', (_, hosts) => {
  test.each(hosts.map((host) => [host]))('%s', async (host) => {
    expect(await send(receiver(), `http://${host}:${canary.port}/`)).toEqual(failed('privateAddress'));
    expect(await send(receiver(), `https://${host}:${canary.port}/`)).toEqual(failed('privateAddress'));
    noVisitors();
  });
});

describe('this machine by name', () => {
  test.each([
    'localhost',
    'LOCALHOST',
    'localhost.',
    'a.localhost',
    'a.b.localhost.',
    'ｌocalhost',
    'loc%61lhost',
    'ⓛⓞⓒⓐⓛⓗⓞⓢⓣ',
  ])('%s', async (host) => {
    expect(await send(receiver(), `http://${host}:${canary.port}/`)).toEqual(failed('privateAddress'));
    noVisitors();
  });
});

describe('an address that parsers read differently is not called', () => {
  const port = ':PORT';
  test.each([
    'http://user@127.0.0.1:PORT/',
    'http://user:password@127.0.0.1:PORT/',
    'http://@127.0.0.1:PORT/',
    'http://:@127.0.0.1:PORT/',
    'http://shop.example@127.0.0.1:PORT/',
    'http://shop.example:80@127.0.0.1:PORT/',
    'http://shop.example:80#@127.0.0.1:PORT/',
    'http://127.0.0.1:PORT#@shop.example/',
    'http://shop.example#@127.0.0.1:PORT/',
    'http://127.0.0.1:PORT\\@shop.example/',
    'http://shop.example\\@127.0.0.1:PORT/',
    'http:\\\\127.0.0.1:PORT\\',
    'http:/\\127.0.0.1:PORT/',
    'http:127.0.0.1:PORT/',
    'http:/127.0.0.1:PORT/',
    'http:///127.0.0.1:PORT/',
    'http:////127.0.0.1:PORT/',
    '//127.0.0.1:PORT/',
    '127.0.0.1:PORT',
    ' http://127.0.0.1:PORT/',
    'http://127.0.0.1:PORT/ ',
    'http:// 127.0.0.1:PORT/',
    '\u0000http://127.0.0.1:PORT/',
    'ht\ttp://127.0.0.1:PORT/',
    'http://127.0\t.0.1:PORT/',
    'http://127.0\n.0.1:PORT/',
    'http://127.0.0.1\r\n:PORT/',
    'http://127.0.0.1:PORT/\r\nX-Injected: yes',
    'http://127.0.0.1:PORT/\u2028',
    'http://127.0.0.1%00.shop.example:PORT/',
    'http://127.0.0.1%0d%0a:PORT/',
    'http://127.0.0.1%09:PORT/',
    'http://127.0.0.1%20:PORT/',
    'http://127.0.0.1%2f:PORT/',
    'http://127.0.0.1%23:PORT/',
    'http://shop.example%40127.0.0.1:PORT/',
    'http://shop.example＠127.0.0.1:PORT/',
    'http://127.0.0.1／:PORT/',
    'http://127.0.0.1？:PORT/',
    'http://[::1%25lo]:PORT/',
    'http://[::1%lo]:PORT/',
    'http://[fe80::1%25eth0]:PORT/',
    'http://[::1',
    'http://::1:PORT/',
    'http://[[::1]]:PORT/',
    'http://[::1].:PORT/',
    'http://[127.0.0.1]:PORT/',
    'http://[v1.127.0.0.1]:PORT/',
    'http://256.256.256.256:PORT/',
    'http://127.0.0.1.1:PORT/',
    'http://127..0.1:PORT/',
    'http://0x7f000001ff:PORT/',
    'http://4294967296:PORT/',
    'http://08.0.0.1:PORT/',
    'http://shop.example:PORT:80/',
    'http://127.0.0.1:99999/',
    'http://127.0.0.1:-1/',
    'http://',
    'http://:PORT/',
    'http://?@127.0.0.1:PORT/',
    'file:///etc/passwd',
    'ftp://127.0.0.1:PORT/',
    'gopher://127.0.0.1:PORT/_x',
    'dict://127.0.0.1:PORT/x',
    'ws://127.0.0.1:PORT/',
    'unix:/var/run/docker.sock',
    'http+unix://%2Fvar%2Frun%2Fdocker.sock/info',
    'data:text/plain,x',
    'javascript:1',
    'blob:http://127.0.0.1:PORT/x',
    'jar:http://127.0.0.1:PORT/!x',
    'view-source:http://127.0.0.1:PORT/',
    `http://127.0.0.1:PORT/${'x'.repeat(2048)}`,
  ])('%j', async (form) => {
    const delivery = await send(receiver({ lookup: refuses }), form.replace(port, `:${canary.port}`));
    expect(delivery).toEqual(failed('badAddress'));
    noVisitors();
  });
});

/** Fails the test if a name is looked up. */
const refuses: LookupFunction = (name) => {
  throw new Error(`${name} was looked up.`);
};

/** A resolver that returns the next of these lists of addresses each time, and then always the last one. */
function resolver(...results: string[][]): { lookup: LookupFunction; lookups: string[] } {
  const lookups: string[] = [];
  const lookup: LookupFunction = (name, _options, callback) => {
    const addresses = results[Math.min(lookups.push(name), results.length) - 1] ?? [];
    callback(
      null,
      addresses.map((address) => ({ address, family: address.includes(':') ? 6 : 4 })),
    );
  };
  return { lookup, lookups };
}

describe('a name', () => {
  test.each<[string, string[]]>([
    ['of this machine', ['127.0.0.1']],
    ['of this machine over IPv6', ['::1']],
    ['of this machine, mapped', ['::ffff:127.0.0.1']],
    ['of no machine', ['0.0.0.0']],
    ['of a private network', ['10.0.0.7']],
    ['of the metadata of a cloud', ['169.254.169.254']],
    ['of this machine behind NAT64', ['64:ff9b::7f00:1']],
    ['of this machine by 6to4', ['2002:7f00:1::']],
    ['of a machine on the link', ['fe80::1%lo']],
    ['with a public and a private address', ['8.8.8.8', '127.0.0.1']],
    ['with a private and a public address', ['127.0.0.1', '8.8.8.8']],
    ['with many addresses, the last of them private', ['8.8.8.8', '2606:4700::1', '1.1.1.1', '::1']],
    ['with a public address of each family and a private one', ['2606:4700::1', '8.8.8.8', '192.168.1.1']],
    ['that resolves to a name', ['localhost']],
    ['that resolves to a number', ['2130706433']],
    ['that resolves to nothing readable', ['']],
  ])('%s is not called', async (_, addresses) => {
    const { lookup, lookups } = resolver(addresses);
    for (const scheme of ['http', 'https']) {
      expect(await send(receiver({ lookup }), `${scheme}://shop.example:${canary.port}/`)).toEqual(
        failed('privateAddress'),
      );
    }
    expect(lookups).toEqual(['shop.example', 'shop.example']);
    noVisitors();
  });

  test.each([
    ['in another script', 'http://čigra.example', 'xn--igra-fua.example'],
    ['in punycode', 'http://xn--igra-fua.example', 'xn--igra-fua.example'],
    ['in full-width letters', 'http://ｓｈｏｐ.example', 'shop.example'],
    ['with a dot at its end', 'http://shop.example.', 'shop.example.'],
    ['that hides an address', 'http://127.0.0.1.nip.example', '127.0.0.1.nip.example'],
    ['of one word', 'http://metadata', 'metadata'],
    ['of an inner network', 'http://metadata.google.internal', 'metadata.google.internal'],
  ])('%s is resolved under the name that is called, and its address decides', async (_, url, name) => {
    const { lookup, lookups } = resolver(['127.0.0.1']);
    expect(await send(receiver({ lookup }), `${url}:${canary.port}/`)).toEqual(failed('privateAddress'));
    expect(lookups).toEqual([name]);
    noVisitors();
  });

  test('without an address is not found', async () => {
    expect(await send(receiver(resolver([])), `http://shop.example:${canary.port}/`)).toEqual(failed('nameNotFound'));
  });
});

describe('with one address of this machine allowed', () => {
  // 127.0.0.1 may be called here; 127.0.0.2 stays private.
  const allowsAddress = addressList(['127.0.0.1']);

  test('a name is resolved once per connection, so that it cannot change in between (DNS rebinding)', async () => {
    const { lookup, lookups } = resolver(['127.0.0.1'], ['127.0.0.2']);
    const client = receiver({ lookup, allowsAddress });
    const url = `http://shop.example:${canary.port}/`;
    expect(await send(client, url)).toEqual(delivered);
    expect(lookups).toEqual(['shop.example']);
    expect(canary.connections - visitors).toBe(1);
    await client.close();
    // For the next connection the name resolves to a private address.
    const next = receiver({ lookup, allowsAddress });
    expect(await send(next, url)).toEqual(failed('privateAddress'));
    expect(canary.connections - visitors).toBe(1);
  });

  test('a name that alternates is called only while it resolves to an allowed address', async () => {
    const { lookup } = resolver(['127.0.0.1'], ['127.0.0.2'], ['127.0.0.1'], ['::1'], ['127.0.0.1', '127.0.0.2']);
    const url = `http://shop.example:${canary.port}/`;
    const outcomes: Delivery[] = [];
    for (let turn = 0; turn < 6; turn++) outcomes.push(await send(receiver({ lookup, allowsAddress }), url));
    const refused = failed('privateAddress');
    expect(outcomes).toEqual([delivered, refused, delivered, refused, refused, refused]);
    expect(canary.connections - visitors).toBe(2);
  });

  test('the remote address is checked again after connecting', async () => {
    let checks = 0;
    const client = receiver({ ...resolver(['127.0.0.1']), allowsAddress: () => checks++ === 0 });
    const already = canary.received.length;
    expect(await send(client, `http://shop.example:${canary.port}/`)).toEqual(failed('privateAddress'));
    expect(checks).toBe(2);
    expect(canary.received.length).toBe(already);
  });

  test.each([301, 302, 303, 307, 308])(
    'a redirect (%i) to a private address is returned as an answer, and not followed',
    async (status) => {
      const redirecting = await startReceiver();
      for (const host of ['127.0.0.2', '[::1]', 'localhost', '2130706433', '[64:ff9b::7f00:1]']) {
        redirecting.behaviour = redirectsTo(`http://${host}:${canary.port}/`, status);
        expect(await send(receiver({ allowsAddress }), redirecting.url)).toMatchObject({ kind: 'answered', status });
      }
      noVisitors();
      await redirecting.close();
    },
  );

  test('other addresses are still refused', async () => {
    for (const host of ['127.0.0.2', '[::1]', '0.0.0.0', '[64:ff9b::7f00:1]', '[::127.0.0.1]']) {
      expect(await send(receiver({ allowsAddress }), `http://${host}:${canary.port}/`)).toEqual(
        failed('privateAddress'),
      );
    }
    noVisitors();
  });

  test('every spelling of the allowed one is accepted', async () => {
    const hosts = ['127.0.0.1', '2130706433', '0x7f.1', '127.0.0.1.', '[::ffff:127.0.0.1]', '[::ffff:7f00:1]'];
    for (const host of hosts) {
      expect(await send(receiver({ allowsAddress }), `http://${host}:${canary.port}/`)).toEqual(delivered);
    }
  });
});

describe('the addresses that the operator allows', () => {
  test.each(['127.0.0.1', '127.8.8.8', '[::1]', 'localhost'])('in the sandbox %s is called', async (host) => {
    expect(await send(receiver(callbackReach(true, [])), `http://${host}:${canary.port}/`)).toEqual(delivered);
  });

  test.each(['10.0.0.1', '0.0.0.0', '[::]', '169.254.169.254', '192.168.0.1'])('but %s is not', async (host) => {
    expect(await send(receiver(callbackReach(true, [])), `http://${host}:${canary.port}/`)).toEqual(
      failed('privateAddress'),
    );
    noVisitors();
  });

  test('in the sandbox replace loopback', async () => {
    const client = receiver(callbackReach(true, ['127.0.0.7']));
    expect(await send(client, `http://127.0.0.7:${canary.port}/`)).toEqual(delivered);
    expect(await send(client, `http://127.0.0.1:${canary.port}/`)).toEqual(failed('privateAddress'));
  });

  test('in production are none by default, and plain HTTP is refused', async () => {
    const client = receiver(callbackReach(false, []));
    expect(await send(client, `https://127.0.0.1:${canary.port}/`)).toEqual(failed('privateAddress'));
    expect(await send(client, `http://8.8.8.8:${canary.port}/`)).toEqual(failed('badAddress'));
    noVisitors();
  });

  test('in production are called when they are configured', async () => {
    const client = receiver(callbackReach(false, ['127.0.0.0/8']));
    // It is called, and fails because it has no certificate.
    expect(await send(client, `https://127.0.0.1:${canary.port}/`)).toEqual(failed('tls'));
    expect(canary.connections - visitors).toBe(1);
  });
});
