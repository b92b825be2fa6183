/** The outside world at a glance: the newest payments, and a hand on each that waits. */
import type { FastifyInstance } from 'fastify';
import { wireDate } from '../src/lib/clock.ts';
import { type Html, html } from '../src/lib/html.ts';
import { isObject } from '../src/lib/json.ts';
import { brandOf } from './brands.ts';
import type { Payment, Status } from './ledger.ts';
import { amountShown } from './money.ts';
import { ownFormsOnly, sendPage, unknownPage } from './page.ts';
import { bankSays, canBeChargedBack, chargeBack, decide, isWaiting, Refused, type World, wordOf } from './payments.ts';

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

type Act = (world: World, payment: Payment) => void;

/** What can be done from here, by the name of its button. */
const ACTS: Readonly<Record<string, Act>> = {
  Approve: (world, payment) => decide(world, payment, 'approve'),
  Decline: (world, payment) => decide(world, payment, 'decline'),
  ACSC: (world, payment) => bankSays(world, payment, 'ACSC'),
  RJCT: (world, payment) => bankSays(world, payment, 'RJCT'),
  PDNG: (world, payment) => bankSays(world, payment, 'PDNG'),
  Chargeback: chargeBack,
};

function actsFor(world: World, payment: Payment): string[] {
  if (canBeChargedBack(world, payment)) return ['Chargeback'];
  if (!isWaiting(payment)) return [];
  return brandOf(payment).behaviour === 'qr' ? ['ACSC', 'RJCT', 'PDNG'] : ['Approve', 'Decline'];
}

function buttons(world: World, payment: Payment): Html | false {
  const acts = actsFor(world, payment);
  if (acts.length === 0) return false;
  const { reference, token } = payment;
  return html`<form method="post" action="/desk/${encodeURIComponent(reference)}">
${acts.includes('ACSC') && html`<span>Bank:</span>`}
${acts.map((act) => html`<button class="no" name="act" value="${act}" aria-label="${act} ${reference}">${act}</button>`)}
${isWaiting(payment) && html`<a class="open" href="/pay/${token}">Payer’s page</a>`}
</form>`;
}

/** Refunded or charged back: what came in has gone out again. */
const isReturned = ({ ledger }: World, { reference, status, direction }: Payment): boolean =>
  status === 'settled' && direction === 'in' && ledger.balance(reference) === 0n;

const row = (world: World, payment: Payment): Html => html`<tr>
<td class="which"><span class="brand">${payment.brand}</span>
<time class="when" datetime="${new Date(payment.createdAt).toISOString()}">${wireDate(payment.createdAt)}</time>
<span class="reference mono">${payment.reference}</span></td>
<td class="sum">${payment.direction === 'out' && '−'}${amountShown(payment.amount, payment.currency)}</td>
<td class="state"><b class="${MARKS[payment.status]}">${wordOf(payment)}</b>${isReturned(world, payment) && html`<small>returned</small>`}</td>
<td class="acts">${buttons(world, payment)}</td>
</tr>
`;

const table = (world: World, payments: readonly Payment[]): Html => html`<table>
<thead><tr><th>Payment, time in UTC</th><th class="sum">Amount</th><th>Status</th><th>What happens next</th></tr></thead>
<tbody>
${payments.map((payment) => row(world, payment))}</tbody>
</table>`;

export function desk(app: FastifyInstance, world: World): void {
  app.addHook('onRequest', ownFormsOnly);

  app.get('/', async (_request, reply) => {
    const payments = world.ledger.newestPayments();
    return sendPage(reply, {
      title: 'The outside world',
      refreshSeconds: 5,
      body: html`<main class="desk">
<h1>The outside world</h1>
<p class="lead">What the simulated providers and banks know: the newest 50 payments. This page renews itself.</p>
${payments.length === 0 ? html`<p class="empty">No payment has come yet.</p>` : table(world, payments)}
</main>`,
    });
  });

  app.post<{ Params: { reference: string } }>('/desk/:reference', async ({ params, body }, reply) => {
    const payment = world.ledger.payment(params.reference);
    const name = isObject(body) ? String(body.act) : '';
    const act = Object.hasOwn(ACTS, name) ? ACTS[name] : undefined;
    if (!payment || !act) return sendPage(reply.code(404), unknownPage());
    try {
      act(world, payment);
    } catch (error) {
      // The page was older than the payment; the new one shows what can still be done.
      if (!(error instanceof Refused)) throw error;
    }
    return reply.redirect('/', 303);
  });
}
