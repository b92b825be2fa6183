/** The operator's log of callbacks: where each goes, what came of every try, and how they are sent once more. */
import { isUuid } from '../../lib/id.ts';
import { Refusal } from '../../rules/errors.ts';
import type { CallbackAttempt, CallbackFilter, CallbackKey, CallbackRow } from '../../store/callbacks.ts';
import { findAccount } from '../accounts.ts';
import type { Gateway, WholePayment } from '../context.ts';

/** A callback and the address that it goes to, which of most is the account's at the moment; empty when there is none. */
export interface CallbackView {
  callback: CallbackRow;
  goesTo: string;
}

export interface LoggedCallback extends CallbackView {
  log: CallbackAttempt[];
}

const shown = async <Row extends CallbackRow>(gateway: Gateway, callback: Row) => ({
  callback,
  goesTo: callback.url ?? (await findAccount(gateway, callback.mid))?.settings.callback_url ?? '',
});

/** Newest first. */
export async function listCallbacks(
  gateway: Gateway,
  filter: CallbackFilter,
  limit: number,
  before?: Omit<CallbackKey, 'mid'>,
): Promise<CallbackView[]> {
  const rows = await gateway.callbacks.list(filter, limit, before);
  return Promise.all(rows.map((row) => shown(gateway, row)));
}

/** Everything that a merchant was told of a payment, in its order, each with its tries. */
export async function callbacksOf(
  gateway: Gateway,
  payment: Pick<WholePayment, 'mid' | 'paymentId'>,
): Promise<LoggedCallback[]> {
  const rows = await gateway.callbacks.of(payment);
  return Promise.all(rows.map(async ({ log, ...row }) => ({ ...(await shown(gateway, row)), log })));
}

/** Reads what receivers know as `webhook-id`. */
export function readCallbackId(id: string): Omit<CallbackKey, 'mid'> | undefined {
  const [, paymentId = '', seq = ''] = /^(.{36})-([1-9]\d{0,8})$/.exec(id) ?? [];
  return isUuid(paymentId) ? { paymentId: paymentId.toLowerCase(), seq: Number(seq) } : undefined;
}

export async function findCallback(gateway: Gateway, id: string): Promise<LoggedCallback> {
  const key = readCallbackId(id);
  const payment = key && (await gateway.payments.findAnywhere(key.paymentId));
  const all = payment ? await callbacksOf(gateway, payment) : [];
  const found = all.find(({ callback }) => callback.seq === key?.seq);
  if (!found) throw new Refusal('noSuchCallback');
  return found;
}

/** Lets one callback be sent again, whatever became of it. */
export async function resendCallback(gateway: Gateway, id: string): Promise<number> {
  const { mid, paymentId, seq } = (await findCallback(gateway, id)).callback;
  return resend(gateway, { mid, paymentId, seq });
}

/** Lets all callbacks of a payment or an account be sent again, or those of one state or time. */
export async function resendCallbacks(gateway: Gateway, filter: CallbackFilter): Promise<number> {
  const { mid, paymentId } = filter;
  if (mid !== undefined && !(await findAccount(gateway, mid))) throw new Refusal('noSuchAccount');
  const payment = paymentId === undefined ? undefined : await gateway.payments.findAnywhere(paymentId);
  if (paymentId !== undefined && (!payment || payment.mid !== (mid ?? payment.mid))) throw new Refusal('noSuchPayment');
  const owner = mid ?? payment?.mid;
  if (owner === undefined) throw new Refusal('noSuchAccount');
  return resend(gateway, { ...filter, mid: owner });
}

async function resend(gateway: Gateway, filter: CallbackFilter & { mid: string; seq?: number }): Promise<number> {
  // Delivery begins with the first portion and does not wait for the last.
  const resent = await gateway.callbacks.resend(filter, gateway.clock.now, () => gateway.deliverer.wake());
  gateway.log.info({ mid: filter.mid, payment_id: filter.paymentId, resent }, 'callbacks resent');
  return resent;
}

/** Why a try did not deliver, in plain words; nothing when it did. */
export function attemptFault({ status, fault }: Pick<CallbackAttempt, 'status' | 'fault'>): string | null {
  if (status === null) return fault;
  if (status < 300) return null;
  const remark = status < 400 ? ', and redirects are not followed' : '';
  return `The server answered ${status}${remark}.`;
}
