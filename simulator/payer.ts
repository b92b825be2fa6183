/** The payer's page: what is to be paid, and the payer's decision. */
import type { FastifyInstance } from 'fastify';
import { type Html, html } from '../src/lib/html.ts';
import { isObject } from '../src/lib/json.ts';
import { coinAddress, digitsOf } from './accounts.ts';
import { brandOf, type Scene } from './brands.ts';
import type { Payment, Status } from './ledger.ts';
import { formatAmount, instalments } from './money.ts';
import { icon, ownFormsOnly, type Page, qrDrawing, sendPage, unknownPage } from './page.ts';
import { cardRowOf, decide, instructionsOf, isWaiting, qrOf, type Simulator } from './payments.ts';

interface SceneText {
  who: string;
  title(merchant: string): string;
  lead: string;
  approve: string;
  decline: string;
}

const PAY = (merchant: string): string => `Pay ${merchant}`;

const SCENES: Readonly<Record<Scene, SceneText>> = {
  hosted: { who: 'Simulated provider', title: PAY, lead: '', approve: 'Approve', decline: 'Decline' },
  bank: {
    who: 'Simulated bank',
    title: (merchant) => `Allow a payment to ${merchant}?`,
    lead: 'Your consent is for this one payment. It is taken from the account below.',
    approve: 'Approve',
    decline: 'Decline',
  },
  credit: {
    who: 'Simulated lender',
    title: (merchant) => `Pay ${merchant} in three parts`,
    lead: 'The lender decides on your credit. Choose the decision that you want to see.',
    approve: 'Approve the credit',
    decline: 'Decline the credit',
  },
  crypto: {
    who: 'Simulated network',
    title: PAY,
    lead: 'Send the amount to the address below. It settles after three confirmations.',
    approve: 'I have sent it',
    decline: 'Decline',
  },
  app: {
    who: 'Simulated payment app',
    title: (merchant) => `${merchant} requests a payment`,
    lead: 'This is the request as it appears in your app.',
    approve: 'Approve',
    decline: 'Decline',
  },
  transfer: {
    who: 'Simulated transfer',
    title: PAY,
    lead: 'Transfer the exact amount to this account.',
    approve: 'I have sent the transfer',
    decline: 'Decline',
  },
  qr: {
    who: 'Simulated bank app',
    title: PAY,
    lead: 'The code holds the whole payment. Approving it here is what scanning it does in a bank app.',
    approve: 'Approve',
    decline: 'Decline',
  },
  card: { who: 'Simulated acquirer', title: PAY, lead: '', approve: 'Approve', decline: 'Decline' },
  payout: {
    who: 'Simulated payout',
    title: (merchant) => `${merchant} pays you`,
    lead: '',
    approve: 'Approve',
    decline: 'Decline',
  },
};

/** A card that decides for the payer says so. */
const CARD_LEADS = {
  approve: 'This test card is paid, whatever you choose.',
  decline: 'This test card is declined, whatever you choose.',
} as const;

const fact = (name: string, value: string | Html): Html | false =>
  value !== '' && html`<div><dt>${name}</dt><dd>${value}</dd></div>`;

const toCopy = (name: string, value: string): Html =>
  html`<p class="label">${name}</p><code class="copy">${value}</code>`;

const facts = ({ description, method, reference }: Payment, more: readonly (Html | false)[] = []): Html => html`
<dl class="facts">
${fact('For', description === '' ? '' : html`<div class="long">${description}</div>`)}
${fact('Paid with', method ?? '')}
${more}
${fact('Reference', html`<code>${reference}</code>`)}
</dl>`;

const cardFact = ({ ledger }: Simulator, { reference }: Payment): Html | false => {
  const card = ledger.card(reference);
  return card !== undefined && fact('Card', html`<code>•••• ${card.last4}</code>`);
};

const DAYS = ['Today', 'In 30 days', 'In 60 days'];

function ownFacts({ amount, currency, reference }: Payment, scene: Scene): (Html | false)[] {
  if (scene === 'bank') return [fact('From', html`Current account <code>···· ${digitsOf(reference, 4)}</code>`)];
  if (scene !== 'credit') return [];
  return instalments(amount, DAYS.length).map((part, index) =>
    fact(DAYS[index] as string, formatAmount(part, currency)),
  );
}

/** What only this kind of payment shows. */
function extras(payment: Payment, scene: Scene): Html | false {
  if (scene === 'crypto') {
    const address = coinAddress(payment.reference);
    return html`<div class="code">${qrDrawing(address, 'The address as a QR code')}</div>
${toCopy(payment.coin ? `${payment.coin} address` : 'Address', address)}`;
  }
  if (scene === 'transfer') {
    const { account_number, account_holder, reference } = instructionsOf(payment);
    return html`${toCopy('Account number', account_number)}${toCopy('Account holder', account_holder)}
${toCopy('Reference of the transfer', reference)}`;
  }
  return scene === 'qr' && html`<div class="code">${qrDrawing(qrOf(payment), 'The payment as a QR code')}</div>`;
}

