/** Composes the orders of repetitions: from the first payment of a recurring series, or from a declined repetition. */
import type { PaymentWithDetails } from '../../store/payments/payments.ts';
import type { Schedule } from '../../store/schedules/schedules.ts';
import type { Order } from './open.ts';

/** What a repetition may change; the rest is copied from the first payment. */
export type Repetition = Pick<Order, 'orderId'> &
  Partial<
    Pick<Order, 'protocol' | 'amountText' | 'currency' | 'isAuthorisation' | 'scheduleId' | 'schedule' | 'content'>
  > & {
    description?: string;
    termUrl3ds?: string | undefined;
    /** The declined payment that the merchant retries. */
    retryOf?: string | undefined;
  };

/** Whether a payment cannot be repeated any more: its card was removed by request, or its data was erased. */
export const isSeriesEnded = (payment: PaymentWithDetails | undefined): boolean =>
  payment?.details.erasedAt !== undefined || payment?.details.card?.removed === true;

export function repetition(first: PaymentWithDetails, { description, termUrl3ds, retryOf, ...own }: Repetition): Order {
  const { identifier, returnUrl, callbackUrl, payer, customData, parameters, card, wallet, channelId } = first.details;
  const address = termUrl3ds ?? first.details.termUrl3ds;
  return {
    protocol: first.protocol,
    brand: first.brand,
    first: first.connector,
    amountText: first.amountText,
    currency: first.currency,
    isAuthorisation: false,
    isRecurringInit: false,
    content: '',
    ...own,
    details: {
      description: description ?? first.details.description,
      payer,
      recurringOf: first.details.recurringOf ?? first.paymentId,
      ...(identifier !== undefined && { identifier }),
      ...(returnUrl !== undefined && { returnUrl }),
      ...(address !== undefined && { termUrl3ds: address }),
      ...(callbackUrl !== undefined && { callbackUrl }),
      ...(customData !== undefined && { customData }),
      ...(parameters !== undefined && { parameters }),
      ...(card !== undefined && { card }),
      ...(retryOf !== undefined && { retryOf }),
      ...(wallet !== undefined && { wallet }),
      ...(channelId !== undefined && { channelId }),
    },
  };
}

/** The order with which a merchant retries a declined repetition; `schedule` is the one that begins with it. */
export const retryOrder = (declined: PaymentWithDetails, schedule?: Schedule): Order => {
  const { orderId, isAuthorisation, scheduleId, paymentId, fingerprint, details } = declined;
  const repeated = repetition(declined, {
    orderId,
    isAuthorisation,
    scheduleId: scheduleId ?? undefined,
    schedule,
    content: `retry ${paymentId}`,
    retryOf: details.retryOf ?? fingerprint,
  });
  return { ...repeated, retries: paymentId };
};
