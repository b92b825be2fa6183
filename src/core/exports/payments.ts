/** The export of payments as CSV, in portions: memory does not grow with the number of payments. */
import { csvRows } from '../../lib/text/csv.ts';
import { LIMITS } from '../../rules/limits.ts';
import type { Gateway, ListedPayment, PaymentSelection } from '../context.ts';
import { exportPayments } from '../payments/find.ts';
import { accountsOf, report, wholeHours } from '../reports/reports.ts';
import type { Download } from './download.ts';
import { type ListedPaymentView, listedPaymentView } from './payment-view.ts';

/** A failure of the first read is thrown here, while an error can still be answered. */
export async function paymentsCsv(
  gateway: Gateway,
  filter: PaymentSelection,
  columns: readonly PaymentColumn[] = PAYMENT_COLUMNS,
): Promise<Download> {
  const portions = exportPayments(gateway, filter);
  const first = await portions.next();
  const time = new Date(gateway.clock.now()).toISOString().replace(/\..*|:/g, '');
  return { filename: `payments-${time}Z.csv`, chunks: csv(columns, first.value ?? [], portions) };
}

/**
 * About how many payments a filter has: the sums of reports tell it for accounts, brands and days. Undefined for any
 * other filter, because counting would read all payments.
 */
export async function estimatedPayments(
  gateway: Gateway,
  { mids, mid, brand, from, to, ...others }: PaymentSelection,
): Promise<number | undefined> {
  if (Object.values(others).some((value) => value !== undefined)) return undefined;
  const now = gateway.clock.now(mid);
  const range = wholeHours({ from: from ?? 0, to: to ?? now + LIMITS.dayMs });
  const scope = { ...range, mids: accountsOf(mids, mid) };
  const { rows } = await report(gateway, scope, ['brand'], LIMITS.reportRowsMost);
  return rows.filter((row) => brand === undefined || row.brand === brand).reduce((sum, row) => sum + row.payments, 0);
}

async function* csv(
  columns: readonly PaymentColumn[],
  first: ListedPayment[],
  rest: AsyncIterable<ListedPayment[]>,
): AsyncGenerator<string, void> {
  const cells = (payment: ListedPayment) => {
    const values = valuesOf(payment);
    return columns.map((name) => values[name]);
  };
  yield csvRows([[...columns], ...first.map(cells)]);
  for await (const payments of rest) {
    // An empty chunk would end the stream.
    if (payments.length > 0) yield csvRows(payments.map(cells));
  }
}

/** The fields of the API; the compiler requires all of them. */
const FIELDS: Readonly<Record<keyof ListedPaymentView, true>> = {
  payment_id: true,
  mid: true,
  order_id: true,
  attempt: true,
  status: true,
  brand: true,
  protocol: true,
  amount: true,
  currency: true,
  authorised: true,
  captured: true,
  refunded: true,
  decline_reason: true,
  decline_class: true,
  decline_code: true,
  attention: true,
  schedule_id: true,
  created_at: true,
  updated_at: true,
  connector: true,
  connection_id: true,
  route_reason: true,
  provider_reference: true,
  link_id: true,
  invoice_id: true,
  channel: true,
};

/** What identifies the purchase and the payer to a person. */
const purchaseOf = (payment: ListedPayment) => ({
  description: payment.description,
  payer_name: payment.payerName,
  payer_email: payment.payerEmail,
  payer_country: payment.payerCountry,
  card: payment.cardMasked,
  card_network: payment.cardNetwork,
});

export type PaymentColumn = keyof ListedPaymentView | keyof ReturnType<typeof purchaseOf>;

/** The columns of the file, in their order. */
export const PAYMENT_COLUMNS: readonly PaymentColumn[] = [
  ...(Object.keys(FIELDS) as (keyof ListedPaymentView)[]),
  ...(['payer_name', 'payer_email', 'card', 'card_network', 'description', 'payer_country'] as const),
];

const valuesOf = (payment: ListedPayment): Record<PaymentColumn, string | number | null> => ({
  ...listedPaymentView(payment),
  ...purchaseOf(payment),
});
