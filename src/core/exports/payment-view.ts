/** A payment in the lists of the admin API and in exports. */

import { wireDate } from '../../lib/clock.ts';
import { amountText } from '../../lib/money.ts';
import { splitConnectionKey } from '../../rules/connectors.ts';
import { CURRENCIES } from '../../rules/currencies.ts';
import type { Payment } from '../context.ts';

export const amountFormatter =
  ({ currency }: Payment) =>
  (minor: bigint): string =>
    amountText(minor, CURRENCIES[currency]?.exponent ?? 2);

export function paymentView(payment: Payment) {
  const formatAmount = amountFormatter(payment);
  return {
    payment_id: payment.paymentId,
    mid: payment.mid,
    order_id: payment.orderId,
    attempt: payment.attempt,
    status: payment.state,
    brand: payment.brand,
    protocol: payment.protocol,
    amount: payment.amountText,
    currency: payment.currency,
    authorised: formatAmount(payment.authorised),
    captured: formatAmount(payment.captured),
    refunded: formatAmount(payment.refunded),
    decline_reason: payment.declineReason,
    attention: payment.attention,
    schedule_id: payment.scheduleId,
    created_at: wireDate(payment.createdAt),
    updated_at: wireDate(payment.updatedAt),
    ...connectorView(payment.connector),
    route_reason: payment.routeReason,
    provider_reference: payment.providerReference,
  };
}

/** The connector and the connection of a stored key; the connection is null for the installation's own provider. */
export function connectorView(key: string) {
  const { connector, connectionId } = splitConnectionKey(key);
  return { connector, connection_id: connectionId };
}

export type PaymentView = ReturnType<typeof paymentView>;
