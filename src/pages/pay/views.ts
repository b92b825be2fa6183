/** The pages that a payer sees: what is still needed, what to wait for, and how it ended. */
import encodeQR from 'qr';
import { shownName } from '../../core/accounts.ts';
import type { Account, NextStep, WholePayment } from '../../core/context.ts';
import type { Method } from '../../core/payments/choose.ts';
import { creqOf } from '../../lib/creq.ts';
import { Html, html } from '../../lib/html.ts';
import { amountText } from '../../lib/money.ts';
import { brandOf } from '../../rules/brands.ts';
import { CURRENCIES } from '../../rules/currencies.ts';
import type { Problem } from '../../rules/errors.ts';
import { type Field, SENTENCES } from '../../rules/fields.ts';
import type { StateName } from '../../rules/states.ts';
import type { Page } from '../layout.ts';

/** The amount as people write it; the digits after the point are those of the currency itself. */
export function shownAmount({ amount, currency }: Pick<WholePayment, 'amount' | 'currency'>): string {
  const exponent = CURRENCIES[currency]?.exponent ?? 2;
  const digits = { minimumFractionDigits: exponent, maximumFractionDigits: exponent };
  const format = new Intl.NumberFormat('en', { style: 'currency', currency, currencyDisplay: 'code', ...digits });
  return format.format(amountText(amount, exponent) as unknown as number);
}

const summary = (payment: WholePayment): Html => html`<section class="card" aria-label="Your order">
<p class="amount">${shownAmount(payment)}</p>
<p>${payment.details.description}</p>
<p class="soft small">Order ${payment.orderId}</p>
</section>`;

const remaining = (payment: WholePayment, now: number): Html | undefined => {
  const minutes = payment.payerUntil === null ? undefined : Math.ceil((payment.payerUntil - now) / 60_000);
  if (minutes === undefined || minutes < 1) return undefined;
  return html`<p class="soft small">You have ${minutes} ${minutes === 1 ? 'minute' : 'minutes'} to finish.</p>`;
};

const backTo = (account: Account, address: string | undefined): Html | undefined =>
  address === undefined ? undefined : html`<a class="button" href="${address}">Back to ${shownName(account)}</a>`;

/** What the checks say to machines, said to people. */
function inWords(sentence: string): string {
  if (sentence === SENTENCES.blank) return 'Please fill this in.';
  if (sentence === SENTENCES.invalid) return 'This does not look right. Please check it.';
  return sentence.replace(/^This value/, 'This');
}

const NUMERIC: readonly string[] = ['bank_cuil', 'parameters[product_quantity]'];

function input(field: Field, value: string, problem: Problem | undefined, isFirst: boolean): Html {
  const id = field.name.replace(/\W+/g, '-');
  // That a text is a text need not be said.
  const hint = field.expects.startsWith('text') ? undefined : capital(field.expects.replaceAll('`', ''));
  const about = [hint && `${id}-hint`, problem && `${id}-error`].filter(Boolean).join(' ');
  return html`<label for="${id}">${field.label ?? field.name}</label>
<input id="${id}" name="${field.name}" value="${value}" required autocomplete="off" inputmode="${NUMERIC.includes(field.name) ? 'numeric' : 'text'}"
${about && html`aria-describedby="${about}"`} ${problem && html`aria-invalid="true"`} ${isFirst && html`autofocus`}>
${problem && html`<p class="error" id="${id}-error">${inWords(problem.sentence)}</p>`}
${hint && html`<p class="hint" id="${id}-hint">${hint}</p>`}`;
}

export type RedirectStep = Extract<NextStep, { kind: 'redirect' }>;

export interface FieldsPage {
  payment: WholePayment;
  account: Account;
  method: Method;
  answers: ReadonlyMap<string, string>;
  problems: readonly Problem[];
  now: number;
}

export function fieldsPage({ payment, account, method, answers, problems, now }: FieldsPage): Page {
  const { fields } = method;
  const problemOf = ({ name }: Field): Problem | undefined => problems.find(({ field }) => field === name);
  const focused = fields.find(problemOf) ?? fields[0];
  const { length } = problems;
  return {
    title: length > 0 ? 'Please check your details' : 'Complete your payment',
    merchant: shownName(account),
    body: html`${summary(payment)}
<section class="card">
<h1>${fields.length > 0 ? 'A few details to pay' : `Pay with ${method.title}`}</h1>
${remaining(payment, now)}
${length > 0 && html`<p class="notice" role="alert">Please check ${length === 1 ? 'the marked field' : `the ${length} marked fields`}. Nothing was sent.</p>`}
${declinedBefore(payment)}
<form method="post" novalidate>
${payment.details.session && html`<input type="hidden" name="method" value="${method.label}">`}
${fields.map((field) => input(field, answers.get(field.name) ?? '', problemOf(field), field === focused))}
<button>Continue</button>
</form>
</section>`,
  };
}

