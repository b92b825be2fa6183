/** The behaviour of the simulated provider of each brand. */

export type Behaviour = 'instant' | 'redirect' | 'approval' | 'qr' | 'transfer' | 'payout';

/** The type of the payer's page. */
export type PageType = 'hosted' | 'bank' | 'credit' | 'crypto' | 'app' | 'transfer' | 'qr' | 'payout' | 'card';

export interface Brand {
  behaviour: Behaviour;
  pageType: PageType;
  /** The behaviour in the sandbox, for the docs. */
  sandbox: string;
  /** Values of a parameter that this provider declines. */
  declines?: { parameter: string; pattern: RegExp; reason: string };
}

/** Every brand declines this identifier and this e-mail address. */
export const DECLINED_PAYER = 'decline@example.com';
export const DECLINED = 'Declined by the simulated provider.';

const PAGE = 'Opens a page where the payer approves or declines.';
const CONSENT = 'Opens a page of a bank where the payer consents or declines.';
const CREDIT = 'Opens a page where the credit for the purchase is approved or declined.';
const COINS =
  'Opens a page with an address; after the payer has sent the coins, the payment settles with three confirmations.';
const APP = 'Waits until the payer approves in an app, which is a page of the provider simulator.';
const WALLET = 'Settles at once; the expiry of the card in the token selects the behaviour, as for cards.';
const PAYOUT = 'Is accepted at once and sent half a second later.';

const upi = (parameter: string): Brand => ({
  behaviour: 'approval',
  pageType: 'app',
  sandbox: `${APP} An address that begins with fail@ or fail. is declined.`,
  declines: { parameter, pattern: /^fail[@.]/i, reason: 'The payer declined in their app.' },
});

