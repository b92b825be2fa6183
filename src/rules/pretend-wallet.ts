/** The test cards of the pretend wallet, which the sandbox offers in place of the vendors' wallets. */
import type { WalletBrand } from './brands.ts';

export interface PretendCard {
  name: string;
  wallets: readonly WalletBrand[];
  kind: 'CRYPTOGRAM_3DS' | 'PAN_ONLY';
  number: string;
  /** `MM/YY`: decides what the provider simulator does. */
  expiry: string;
}

/** The number that a device uses in place of that of the card. */
const DEVICE_NUMBER = '4895370012003478';

export const PRETEND_CARDS: Readonly<Record<string, PretendCard>> = {
  succeeds: {
    name: 'Succeeds, confirmed by the device',
    wallets: ['wallet-a', 'wallet-b'],
    kind: 'CRYPTOGRAM_3DS',
    number: DEVICE_NUMBER,
    expiry: '01/38',
  },
  challenge: {
    name: 'Card number only, 3-D Secure asks for a code',
    wallets: ['wallet-b'],
    kind: 'PAN_ONLY',
    number: '4111111111111111',
    expiry: '05/38',
  },
  declines: {
    name: 'Declined by the bank',
    wallets: ['wallet-a', 'wallet-b'],
    kind: 'CRYPTOGRAM_3DS',
    number: DEVICE_NUMBER,
    expiry: '02/38',
  },
};
