/** The card networks: how their numbers begin, how long numbers and security codes are, and how digits are grouped. */

export interface CardNetwork {
  title: string;
  /** Prefixes and ranges of prefixes of equal length, separated by spaces. */
  prefixes: string;
  lengths: readonly number[];
  /** The lengths at which a number in any text is taken for a card number; rarer lengths would match other numbers. */
  lengthsInTexts: readonly number[];
  codeLength: 3 | 4;
  /** The digits before which there is a space on the card. */
  gaps: readonly number[];
}

const FOURS = [4, 8, 12, 16];
const numbersFrom = (first: number, last: number): number[] =>
  Array.from({ length: last - first + 1 }, (_, index) => first + index);

const network = (
  title: string,
  prefixes: string,
  lengths: readonly number[],
  { lengthsInTexts = [16], codeLength = 3, gaps = FOURS }: Partial<CardNetwork> = {},
): CardNetwork => ({ title, prefixes, lengths, lengthsInTexts, codeLength, gaps });

/** The networks in the order in which they are listed. */
export const CARD_NETWORKS = {
  visa: network('Visa', '4', [13, 16, 18, 19]),
  mastercard: network('Mastercard', '51-55 2221-2720', [16]),
  amex: network('American Express', '34 37', [15], { lengthsInTexts: [15], codeLength: 4, gaps: [4, 10] }),
  maestro: network('Maestro', '50 56-58 63 67', numbersFrom(12, 19)),
  // Numbers of companies have 14 digits, too.
  diners: network('Diners Club', '300-305 3095 36 38-39', numbersFrom(14, 19), { gaps: [4, 10] }),
  discover: network('Discover', '6011 644-649 65', [16, 19]),
  jcb: network('JCB', '3528-3589', numbersFrom(16, 19)),
  unionpay: network('UnionPay', '62 8100-8171', numbersFrom(14, 19), { lengthsInTexts: numbersFrom(16, 19) }),
  troy: network('Troy', '9792', [16]),
  elo: network(
    'Elo',
    '401178-401179 431274 438935 451416 457393 457631-457632 504175 506699-506778 509000-509999 627780 636297 636368 ' +
      '650031-650033 650035-650051 650405-650439 650485-650538 650541-650598 650700-650718 650720-650727 ' +
      '650901-650978 651652-651679 655000-655019 655021-655058',
    [16],
  ),
  mir: network('Mir', '2200-2204', numbersFrom(16, 19)),
  rupay: network('RuPay', '508500-508999 606985-607984 608001-608500 652150-653149 817200-820199', [16]),
  hipercard: network('Hipercard', '606282', [16]),
  verve: network('Verve', '506099-506198 507865-507964 650002-650027', [16, 18, 19]),
} as const satisfies Record<string, CardNetwork>;

export type KnownNetwork = keyof typeof CARD_NETWORKS;
export type Network = KnownNetwork | 'other';

const KNOWN = Object.keys(CARD_NETWORKS) as KnownNetwork[];
export const NETWORK_NAMES: readonly Network[] = [...KNOWN, 'other'];

/** A number of no known network: 12 to 19 digits, and a code of three or four. */
const OTHER = {
  lengths: numbersFrom(12, 19),
  lengthsInTexts: [] as readonly number[],
  codeLength: undefined,
  gaps: FOURS,
};

const longestPrefix = (name: KnownNetwork): number =>
  Math.max(...CARD_NETWORKS[name].prefixes.split(/[ -]/).map(({ length }) => length));

/** The networks in the order in which they are tried: narrow ranges come before the wide ones that contain them. */
export const BY_PREFIX: readonly KnownNetwork[] = KNOWN.toSorted((a, b) => longestPrefix(b) - longestPrefix(a));

const RANGES = BY_PREFIX.map((name) => ({
  name,
  ranges: CARD_NETWORKS[name].prefixes.split(' ').map((range) => range.split('-')),
}));

/** Each prefix has at most this many digits. */
const PREFIX_DIGITS = Math.max(...KNOWN.map(longestPrefix));
const REMEMBERED_MOST = 10_000;
const remembered = new Map<string, Network>();

/** The network of a number, or of its first digits. */
export function networkOf(digits: string): Network {
  const prefix = digits.slice(0, PREFIX_DIGITS);
  const known = remembered.get(prefix);
  if (known !== undefined) return known;
  const found = searchNetwork(prefix);
  if (remembered.size >= REMEMBERED_MOST) remembered.clear();
  remembered.set(prefix, found);
  return found;
}

const searchNetwork = (digits: string): Network =>
  RANGES.find(({ ranges }) =>
    ranges.some(([first = '', last = first]) => {
      const head = digits.slice(0, first.length);
      return head >= first && head <= last;
    }),
  )?.name ?? 'other';

export const isKnownNetwork = (name: string): name is KnownNetwork => Object.hasOwn(CARD_NETWORKS, name);

export const rulesOf = (name: string) => (isKnownNetwork(name) ? CARD_NETWORKS[name] : OTHER);

/** The name of a network for people; undefined if the network is not known. */
export const networkTitle = (name: string): string | undefined =>
  isKnownNetwork(name) ? CARD_NETWORKS[name].title : undefined;
