/** Finds payments of an account; another account's payment is as unknown as a random id. */
import { isUuid } from '../../lib/id.ts';
import type { HistoryRow, Payment, PaymentFilter, PaymentStatus, WholePayment } from '../../store/payments.ts';
import type { Account, Gateway } from '../context.ts';

export async function findPayment(gateway: Gateway, account: Account, paymentId: string): Promise<Payment | undefined> {
  return isUuid(paymentId) ? gateway.payments.find({ mid: account.mid, paymentId }) : undefined;
}

/** What a status query tells of a payment. */
export async function findStatus(
  gateway: Gateway,
  account: Account,
  paymentId: string,
): Promise<PaymentStatus | undefined> {
  return isUuid(paymentId) ? gateway.payments.status({ mid: account.mid, paymentId }) : undefined;
}

/** The newest try of an order. */
export const findPaymentByOrder = (gateway: Gateway, account: Account, orderId: string): Promise<Payment | undefined> =>
  gateway.payments.findByOrder({ mid: account.mid, orderId });

/** For the operator: a payment of whichever account, with everything that happened to it. */
export async function inspectPayment(
  gateway: Gateway,
  paymentId: string,
): Promise<{ payment: WholePayment; history: HistoryRow[] } | undefined> {
  const payment = isUuid(paymentId) ? await gateway.payments.findAnywhere(paymentId) : undefined;
  return payment && { payment, history: await gateway.payments.history(payment) };
}

export const listPayments = (gateway: Gateway, filter: PaymentFilter): Promise<Payment[]> =>
  gateway.payments.list(filter);
