/** Buffers with card data are zeroed after use: those of a form, and those of a call to a provider. */
import { randomInt } from 'node:crypto';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { createThreeDs } from '../../../src/connectors/three-ds.ts';
import { createUpstream } from '../../../src/connectors/upstream.ts';
import { Secret } from '../../../src/lib/crypto/secret.ts';
import { withJsonBytes } from '../../../src/lib/crypto/wipe.ts';
import { Deadline } from '../../../src/lib/time/deadline.ts';
import { takeForm } from '../../../src/pages/form-body.ts';

/** Sixteen digits that occur nowhere else, not even in the source of this test. */
const newNumber = (): string => String(randomInt(10 ** 14)).padStart(16, '4');
const isZeroed = (bytes: Buffer): boolean => bytes.length > 0 && bytes.every((byte) => byte === 0);

describe('a form', () => {
  test('is parsed from one chunk or several, and their bytes are zeroed afterwards', () => {
    const one = [Buffer.from('card_number=4111111111111111&card_cvv=123')];
    const several = [Buffer.from('card_number=41111111'), Buffer.from('11111111&card_'), Buffer.from('cvv=123')];
    for (const chunks of [one, several]) {
      expect([...takeForm(chunks).values]).toEqual([
        ['card_number', '4111111111111111'],
        ['card_cvv', '123'],
      ]);
      expect(chunks.every(isZeroed)).toBe(true);
    }
  });

  test('leaves nothing in the pool of small buffers', () => {
    const number = newNumber();
    takeForm([Buffer.from(`card_number=${number}&card_cvv=987`)]);
    expect(poolContains(number)).toBe(false);
  });
});

/** Whether the shared memory of small buffers contains a text. */
function poolContains(text: string): boolean {
  // Compared by character codes, because a buffer of the text would itself be in that memory.
  const pool = Buffer.from(Buffer.from('x').buffer as ArrayBuffer);
  const codes = Array.from(text, (sign) => sign.charCodeAt(0));
  return pool.some((_byte, at) => codes.every((code, offset) => pool[at + offset] === code));
}

describe('a call', () => {
  const received: string[] = [];
  const server = createServer((request, response) => {
    let text = '';
    request.setEncoding('latin1').on('data', (part: string) => {
      text += part;
    });
    request.once('end', () => {
      received.push(text);
      response.writeHead(received.length % 2 ? 200 : 500, { 'content-type': 'application/json' }).end('{}');
    });
  });
  let access: { url: string; key: string; notificationSecret: string };
  beforeAll(async () => {
    await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
    access = {
      url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
      key: 'key',
      notificationSecret: 'c2VjcmV0',
    };
  });
  afterAll(() => void server.close().closeAllConnections());

  test('gets the bytes, and they are zeroed when it has ended or failed', async () => {
    const seen: Buffer[] = [];
    const text = await withJsonBytes({ cvv: '123' }, async (bytes) => {
      seen.push(bytes);
      return bytes.toString();
    });
    expect(text).toBe('{"cvv":"123"}');
    const failing = withJsonBytes({ cvv: '123' }, async (bytes) => {
      seen.push(bytes);
      throw new Error('The line is dead.');
    });
    await expect(failing).rejects.toThrow('The line is dead.');
    expect(seen).toHaveLength(2);
    expect(seen.every(isZeroed)).toBe(true);
  });

  test('to the provider leaves no card number in memory, whether it succeeds or fails', async () => {
    const upstream = createUpstream(access);
    const number = newNumber();
    const card = { number: new Secret(number), month: '01', year: '2038', holder: 'Ada', cvv: new Secret('7391') };
    const submission = {
      ...{
        reference: 'r',
        brand: 'card',
        isPayout: false,
        mid: 'm',
        merchantName: 'Shop',
        amount: 1n,
        currency: 'EUR',
      },
      ...{
        authoriseOnly: false,
        description: 'x',
        identifier: '',
        payer: {},
        parameters: () => ({}),
        methods: [],
        card,
      },
      ...{ returnUrl: () => 'https://shop.example/', notifyUrl: 'https://shop.example/' },
    } as unknown as Parameters<typeof upstream.submit>[0];
    try {
      const calls = await Promise.allSettled([1, 2].map(async () => upstream.submit(submission, new Deadline(5000))));
      expect(calls.map(({ status }) => status).sort()).toEqual(['fulfilled', 'rejected']);
      expect(received.filter((text) => text.includes(number) && text.includes('7391'))).toHaveLength(2);
      expect(poolContains(number)).toBe(false);
    } finally {
      await upstream.close();
    }
  });

  test('to the 3DS directory leaves no card number in memory', async () => {
    const threeDs = createThreeDs(access);
    const number = newNumber();
    const request = {
      ...{
        transId: 't',
        number,
        expiry: '3801',
        amount: 1n,
        currency: '978',
        exponent: 2,
        at: 0,
        merchantName: 'Shop',
      },
      ...{ serverUrl: 'https://x', requestorUrl: 'https://x', notificationUrl: 'https://x' },
      browser: { ip: '', language: 'en', userAgent: '', accept: '' },
    };
    try {
      await threeDs.authenticate(request).catch(() => undefined);
      expect(received.at(-1)).toContain(number);
      expect(poolContains(number)).toBe(false);
    } finally {
      await threeDs.close();
    }
  });
});
