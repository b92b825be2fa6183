/** Finds payments of an account; another account's payment is as unknown as a random id. */
import { isUuid } from '../../lib/id.ts';
import { pollUntil } from '../../lib/poll.ts';
import { brandOf } from '../../rules/brands.ts';
import { isOpen } from '../../rules/states.ts';
import type { NotificationRow } from '../../store/notifications.ts';
import type {
  HistoryRow,
  OperationRow,
  Payment,
  PaymentFilter,
  PaymentKey,
  PaymentStatus,
  WholePayment,
} from '../../store/payments.ts';
import type { Account, Gateway } from '../context.ts';
import { isOutOfTime } from './deadlines.ts';
import { endOutOfTime, queryProviderNow } from './provider.ts';
import { clearAttention } from './record.ts';

export async function findPayment(
  gateway: Gateway,
  { mid }: Account,
  paymentId: string,
): Promise<WholePayment | undefined> {
  return isUuid(paymentId) ? gateway.payments.find({ mid, paymentId }) : undefined;
}

/** What a status query tells of a payment. */
export async function findStatus(
  gateway: Gateway,
  account: Account,
  paymentId: string,
): Promise<PaymentStatus | undefined> {
  const status = isUuid(paymentId) ? await gateway.payments.status({ mid: account.mid, paymentId }) : undefined;
  return status && refreshStatus(gateway, account, status);
}

/** A payment with everything that its request said, brought up to date. */
export async function findCurrent(
  gateway: Gateway,
  account: Account,
  paymentId: string,
): Promise<WholePayment | undefined> {
  const payment = await findPayment(gateway, account, paymentId);
  return payment && current(gateway, account, payment);
}

const current = async (gateway: Gateway, account: Account, payment: WholePayment): Promise<WholePayment> => ({
  ...payment,
  ...(await refreshStatus(gateway, account, payment)),
});

/** What a status query tells of the newest try of an order. */
export async function findStatusByOrder(
  gateway: Gateway,
  account: Account,
  orderId: string,
): Promise<PaymentStatus | undefined> {
  const newest = await gateway.payments.findByOrder({ mid: account.mid, orderId });
  return newest && refreshStatus(gateway, account, newest);
}

/** A payer's time ends to the second, and some providers are asked whenever the merchant asks. */
async function refreshStatus(gateway: Gateway, account: Account, status: PaymentStatus): Promise<PaymentStatus> {
  // A payment whose payer nobody waits for has nothing to be asked about.
  if (status.payerUntil === null || !isOpen(status.state)) return status;
  const isOver = isOutOfTime(gateway, { ...status, mid: account.mid });
  if (!isOver && !brandOf(status.brand)?.isQueriedOnStatus) return status;
  const payment = await gateway.payments.findAnywhere(status.paymentId);
  if (!payment) return status;
  // The status alone does not tell whether a payer has come back from the bank in time.
  if (isOutOfTime(gateway, payment)) return endOutOfTime(gateway, payment, account);
  return isOver ? payment : queryProviderNow(gateway, payment, account);
}

const LOOK_MS = 50;

/** A payment as soon as it is as wanted, or as it is when the time is over. */
export async function waitForPayment(
  gateway: Gateway,
  key: PaymentKey,
  outcomeTimeoutMs: number,
  isSo: (payment: WholePayment) => boolean,
): Promise<WholePayment | undefined> {
  const find = (): Promise<WholePayment | undefined> => gateway.payments.find(key);
  return pollUntil(await find(), find, (payment) => !payment || isSo(payment), {
    mostMs: outcomeTimeoutMs,
    firstPauseMs: LOOK_MS,
    longestPauseMs: LOOK_MS,
  });
}

const SOON_MS = 3000;

/** A payment after its challenge: the bank's result may be on its way, so it gets a moment. */
export const waitForChallengeResult = (gateway: Gateway, key: PaymentKey): Promise<WholePayment | undefined> =>
  waitForPayment(gateway, key, SOON_MS, ({ state }) => state !== '3DS');

/** The newest attempts of an order, newest first, each brought up to date. */
export async function findAttempts(
  gateway: Gateway,
  account: Account,
  orderId: string,
  most: number,
): Promise<WholePayment[]> {
  const attempts = await gateway.payments.attempts({ mid: account.mid, orderId }, most);
  return Promise.all(attempts.map((attempt) => current(gateway, account, attempt)));
}

/** For the operator: a payment of whichever account, with everything that happened to it. */
export async function inspectPayment(
  gateway: Gateway,
  paymentId: string,
): Promise<
  | { payment: WholePayment; history: HistoryRow[]; operations: OperationRow[]; notifications: NotificationRow[] }
  | undefined
> {
  const payment = isUuid(paymentId) ? await gateway.payments.findAnywhere(paymentId) : undefined;
  if (!payment) return undefined;
  return {
    payment,
    history: await gateway.payments.history(payment),
    operations: await gateway.operations.of(payment),
    notifications: await gateway.notifications.about(payment.paymentId),
  };
}

/** An operator has dealt with whatever a payment wanted attention for. */
export async function attendPayment(gateway: Gateway, paymentId: string): Promise<WholePayment | undefined> {
  const payment = isUuid(paymentId) ? await gateway.payments.findAnywhere(paymentId) : undefined;
  return payment?.attention ? clearAttention(gateway, payment) : payment;
}

export const listPayments = (gateway: Gateway, filter: PaymentFilter): Promise<Payment[]> =>
  gateway.payments.list(filter);
