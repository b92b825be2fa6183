/** How the simulated provider of each brand behaves, one row each. */

export type Behaviour = 'instant' | 'redirect' | 'approval' | 'qr' | 'transfer' | 'payout';

/** What the payer's page looks like. */
export type Scene = 'hosted' | 'bank' | 'credit' | 'crypto' | 'app' | 'transfer' | 'qr' | 'payout' | 'card';

export interface Brand {
  behaviour: Behaviour;
  scene: Scene;
  /** For the docs: what a developer sees who tries this brand. */
  sandbox: string;
  /** A parameter that this provider declines, as a real one would. */
  declines?: { parameter: string; pattern: RegExp; reason: string };
}

/** With this identifier or e-mail address every brand declines. */
export const DECLINED_PAYER = 'decline@example.com';
export const DECLINED = 'Declined by the simulated provider.';

const PAGE = 'Opens a page where the payer approves or declines.';
const CONSENT = 'Opens a page of a bank where the payer consents or declines.';
const CREDIT = 'Opens a page where the credit for the purchase is approved or declined.';
const COINS = 'Opens a page with an address; once the payer has sent the coins, three confirmations settle it.';
const APP = 'Waits until the payer approves in their app, which is the page of the provider simulator.';
const PAYOUT = 'Accepted at once, sent half a second later.';

const upi = (parameter: string): Brand => ({
  behaviour: 'approval',
  scene: 'app',
  sandbox: `${APP} An address that begins with fail@ or fail. is declined.`,
  declines: { parameter, pattern: /^fail[@.]/i, reason: 'The payer declined in their app.' },
});

export const BRANDS: Readonly<Record<string, Brand>> = {
  'pin-a': {
    behaviour: 'instant',
    scene: 'hosted',
    sandbox: 'Settles at once; a PIN that ends in 0000 is declined.',
    declines: { parameter: 'pin', pattern: /0000$/, reason: 'The voucher is used up.' },
  },
  'wallet-a': { behaviour: 'instant', scene: 'hosted', sandbox: 'Settles at once.' },
  'wallet-b': { behaviour: 'instant', scene: 'hosted', sandbox: 'Settles at once.' },

  'hosted-a': {
    behaviour: 'redirect',
    scene: 'hosted',
    sandbox: 'Opens a page where the payer chooses a way to pay and approves or declines.',
  },
  'hosted-b': { behaviour: 'redirect', scene: 'hosted', sandbox: PAGE },
  'trading-a': { behaviour: 'redirect', scene: 'hosted', sandbox: PAGE },
  'bnpl-a': { behaviour: 'redirect', scene: 'credit', sandbox: CREDIT },
  'bnpl-b': { behaviour: 'redirect', scene: 'credit', sandbox: CREDIT },
  'open-banking-a': { behaviour: 'redirect', scene: 'bank', sandbox: CONSENT },
  'bank-a': { behaviour: 'redirect', scene: 'bank', sandbox: CONSENT },
  'local-a': { behaviour: 'redirect', scene: 'hosted', sandbox: PAGE },
  'local-b': { behaviour: 'redirect', scene: 'hosted', sandbox: PAGE },
  'doc-a': { behaviour: 'redirect', scene: 'hosted', sandbox: PAGE },
  'doc-b': { behaviour: 'redirect', scene: 'hosted', sandbox: PAGE },
  'agg-a': { behaviour: 'redirect', scene: 'bank', sandbox: CONSENT },
  'agg-b': { behaviour: 'redirect', scene: 'bank', sandbox: CONSENT },
  'agg-c': { behaviour: 'redirect', scene: 'bank', sandbox: CONSENT },
  'agg-d': { behaviour: 'redirect', scene: 'bank', sandbox: CONSENT },
  'agg-e': { behaviour: 'redirect', scene: 'hosted', sandbox: PAGE },
  'agg-f': { behaviour: 'redirect', scene: 'hosted', sandbox: PAGE },
  'agg-g': { behaviour: 'redirect', scene: 'hosted', sandbox: PAGE },
  'agg-h': { behaviour: 'redirect', scene: 'hosted', sandbox: PAGE },
  'agg-i': { behaviour: 'redirect', scene: 'hosted', sandbox: PAGE },
  'agg-j': { behaviour: 'redirect', scene: 'hosted', sandbox: PAGE },
  'crypto-a': { behaviour: 'redirect', scene: 'crypto', sandbox: COINS },
  'crypto-b': { behaviour: 'redirect', scene: 'crypto', sandbox: COINS },

  'upi-a': upi('personal_id'),
  'upi-b': upi('upi_id'),
  'upi-c': upi('upiAddress'),
  'mobile-money-a': { behaviour: 'approval', scene: 'app', sandbox: APP },
  'telecom-a': { behaviour: 'approval', scene: 'app', sandbox: APP },

  ips: {
    behaviour: 'qr',
    scene: 'qr',
    sandbox: 'Answers with the text of a QR code and waits until the simulated bank is told what to say.',
  },

  'transfer-a': {
    behaviour: 'transfer',
    scene: 'transfer',
    sandbox: 'Answers with a CVU and waits for the payer’s transfer.',
  },
  'transfer-b': {
    behaviour: 'transfer',
    scene: 'transfer',
    sandbox: 'Answers with a CLABE and waits for the payer’s transfer.',
  },

  'payout-a': { behaviour: 'payout', scene: 'payout', sandbox: PAYOUT },
  'crypto-a-payout': { behaviour: 'payout', scene: 'payout', sandbox: PAYOUT },
  'trading-b': { behaviour: 'payout', scene: 'payout', sandbox: PAYOUT },
  'p2p-a': { behaviour: 'payout', scene: 'payout', sandbox: PAYOUT },
  'p2p-b': { behaviour: 'payout', scene: 'payout', sandbox: PAYOUT },
};

/** What is not one of the many brands: a card, whose expiry selects what happens. */
const CARD: Brand = { behaviour: 'instant', scene: 'card', sandbox: 'The expiry of the card selects what happens.' };
const UNKNOWN: Brand = { behaviour: 'approval', scene: 'app', sandbox: APP };
const MONEY_OUT: Brand = { behaviour: 'payout', scene: 'payout', sandbox: PAYOUT };

/** Money that goes out is a payout whatever the brand; a brand without a row waits for the payer's approval. */
export function brandOf({ brand, direction }: { brand: string; direction: 'in' | 'out' }): Brand {
  const row = Object.hasOwn(BRANDS, brand) ? (BRANDS[brand] as Brand) : brand === 'card' ? CARD : UNKNOWN;
  return direction === 'out' ? { ...row, ...MONEY_OUT } : row;
}
