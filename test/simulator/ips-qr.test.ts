/** The text of the IPS QR code, parsed independently, and the check digits of account numbers. */
import fc from 'fast-check';
import encodeQR from 'qr';
import decodeQR from 'qr/decode.js';
import { expect, test } from 'vitest';
import { clabe, cvu, serbianAccount } from '../../simulator/accounts.ts';
import { type IpsPayment, ipsQr } from '../../simulator/ips-qr.ts';

/** Parses and validates the text like a banking app. */
function read(text: string): Map<string, string> {
  expect(Buffer.byteLength(text)).toBeLessThanOrEqual(331);
  expect(text).toBe(Buffer.from(text).toString());
  const pairs = text.split('|').map((pair) => {
    const colon = pair.indexOf(':');
    return [pair.slice(0, colon), pair.slice(colon + 1)] as const;
  });
  const order = ['K', 'V', 'C', 'R', 'N', 'I', 'SF', 'S', 'M', 'RO', 'RP'];
  const places = pairs.map(([tag]) => order.indexOf(tag));
  expect(places).toEqual(places.toSorted((one, other) => one - other));
  expect(places).not.toContain(-1);
  const tags = new Map(pairs);
  expect(tags.size).toBe(pairs.length);
  for (const [tag, value] of tags) expect(value, tag).not.toMatch(/^$|^\s|\s$|[\r\n]/);
  expect([tags.get('K'), tags.get('V'), tags.get('C'), tags.get('SF')]).toEqual(['EK', '01', '1', '221']);
  expect(tags.get('R')).toMatch(/^\d{18}$/);
  expect(BigInt(tags.get('R') as string) % 97n).toBe(1n);
  expect([...(tags.get('N') as string)].length).toBeLessThanOrEqual(70);
  expect([...(tags.get('S') ?? '')].length).toBeLessThanOrEqual(35);
  expect(tags.get('M')).toMatch(/^\d{4}$/);
  expect(tags.get('RP')).toMatch(/^\d{19}$/);
  return tags;
}

const anyText = fc.oneof(
  fc.string({ unit: 'binary', maxLength: 120 }),
  fc.string({ unit: fc.constantFrom('|', '\n', '\r', ' ', 'š', '漢', '😀', 'a', '\ud800', '\u2028'), maxLength: 120 }),
);
const anyPayment: fc.Arbitrary<IpsPayment> = fc.record({
  amount: fc.bigInt({ min: 1n, max: 10n ** 18n - 1n }).map(String),
  currency: fc.constantFrom('RSD', 'EUR', 'BAM', 'MKD'),
  reference: fc.string(),
  description: anyText,
  payee: anyText,
});

test('any payment: the text is valid and contains the amount', () => {
  fc.assert(
    fc.property(anyPayment, (payment) => {
      const amount = /^([A-Z]{3})(0|[1-9]\d*),(\d\d)$/.exec(read(ipsQr(payment)).get('I') as string);
      expect(amount?.[1]).toBe(payment.currency);
      expect(BigInt(`${amount?.[2]}${amount?.[3]}`)).toBe(BigInt(payment.amount));
    }),
    { numRuns: 500 },
  );
});

test('any payment: the QR code decodes to the text', () => {
  fc.assert(
    fc.property(anyPayment, (payment) => {
      const text = ipsQr(payment);
      expect(decoded(text)).toBe(text);
    }),
    { numRuns: 10 },
  );
});

/** Renders the code with four pixels per cell and decodes it. */
function decoded(text: string): string {
  const cells = encodeQR(text, 'raw', { ecc: 'low', border: 4, scale: 4 });
  const size = cells.length;
  const data = new Uint8Array(size * size * 4).fill(255);
  for (const [y, row] of cells.entries()) {
    for (const [x, isDark] of row.entries()) if (isDark) data.fill(0, (y * size + x) * 4, (y * size + x) * 4 + 3);
  }
  return decodeQR({ width: size, height: size, data });
}

const USUAL: IpsPayment = {
  amount: '123456',
  currency: 'RSD',
  reference: '01a1dd06-691f-7000-87fc-b0749d0543ed',
  description: 'Dva čajnika',
  payee: 'Čajdžinica d.o.o., Beograd',
};

test('a typical payment has the expected fields', () => {
  const tags = read(ipsQr(USUAL));
  expect(tags.get('N')).toBe('Čajdžinica d.o.o., Beograd');
  expect(tags.get('I')).toBe('RSD1234,56');
  expect(tags.get('S')).toBe('Dva čajnika');
});

test.each<[string, Partial<IpsPayment>, string, string | undefined]>([
  ['a bar and a line break become spaces', { description: 'a|b\r\nc' }, 'S', 'a b c'],
  ['an empty purpose is left out', { description: ' | ' }, 'S', undefined],
  ['a payee without a name gets a default', { payee: '' }, 'N', 'Sandbox'],
  ['a long purpose is cut', { description: 'x'.repeat(99) }, 'S', 'x'.repeat(35)],
  ['a long name is cut', { payee: 'š'.repeat(99) }, 'N', 'š'.repeat(70)],
  ['an emoji is never split', { description: '😀'.repeat(99) }, 'S', '😀'.repeat(35)],
  ['an amount below one', { amount: '5' }, 'I', 'RSD0,05'],
])('%s', (_name, fields, tag, value) => {
  expect(read(ipsQr({ ...USUAL, ...fields })).get(tag)).toBe(value);
});

test('the code depends on the payment and its reference only', () => {
  expect(ipsQr(USUAL)).toBe(ipsQr({ ...USUAL }));
  expect(ipsQr(USUAL)).not.toBe(ipsQr({ ...USUAL, reference: 'another' }));
});

/** The published check digit rules; each is first tested with a valid number. */
const weighted = (digits: string, weights: string): number =>
  [...digits].reduce((sum, digit, index) => sum + Number(digit) * Number(weights[index % weights.length]), 0) % 10;
const isCbu = (number: string): boolean =>
  /^\d{22}$/.test(number) &&
  weighted(number.slice(0, 8), '71397131') === 0 &&
  weighted(number.slice(8), '39713971397131') === 0;
const isClabe = (number: string): boolean =>
  /^\d{18}$/.test(number) && weighted(number, '371371371371371371'.slice(0, 17).concat('1')) === 0;
const isSerbian = (number: string): boolean => /^\d{18}$/.test(number) && BigInt(number) % 97n === 1n;

test.each([
  ['CVU', isCbu, cvu, '2850590940090418135201'],
  ['CLABE', isClabe, clabe, '032180000118359719'],
  ['Serbian account', isSerbian, serbianAccount, '840000000095584510'],
])('a %s has valid check digits', (_name, isValid, create, valid) => {
  expect(isValid(valid)).toBe(true);
  fc.assert(fc.property(fc.string(), (text) => isValid(create(text))));
});
