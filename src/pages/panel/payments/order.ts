/** The order lines and the e-mailed receipt on the page of a payment. */
import type { PaymentWithDetails, Receipt } from '../../../core/context.ts';
import { receiptAddress } from '../../../core/receipts/receipts.ts';
import { type Html, html } from '../../../lib/text/html.ts';
import { LINE_EXTRAS, subtotalOf } from '../../../rules/order-lines.ts';
import { badge, type Column, fill, money, table } from '../frame/parts.ts';
import { panelTexts } from '../locales/index.ts';

const text = panelTexts.paymentOrder;

interface Row {
  name: string;
  quantity?: number;
  unit?: bigint;
  amount: bigint;
}

export function orderLines({ amount, currency, details: { lines } }: PaymentWithDetails): Html | false {
  if (!lines) return false;
  const extras = LINE_EXTRAS.flatMap((name): Row[] => {
    const units = lines[name];
    return units === undefined
      ? []
      : [{ name: text[name], amount: name === 'discount' ? -BigInt(units) : BigInt(units) }];
  });
  const rows: Row[] = [
    ...lines.items.map(
      (line): Row => ({
        name: line.name,
        quantity: line.quantity,
        ...(line.unitAmount !== undefined && { unit: BigInt(line.unitAmount) }),
        amount: BigInt(line.amount),
      }),
    ),
    ...(extras.length > 0 ? [{ name: text.subtotal, amount: subtotalOf(lines) }, ...extras] : []),
    { name: text.total, amount },
  ];
  const columns: Column<Row>[] = [
    { label: text.name, cell: ({ name }) => html`<span dir="auto">${name}</span>` },
    { label: text.quantity, isNumber: true, cell: ({ quantity }) => quantity ?? '' },
    { label: text.unit, isNumber: true, cell: ({ unit }) => (unit === undefined ? '' : money(unit, currency)) },
    { label: text.amount, isNumber: true, cell: (row) => money(row.amount, currency) },
  ];
  return html`<section class="card flush"><h2 class="inset">${text.title}</h2>${table(text.title, columns, rows)}</section>`;
}

/** The entry of the timeline: the receipt as it is after its last attempt. */
export function receiptMoment(
  payment: PaymentWithDetails,
  { state, attempts, reason, createdAt, attemptedAt }: Receipt,
) {
  const tone = state === 'sent' ? 'good' : state === 'failed' ? 'bad' : 'wait';
  return {
    at: attemptedAt ?? createdAt,
    order: 2_000_000,
    tone,
    what: html`<h3>${attempts > 0 ? fill(text.receiptAttempt, { attempt: String(attempts) }) : text.receipt} ${badge(text.states[state], tone)}</h3>
<p class="soft small">${receiptAddress(payment)}${reason !== null && html` · ${reason}`}</p>`,
  } as const;
}
