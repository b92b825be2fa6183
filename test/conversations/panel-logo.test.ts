/** The logo of an account: what is uploaded is encoded anew, stored and served by the gateway, or refused with a reason. */
import { deflateSync } from 'node:zlib';
import { describe, expect, test } from 'vitest';
import { pngOf } from '../../src/lib/files/png.ts';
import { LIMITS } from '../../src/rules/limits.ts';
import { checkoutOf, show } from '../support/checkout.ts';
import { openShop } from '../support/gateway.ts';
import { signedIn, type TestOperator } from '../support/operators.ts';
import { chunk, chunksOf, pixelsOf } from '../support/png.ts';

const shop = openShop();
const checkout = checkoutOf(shop);

const PICTURE = pngOf(
  [
    [true, false],
    [false, true],
  ],
  8,
);
const SIGNATURE = PICTURE.subarray(0, 8);
const SECRET = 'taken at 52.5200, 13.4050';

/** The picture with a text, a time and a place in it, and with bytes after its end. */
const withMetadata = Buffer.concat([
  PICTURE.subarray(0, 33),
  chunk('tEXt', Buffer.from(`Comment\0${SECRET}`)),
  chunk('tIME', Buffer.from([7, 234, 1, 2, 3, 4, 5])),
  chunk('eXIf', Buffer.from(SECRET)),
  PICTURE.subarray(33),
  Buffer.from(`<script>alert("${SECRET}")</script>`),
]);

/** A picture of this size with these pixels. */
function pictureOf(width: number, height: number, pixels: Buffer): Buffer {
  const header = Buffer.from(PICTURE.subarray(16, 29));
  header.writeUInt32BE(width, 0);
  header.writeUInt32BE(height, 4);
  const parts = [chunk('IHDR', header), chunk('IDAT', deflateSync(pixels)), chunk('IEND', Buffer.alloc(0))];
  return Buffer.concat([SIGNATURE, ...parts]);
}

const fileOf = (content: Buffer, name = 'logo.png', type = 'image/png'): File =>
  new File([new Uint8Array(content)], name, { type });

/** A new account, and an owner who uploads to it. */
async function opened() {
  const merchant = await shop.newMerchant();
  const path = `/admin/accounts/${merchant.mid}`;
  const owner = await signedIn(shop, 'owner');
  const addressOf = async (): Promise<string> =>
    (await shop.admin('GET', `/accounts/${merchant.mid}`)).body.settings.branding.logo;
  return { merchant, path, owner, addressOf, upload: (file: File) => owner.upload(`${path}/logo`, file) };
}

const fetched = async (address: string) => {
  const response = await fetch(address);
  return { status: response.status, headers: response.headers, image: Buffer.from(await response.arrayBuffer()) };
};

