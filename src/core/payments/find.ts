/** Finds payments. A merchant finds those of its own account only; any other id is unknown. */
import { isUuid } from '../../lib/crypto/id.ts';
import { pollUntil } from '../../lib/flow/poll.ts';
import { brandOf } from '../../rules/brands.ts';
import { LIMITS } from '../../rules/limits.ts';
import { isOpen } from '../../rules/states.ts';
import type { NotificationRow } from '../../store/payments/notifications.ts';
import type {
  HistoryRow,
  ListedPayment,
  OperationRow,
  PaymentFilter,
  PaymentKey,
  PaymentPage,
  PaymentSelection,
  PaymentStatus,
  PaymentWithDetails,
} from '../../store/payments/payments.ts';
import type { Account, Gateway, Receipt } from '../context.ts';
import { isOutOfTime } from './deadlines.ts';
import { endOutOfTime, queryProviderNow } from './provider.ts';

export async function findPayment(
  gateway: Gateway,
  { mid }: Account,
  paymentId: string,
): Promise<PaymentWithDetails | undefined> {
  return isUuid(paymentId) ? gateway.payments.find({ mid, paymentId }) : undefined;
}

/** The status of a payment, brought up to date. */
export async function findStatus(
  gateway: Gateway,
  account: Account,
  paymentId: string,
): Promise<PaymentStatus | undefined> {
  const status = isUuid(paymentId) ? await gateway.payments.status({ mid: account.mid, paymentId }) : undefined;
  return status && refreshStatus(gateway, account, status);
}

/** A payment with its details, brought up to date. */
export async function findCurrent(
  gateway: Gateway,
  account: Account,
  paymentId: string,
): Promise<PaymentWithDetails | undefined> {
  const payment = await findPayment(gateway, account, paymentId);
  return payment && refresh(gateway, account, payment);
}

const refresh = async (
  gateway: Gateway,
  account: Account,
  payment: PaymentWithDetails,
): Promise<PaymentWithDetails> => ({
  ...payment,
  ...(await refreshStatus(gateway, account, payment)),
});

/** The status of the newest attempt of an order, brought up to date. */
export async function findStatusByOrder(
  gateway: Gateway,
  account: Account,
  orderId: string,
): Promise<PaymentStatus | undefined> {
  const newest = await gateway.payments.findByOrder({ mid: account.mid, orderId });
  return newest && refreshStatus(gateway, account, newest);
}

/** Ends a payment whose deadline has passed, and queries the provider of brands that need it on each status request. */
async function refreshStatus(gateway: Gateway, account: Account, status: PaymentStatus): Promise<PaymentStatus> {
  if (status.payerUntil === null || !isOpen(status.state)) return status;
  const mayBeOutOfTime = isOutOfTime(gateway, { ...status, mid: account.mid });
  if (!mayBeOutOfTime && !brandOf(status.brand)?.isQueriedOnStatus) return status;
  const payment = await gateway.payments.findAnywhere(status.paymentId);
  if (!payment) return status;
  // The columns of a status do not show whether the payer finished the challenge in time.
  if (isOutOfTime(gateway, payment)) return endOutOfTime(gateway, payment, account);
  return mayBeOutOfTime ? payment : queryProviderNow(gateway, payment, account);
}

const POLL_MS = 50;

/** Polls a payment until the condition holds or the time is over; returns it as it is then. */
export async function waitForPayment(
  gateway: Gateway,
  key: PaymentKey,
  timeoutMs: number,
  isDone: (payment: PaymentWithDetails) => boolean,
): Promise<PaymentWithDetails | undefined> {
  const find = (): Promise<PaymentWithDetails | undefined> => gateway.payments.find(key);
  return pollUntil(await find(), find, (payment) => !payment || isDone(payment), {
    mostMs: timeoutMs,
    firstPauseMs: POLL_MS,
    longestPauseMs: POLL_MS,
  });
}

const CHALLENGE_RESULT_TIMEOUT_MS = 3000;

/** The payer may return from a challenge before its result arrives, so a page waits for it a moment. */
export const waitForChallengeResult = (gateway: Gateway, key: PaymentKey): Promise<PaymentWithDetails | undefined> =>
  waitForPayment(
    gateway,
    key,
    CHALLENGE_RESULT_TIMEOUT_MS,
    ({ state, nextStep }) => state !== '3DS' || nextStep?.kind === 'redirect',
  );

/** The newest attempts of an order, newest first, each brought up to date. */
export async function findAttempts(
  gateway: Gateway,
  account: Account,
  orderId: string,
  most: number,
): Promise<PaymentWithDetails[]> {
  const attempts = await gateway.payments.attempts({ mid: account.mid, orderId }, most);
  return Promise.all(attempts.map((attempt) => refresh(gateway, account, attempt)));
}

/** For the operator: a payment of any account, with its history, operations, notifications and receipt. */
export async function inspectPayment(
  gateway: Gateway,
  paymentId: string,
): Promise<
  | {
      payment: PaymentWithDetails;
      history: HistoryRow[];
      operations: OperationRow[];
      notifications: NotificationRow[];
      receipt: Receipt | undefined;
    }
  | undefined
> {
  const payment = isUuid(paymentId) ? await gateway.payments.findAnywhere(paymentId) : undefined;
  if (!payment) return undefined;
  return {
    payment,
    history: await gateway.payments.history(payment),
    operations: await gateway.operations.of(payment),
    notifications: await gateway.notifications.about(payment.paymentId),
    receipt: await gateway.receipts.of(payment),
  };
}

/** For the operator: one page of payments, newest first. */
export const listPayments = (gateway: Gateway, filter: PaymentFilter): Promise<PaymentPage> =>
  gateway.payments.list(filter);

/** For the operator: all payments, newest first, read in portions as the caller takes them. */
export async function* exportPayments(
  gateway: Gateway,
  filter: PaymentSelection,
): AsyncGenerator<ListedPayment[], void> {
  let before: string | null | undefined;
  while (before !== null) {
    const { payments, next } = await gateway.payments.list({ ...filter, before, limit: LIMITS.exportPortion });
    yield payments;
    before = next;
  }
}
