/** Why Checkout.com declined: its response codes and validation errors as our decline causes. */
import { ISO_CODES } from '../../rules/declines.ts';
import type { DeclineCause } from '../../rules/reasons.ts';
import { declineOf, type Outcome, unknownDecline } from '../connector.ts';
import type { Processing } from './types.ts';

/** The codes that are not those of ISO 8583 with a prefix; see https://www.checkout.com/docs/resources/codes/api-response-codes. */
const CODES: Readonly<Record<string, DeclineCause>> = {
  20087: 'wrongSecurityCode',
  20100: 'expiredCard',
  20150: 'notAuthenticated',
  20151: 'notAuthenticated',
  20152: 'outOfTime',
  20153: 'notAuthenticated',
  20154: 'notAuthenticated',
  // Lifecycle, policy and security: the codes 79, 82 and 83 of Mastercard, which are none of ISO 8583.
  20179: 'invalidCard',
  20182: 'notPermitted',
  20183: 'suspectedFraud',
  30033: 'expiredCard',
};

/** The two digits of ISO 8583 are the end of the code: 20051 and 30041 are 51 and 41. */
const isoIn = (code: string): string | undefined => /^[23]00(\d\d)$/.exec(code)?.[1];

const RANGES: Readonly<Record<string, DeclineCause>> = {
  '': 'refusedByBank',
  2: 'refusedByBank',
  3: 'notPermitted',
  4: 'suspectedFraud',
};

/** By the code, or else by its range: soft, hard, of risk rules, or unknown. */
function causeOf(code: string): DeclineCause | undefined {
  const iso = isoIn(code);
  return CODES[code] ?? (iso === undefined ? undefined : ISO_CODES[iso]) ?? RANGES[code.slice(0, 1)];
}

/** A decline by its response code, and what the issuer and the network said. */
export function declinedBy(
  code: string | undefined,
  { partner_response_code: raw, partner_merchant_advice_code: advice }: Processing = {},
): Extract<Outcome, { kind: 'declined' }> {
  const iso = raw !== undefined && Object.hasOwn(ISO_CODES, raw) ? raw : isoIn(code ?? '');
  const cause = causeOf(code ?? '');
  const codes = { iso: CODES[code ?? ''] ? undefined : iso, own: code, advice };
  return cause ? declineOf(cause, codes) : unknownDecline(codes);
}

const ERRORS: Readonly<Partial<Record<DeclineCause, RegExp>>> = {
  invalidCard: /^(card_number|number|token)_|^card_(not_found|disabled)/,
  expiredCard: /^card_expir|^expiry_/,
  wrongSecurityCode: /^cvv_/,
  methodUnavailable: /^(amount|currency|processing_channel|payment_type|source_type|payment_source)_/,
};

/** Whether Checkout.com does not accept the payer's e-mail address, name or address. */
export const isAboutPayer = (errorCode: string): boolean => /email|customer|address|country|zip|phone/.test(errorCode);

/** The decline of a request that Checkout.com did not accept, by its first error code. */
export function refusedBy(errorCode: string): Extract<Outcome, { kind: 'declined' }> {
  const found = Object.entries(ERRORS).find(([, pattern]) => pattern.test(errorCode))?.[0] as DeclineCause | undefined;
  return declineOf(found ?? 'providerRefused', { own: errorCode });
}
