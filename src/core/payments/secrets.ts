/** The fields that nobody may read: sealed as they come, opened to be checked and for the provider, and never shown. */
import { boundTo } from '../../lib/seal.ts';
import type { PaymentDetails, SessionTerms, WholePayment } from '../../store/payments.ts';
import type { Gateway } from '../context.ts';

type Sealing = Pick<Gateway, 'seal'>;

const ofPayment = (paymentId: string): string => boundTo('payments', 'details', paymentId);
/** All attempts of a session carry its secrets, so they are bound to what the attempts have in common. */
const ofSession = (id: string): string => boundTo('payments', 'session', id);

const close = ({ seal }: Sealing, secrets: object, bound: string): string =>
  seal.seal(JSON.stringify(secrets), bound).toString('base64');

const open = ({ seal }: Sealing, sealed: string | undefined, bound: string) =>
  sealed === undefined ? {} : JSON.parse(seal.open(Buffer.from(sealed, 'base64'), bound));

export const sealSecrets = (gateway: Sealing, paymentId: string, secrets: object): string =>
  close(gateway, secrets, ofPayment(paymentId));

export const secretsOf = (gateway: Sealing, { paymentId, details }: WholePayment): Record<string, unknown> =>
  open(gateway, details.sealed, ofPayment(paymentId));

/** What the merchant sent with a session: the texts of each brand under the names of a form. */
export const secretsOfSession = (gateway: Sealing, session?: SessionTerms): Record<string, Record<string, string>> =>
  session ? open(gateway, session.sealed, ofSession(session.id)) : {};

/** What is written again is sealed again, so that a key that was replaced meanwhile does not come back. */
export const resealSession = (gateway: Sealing, details: PaymentDetails): PaymentDetails =>
  details.session?.sealed === undefined
    ? details
    : withSecrets(gateway, details.session.id, details, secretsOfSession(gateway, details.session));

/** The details of a new payment with its secrets; those of a session wait in it until the payer has chosen a brand. */
export const withSecrets = (
  gateway: Sealing,
  paymentId: string,
  { session, ...details }: PaymentDetails,
  secrets: object,
): PaymentDetails =>
  session
    ? { ...details, session: { ...session, sealed: close(gateway, secrets, ofSession(session.id)) } }
    : { ...details, sealed: sealSecrets(gateway, paymentId, secrets) };
