/** Large bodies are read only for a sale that may carry a file, all of them within one memory budget. */
import { connect, type Socket } from 'node:net';
import { afterEach, describe, expect, test, vi } from 'vitest';
import { LIMITS } from '../../src/rules/limits.ts';
import { BRAND_EXPECTATIONS } from '../support/brand-expectations.ts';
import { type Fields, openShop, PROVIDER_POLL, saleFields } from '../support/gateway.ts';

const shop = openShop({ simulator: true });
const FILE = 'parameters[NarrativeFileBase64]';

const sockets: Socket[] = [];
afterEach(async () => {
  for (const socket of sockets.splice(0)) socket.destroy();
  await vi.waitFor(async () => expect(await reservedBytes()).toBe(0), PROVIDER_POLL);
});

/** The bytes that the gateway currently reserves for large bodies. */
async function reservedBytes(): Promise<number> {
  const text = await (await fetch(`${shop.url}/metrics`)).text();
  return Number(/^turnpike_large_body_bytes (\d+)$/m.exec(text)?.[1]);
}

/** A raw connection and the bytes received on it. */
interface RawConnection {
  socket: Socket;
  answer(): string;
  isClosed(): boolean;
}

async function openConnection(...texts: (string | Buffer)[]): Promise<RawConnection> {
  const { hostname, port } = new URL(shop.url);
  const socket = connect({ host: hostname, port: Number(port) });
  sockets.push(socket);
  let answer = '';
  let isClosed = false;
  socket.setEncoding('latin1').on('data', (text: string) => {
    answer += text;
  });
  socket.on('error', () => undefined);
  for (const event of ['end', 'close']) {
    socket.once(event, () => {
      isClosed = true;
    });
  }
  await new Promise((resolve) => socket.once('connect', resolve));
  for (const text of texts) socket.write(text);
  return { socket, answer: () => answer, isClosed: () => isClosed };
}

const TYPE = 'content-type: application/x-www-form-urlencoded';
const head = (more: string): string => `POST /post HTTP/1.1\r\nhost: x\r\n${TYPE}\r\n${more}\r\n\r\n`;
const chunk = (text: string): string => `${text.length.toString(16)}\r\n${text}\r\n`;
const expectResponse = async (connection: RawConnection, status: number): Promise<string> => {
  await vi.waitFor(() => {
    expect(connection.answer()).toMatch(new RegExp(`^HTTP/1.1 ${status} `));
    expect(connection.isClosed()).toBe(true);
  }, PROVIDER_POLL);
  expect(connection.answer()).toMatch(/^connection: close\r$/im);
  return connection.answer();
};

const sale = (fields: Fields = {}, merchant = shop.merchant): Fields =>
  saleFields(merchant, { ...BRAND_EXPECTATIONS['mobile-money-a']?.complete, brand: 'mobile-money-a', ...fields });
const encoded = (fields: Fields): string => new URLSearchParams(fields).toString();
/** A sale whose file is its last field. */
const withFile = (length: number, fields: Fields = sale()): string => {
  const { [FILE]: _file, ...others } = fields;
  return `${encoded(others)}&${encodeURIComponent(FILE)}=${'A'.repeat(length)}`;
};
const post = async (body: string) => {
  const headers = { 'content-type': 'application/x-www-form-urlencoded' };
  const response = await fetch(`${shop.url}/post`, { method: 'POST', body, headers });
  return { status: response.status, body: (await response.json()) as Record<string, unknown> };
};

