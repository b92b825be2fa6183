/** The simulator console: the newest payments, with buttons to decide those that wait. */
import type { FastifyInstance } from 'fastify';
import { Html, html } from '../src/lib/text/html.ts';
import { isObject } from '../src/lib/text/json.ts';
import { wireDate } from '../src/lib/time/clock.ts';
import { brandOf } from './brands.ts';
import { chargeBack, possibleChargebacks } from './chargebacks.ts';
import type { ChargebackKind, Payment, Status } from './ledger.ts';
import { formatAmount } from './money.ts';
import { refuseCrossSiteForms, sendPage, unknownPage } from './page.ts';
import { Conflict, decide, isWaiting, reportBankStatus, type Simulator, wireStatusOf } from './payments.ts';

const STATUS_CLASSES: Readonly<Record<Status, string>> = {
  redirect: 'wait',
  pending: 'wait',
  confirming: 'wait',
  sending: 'wait',
  authorised: 'good',
  settled: 'good',
  declined: 'bad',
  voided: 'plain',
};

type ConsoleAction = (simulator: Simulator, payment: Payment) => void;

/** The actions of the console, by the label of the button. */
const ACTIONS: Readonly<Record<string, ConsoleAction>> = {
  Approve: (simulator, payment) => decide(simulator, payment, 'approve'),
  Decline: (simulator, payment) => decide(simulator, payment, 'decline'),
  ACSC: (simulator, payment) => reportBankStatus(simulator, payment, 'ACSC'),
  RJCT: (simulator, payment) => reportBankStatus(simulator, payment, 'RJCT'),
  PDNG: (simulator, payment) => reportBankStatus(simulator, payment, 'PDNG'),
  Chargeback: (simulator, payment) => chargeBack(simulator, payment),
  Reversal: (simulator, payment) => chargeBack(simulator, payment, 'chargeback_reversed'),
  'Second chargeback': (simulator, payment) => chargeBack(simulator, payment, 'second_chargeback'),
};

const CHARGEBACK_ACTIONS: Readonly<Record<ChargebackKind, string>> = {
  chargeback: 'Chargeback',
  chargeback_reversed: 'Reversal',
  second_chargeback: 'Second chargeback',
};

function actionsFor(simulator: Simulator, payment: Payment): string[] {
  const chargebacks = possibleChargebacks(simulator, payment).map((kind) => CHARGEBACK_ACTIONS[kind]);
  if (chargebacks.length > 0) return chargebacks;
  if (!isWaiting(payment)) return [];
  return brandOf(payment).behaviour === 'qr' ? ['ACSC', 'RJCT', 'PDNG'] : ['Approve', 'Decline'];
}

function buttons(simulator: Simulator, payment: Payment): Html | false {
  const actions = actionsFor(simulator, payment);
  if (actions.length === 0) return false;
  const { reference, token } = payment;
  return html`<form method="post" action="/console/${encodeURIComponent(reference)}">
${actions.includes('ACSC') && html`<span>Bank:</span>`}
${actions.map((action) => html`<button class="no" name="action" value="${action}" aria-label="${action} ${reference}">${action}</button>`)}
${isWaiting(payment) && html`<a class="open" href="/pay/${token}">Payer’s page</a>`}
</form>`;
}

/** Whether the payment was refunded or charged back in full. */
const isReturned = ({ ledger }: Simulator, { reference, status, direction }: Payment): boolean =>
  status === 'settled' && direction === 'in' && ledger.balance(reference) === 0n;

const row = (simulator: Simulator, payment: Payment): Html => html`<tr>
<td class="which"><span class="brand">${payment.brand}</span>
<time class="when" datetime="${new Date(payment.createdAt).toISOString()}">${wireDate(payment.createdAt)}</time>
<span class="reference mono">${payment.reference}</span></td>
<td class="sum">${payment.direction === 'out' && '−'}${formatAmount(payment.amount, payment.currency)}</td>
<td class="state"><b class="${STATUS_CLASSES[payment.status]}">${wireStatusOf(payment)}</b>${isReturned(simulator, payment) && html`<small>returned</small>`}</td>
<td class="actions">${buttons(simulator, payment)}</td>
</tr>
`;

const table = (simulator: Simulator, payments: readonly Payment[]): Html => html`<table>
<thead><tr><th>Payment, time in UTC</th><th class="sum">Amount</th><th>Status</th><th>Actions</th></tr></thead>
<tbody>
${payments.map((payment) => row(simulator, payment))}</tbody>
</table>`;

/** Replaces the list every few seconds, unless it is switched off, or somebody is about to press a button of it. */
const FOLLOW = new Html(`
const follow = document.getElementById('follow');
follow.hidden = false;
setInterval(async () => {
  const list = document.getElementById('payments');
  if (!follow.firstElementChild.checked || document.hidden || list.contains(document.activeElement)) return;
  try {
    const page = new DOMParser().parseFromString(await (await fetch('/')).text(), 'text/html');
    list.replaceWith(page.getElementById('payments') ?? list);
  } catch {
    // The simulator is not running just now; the next request may succeed.
  }
}, 5000);
`);

export function consoleRoutes(app: FastifyInstance, simulator: Simulator): void {
  app.addHook('onRequest', refuseCrossSiteForms);

  app.get('/', async (_request, reply) => {
    const payments = simulator.ledger.newestPayments();
    return sendPage(reply, {
      title: 'Provider simulator',
      script: FOLLOW,
      isReading: true,
      body: html`<main class="console">
<h1>Provider simulator</h1>
<p class="lead">The newest 50 payments at the simulated providers and banks. <label id="follow" hidden><input type="checkbox" checked> Show new payments by itself</label></p>
<div id="payments">${payments.length === 0 ? html`<p class="empty">No payments yet.</p>` : table(simulator, payments)}</div>
</main>`,
    });
  });

  app.post<{ Params: { reference: string } }>('/console/:reference', async ({ params, body }, reply) => {
    const payment = simulator.ledger.payment(params.reference);
    const name = isObject(body) ? String(body.action) : '';
    const action = Object.hasOwn(ACTIONS, name) ? ACTIONS[name] : undefined;
    if (!payment || !action) return sendPage(reply.code(404), unknownPage());
    try {
      action(simulator, payment);
    } catch (error) {
      // The page was outdated; the redirect shows the current one.
      if (!(error instanceof Conflict)) throw error;
    }
    return reply.redirect('/', 303);
  });
}
