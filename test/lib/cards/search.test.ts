/** Which texts contain a card number, in every spelling; and that numbers of other kinds are not taken for one. */
import { describe, expect, test } from 'vitest';
import { cardNumbersIn, hasNumber, maskCardNumbers, plainDigits } from '../../../src/lib/cards/search.ts';
import { disguises, NUMBERS } from '../../support/canaries.ts';
import { chanceFrom } from '../../support/chance.ts';
import { cpuMs } from '../../support/cpu-time.ts';

const VISA = '4111111111111111';
const AMEX = '378282246310005';

/** A number with a separator after every so many digits. */
const split = (digits: string, size: number, separator: string): string =>
  (digits.match(new RegExp(`.{1,${size}}`, 'g')) ?? []).join(separator);
/** A number in the digits of another script. */
const inDigits = (digits: string, zero: number): string =>
  digits.replace(/\d/g, (digit) => String.fromCodePoint(zero + Number(digit)));

/** A number in these signs for the digits. */
const drawn = (digits: string, signs: string): string =>
  digits.replace(/\d/g, (digit) => [...signs][Number(digit)] as string);

describe('a text contains a card number', () => {
  test.each([
    [VISA],
    ['Paid with 4111111111111111.'],
    ['pan=4111111111111111&x'],
    ['4111 1111 1111 1111'],
    ['card 4111-1111-1111-1111, thanks'],
    ['order-4111111111111111'],
    ['4111111111111112, or rather 4111111111111111'],
    ['custom_data[4111111111111111]'],
    // Letters beside it.
    ['x4111111111111111y'],
    ['Visa4111111111111111'],
    ['A4111111111111111'],
    ['4111111111111111B'],
    // Other separators, several kinds of them, and groups of other sizes.
    ...['/', '_', '.', ',', ':', '*', '|', '+', '\t', '\u00a0', '\u2003', '\u2011', ' - ', '--', ', ', '\n', '•'].map(
      (separator) => [split(VISA, 4, separator)],
    ),
    ['4111 1111-1111.1111'],
    ['4111\u00a01111 1111_1111'],
    [split(VISA, 6, '/')],
    [split(VISA, 1, '_')],
    [split(VISA, 1, ' ')],
    [split(VISA, 2, '-')],
    [split(VISA, 5, '.')],
    // Other digits.
    ...[0xff10, 0x660, 0x6f0, 0x966, 0xe50, 0x1d7ce, 0x1d7ff - 9, 0x1fbf0].map((zero) => [inDigits(VISA, zero)]),
    [split(inDigits(VISA, 0xff10), 4, '　')],
    // Raised, lowered and in circles.
    ...['⁰¹²³⁴⁵⁶⁷⁸⁹', '₀₁₂₃₄₅₆₇₈₉', '⓪①②③④⑤⑥⑦⑧⑨', '⓿❶❷❸❹❺❻❼❽❾', '🄋➀➁➂➃➄➅➆➇➈', '🄌➊➋➌➍➎➏➐➑➒', '0⓵⓶⓷⓸⓹⓺⓻⓼⓽'].flatMap(
      (signs) => [[drawn(VISA, signs)], [split(VISA, 4, '-').replace(/\d/g, (digit) => drawn(digit, signs))]],
    ),
    [split(VISA, 4, ' ').replace('1111', '¹¹¹¹').replace('4', '④')],
    [VISA.replace(/1/g, '&#185;').replace('4', '&#x2463;')],
    // Characters that are not seen.
    ...['\u200b', '\u200d', '\u2060', '\ufeff', '\u00ad', '\u034f', '\ufe0f\u20e3'].map((invisible) => [
      split(VISA, 1, invisible) + invisible,
    ]),
    ['4111\u200b 1111\u200b 1111\u200b 1111'],
    // References of HTML.
    [split(VISA, 4, '&nbsp;')],
    [split(VISA, 4, '&#160;')],
    [VISA.replace(/\d/g, (digit) => `&#${digit.charCodeAt(0)};`)],
    [VISA.replace(/\d/g, (digit) => `&#x${digit.charCodeAt(0).toString(16)};`)],
    // Beside other numbers.
    ['4111 1111 1111 1111 12/38 123'],
    ['4111111111111111 1238 123'],
    ['4111 1111 1111 1111 1238 123'],
    ['2 x 4111-1111-1111-1111'],
    ['12 4111 1111 1111 1111'],
    ['2026-11-17 4111111111111111'],
  ])('%j', (text) => {
    expect(cardNumbersIn(text)).toEqual([VISA]);
  });

  test.each([
    [AMEX],
    ['3782 822463 10005'],
    ['3782-822463 10005'],
    [split(AMEX, 5, ' ')],
    ['5555555555554444'],
    ['2223003122003222'],
    ['6011111111111117'],
    ['3530111333300000'],
    ['6212345678901232'],
    ['9792030394440796'],
    ['2200000000000004'],
    ['6759649826438453'],
  ])('%j, of each network', (text) => {
    expect(cardNumbersIn(text)).toEqual([text.replace(/\D/g, '')]);
  });

  test('several of them', () => {
    expect(cardNumbersIn(`${VISA}, ${split(AMEX, 5, ' ')}`)).toEqual([VISA, AMEX]);
  });

  test.each(
    NUMBERS.flatMap((digits) =>
      disguises(digits)
        .slice(0, 3)
        .map(([how, text]) => [digits, how, text]),
    ),
  )('%s, %s', (digits, _, text) => {
    expect(cardNumbersIn(`Card: ${text}!`)).toEqual([digits]);
  });

  test.each([
    '',
    'Two teapots',
    // A wrong check digit, or a length or prefix that no network uses.
    '4111111111111112',
    '411111111111116',
    '41111111111111111',
    '1234567812345670',
    '4222222222222',
    '6304000000000000000',
    '2026010100000001',
    '0000000000000000',
    // Part of something longer, or grouped unlike a card number.
    '84111111111111111',
    '4 1111 1111 1111 111',
    '411111 1111111111',
    '41111111 11111111',
    '4111a1111a1111a1111',
    '0000 4111 1111 1111 1111',
    // Two telephone numbers: groups of two digits, with two separators.
    '+45 11 11 11 11 / +45 11 11 11 11',
    'DE44 5001 0517 5407 3249 31',
    '12 m² and 34 m³, ½ of 4111 1111¹ and ② of 1111 1111',
    '+44 20 7946 0958',
  ])('but not %j', (text) => {
    expect(cardNumbersIn(text)).toEqual([]);
  });
});

