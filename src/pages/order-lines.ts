/** The lines of an order as a table: on the payment page, on the receipt and in its e-mail. */
import type { PaymentWithDetails } from '../core/context.ts';
import { type Html, html } from '../lib/text/html.ts';
import { LINE_EXTRAS, type OrderLines, subtotalOf } from '../rules/order-lines.ts';
import type { Locale } from './locale.ts';

type LinePayment = Pick<PaymentWithDetails, 'amount' | 'currency'>;

export interface LineRow {
  label: string;
  /** `2 × EUR 5.00`. */
  detail?: string;
  amount: string;
}

/** What is written of each line, and the sums below the lines; the last one is the total. */
export function rowsOf(
  lines: OrderLines,
  { amount: total, currency }: LinePayment,
  { messages: { orderLines }, formatAmount, formatCount }: Locale,
): { items: LineRow[]; sums: LineRow[] } {
  const written = (amount: bigint | string): string => formatAmount({ amount: BigInt(amount), currency });
  const items = lines.items.map(({ name, quantity, unitAmount, amount }): LineRow => {
    const count = formatCount(quantity);
    const detail = unitAmount === undefined ? `× ${count}` : `${count} × ${written(unitAmount)}`;
    return { label: name, ...(quantity > 1 && { detail }), amount: written(amount) };
  });
  const extras = LINE_EXTRAS.flatMap((name): LineRow[] => {
    const units = lines[name];
    if (units === undefined) return [];
    return [{ label: orderLines[name], amount: written(name === 'discount' ? -BigInt(units) : units) }];
  });
  const subtotal = { label: orderLines.subtotal, amount: written(subtotalOf(lines)) };
  const sums = [
    ...(extras.length > 0 ? [subtotal, ...extras] : []),
    { label: orderLines.total, amount: written(total) },
  ];
  return { items, sums };
}

const row = ({ label, detail, amount }: LineRow, isName: boolean): Html =>
  html`<tr><th scope="row"><span${isName && html` dir="auto"`}>${label}</span>${detail && html` <small><bdi>${detail}</bdi></small>`}</th><td><bdi>${amount}</bdi></td></tr>`;

export function linesTable(lines: OrderLines, payment: LinePayment, locale: Locale): Html {
  const { items, sums } = rowsOf(lines, payment, locale);
  return html`<table class="lines"><tbody>${items.map((item) => row(item, true))}</tbody><tfoot>${sums.map((sum) => row(sum, false))}</tfoot></table>`;
}

/** The lines in the summary of an order: collapsed on a phone, open beside the form on a wide screen. */
export function collapsedLines(payment: PaymentWithDetails, locale: Locale): Html | false {
  const { lines } = payment.details;
  if (!lines) return false;
  const { messages, formatMessage, formatCount } = locale;
  const title = formatMessage(messages.orderLines.items, { count: formatCount(lines.items.length) });
  return html`<details class="basket"><summary>${title}</summary>${linesTable(lines, payment, locale)}</details>`;
}
