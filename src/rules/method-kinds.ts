/** The kinds of payment methods: each has a name in every language, an icon, and a group on the payment page. */

export type MethodGroup = 'cards' | 'bank' | 'app' | 'later' | 'more';

/** The group of every kind, in the order of the payment page. */
export const METHOD_KINDS = {
  card: 'cards',
  test: 'cards',
  deviceWallet: 'cards',
  onlineWallet: 'cards',
  payAccount: 'cards',
  onlineBanking: 'bank',
  bank: 'bank',
  directDebit: 'bank',
  payApp: 'app',
  qr: 'app',
  upi: 'app',
  payLater: 'later',
  mobileMoney: 'app',
  voucher: 'more',
  phoneBill: 'more',
  personalId: 'more',
  local: 'more',
  coins: 'more',
  crypto: 'more',
  otherCurrency: 'more',
  providerPage: 'more',
  deposit: 'more',
  payout: 'more',
  personPayout: 'more',
  cryptoPayout: 'more',
  withdrawal: 'more',
} as const satisfies Readonly<Record<string, MethodGroup>>;

export type MethodKind = keyof typeof METHOD_KINDS;

/** The wallets, under the names that payers know; they are the same in every language. */
export const WALLET_NAMES = { deviceWallet: 'Apple Pay', onlineWallet: 'Google Pay' } as const satisfies Partial<
  Record<MethodKind, string>
>;

export type WalletKind = keyof typeof WALLET_NAMES;

/** The kinds without a name: each method of such a kind has one of its own, which is the same in every language. */
export type NamelessKind = 'payAccount' | 'payApp';
export const isWalletKind = (kind: MethodKind): kind is WalletKind => Object.hasOwn(WALLET_NAMES, kind);

const ORDER = Object.keys(METHOD_KINDS);

/** How likely payers use a method for an order: 0 is most likely. */
type Likelihood = 0 | 1 | 2;

/** What the likelihood depends on: the probable country of the payer, and the currency of the order. */
export interface OrderFacts {
  country?: string | undefined;
  currency: string;
}

/** The parts of a brand's table entry that decide about its place on the payment page. */
export interface MethodTraits {
  kind: MethodKind;
  /** The countries whose payers use the method; without them, payers of any country. */
  countries?: readonly string[];
  /** The currency of these countries, if no other country has it. */
  currency?: string;
  /** The currencies that the method takes; without them, any. */
  currencies?: readonly string[];
}

/** Cards and the methods of the payer's country come first, the methods of other countries last. */
function likelihood({ kind, countries, currency, currencies }: MethodTraits, order: OrderFacts): Likelihood {
  if (!countries) return METHOD_KINDS[kind] === 'cards' ? 0 : 1;
  if (currency === order.currency) return 0;
  if (order.country !== undefined) return countries.includes(order.country) ? 0 : 2;
  return currencies?.includes(order.currency) ? 1 : 2;
}

/** Compares two methods by the likelihood of their use, then by their kind unless the account has an order of its own. */
export const byLikelihood =
  (order: OrderFacts, hasOwnOrder: boolean) =>
  (one: MethodTraits, other: MethodTraits): number => {
    const [a, b] = [likelihood(one, order), likelihood(other, order)];
    // An own order is changed only for methods of other countries.
    if (hasOwnOrder) return Number(a === 2) - Number(b === 2);
    return a - b || ORDER.indexOf(one.kind) - ORDER.indexOf(other.kind);
  };
