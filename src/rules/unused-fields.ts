/** Fields that clients of other gateways send, and that the gateway does not act upon: what the sandbox says about them. */
import { hasCardNumber } from '../lib/cards/search.ts';
import { LIMITS } from './limits.ts';

const NOTHING = 'The gateway does not act upon it.';

export const UNUSED_FIELDS: Readonly<Record<string, string>> = {
  channel_id: `It is kept with the payment, shown and filterable if it has at most ${LIMITS.channelIdLength} characters, and changes nothing else.`,
  vat_calc: `${NOTHING} Taxes are part of order.amount, or lines of the order.`,
  callback_url: `${NOTHING} Callbacks go to the address of the account; the setting dialect.session_callback_url allows an address per session.`,
  payee: `${NOTHING} A payout or a credit names its payee.`,
  crypto: NOTHING,
  hash_algorithm: `${NOTHING} The setting dialect.digest selects the digest of the account.`,
  form_id: `${NOTHING} The settings of the account determine how the payment page looks.`,
  language: `${NOTHING} The payment page follows the browser of the payer, or the setting locale.`,
  shipping_address: NOTHING,
};

/** The channel of a request; a text that is empty, too long, not printable or a card number is not kept. */
export const channelOf = (value: string): string | undefined =>
  /^[^\p{C}]+$/u.test(value) && value.length <= LIMITS.channelIdLength && !hasCardNumber(value) ? value : undefined;
