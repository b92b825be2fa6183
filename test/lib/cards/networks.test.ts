/** The table of card networks: prefixes, lengths, security codes, and the order in which prefixes are tried. */
import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { isCardNumber } from '../../../src/lib/cards/card.ts';
import { isLuhnValid } from '../../../src/lib/cards/luhn.ts';
import {
  BY_PREFIX,
  CARD_NETWORKS,
  type KnownNetwork,
  NETWORK_NAMES,
  networkOf,
  networkTitle,
  rulesOf,
} from '../../../src/lib/cards/networks.ts';

/** A number that begins with these digits, has this length and a valid check digit. */
function numberOf(prefix: string, length: number): string {
  const body = prefix.padEnd(length - 1, '0');
  return Array.from({ length: 10 }, (_, digit) => `${body}${digit}`).find(isLuhnValid) as string;
}

/** The first and the last prefix of every network, and those beside them that belong to others. */
const PREFIXES: Readonly<Record<KnownNetwork, { own: string[]; others: [string, string][] }>> = {
  visa: {
    own: ['4', '401177', '499999'],
    others: [
      ['401178', 'elo'],
      ['50', 'maestro'],
    ],
  },
  mastercard: {
    own: ['51', '55', '2221', '2720'],
    others: [
      ['2220', 'other'],
      ['2721', 'other'],
      ['56', 'maestro'],
    ],
  },
  amex: {
    own: ['34', '37'],
    others: [
      ['35', 'other'],
      ['33', 'other'],
    ],
  },
  maestro: {
    own: ['5018', '5020', '5893', '6304', '6759', '6761'],
    others: [
      ['59', 'other'],
      ['66', 'other'],
    ],
  },
  diners: {
    own: ['300', '305', '3095', '36', '38', '39'],
    others: [
      ['306', 'other'],
      ['31', 'other'],
    ],
  },
  discover: {
    own: ['6011', '644', '649', '65'],
    others: [
      ['643', 'other'],
      ['6012', 'other'],
    ],
  },
  jcb: {
    own: ['3528', '3589'],
    others: [
      ['3527', 'other'],
      ['3590', 'other'],
    ],
  },
  unionpay: {
    own: ['62', '8100', '8171'],
    others: [
      ['627780', 'elo'],
      ['8172', 'rupay'],
    ],
  },
  troy: {
    own: ['9792'],
    others: [
      ['9791', 'other'],
      ['9793', 'other'],
    ],
  },
  elo: {
    own: ['401178', '438935', '506699', '509999', '636368', '650031', '655058'],
    others: [['655059', 'discover']],
  },
  mir: {
    own: ['2200', '2204'],
    others: [
      ['2199', 'other'],
      ['2205', 'other'],
    ],
  },
  rupay: {
    own: ['508500', '606985', '608500', '652150', '653149', '817200', '820199'],
    others: [['653150', 'discover']],
  },
  hipercard: { own: ['606282'], others: [['606283', 'other']] },
  verve: { own: ['506099', '506198', '507865', '650002', '650027'], others: [['506199', 'maestro']] },
};

describe.each(Object.entries(PREFIXES))('%s', (name, { own, others }) => {
  const { lengths, codeLength, title } = CARD_NETWORKS[name as KnownNetwork];

  test('has its prefixes, and not those beside them', () => {
    expect(own.map((prefix) => networkOf(prefix.padEnd(16, '0')))).toEqual(own.map(() => name));
    expect(others.map(([prefix]) => networkOf(prefix.padEnd(16, '0')))).toEqual(others.map(([, other]) => other));
  });

  test('has a name, lengths of 12 to 19 digits, and codes of one length', () => {
    expect([networkTitle(name), codeLength]).toEqual([title, name === 'amex' ? 4 : 3]);
    expect(lengths.every((length) => length >= 12 && length <= 19)).toBe(true);
  });
});

test.each(['9', '4', '34'])('a number that begins with %s has 12 to 19 digits and a valid check digit', (prefix) => {
  expect([11, 12, 19, 20].map((length) => isCardNumber(numberOf(prefix, length)))).toEqual([false, true, true, false]);
  const right = numberOf(prefix, 16);
  expect(isCardNumber(right.slice(0, -1) + ((Number(right.at(-1)) + 1) % 10))).toBe(false);
});

test('a number of no network has no name', () => {
  expect([networkOf(''), networkTitle('other'), rulesOf('toString').codeLength]).toEqual([
    'other',
    undefined,
    undefined,
  ]);
});

test('the wrong check digit is refused for every network', () => {
  for (const [name, { own }] of Object.entries(PREFIXES)) {
    const right = numberOf(own[0] as string, CARD_NETWORKS[name as KnownNetwork].lengths[0] as number);
    const wrong = right.slice(0, -1) + ((Number(right.at(-1)) + 1) % 10);
    expect([name, isCardNumber(right), isCardNumber(wrong)]).toEqual([name, true, false]);
  }
});

test('numbers of the networks’ own test cards', () => {
  const found = {
    '4111111111111111': 'visa',
    '5555555555554444': 'mastercard',
    '2223003122003222': 'mastercard',
    '378282246310005': 'amex',
    '6759649826438453': 'maestro',
    '30569309025904': 'diners',
    '36227206271667': 'diners',
    '6011111111111117': 'discover',
    '3566002020360505': 'jcb',
    '6200000000000005': 'unionpay',
    '9792030394440796': 'troy',
    '5066991111111118': 'elo',
    '6062828888666688': 'hipercard',
    '5060990580000217499': 'verve',
  };
  for (const [number, name] of Object.entries(found))
    expect([number, networkOf(number), isCardNumber(number)]).toEqual([number, name, true]);
});

test('every network is listed once, and prefixes are digits in order', () => {
  expect([...BY_PREFIX, 'other'].toSorted()).toEqual([...NETWORK_NAMES].toSorted());
  for (const { prefixes, lengths } of Object.values(CARD_NETWORKS)) {
    expect([...lengths]).toEqual([...lengths].toSorted((a, b) => a - b));
    for (const range of prefixes.split(' ')) {
      const [first = '', last = first] = range.split('-');
      expect([range, /^\d{1,6}$/.test(first), first.length === last.length, first <= last]).toEqual([
        range,
        true,
        true,
        true,
      ]);
    }
  }
});

test('the docs list every network with its digits and its code', async () => {
  const doc = await readFile(join(import.meta.dirname, '../../../docs/merchant/payment-page.md'), 'utf8');
  const digitsOf = (lengths: readonly number[]): string =>
    lengths.length > 3 && lengths.at(-1) === (lengths[0] ?? 0) + lengths.length - 1
      ? `${lengths[0]} to ${lengths.at(-1)}`
      : lengths.join(', ');
  const rows = NETWORK_NAMES.map((name) => {
    const { lengths, codeLength } = rulesOf(name);
    return [
      networkTitle(name) ?? 'every other number',
      `\`${name}\``,
      digitsOf(lengths),
      String(codeLength ?? '3 or 4'),
    ];
  });
  const table = doc.split('\n').filter((line) => /^\| [\w ]+\| `\w+` /.test(line));
  expect(
    table.map((line) =>
      line
        .split('|')
        .slice(1, -1)
        .map((cell) => cell.trim()),
    ),
  ).toEqual(rows);
});
