/** The page on which the payer approves or declines a payment. */
import type { FastifyInstance } from 'fastify';
import { type Html, html } from '../src/lib/text/html.ts';
import { isObject } from '../src/lib/text/json.ts';
import { coinAddress, digitsOf } from './accounts.ts';
import { brandOf, type PageType } from './brands.ts';
import type { Payment, Status } from './ledger.ts';
import { formatAmount, instalments } from './money.ts';
import { icon, type Page, qrSvg, refuseCrossSiteForms, sendPage, unknownPage } from './page.ts';
import { cardBehaviourOf, decide, instructionsOf, isWaiting, qrOf, type Simulator } from './payments.ts';

interface PageTexts {
  provider: string;
  title(merchant: string): string;
  lead: string;
  approve: string;
  decline: string;
}

const PAY_TITLE = (merchant: string): string => `Pay ${merchant}`;

const PAGE_TEXTS: Readonly<Record<PageType, PageTexts>> = {
  hosted: { provider: 'Simulated provider', title: PAY_TITLE, lead: '', approve: 'Approve', decline: 'Decline' },
  bank: {
    provider: 'Simulated bank',
    title: (merchant) => `Allow a payment to ${merchant}?`,
    lead: 'You consent to this payment only. It is taken from the account below.',
    approve: 'Approve',
    decline: 'Decline',
  },
  credit: {
    provider: 'Simulated lender',
    title: (merchant) => `Pay ${merchant} in three parts`,
    lead: 'Choose the decision of the lender.',
    approve: 'Approve the credit',
    decline: 'Decline the credit',
  },
  crypto: {
    provider: 'Simulated network',
    title: PAY_TITLE,
    lead: 'Send the amount to the address below. It settles after three confirmations.',
    approve: 'I have sent it',
    decline: 'Decline',
  },
  app: {
    provider: 'Simulated payment app',
    title: (merchant) => `${merchant} requests a payment`,
    lead: 'This is the request as it appears in your app.',
    approve: 'Approve',
    decline: 'Decline',
  },
  transfer: {
    provider: 'Simulated transfer',
    title: PAY_TITLE,
    lead: 'Transfer the exact amount to this account.',
    approve: 'I have sent the transfer',
    decline: 'Decline',
  },
  qr: {
    provider: 'Simulated bank app',
    title: PAY_TITLE,
    lead: 'The code contains the payment. Approving it here has the effect of scanning it in a bank app.',
    approve: 'Approve',
    decline: 'Decline',
  },
  card: { provider: 'Simulated acquirer', title: PAY_TITLE, lead: '', approve: 'Approve', decline: 'Decline' },
  payout: {
    provider: 'Simulated payout',
    title: (merchant) => `${merchant} pays you`,
    lead: '',
    approve: 'Approve',
    decline: 'Decline',
  },
};

/** The hint for a test card that overrides the payer's decision. */
const CARD_LEADS = {
  approve: 'This test card is approved, whatever you choose.',
  decline: 'This test card is declined, whatever you choose.',
} as const;

const factRow = (name: string, value: string | Html): Html | false =>
  value !== '' && html`<div><dt>${name}</dt><dd>${value}</dd></div>`;

const copyField = (name: string, value: string): Html =>
  html`<p class="label">${name}</p><code class="copy">${value}</code>`;

const facts = ({ description, method, reference }: Payment, more: readonly (Html | false)[] = []): Html => html`
<dl class="facts">
${factRow('For', description === '' ? '' : html`<div class="long">${description}</div>`)}
${factRow('Paid with', method ?? '')}
${more}
${factRow('Reference', html`<code>${reference}</code>`)}
</dl>`;

const cardFact = ({ ledger }: Simulator, { reference }: Payment): Html | false => {
  const card = ledger.card(reference);
  return card !== undefined && factRow('Card', html`<code>•••• ${card.last4}</code>`);
};

const DAYS = ['Today', 'In 30 days', 'In 60 days'];

function extraFacts({ amount, currency, reference }: Payment, pageType: PageType): (Html | false)[] {
  if (pageType === 'bank') return [factRow('From', html`Current account <code>···· ${digitsOf(reference, 4)}</code>`)];
  if (pageType !== 'credit') return [];
  return instalments(amount, DAYS.length).map((part, index) =>
    factRow(DAYS[index] as string, formatAmount(part, currency)),
  );
}

