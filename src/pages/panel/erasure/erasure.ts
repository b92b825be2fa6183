/** The page that erases the personal data of a payer, after it has said what is lost. */
import { eraseOrderAs, erasePayerAs, type PayerErasure } from '../../../core/erasure/erase.ts';
import { type Html, html } from '../../../lib/text/html.ts';
import { ERRORS, Refusal } from '../../../rules/errors.ts';
import { formToken } from '../frame/layout.ts';
import { facts, money, refusalText } from '../frame/parts.ts';
import type { PanelAnswer, PanelRequest, PanelRoute } from '../frame/route.ts';
import { panelTexts } from '../locales/index.ts';
import { requirePayment } from '../payments/find.ts';
import { statusBadge } from '../payments/status.ts';

const PATH = '/admin/payments/:paymentId/erase';
const text = panelTexts.erasure;

const list = (items: readonly (string | Html)[]): Html => html`<ul>${items.map((item) => html`<li>${item}</li>`)}</ul>`;

async function show(request: PanelRequest, error?: string | Html): Promise<PanelAnswer> {
  const { payment } = await requirePayment(request);
  const { email } = payment.details.payer;
  const path = `/admin/payments/${payment.paymentId}`;
  const chosen = request.form.get('scope') ?? 'order';
  const scope = (value: string, label: string): Html =>
    html`<label class="choice"><input type="radio" name="scope" value="${value}"${value === chosen && html` checked`}>${label}</label>`;
  return {
    title: text.title,
    status: error === undefined ? 200 : 400,
    body: html`<div class="card narrow erasure"><h1>${text.title}</h1>${
      error !== undefined && html`<div class="notice bad" role="alert">${error}</div>`
    }
<p>${text.lead}</p>${facts([
      [panelTexts.payments.order, payment.orderId],
      [panelTexts.payments.amount, money(payment.amount, payment.currency)],
      [panelTexts.payments.status, statusBadge(payment)],
      [panelTexts.payment.email, email],
    ])}
<h2>${text.lost}</h2>${list(text.losses)}<h2>${text.stays}</h2>${list(text.kept)}
<form method="post" action="${path}/erase">${formToken(request.session)}${
      email
        ? html`<fieldset class="bare"><legend>${text.scope}</legend>${scope('order', text.order)}${scope('payer', text.payer.replace('{email}', email))}</fieldset>`
        : html`<input type="hidden" name="scope" value="order">`
    }
<div class="actions"><button class="danger">${text.confirm}</button> <a class="button quiet" href="${path}">${panelTexts.payment.cancel}</a></div></form></div>`,
  };
}

/** What the erasure of a payer left, if it left anything. */
function remainder({ refused, next }: PayerErasure): Html | undefined {
  if (refused.length === 0 && next === null) return undefined;
  return html`${
    refused.length > 0 &&
    html`<p>${text.partly}</p>${list(
      refused.map(
        ({ paymentId, sentence }) =>
          html`<a class="mono" href="/admin/payments/${paymentId}">${paymentId}</a>: ${sentence}`,
      ),
    )}`
  }${next !== null && html`<p>${text.more}</p>`}`;
}

async function erase(request: PanelRequest): Promise<PanelAnswer> {
  const { gateway, session, caller, form } = request;
  const { payment } = await requirePayment(request);
  const { email } = payment.details.payer;
  try {
    if (form.get('scope') === 'payer' && email) {
      const left = remainder(await erasePayerAs(gateway, session.principal, caller, payment.mid, email));
      if (left) return show(request, left);
    } else await eraseOrderAs(gateway, session.principal, caller, payment.paymentId);
  } catch (error) {
    if (!(error instanceof Refusal) || ERRORS[error.error].http !== 400) throw error;
    return show(request, refusalText(error));
  }
  return { redirect: `/admin/payments/${payment.paymentId}?done=erased` };
}

export const erasurePages: readonly PanelRoute[] = [
  {
    method: 'GET',
    path: PATH,
    permission: 'payments.erase',
    scope: 'accounts',
    confirmFirst: true,
    handle: (request) => show(request),
  },
  {
    method: 'POST',
    path: PATH,
    permission: 'payments.erase',
    scope: 'accounts',
    confirmFor: '/admin/payments/:paymentId',
    handle: erase,
  },
];