describe('a PNG picture', () => {
  test('is encoded anew: the same pixels, and nothing else of the file', async () => {
    const { path, upload, addressOf } = await opened();
    const { status, location } = await upload(fileOf(withMetadata));
    expect([status, location]).toEqual([303, `${path}?tab=page&done=1`]);
    const { image } = await fetched(await addressOf());
    expect(chunksOf(image).map(([type]) => type)).toEqual(['IHDR', 'IDAT', 'IEND']);
    expect(image.includes(SECRET)).toBe(false);
    expect(pixelsOf(image)).toEqual(pixelsOf(PICTURE));
  });

  test('is served as a picture only, to be kept for ever, at an address with its digest', async () => {
    const { merchant, upload, addressOf } = await opened();
    await upload(fileOf(PICTURE));
    const address = await addressOf();
    expect(address).toMatch(new RegExp(`^${shop.url}/logos/${merchant.mid}/[0-9a-f]{16}\\.png$`));
    const { status, headers } = await fetched(address);
    expect(status).toBe(200);
    expect(Object.fromEntries(headers)).toMatchObject({
      'content-type': 'image/png',
      'cache-control': 'public, max-age=31536000, immutable',
      'x-content-type-options': 'nosniff',
      'content-security-policy': "default-src 'none'; frame-ancestors 'none'; sandbox",
    });
    const missing = await fetched(address.replace(/.{5}\.png$/, '00000.png'));
    expect([missing.status, missing.headers.get('content-type')]).toEqual([404, 'text/plain; charset=utf-8']);
  });

  test('is shown to payers and to operators', async () => {
    const { merchant, path, owner, upload, addressOf } = await opened();
    await upload(fileOf(PICTURE));
    const logoPath = new URL(await addressOf()).pathname;
    expect((await owner.get(`${path}?tab=page`)).text).toContain(`src="${logoPath}"`);
    const { url } = await checkout.open({}, merchant);
    expect((await show(url)).text).toContain(logoPath);
  });

  test('replaces the earlier one, and can be removed', async () => {
    const { path, owner, upload, addressOf } = await opened();
    await upload(fileOf(PICTURE));
    const first = await addressOf();
    await upload(fileOf(pngOf([[true]], 4)));
    const second = await addressOf();
    expect(second).not.toBe(first);
    expect([(await fetched(first)).status, (await fetched(second)).status]).toEqual([404, 200]);
    expect((await owner.submit(`${path}/logo/remove`)).status).toBe(303);
    expect([await addressOf(), (await fetched(second)).status]).toEqual(['', 404]);
  });

  test('is an entry of the audit log', async () => {
    const { merchant, owner, upload } = await opened();
    await upload(fileOf(PICTURE));
    const { items } = (await shop.admin('GET', `/audit?actor=${owner.operatorId}`)).body;
    expect(items).toMatchObject([{ action: 'accounts.change', mid: merchant.mid }]);
  });
});

const NOT_PNG = 'This is not a PNG picture.';
const BROKEN = 'This picture is damaged or has more than 4 million pixels.';
const damaged = Buffer.from(PICTURE);
damaged.writeUInt8(damaged.readUInt8(45) ^ 1, 45);

test.each<[string, File, string]>([
  ['no file', fileOf(Buffer.alloc(0)), 'Choose a picture.'],
  ['a JPEG picture', fileOf(Buffer.from('ffd8ffe000104a46494600', 'hex'), 'logo.jpg', 'image/jpeg'), NOT_PNG],
  ['an SVG picture that says it is a PNG', fileOf(Buffer.from('<svg xmlns="http://www.w3.org/2000/svg"/>')), NOT_PNG],
  ['a file that is too large', fileOf(Buffer.alloc(LIMITS.logoBytes + 1)), 'The picture is larger than 1 MB.'],
  ['a picture that breaks off', fileOf(PICTURE.subarray(0, -20)), BROKEN],
  ['a picture with a wrong checksum', fileOf(damaged), BROKEN],
  ['a picture with fewer pixels than it says', fileOf(pictureOf(16, 16, Buffer.alloc(3))), BROKEN],
  ['a picture with more pixels than it says', fileOf(pictureOf(8, 1, Buffer.alloc(900_000))), BROKEN],
  ['a picture with too many pixels', fileOf(pictureOf(4001, 1000, Buffer.alloc(502_000))), BROKEN],
])('%s is refused, and the logo stays', async (_, file, message) => {
  const { upload, addressOf } = await opened();
  await upload(fileOf(PICTURE));
  const before = await addressOf();
  const { status, text } = await upload(file);
  expect([status, text]).toEqual([400, expect.stringContaining(message)]);
  expect(text).toMatch(/name="file"[^>]* aria-invalid="true"/);
  expect([await addressOf(), (await fetched(before)).status]).toEqual([before, 200]);
});

test('only those who may change the account upload', async () => {
  const { path, addressOf } = await opened();
  const { mid } = shop.merchant;
  const others: TestOperator[] = [await signedIn(shop, 'viewer'), await signedIn(shop, 'operator', [mid])];
  for (const other of others)
    expect([403, 404]).toContain((await other.upload(`${path}/logo`, fileOf(PICTURE))).status);
  expect(await addressOf()).toBe('');
});