/** Said plainly after a decline, before the payer tries again. */
const declinedBefore = ({ state, declineReason }: WholePayment): Html | undefined =>
  state === 'DECLINED'
    ? html`<p class="notice" role="alert">The payment was declined. No money was taken. ${declineReason}</p>`
    : undefined;

/** The ways to pay, each one press away. */
export function choicePage(payment: WholePayment, account: Account, methods: readonly Method[], now: number): Page {
  return {
    title: 'How do you want to pay?',
    merchant: shownName(account),
    body: html`${summary(payment)}
<section class="card">
<h1>How do you want to pay?</h1>
${remaining(payment, now)}
${declinedBefore(payment)}
<ul class="choices">
${methods.map(({ label, title }) => html`<li><a class="choice" href="?method=${encodeURIComponent(label)}">${title}</a></li>`)}
</ul>
${payment.details.session?.cancelUrl && html`<a class="quiet" href="${payment.details.session.cancelUrl}">Cancel and go back</a>`}
</section>`,
  };
}

/** What a card form asks for, as browsers fill it in by themselves. */
const CARD_INPUTS: readonly Input[] = [
  { name: 'card_number', label: 'Card number', autocomplete: 'cc-number', inputmode: 'numeric' },
  { name: 'card_expiry', label: 'Expiry (MM/YY)', autocomplete: 'cc-exp', inputmode: 'numeric' },
  { name: 'card_cvv', label: 'Security code', autocomplete: 'cc-csc', inputmode: 'numeric' },
  { name: 'card_holder', label: 'Name on the card', autocomplete: 'cc-name', inputmode: 'text' },
];

interface Input {
  name: string;
  label: string;
  autocomplete: string;
  inputmode: string;
}

/** The number and the code are never written back into a page. */
const SHOWN_AGAIN: readonly string[] = ['card_expiry', 'card_holder'];

export function cardPage({ payment, account, method, answers, problems, now }: FieldsPage): Page {
  const { length } = problems;
  const input = ({ name, label, autocomplete, inputmode }: Input): Html => {
    const problem = problems.find(({ field }) => field === name);
    const value = SHOWN_AGAIN.includes(name) ? (answers.get(name) ?? '') : '';
    return html`<label for="${name}">${label}</label>
<input id="${name}" name="${name}" value="${value}" required autocomplete="${autocomplete}" inputmode="${inputmode}"
${problem && html`aria-invalid="true" aria-describedby="${name}-error"`}>
${problem && html`<p class="error" id="${name}-error">${problem.sentence}</p>`}`;
  };
  return {
    title: length > 0 ? 'Please check your card' : 'Pay by card',
    merchant: shownName(account),
    body: html`${summary(payment)}
<section class="card">
<h1>Pay by card</h1>
${remaining(payment, now)}
${declinedBefore(payment)}
${length > 0 && html`<p class="notice" role="alert">Please check ${length === 1 ? 'the marked field' : `the ${length} marked fields`}. Nothing was paid.</p>`}
<form method="post" novalidate>
<input type="hidden" name="method" value="${method.label}">
${CARD_INPUTS.map(input)}
<button>Pay ${shownAmount(payment)}</button>
</form>
</section>`,
  };
}

/** The card's bank wants to see the payer; without scripts they go there by a press. */
export function challengePage(
  { payment, account }: Pick<FieldsPage, 'payment' | 'account'>,
  { acsUrl, acsTransId, version }: Extract<NextStep, { kind: 'challenge' }>,
): Page {
  return {
    title: 'Confirm with your bank',
    merchant: shownName(account),
    body: html`${summary(payment)}
<section class="card">
<h1>Confirm with your bank</h1>
<p>Your bank wants to make sure that it is you who pays. You come back here afterwards.</p>
<form method="post" action="${acsUrl}">
<input type="hidden" name="creq" value="${creqOf(payment.paymentId, acsTransId, version)}">
<input type="hidden" name="threeDSSessionData" value="">
<button>Go to my bank</button>
</form>
</section>`,
  };
}

/** Providers that want a form post get one; without scripts the payer sends it on. */
export function onwardPage({ payment, account }: Pick<FieldsPage, 'payment' | 'account'>, step: RedirectStep): Page {
  return {
    title: 'Continue to your provider',
    merchant: shownName(account),
    body: html`${summary(payment)}
<section class="card">
<h1>One more step</h1>
<p>You pay on the page of your provider.</p>
<form method="post" action="${step.url}">
${Object.entries(step.params).map(([name, value]) => html`<input type="hidden" name="${name}" value="${value}">`)}
<button>Continue</button>
</form>
</section>`,
  };
}