export const BRANDS: Readonly<Record<string, Brand>> = {
  'pin-a': {
    behaviour: 'instant',
    pageType: 'hosted',
    sandbox: 'Settles at once; a PIN that ends in 0000 is declined.',
    declines: { parameter: 'pin', pattern: /0000$/, reason: 'The voucher is used up.' },
  },
  'wallet-a': { behaviour: 'instant', pageType: 'card', sandbox: WALLET },
  'wallet-b': { behaviour: 'instant', pageType: 'card', sandbox: WALLET },

  'hosted-a': {
    behaviour: 'redirect',
    pageType: 'hosted',
    sandbox: 'Opens a page where the payer chooses a payment method and approves or declines.',
  },
  'hosted-b': { behaviour: 'redirect', pageType: 'hosted', sandbox: PAGE },
  'trading-a': { behaviour: 'redirect', pageType: 'hosted', sandbox: PAGE },
  'bnpl-a': { behaviour: 'redirect', pageType: 'credit', sandbox: CREDIT },
  'bnpl-b': { behaviour: 'redirect', pageType: 'credit', sandbox: CREDIT },
  'open-banking-a': { behaviour: 'redirect', pageType: 'bank', sandbox: CONSENT },
  'bank-a': { behaviour: 'redirect', pageType: 'bank', sandbox: CONSENT },
  'local-a': { behaviour: 'redirect', pageType: 'hosted', sandbox: PAGE },
  'local-b': { behaviour: 'redirect', pageType: 'hosted', sandbox: PAGE },
  'doc-a': { behaviour: 'redirect', pageType: 'hosted', sandbox: PAGE },
  'doc-b': { behaviour: 'redirect', pageType: 'hosted', sandbox: PAGE },
  'agg-a': { behaviour: 'redirect', pageType: 'bank', sandbox: CONSENT },
  'agg-b': { behaviour: 'redirect', pageType: 'bank', sandbox: CONSENT },
  'agg-c': { behaviour: 'redirect', pageType: 'bank', sandbox: CONSENT },
  'agg-d': { behaviour: 'redirect', pageType: 'bank', sandbox: CONSENT },
  'agg-e': { behaviour: 'redirect', pageType: 'hosted', sandbox: PAGE },
  'agg-f': { behaviour: 'redirect', pageType: 'hosted', sandbox: PAGE },
  'agg-g': { behaviour: 'redirect', pageType: 'hosted', sandbox: PAGE },
  'agg-h': { behaviour: 'redirect', pageType: 'hosted', sandbox: PAGE },
  'agg-i': { behaviour: 'redirect', pageType: 'hosted', sandbox: PAGE },
  'agg-j': { behaviour: 'redirect', pageType: 'hosted', sandbox: PAGE },
  'crypto-a': { behaviour: 'redirect', pageType: 'crypto', sandbox: COINS },
  'crypto-b': { behaviour: 'redirect', pageType: 'crypto', sandbox: COINS },

  'upi-a': upi('personal_id'),
  'upi-b': upi('upi_id'),
  'upi-c': upi('upiAddress'),
  'mobile-money-a': { behaviour: 'approval', pageType: 'app', sandbox: APP },
  'telecom-a': { behaviour: 'approval', pageType: 'app', sandbox: APP },

  ips: {
    behaviour: 'qr',
    pageType: 'qr',
    sandbox: 'Returns the text of a QR code and waits for the status of the simulated bank.',
  },

  'transfer-a': {
    behaviour: 'transfer',
    pageType: 'transfer',
    sandbox: 'Returns a CVU and waits for the payer’s transfer.',
  },
  'transfer-b': {
    behaviour: 'transfer',
    pageType: 'transfer',
    sandbox: 'Returns a CLABE and waits for the payer’s transfer.',
  },

  ideal: { behaviour: 'redirect', pageType: 'bank', sandbox: CONSENT },
  bancontact: { behaviour: 'redirect', pageType: 'bank', sandbox: CONSENT },
  eps: { behaviour: 'redirect', pageType: 'bank', sandbox: CONSENT },
  przelewy24: { behaviour: 'redirect', pageType: 'bank', sandbox: CONSENT },
  paypal: { behaviour: 'redirect', pageType: 'hosted', sandbox: PAGE },
  klarna: { behaviour: 'redirect', pageType: 'credit', sandbox: CREDIT },
  twint: { behaviour: 'redirect', pageType: 'app', sandbox: PAGE },
  swish: { behaviour: 'redirect', pageType: 'app', sandbox: PAGE },
  mobilepay: { behaviour: 'redirect', pageType: 'app', sandbox: PAGE },
  blik: {
    behaviour: 'approval',
    pageType: 'app',
    sandbox: `${APP} The code 000000 is declined.`,
    declines: { parameter: 'code', pattern: /^0{6}$/, reason: 'The code is not valid.' },
  },
  mbway: { behaviour: 'approval', pageType: 'app', sandbox: APP },
  'sepa-debit': {
    behaviour: 'approval',
    pageType: 'bank',
    sandbox:
      'Waits until the bank debits the account, which is a page of the provider simulator. The IBAN DE62 3704 0044 0532 0130 01 is declined.',
    declines: {
      parameter: 'iban',
      pattern: /^DE62\s?3704\s?0044\s?0532\s?0130\s?01$/i,
      reason: 'The account does not exist.',
    },
  },

  'payout-a': { behaviour: 'payout', pageType: 'payout', sandbox: PAYOUT },
  'crypto-a-payout': { behaviour: 'payout', pageType: 'payout', sandbox: PAYOUT },
  'trading-b': { behaviour: 'payout', pageType: 'payout', sandbox: PAYOUT },
  'p2p-a': { behaviour: 'payout', pageType: 'payout', sandbox: PAYOUT },
  'p2p-b': { behaviour: 'payout', pageType: 'payout', sandbox: PAYOUT },
};

/** Cards are not in the table of brands; their expiry selects the behaviour. */
const CARD: Brand = {
  behaviour: 'instant',
  pageType: 'card',
  sandbox: 'The expiry of the card selects the behaviour.',
};
const UNKNOWN: Brand = { behaviour: 'approval', pageType: 'app', sandbox: APP };
const MONEY_OUT: Brand = { behaviour: 'payout', pageType: 'payout', sandbox: PAYOUT };

/** A payment out is a payout, whatever the brand; an unknown brand waits for the payer's approval. */
export function brandOf({ brand, direction }: { brand: string; direction: 'in' | 'out' }): Brand {
  const row = Object.hasOwn(BRANDS, brand) ? (BRANDS[brand] as Brand) : brand === 'card' ? CARD : UNKNOWN;
  return direction === 'out' ? { ...row, ...MONEY_OUT } : row;
}
