/** The form on the page of a payment that blocks its card or its payer for some days. */

import type { PaymentWithDetails } from '../../../core/context.ts';
import { BLOCK_DAYS, type Blockable, blockableOf, blockPayer } from '../../../core/risk/block.ts';
import { type Html, html } from '../../../lib/text/html.ts';
import { isAllowed } from '../../../rules/roles.ts';
import { formToken } from '../frame/layout.ts';
import { choiceField, fill } from '../frame/parts.ts';
import type { PanelAnswer, PanelRequest, PanelRoute } from '../frame/route.ts';
import { panelTexts } from '../locales/index.ts';
import { requirePayment } from '../payments/find.ts';

const text = panelTexts.risk.block;
const DEFAULT_DAYS = 30;

/** Nothing if the payment names nobody, or the operator may not manage rules. */
export function blockCard({ session }: Pick<PanelRequest, 'session'>, payment: PaymentWithDetails): Html | false {
  const offered = blockableOf(payment);
  if (offered.length === 0 || !isAllowed(session.principal.role, 'risk.manage')) return false;
  const choices = offered.map((what): [Blockable, string] => [what, text.what[what]]);
  return html`<section class="card" aria-labelledby="block"><h2 id="block">${text.title}</h2><p class="soft">${text.hint}</p>
<form method="post" action="/admin/payments/${payment.paymentId}/block">${formToken(session)}
${choiceField({ name: 'what', label: text.subject, value: offered[0] }, choices)}
${choiceField(
  { name: 'days', label: text.time, value: String(DEFAULT_DAYS) },
  BLOCK_DAYS.map((days) => [String(days), fill(text.days, { days: String(days) })] as const),
)}
<div class="actions"><button class="quiet danger">${text.action}</button></div></form></section>`;
}

async function block(request: PanelRequest): Promise<PanelAnswer> {
  const { gateway, session, caller, form } = request;
  const { payment } = await requirePayment(request);
  await blockPayer(gateway, session.principal, caller, payment, {
    what: form.get('what'),
    days: form.get('days'),
    reason: payment.orderId,
  });
  return { redirect: `/admin/payments/${payment.paymentId}?done=blocked` };
}

const ONE = '/admin/payments/:paymentId';

export const blockPages: readonly PanelRoute[] = [
  {
    method: 'POST',
    path: `${ONE}/block`,
    permission: 'risk.manage',
    scope: 'accounts',
    confirmFor: ONE,
    handle: block,
  },
];
