/** Secret fields of a payment: encrypted when received, decrypted for checks and for the provider, never displayed. */
import { boundTo } from '../../lib/crypto/seal.ts';
import type { NextStep, PaymentDetails, PaymentWithDetails, SessionTerms } from '../../store/payments/payments.ts';
import type { Gateway } from '../context.ts';

type Sealing = Pick<Gateway, 'seal'>;

const boundToPayment = (paymentId: string): string => boundTo('payments', 'details', paymentId);
/** All attempts of a session share its secrets, so they are bound to the id of the session. */
const boundToSession = (id: string): string => boundTo('payments', 'session', id);

const encrypt = ({ seal }: Sealing, secrets: object, bound: string): string =>
  seal.seal(JSON.stringify(secrets), bound).toString('base64');

const decrypt = ({ seal }: Sealing, sealed: string | undefined, bound: string) =>
  sealed === undefined ? {} : JSON.parse(seal.open(Buffer.from(sealed, 'base64'), bound));

export const sealSecrets = (gateway: Sealing, paymentId: string, secrets: object): string =>
  encrypt(gateway, secrets, boundToPayment(paymentId));

export const secretsOf = (gateway: Sealing, { paymentId, details }: PaymentWithDetails): Record<string, unknown> =>
  decrypt(gateway, details.sealed, boundToPayment(paymentId));

/** The secret fields that the merchant sent with a session, by brand and field name. */
export const secretsOfSession = (gateway: Sealing, session?: SessionTerms): Record<string, Record<string, string>> =>
  session ? decrypt(gateway, session.sealed, boundToSession(session.id)) : {};

const boundToStep = (paymentId: string): string => boundTo('payments', 'next_step', paymentId);

/** The address of the payer's browser as a challenge keeps it, so that the payment is evaluated with it once more. */
export const sealAddress = (gateway: Sealing, paymentId: string, ip: string): string =>
  encrypt(gateway, { ip }, boundToStep(paymentId));

/** The address that a challenge keeps; undefined if it keeps none. */
export const addressIn = (
  gateway: Sealing,
  { paymentId }: PaymentWithDetails,
  { sealed }: Extract<NextStep, { kind: 'challenge' }>,
): string | undefined => decrypt(gateway, sealed, boundToStep(paymentId)).ip;

/** Encrypts the secrets of a session again before they are written, so that a key that was rotated out is not used. */
export const resealSession = (gateway: Sealing, details: PaymentDetails): PaymentDetails =>
  details.session?.sealed === undefined
    ? details
    : withSecrets(gateway, details.session.id, details, secretsOfSession(gateway, details.session));

/** The details of a new payment with its secrets; a session keeps its own until the payer has chosen a brand. */
export const withSecrets = (
  gateway: Sealing,
  paymentId: string,
  { session, ...details }: PaymentDetails,
  secrets: object,
): PaymentDetails =>
  session
    ? { ...details, session: { ...session, sealed: encrypt(gateway, secrets, boundToSession(session.id)) } }
    : { ...details, sealed: sealSecrets(gateway, paymentId, secrets) };
