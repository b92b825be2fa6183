/** A payment in the lists of the admin API and in exports. */

import { amountText } from '../../lib/money/money.ts';
import { wireDate } from '../../lib/time/clock.ts';
import { splitConnectionKey } from '../../rules/connectors.ts';
import { exponentOf } from '../../rules/currencies.ts';
import { declineClassOf } from '../../rules/declines.ts';
import type { ListedPayment, Payment } from '../context.ts';

export const amountFormatter =
  ({ currency }: Payment) =>
  (minor: bigint): string =>
    amountText(minor, exponentOf(currency));

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
    ...declineView(payment),
    attention: payment.attention,
    schedule_id: payment.scheduleId,
    created_at: wireDate(payment.createdAt),
    updated_at: wireDate(payment.updatedAt),
    ...connectorView(payment.connector),
    route_reason: payment.routeReason,
    provider_reference: payment.providerReference,
  };
}

/** The class and the code of a decline; null for a payment that is not declined. */
function declineView({ state, providerData }: Payment) {
  if (state !== 'DECLINED') return { decline_class: null, decline_code: null };
  return { decline_class: declineClassOf(providerData?.decline), decline_code: providerData?.decline?.code ?? null };
}

/** The connector and the connection of a stored key; the connection is null for the installation's own provider. */
export function connectorView(key: string) {
  const { connector, connectionId } = splitConnectionKey(key);
  return { connector, connection_id: connectionId };
}

/** What the payer began from. */
export const originView = ({
  linkId = null,
  invoiceId = null,
  isTelephoneOrder = false,
}: {
  linkId?: string | null | undefined;
  invoiceId?: string | null | undefined;
  isTelephoneOrder?: boolean | undefined;
}) => ({ link_id: linkId, invoice_id: invoiceId, channel: isTelephoneOrder ? 'moto' : null });

export const listedPaymentView = (payment: ListedPayment) => ({ ...paymentView(payment), ...originView(payment) });
export type ListedPaymentView = ReturnType<typeof listedPaymentView>;