/** The instructions that depend on the page type. */
function instructions(payment: Payment, pageType: PageType): Html | false {
  if (pageType === 'crypto') {
    const address = coinAddress(payment.reference);
    return html`<div class="code">${qrSvg(address, 'The address as a QR code')}</div>
${copyField(payment.coin ? `${payment.coin} address` : 'Address', address)}`;
  }
  if (pageType === 'transfer') {
    const { account_number, account_holder, reference } = instructionsOf(payment);
    return html`${copyField('Account number', account_number)}${copyField('Account holder', account_holder)}
${copyField('Reference of the transfer', reference)}`;
  }
  return pageType === 'qr' && html`<div class="code">${qrSvg(qrOf(payment), 'The payment as a QR code')}</div>`;
}

const amountLine = ({ amount, currency }: Payment): Html => {
  const text = formatAmount(amount, currency);
  return html`<p class="amount ${text.length > 14 && 'wide'}">${text}</p>`;
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

const providerLine = ({ brand }: Payment, pageType: PageType): Html =>
  html`<p class="who">${icon(pageType)} ${PAGE_TEXTS[pageType].provider} <span class="brand">${brand}</span></p>`;

function decisionPage(simulator: Simulator, payment: Payment, problem = ''): Page {
  const { pageType } = brandOf(payment);
  const { title, approve, decline } = PAGE_TEXTS[pageType];
  const { pageDecision } = cardBehaviourOf(simulator, payment);
  const lead = pageDecision ? CARD_LEADS[pageDecision] : PAGE_TEXTS[pageType].lead;
  const heading = title(payment.merchant || 'the shop');
  return {
    title: heading,
    pageType,
    body: html`<main class="card">
${providerLine(payment, pageType)}
<h1>${heading}</h1>
${amountLine(payment)}
${lead !== '' && html`<p class="lead">${lead}</p>`}
${instructions(payment, pageType)}
${facts(payment, [cardFact(simulator, payment), ...extraFacts(payment, pageType)])}
${problem !== '' && html`<p class="problem" role="alert">${problem}</p>`}
<form method="post">
${choices(methodsOf(payment))}
<button class="yes" name="decision" value="approve">${approve}</button>
<button class="no" name="decision" value="decline" formnovalidate>${decline}</button>
<button class="leave" name="decision" value="leave" formnovalidate>Leave without paying</button>
</form>
</main>`,
  };
}

type PaymentResult = Exclude<Status, 'redirect' | 'pending'>;

const RESULTS: Readonly<Record<PaymentResult, { status: 'good' | 'bad' | 'wait'; title: string; lead: string }>> = {
  settled: { status: 'good', title: 'Paid', lead: 'The payment is complete.' },
  authorised: { status: 'good', title: 'Approved', lead: 'The amount is reserved.' },
  confirming: { status: 'wait', title: 'In progress', lead: 'The payment is waiting for confirmations.' },
  sending: { status: 'wait', title: 'In progress', lead: 'The payout is being sent.' },
  declined: { status: 'bad', title: 'Declined', lead: 'No money was taken.' },
  voided: { status: 'bad', title: 'Cancelled', lead: 'The shop cancelled this payment. No money was taken.' },
};

function resultPage(simulator: Simulator, payment: Payment): Page {
  const { pageType } = brandOf(payment);
  const { status, title, lead } = RESULTS[payment.status as PaymentResult];
  return {
    title,
    pageType,
    ...(status === 'wait' && { refreshSeconds: 1 }),
    body: html`<main class="card done">
${icon(status, status)}
<h1>${title}</h1>
${amountLine(payment)}
<p class="lead">${payment.reason ?? lead}</p>
${facts(payment, [cardFact(simulator, payment), factRow('Shop', payment.merchant)])}
${payment.returnUrl !== null && html`<a class="button" href="${payment.returnUrl}">Back to ${payment.merchant || 'the shop'}</a>`}
</main>`,
  };
}

const pageOf = (simulator: Simulator, payment: Payment, problem?: string): Page =>
  isWaiting(payment) ? decisionPage(simulator, payment, problem) : resultPage(simulator, payment);

interface Token {
  Params: { token: string };
}

export function payerRoutes(app: FastifyInstance, simulator: Simulator): void {
  app.addHook('onRequest', refuseCrossSiteForms);

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
    const chosen = methods.find((offered) => offered === method);
    if (decision === 'approve' && isWaiting(payment) && methods.length > 0 && chosen === undefined) {
      return sendPage(reply.code(400), pageOf(simulator, payment, 'Please choose how you want to pay.'));
    }
    if (decision !== 'leave') decide(simulator, payment, decision, chosen);
    return reply.redirect(payment.returnUrl ?? `/pay/${token}`, 303);
  });
}