describe('numbers of other kinds are accepted', () => {
  const { upTo, of: pick } = chanceFrom(7);
  const below = (count: number): number => upTo(count) - 1;
  const digits = (count: number): string => Array.from({ length: count }, () => below(10)).join('');
  const letters = (count: number): string =>
    Array.from({ length: count }, () => 'ABCDEFGHIJKLMNOPQRSTUVWXYZ'.charAt(below(26))).join('');
  const hex = (count: number): string => Array.from({ length: count }, () => below(16).toString(16)).join('');
  const number = (least: number, most: number): number => least + below(most - least + 1);
  const two = (most: number): string => String(number(1, most)).padStart(2, '0');
  const day = (): string => `20${number(20, 39)}-${two(12)}-${two(28)}`;
  const time = (): string => `${two(23)}:${two(59)}:${two(59)}`;
  const checked = (body: string): string => {
    const sum = [...body].reduce((total, digit, at) => total + Number(digit) * (at % 2 === 0 ? 1 : 3), 0);
    return body + String((10 - (sum % 10)) % 10);
  };
  /** Account numbers without national check digits, of these lengths. */
  const BBANS = { AT: 16, CH: 17, DE: 18, DK: 14, LT: 16, SE: 20 };
  function iban(): string {
    const country = pick(Object.keys(BBANS) as (keyof typeof BBANS)[]);
    const bban = digits(BBANS[country]);
    const letter = (at: number): number => country.charCodeAt(at) - 55;
    const check = 98n - (BigInt(`${bban}${letter(0)}${letter(1)}00`) % 97n);
    return country + String(check).padStart(2, '0') + bban;
  }

  /** What a text contains, and how many of 20,000 may be refused: none, where the length or the prefix differs. */
  const KINDS: [string, number, () => string][] = [
    ['order numbers', 0, () => `Order ${pick([`#${digits(number(4, 10))}`, `SO-${day().slice(0, 4)}-${digits(6)}`])}`],
    ['order numbers with a date', 0, () => `Order ${day().replaceAll('-', '')}${digits(number(4, 6))}`],
    ['invoices', 0, () => `RE-${digits(4)}/${digits(2)}-${digits(5)} of ${day()}`],
    ['phones', 0, () => `+${number(1, 998)} ${pick([digits(9), `${digits(3)} ${digits(7)}`, `(0)${digits(10)}`])}`],
    ['two phones', 0, () => `+${digits(2)} ${digits(3)} ${digits(7)}, +${digits(2)} ${digits(3)} ${digits(8)}`],
    ['phones in pairs of digits', 0, () => `0${digits(1)} ${two(99)} ${two(99)} ${two(99)} ${two(99)}`],
    ['IBANs', 0, iban],
    ['IBANs in groups', 0, () => `to ${split(iban(), 4, ' ')}, Vienna`],
    ['parcels of UPS', 0, () => `1Z${digits(3)}${letters(2)}${digits(10)}`],
    ['parcels of DHL', 0, () => pick([`JJD0${digits(17)}`, digits(10), `00340${digits(15)}`, digits(12)])],
    ['parcels of FedEx', 60, () => digits(pick([12, 14, 15]))],
    ['parcels of USPS', 0, () => split(`94${digits(20)}`, 4, ' ')],
    ['EANs', 0, () => `${checked(digits(12))} ${number(1, 999)} pcs`],
    ['several EANs', 0, () => `${checked(digits(12))}, ${checked(digits(12))}; ${checked(digits(7))}`],
    ['IMEIs', 0, () => `IMEI 35${digits(13)}`],
    ['dates and times', 0, () => `${day()} ${time()} - ${day()} ${time()}`],
    ['timestamps', 0, () => `${number(16e8, 19e8)}${digits(pick([0, 3, 6, 9]))}`],
    ['UUIDs', 1, () => `${hex(8)}-${hex(4)}-4${hex(3)}-a${hex(3)}-${hex(12)}`],
    ['digests', 3, () => hex(pick([32, 40, 64]))],
    [
      'addresses of hosts',
      0,
      () => Array.from({ length: 3 }, () => [1, 2, 3, 4].map(() => below(256)).join('.')).join(', '),
    ],
    ['amounts', 0, () => `${digits(3)}.${digits(2)} + ${digits(2)}.${digits(2)} = ${digits(3)}.${digits(2)}`],
    ['coordinates', 0, () => `${below(90)}.${digits(6)}, ${below(180)}.${digits(6)}`],
    ['streets', 0, () => `Road ${below(300)}, ${digits(5)} Town, flat ${below(99)}`],
    // A random number of 16 digits that stands alone cannot be told from a card number.
    ['numbers of 16 digits', 1000, () => digits(16)],
  ];

  test.each(KINDS)('%s: at most %i of 20,000 are refused', (_, most, write) => {
    let refused = 0;
    for (let round = 0; round < 20_000; round++) if (cardNumbersIn(write()).length > 0) refused++;
    expect(refused).toBeLessThanOrEqual(most);
  });
});

test('masks every card number of a text, and leaves a text without one as it is', () => {
  const text = '4111111111111111 or 5555 5555 5555 4444, order 4111111111111112';
  expect(maskCardNumbers(text)).toBe('411111******1111 or 555555******4444, order 4111111111111112');
  expect(maskCardNumbers(`Card ${inDigits(VISA, 0xff10)} of Ana`)).toBe('Card 411111******1111 of Ana');
  const arabic = `طلب ${inDigits('4111111111111112', 0x660)}`;
  expect(maskCardNumbers(arabic)).toBe(arabic);
});

test('plain digits: other texts do not change', () => {
  for (const text of ['Grüße & mehr', 'a&#38;b &amp; c', 'café ½ ²', '👩‍👩‍👧', 'é1'])
    expect(plainDigits(text)).toBe(text);
});

test.each([
  ['Ada Byron', false],
  ['01/38', false],
  ['Ada 1st of 2026', false],
  ['4111 1111 1111', true],
  ['Ada 4111111111111111', true],
  [`Ada ${inDigits('411111111111', 0xff10)}`, true],
])('a name or a date that contains a number: %j', (text, has) => {
  expect(hasNumber(text)).toBe(has);
});

test('a long text is searched in linear time', () => {
  const texts = ['4 '.repeat(50_000), '4111-'.repeat(20_000), '41111111111111112 '.repeat(6000), '٤ '.repeat(50_000)];
  for (const text of texts) {
    const began = cpuMs();
    cardNumbersIn(text);
    expect(cpuMs() - began).toBeLessThan(2000);
  }
});