/** A code to scan, for as long as it lives; the page follows what becomes of it. */
function codePage(
  payment: WholePayment,
  account: Account,
  { text, until }: Extract<NextStep, { kind: 'code' }>,
  now: number,
  address: string | undefined,
): Page {
  const seconds = Math.ceil((until - now) / 1000);
  return {
    title: 'Scan to pay',
    merchant: shownName(account),
    refresh: { seconds: Math.min(5, seconds) },
    body: html`${summary(payment)}
<section class="card" aria-live="polite">
<h1>Scan to pay</h1>
<p>Open the app of your bank and scan the code. It can be used for ${seconds} more seconds.</p>
<p class="code">${new Html(encodeQR(text, 'svg'))}</p>
${address && html`<a class="quiet" href="${address}">Back to ${shownName(account)}</a>`}
</section>`,
  };
}

export function waitingPage(payment: WholePayment, account: Account, now: number, address: string | undefined): Page {
  const { nextStep } = payment;
  const steps = nextStep?.kind === 'transfer' ? nextStep.instructions : [];
  if (nextStep?.kind === 'code' && now < nextStep.until) return codePage(payment, account, nextStep, now, address);
  return {
    title: 'Waiting for your payment',
    merchant: shownName(account),
    refresh: { seconds: 5 },
    body: html`${summary(payment)}
<section class="card" aria-live="polite">
<h1>${steps.length > 0 ? 'Make the transfer' : 'Waiting for your payment'}</h1>
${
  steps.length > 0
    ? html`<p>Send exactly ${shownAmount(payment)} from your bank to:</p>
<dl class="stack">${steps.map(([name, text]) => html`<dt>${capital(name.replaceAll('_', ' '))}</dt><dd>${text}</dd>`)}</dl>`
    : html`<p>Finish the payment in the app or on the page of your provider. This page follows by itself.</p>`
}
${brandOf(payment.brand)?.payerTimeMs && remaining(payment, now)}
${address && html`<a class="quiet" href="${address}">Back to ${shownName(account)}</a>`}
</section>`,
  };
}

const capital = (words: string): string => words.charAt(0).toUpperCase() + words.slice(1);

interface Ending {
  title: string;
  text: string;
  isGood: boolean;
}

const PAID: Ending = { title: 'Payment complete', text: 'Thank you. Your payment has arrived.', isGood: true };
const NOT_PAID: Ending = {
  title: 'Payment not completed',
  text: 'No money was taken. You can go back and try again.',
  isGood: false,
};
const GIVEN_BACK: Ending = {
  title: 'Payment cancelled',
  text: 'The payment was cancelled or given back.',
  isGood: false,
};

const ENDINGS: Readonly<Partial<Record<StateName, Ending>>> = {
  SETTLED: PAID,
  DECLINED: NOT_PAID,
  EXPIRED: NOT_PAID,
  VOID: GIVEN_BACK,
  REVERSAL: GIVEN_BACK,
  REFUND: GIVEN_BACK,
  CHARGEBACK: GIVEN_BACK,
};

export function endPage(payment: WholePayment, account: Account, address: string | undefined): Page | undefined {
  // Whose amount is reserved has paid, as far as they are concerned.
  const ending = payment.state === 'PENDING' && payment.authorised > 0n ? PAID : ENDINGS[payment.state];
  if (!ending) return undefined;
  return {
    title: ending.title,
    merchant: shownName(account),
    refresh: ending.isGood && address !== undefined ? { seconds: 5, url: address } : undefined,
    body: html`<section class="card">
<p class="mark ${ending.isGood ? 'good' : 'bad'}" aria-hidden="true">${ending.isGood ? '✓' : '✕'}</p>
<h1>${ending.title}</h1>
<p>${ending.text}</p>
${payment.state === 'DECLINED' && payment.declineReason && html`<p class="soft small">${payment.declineReason}</p>`}
<dl><dt>Amount</dt><dd>${shownAmount(payment)}</dd><dt>Order</dt><dd>${payment.orderId}</dd></dl>
${backTo(account, address)}
</section>`,
  };
}

const messagePage = (title: string, text: string): Page => ({
  title,
  merchant: '',
  body: html`<section class="card"><h1>${title}</h1><p>${text}</p></section>`,
});

export const unknownPage = messagePage(
  'This link does not work',
  'It may be incomplete. Open it again from the shop, or ask the shop for a new one.',
);

export const troublePage = messagePage(
  'We cannot show this page at the moment',
  'Your payment is kept safe. Please load the page again in a moment.',
);