const amountLine = ({ amount, currency }: Payment): Html => {
  const shown = formatAmount(amount, currency);
  return html`<p class="amount ${shown.length > 14 && 'wide'}">${shown}</p>`;
};

const methodsOf = (payment: Payment): string[] => JSON.parse(payment.methods);

const choices = (methods: readonly string[]): Html | false =>
  methods.length > 0 &&
  html`<fieldset><legend>How do you want to pay?</legend>
${methods.map(
  (method, index) =>
    html`<label class="choice"><input type="radio" name="method" value="${method}" required${index === 0 && html` checked`}> ${method}</label>
`,
)}</fieldset>`;

const head = ({ brand }: Payment, scene: Scene): Html =>
  html`<p class="who">${icon(scene)} ${SCENES[scene].who} <span class="brand">${brand}</span></p>`;

function openPage(simulator: Simulator, payment: Payment, problem = ''): Page {
  const { scene } = brandOf(payment);
  const { title, approve, decline } = SCENES[scene];
  const { page } = cardRowOf(simulator, payment);
  const lead = page ? CARD_LEADS[page] : SCENES[scene].lead;
  const heading = title(payment.merchant || 'the shop');
  return {
    title: heading,
    scene,
    body: html`<main class="card">
${head(payment, scene)}
<h1>${heading}</h1>
${amountLine(payment)}
${lead !== '' && html`<p class="lead">${lead}</p>`}
${extras(payment, scene)}
${facts(payment, [cardFact(simulator, payment), ...ownFacts(payment, scene)])}
${problem !== '' && html`<p class="problem" role="alert">${problem}</p>`}
<form method="post">
${choices(methodsOf(payment))}
<button class="yes" name="decision" value="approve">${approve}</button>
<button class="no" name="decision" value="decline" formnovalidate>${decline}</button>
<button class="leave" name="decision" value="leave" formnovalidate>Walk away without paying</button>
</form>
</main>`,
  };
}

type PaymentResult = Exclude<Status, 'redirect' | 'pending'>;

const RESULTS: Readonly<Record<PaymentResult, { mark: 'good' | 'bad' | 'wait'; title: string; lead: string }>> = {
  settled: { mark: 'good', title: 'Paid', lead: 'The payment is complete.' },
  authorised: { mark: 'good', title: 'Approved', lead: 'The amount is reserved.' },
  confirming: { mark: 'wait', title: 'On its way', lead: 'The payment waits for its confirmations.' },
  sending: { mark: 'wait', title: 'On its way', lead: 'The payout is being sent.' },
  declined: { mark: 'bad', title: 'Declined', lead: 'No money was taken.' },
  voided: { mark: 'bad', title: 'Cancelled', lead: 'The shop cancelled this payment. No money was taken.' },
};

function donePage(simulator: Simulator, payment: Payment): Page {
  const { scene } = brandOf(payment);
  const { mark, title, lead } = RESULTS[payment.status as PaymentResult];
  return {
    title,
    scene,
    ...(mark === 'wait' && { refreshSeconds: 1 }),
    body: html`<main class="card done">
${icon(mark, mark)}
<h1>${title}</h1>
${amountLine(payment)}
<p class="lead">${payment.reason ?? lead}</p>
${facts(payment, [cardFact(simulator, payment), fact('Shop', payment.merchant)])}
${payment.returnUrl !== null && html`<a class="button" href="${payment.returnUrl}">Back to ${payment.merchant || 'the shop'}</a>`}
</main>`,
  };
}

const pageOf = (simulator: Simulator, payment: Payment, problem?: string): Page =>
  isWaiting(payment) ? openPage(simulator, payment, problem) : donePage(simulator, payment);

interface Token {
  Params: { token: string };
}

export function payerPages(app: FastifyInstance, simulator: Simulator): void {
  app.addHook('onRequest', ownFormsOnly);

  app.get<Token>('/pay/:token', async ({ params: { token } }, reply) => {
    const payment = simulator.ledger.paymentByToken(token);
    if (!payment) return sendPage(reply.code(404), unknownPage());
    return sendPage(reply, pageOf(simulator, payment));
  });

  app.post<Token>('/pay/:token', async ({ params: { token }, body }, reply) => {
    const payment = simulator.ledger.paymentByToken(token);
    if (!payment) return sendPage(reply.code(404), unknownPage());
    const { decision, method } = isObject(body) ? body : {};
    if (decision !== 'approve' && decision !== 'decline' && decision !== 'leave') {
      return sendPage(reply.code(400), pageOf(simulator, payment, 'Please choose what to do.'));
    }
    const methods = methodsOf(payment);
    const chosen = methods.find((one) => one === method);
    if (decision === 'approve' && isWaiting(payment) && methods.length > 0 && chosen === undefined) {
      return sendPage(reply.code(400), pageOf(simulator, payment, 'Please choose how you want to pay.'));
    }
    if (decision !== 'leave') decide(simulator, payment, decision, chosen);
    return reply.redirect(payment.returnUrl ?? `/pay/${token}`, 303);
  });
}