describe('a sale with a file', () => {
  test('is accepted with a declared length and in chunks', async () => {
    expect(await post(withFile(1 << 20))).toMatchObject({ status: 200, body: { result: 'SUCCESS' } });
    const body = withFile(1 << 20);
    const pieces = body.match(/[\s\S]{1,50000}/g) ?? [];
    const connection = await openConnection(head('transfer-encoding: chunked'), ...pieces.map(chunk), '0\r\n\r\n');
    await vi.waitFor(() => expect(connection.answer()).toMatch(/^HTTP\/1.1 200 [\s\S]*"SUCCESS"/), PROVIDER_POLL);
  });

  test('is accepted under an alias of its brand, and as multipart', async () => {
    const merchant = await shop.newMerchant({ brand_aliases: { wallet: 'mobile-money-a' } });
    expect(await post(withFile(1 << 20, sale({ brand: 'wallet' }, merchant)))).toMatchObject({ status: 200 });
    const form = new FormData();
    for (const [name, value] of Object.entries(sale())) if (name !== FILE) form.set(name, value);
    form.set(FILE, 'A'.repeat(1 << 20));
    expect((await fetch(`${shop.url}/post`, { method: 'POST', body: form })).status).toBe(200);
  });

  test('is refused when its other fields are too long', async () => {
    const body = withFile(1 << 20, sale({ order_description: 'x'.repeat(LIMITS.bodyBytes) }));
    // The key and the brand still come first.
    const reordered = [...new URLSearchParams(body)].sort(([a], [b]) => Number(a > b) - Number(a < b));
    expect(await post(new URLSearchParams(reordered).toString())).toMatchObject({ status: 413 });
  });

  test('releases its share of the budget, also when it is refused or aborted', async () => {
    const body = withFile(1 << 20, { ...sale(), hash: 'wrong' });
    expect(await post(body)).toMatchObject({ status: 400 });
    const { socket } = await openConnection(head(`content-length: ${body.length}`), body.slice(0, 300_000));
    await vi.waitFor(async () => expect(await reservedBytes()).toBe(body.length), PROVIDER_POLL);
    socket.destroy();
    await vi.waitFor(async () => expect(await reservedBytes()).toBe(0), PROVIDER_POLL);
  });
});

describe('refused with 413, with the rest unread and the connection closed', () => {
  const rest = 'x'.repeat(100_000);
  test.each<[string, () => string]>([
    ['no key', () => `action=SALE&brand=mobile-money-a&x=${rest}`],
    ['an unknown key', () => `action=SALE&brand=mobile-money-a&client_key=test_unknown&x=${rest}`],
    ['a key of the other environment', () => `action=SALE&brand=mobile-money-a&client_key=live_x&x=${rest}`],
    ['a brand without a long field', () => withFile(100_000, sale({ brand: 'vcard' }))],
    ['an unknown brand', () => withFile(100_000, sale({ brand: 'nothing' }))],
    ['no brand', () => withFile(100_000, sale({ brand: '' }))],
    ['another action', () => withFile(100_000, { ...sale(), action: 'CAPTURE' })],
    ['an unknown action', () => withFile(100_000, { ...sale(), action: '__proto__' })],
    ['the key after the file', () => `${encodeURIComponent(FILE)}=${rest}&${encoded(sale())}`],
    ['no form', () => rest],
  ])('%s', async (_, body) => {
    const text = body();
    for (const [how, first] of [
      [`content-length: ${5 << 20}`, text],
      ['transfer-encoding: chunked', chunk(text)],
    ] as const) {
      const answer = await expectResponse(await openConnection(head(how), first), 413);
      expect(answer).toContain('"error_message":"Request body is too large."');
      expect(answer).toContain('its action, client_key and brand should stand in the first 64 KiB');
    }
  });

  test('a declared length over the maximum, before the body is read', async () => {
    await expectResponse(await openConnection(head(`content-length: ${LIMITS.bodyBytesMost + 1}`)), 413);
  });

  test('chunks over the maximum', async () => {
    const connection = await openConnection(head('transfer-encoding: chunked'), chunk(withFile(100_000)));
    const more = Buffer.from(chunk('A'.repeat(1 << 20)));
    for (let times = 0; times < 6; times++) connection.socket.write(more);
    await expectResponse(connection, 413);
  });
});

describe('two hundred unfinished bodies', () => {
  const open = (how: string, text: string): Promise<RawConnection[]> =>
    Promise.all(Array.from({ length: 200 }, () => openConnection(head(how), text)));

  test('without a known key are all refused, and reserve nothing', async () => {
    const connections = await open(`content-length: ${5 << 20}`, 'x'.repeat(200_000));
    for (const connection of connections) await expectResponse(connection, 413);
    expect(await reservedBytes()).toBe(0);
  });

  test('of a merchant stay within the budget; the others get 503 and may retry, small ones are answered', async () => {
    const connections = await open('transfer-encoding: chunked', chunk(withFile(200_000)));
    const fit = LIMITS.largeBodiesBytes / LIMITS.bodyBytesMost;
    const refused = (): RawConnection[] => connections.filter(({ answer }) => answer() !== '');
    await vi.waitFor(() => expect(refused()).toHaveLength(200 - fit), PROVIDER_POLL);
    for (const connection of refused()) expect(await expectResponse(connection, 503)).toMatch(/^retry-after: 5\r$/im);
    expect(await reservedBytes()).toBe(LIMITS.largeBodiesBytes);
    expect(await shop.sale()).toMatchObject({ status: 200 });
  });
});
