/** The operator's log of callbacks: lists them with their destination and their attempts, and resends them. */
import { invalidField, Refusal } from '../../rules/errors.ts';
import type { CallbackAttempt, CallbackFilter, CallbackKey, CallbackRow } from '../../store/callbacks/callbacks.ts';
import { findAccount } from '../accounts/accounts.ts';
import type { Gateway, PaymentWithDetails } from '../context.ts';
import { auditEntry, type Caller, type Principal, sees } from '../operators/principal.ts';
import { readCallbackId } from './callback-id.ts';

export interface CallbackView {
  callback: CallbackRow;
  /** The payment's own address, or else the present `callback_url` of the account; empty if there is none. */
  destination: string;
}

export interface LoggedCallback extends CallbackView {
  log: CallbackAttempt[];
}

/** The address of a callback as operators see it: its query string may contain credentials. */
export const shownAddress = ({ destination }: Pick<CallbackView, 'destination'>): string =>
  destination.replace(/\?.*$/s, '');

const viewOf = async (gateway: Gateway, callback: CallbackRow): Promise<CallbackView> => ({
  callback,
  destination: callback.url ?? (await findAccount(gateway, callback.mid))?.settings.callback_url ?? '',
});

/** Newest first. */
export async function listCallbacks(
  gateway: Gateway,
  filter: CallbackFilter & Pick<Principal, 'mids'>,
  limit: number,
  before?: Omit<CallbackKey, 'mid'>,
): Promise<CallbackView[]> {
  const rows = await gateway.callbacks.list(filter, limit, before);
  return Promise.all(rows.map((row) => viewOf(gateway, row)));
}

/** All callbacks of a payment in order of `seq`, each with its attempts. */
export async function listPaymentCallbacks(
  gateway: Gateway,
  payment: Pick<PaymentWithDetails, 'mid' | 'paymentId'>,
): Promise<LoggedCallback[]> {
  const rows = await gateway.callbacks.of(payment);
  return Promise.all(rows.map(async ({ log, ...row }) => ({ ...(await viewOf(gateway, row)), log })));
}

export async function findCallback(gateway: Gateway, id: string): Promise<LoggedCallback> {
  const key = readCallbackId(id);
  const payment = key && (await gateway.payments.findAnywhere(key.paymentId));
  const all = payment ? await listPaymentCallbacks(gateway, payment) : [];
  const found = all.find(({ callback }) => callback.seq === key?.seq);
  if (!found) throw new Refusal('noSuchCallback');
  return found;
}

/** Sends one callback again, whatever its state; refuses one whose body was erased. */
export async function resendCallback(
  gateway: Gateway,
  by: Caller,
  { mid, paymentId, seq, body }: Pick<CallbackRow, 'mid' | 'paymentId' | 'seq' | 'body'>,
): Promise<number> {
  if (body === '') throw invalidField('id', 'The body of this callback was erased.');
  return resend(gateway, by, { mid, paymentId, seq });
}

/** The filter of a resend with the account that it belongs to, which the caller has to see. */
async function requireOwner(
  gateway: Gateway,
  { mids, ...filter }: CallbackFilter & Pick<Principal, 'mids'>,
): Promise<CallbackFilter & { mid: string }> {
  const { mid, paymentId } = filter;
  if (mid !== undefined && !(await findAccount(gateway, mid))) throw new Refusal('noSuchAccount');
  const payment = paymentId === undefined ? undefined : await gateway.payments.findAnywhere(paymentId);
  if (paymentId !== undefined && (!payment || payment.mid !== (mid ?? payment.mid))) throw new Refusal('noSuchPayment');
  const owner = mid ?? payment?.mid;
  if (owner === undefined || !sees({ mids }, owner)) {
    throw new Refusal(mid === undefined ? 'noSuchPayment' : 'noSuchAccount');
  }
  // The callbacks of one payment need no log.
  if (paymentId === undefined && !(await gateway.callbacks.isLogComplete())) {
    throw invalidField(
      'mid',
      'After an upgrade the log of callbacks is still being built, and some would not be resent. Try again later.',
    );
  }
  return { ...filter, mid: owner };
}

/** Sends callbacks of a payment or an account again, optionally only those of one state or period. */
export const resendCallbacks = async (
  gateway: Gateway,
  by: Caller,
  filter: CallbackFilter & Pick<Principal, 'mids'>,
): Promise<number> => resend(gateway, by, await requireOwner(gateway, filter));

/** How many callbacks such a resend concerns; they are counted up to `most`. */
export const countCallbacks = async (
  gateway: Gateway,
  filter: CallbackFilter & Pick<Principal, 'mids'>,
  most: number,
): Promise<number> => gateway.callbacks.count(await requireOwner(gateway, filter), most);

async function resend(
  gateway: Gateway,
  by: Caller,
  filter: CallbackFilter & { mid: string; seq?: number },
): Promise<number> {
  const { mid, paymentId: subject = null, ...after } = filter;
  await gateway.audit.append(auditEntry(gateway, by, 'callbacks.resend', { mid, subject, after }));
  // Delivery starts after the first portion.
  const resent = await gateway.callbacks.resend(filter, gateway.clock.now, () => gateway.deliverer.wake());
  gateway.log.info({ mid: filter.mid, payment_id: filter.paymentId, resent }, 'callbacks resent');
  return resent;
}

/** Why an attempt did not deliver the callback, for the operator; null when it did. */
export function attemptError({ status, fault }: Pick<CallbackAttempt, 'status' | 'fault'>): string | null {
  if (status === null) return fault;
  if (status < 300) return null;
  const remark = status < 400 ? ', and redirects are not followed' : '';
  return `The server answered ${status}${remark}.`;
}
