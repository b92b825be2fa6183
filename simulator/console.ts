/** Provider simulator at a glance: the newest payments, and a hand on each that waits. */
import type { FastifyInstance } from 'fastify';
import { wireDate } from '../src/lib/clock.ts';
import { type Html, html } from '../src/lib/html.ts';
import { isObject } from '../src/lib/json.ts';
import { brandOf } from './brands.ts';
import type { Payment, Status } from './ledger.ts';
import { formatAmount } from './money.ts';
import { ownFormsOnly, sendPage, unknownPage } from './page.ts';
import {
  canBeChargedBack,
  chargeBack,
  decide,
  isWaiting,
  Refused,
  reportBankStatus,
  type Simulator,
  wireStatusOf,
} from './payments.ts';

const MARKS: Readonly<Record<Status, string>> = {
  redirect: 'wait',
  pending: 'wait',
  confirming: 'wait',
  sending: 'wait',
  authorised: 'good',
  settled: 'good',
  declined: 'bad',
  voided: 'plain',
};

type Act = (simulator: Simulator, payment: Payment) => void;

/** What can be done from here, by the name of its button. */
const ACTS: Readonly<Record<string, Act>> = {
  Approve: (simulator, payment) => decide(simulator, payment, 'approve'),
  Decline: (simulator, payment) => decide(simulator, payment, 'decline'),
  ACSC: (simulator, payment) => reportBankStatus(simulator, payment, 'ACSC'),
  RJCT: (simulator, payment) => reportBankStatus(simulator, payment, 'RJCT'),
  PDNG: (simulator, payment) => reportBankStatus(simulator, payment, 'PDNG'),
  Chargeback: chargeBack,
};

function actsFor(simulator: Simulator, payment: Payment): string[] {
  if (canBeChargedBack(simulator, payment)) return ['Chargeback'];
  if (!isWaiting(payment)) return [];
  return brandOf(payment).behaviour === 'qr' ? ['ACSC', 'RJCT', 'PDNG'] : ['Approve', 'Decline'];
}

function buttons(simulator: Simulator, payment: Payment): Html | false {
  const acts = actsFor(simulator, payment);
  if (acts.length === 0) return false;
  const { reference, token } = payment;
  return html`<form method="post" action="/desk/${encodeURIComponent(reference)}">
${acts.includes('ACSC') && html`<span>Bank:</span>`}
${acts.map((act) => html`<button class="no" name="act" value="${act}" aria-label="${act} ${reference}">${act}</button>`)}
${isWaiting(payment) && html`<a class="open" href="/pay/${token}">Payer’s page</a>`}
</form>`;
}

/** Refunded or charged back: what came in has gone out again. */
const isReturned = ({ ledger }: Simulator, { reference, status, direction }: Payment): boolean =>
  status === 'settled' && direction === 'in' && ledger.balance(reference) === 0n;

const row = (simulator: Simulator, payment: Payment): Html => html`<tr>
<td class="which"><span class="brand">${payment.brand}</span>
<time class="when" datetime="${new Date(payment.createdAt).toISOString()}">${wireDate(payment.createdAt)}</time>
<span class="reference mono">${payment.reference}</span></td>
<td class="sum">${payment.direction === 'out' && '−'}${formatAmount(payment.amount, payment.currency)}</td>
<td class="state"><b class="${MARKS[payment.status]}">${wireStatusOf(payment)}</b>${isReturned(simulator, payment) && html`<small>returned</small>`}</td>
<td class="acts">${buttons(simulator, payment)}</td>
</tr>
`;

const table = (simulator: Simulator, payments: readonly Payment[]): Html => html`<table>
<thead><tr><th>Payment, time in UTC</th><th class="sum">Amount</th><th>Status</th><th>What happens next</th></tr></thead>
<tbody>
${payments.map((payment) => row(simulator, payment))}</tbody>
</table>`;

export function consoleRoutes(app: FastifyInstance, simulator: Simulator): void {
  app.addHook('onRequest', ownFormsOnly);

  app.get('/', async (_request, reply) => {
    const payments = simulator.ledger.newestPayments();
    return sendPage(reply, {
      title: 'Provider simulator',
      refreshSeconds: 5,
      body: html`<main class="desk">
<h1>Provider simulator</h1>
<p class="lead">What the simulated providers and banks know: the newest 50 payments. This page renews itself.</p>
${payments.length === 0 ? html`<p class="empty">No payment has come yet.</p>` : table(simulator, payments)}
</main>`,
    });
  });

  app.post<{ Params: { reference: string } }>('/desk/:reference', async ({ params, body }, reply) => {
    const payment = simulator.ledger.payment(params.reference);
    const name = isObject(body) ? String(body.act) : '';
    const act = Object.hasOwn(ACTS, name) ? ACTS[name] : undefined;
    if (!payment || !act) return sendPage(reply.code(404), unknownPage());
    try {
      act(simulator, payment);
    } catch (error) {
      // The page was older than the payment; the new one shows what can still be done.
      if (!(error instanceof Refused)) throw error;
    }
    return reply.redirect('/', 303);
  });
}
