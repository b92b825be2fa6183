/** The pages on which a payer waits for the outcome; they poll the status of the payment. */
import { displayName } from '../../core/accounts/accounts.ts';
import type { PaymentWithDetails } from '../../core/context.ts';
import { type Html, html } from '../../lib/text/html.ts';
import { brandOf } from '../../rules/brands.ts';
import { METHOD_KINDS } from '../../rules/method-kinds.ts';
import type { Page } from '../layout.ts';
import { SHARE_SCRIPT } from '../script.ts';
import { challengeForm } from './challenge.ts';
import { type CodeStep, codeContent, newCodeForm } from './code.ts';
import { leaveForm, stillOpenNotice } from './leave.ts';
import { redirectButton } from './redirect-pages.ts';
import { orderSummary, type PageView, shopLink, statusPolling, wayBack } from './view.ts';

const withSpinner = (content: Html): Html =>
  html`<div class="center"><span class="pulse" aria-hidden="true"></span>${content}</div>`;

function waitingLayout(view: PageView, title: string, content: Html, hasTime = true): Page {
  return {
    title,
    ...statusPolling(view, true),
    body: html`${orderSummary(view, hasTime)}
<section class="card">
${content}
</section>`,
  };
}

/** The QR code, until it expires. */
const qrCodePage = (view: PageView, step: CodeStep): Page => ({
  ...waitingLayout(
    view,
    view.locale.messages.scanToPay,
    html`${stillOpenNotice(view)}${codeContent(view, step)}${leaveForm(view, view.locale.messages.otherWays)}${shopLink(view, 'quiet')}`,
    false,
  ),
  additions: { scripts: [SHARE_SCRIPT], styles: [] },
});

/** The code has expired: if it was not paid, the payer may get a new one or pay in another way. */
function codeOverPage(view: PageView): Page {
  const { canRenewCode, locale } = view;
  const { codeOver, codeOverHow, scan, otherWays } = locale.messages;
  const content = html`<h1>${codeOver}</h1><p>${canRenewCode ? scan.overHow : codeOverHow}</p>
${stillOpenNotice(view)}${newCodeForm(view)}${leaveForm(view, otherWays)}${shopLink(view, 'quiet')}`;
  return waitingLayout(view, codeOver, withSpinner(content));
}

/** The label of an instruction; a name without a translation is shown as the provider sent it. */
function instructionName(name: string, { locale: { messages } }: PageView): string {
  const plain = name.replaceAll('_', ' ');
  return (
    (messages.instructions as Readonly<Record<string, string>>)[name] ?? plain.charAt(0).toUpperCase() + plain.slice(1)
  );
}

/** An instruction; with JavaScript it has a button to copy the value. */
function instructionRow([key, text]: readonly [name: string, text: string], view: PageView): Html {
  const { copy, copied } = view.locale.messages;
  const name = instructionName(key, view);
  return html`<dt>${name}<button class="copy" type="button" hidden data-copy="${copy}" data-copied="${copied}" aria-label="${copy}: ${name}">${copy}</button></dt><dd><bdi>${isWebAddress(text) ? html`<a href="${text}" target="_blank" rel="noopener noreferrer">${text}</a>` : text}</bdi></dd>`;
}

/** Such as that of a voucher, which the payer prints or shows at the counter. */
const isWebAddress = (text: string): boolean => URL.parse(text)?.protocol === 'https:';

const ACCOUNT: readonly string[] = ['iban', 'account_number', 'account_holder'];

function transferPage(view: PageView, instructions: readonly [name: string, text: string][]): Page {
  const { payment, locale } = view;
  const { messages, formatMessage, formatAmount } = locale;
  // Without an account it is a voucher, or a reference for a cash machine.
  const isTransfer = instructions.some(([name]) => ACCOUNT.includes(name));
  const [title, how] = isTransfer
    ? [messages.transfer, messages.sendExactly]
    : [messages.payVoucher, messages.payExactly];
  return waitingLayout(
    view,
    title,
    html`<h1>${title}</h1>
<p>${formatMessage(how, { amount: formatAmount(payment) })}</p>
<dl class="stack">${instructions.map((instruction) => instructionRow(instruction, view))}</dl>
<p class="soft small">${messages.waiting}…</p>
${shopLink(view, 'quiet')}`,
  );
}

/** The page while the payer has to act elsewhere, or while the provider has not answered yet. */
export function waitingPage(view: PageView): Page {
  const { payment, now, result, locale } = view;
  const { messages, formatMessage } = locale;
  const { nextStep } = payment;
  if (nextStep?.kind === 'code') return now < nextStep.until ? qrCodePage(view, nextStep) : codeOverPage(view);
  if (nextStep?.kind === 'transfer') return transferPage(view, nextStep.instructions);
  const isUnknown = result === 'unknown';
  const [title, text] = isUnknown ? [messages.checking, messages.checkingHow] : [messages.waiting, messages.waitingHow];
  const close = isUnknown && formatMessage(messages.checkingClose, { merchant: displayName(view.account) });
  const content = withSpinner(
    html`<h1>${title}</h1><p>${text}</p>${close && html`<p>${close}</p>`}${shopLink(view, 'quiet')}`,
  );
  // While the provider's answer is late, no time limit applies to the payer.
  return waitingLayout(view, title, content, !isUnknown);
}

/** Whether the page of the provider is that of a bank. */
const isAtBank = ({ brand }: PaymentWithDetails): boolean => {
  const kind = brandOf(brand)?.kind ?? 'card';
  return METHOD_KINDS[kind] === 'bank' || kind === 'card';
};

/** The page for a payer who returned before the outcome is known: they may have paid, or want to continue. */
export function unfinishedPage(view: PageView): Page {
  const { payment, locale } = view;
  const { messages } = locale;
  const { nextStep } = payment;
  const isChallenge = nextStep?.kind === 'challenge';
  const control = isChallenge
    ? challengeForm(view, nextStep)
    : nextStep?.kind === 'redirect' &&
      redirectButton(view, nextStep, isAtBank(payment) ? messages.goToBank : messages.openAgain);
  if (!control) return waitingPage(view);
  return waitingLayout(
    view,
    messages.unfinished,
    withSpinner(
      html`<h1>${messages.unfinished}</h1><p>${messages.unfinishedHow}</p>${stillOpenNotice(view)}${control}${leaveForm(view, isChallenge ? messages.challenge.anotherCard : messages.otherWays)}${wayBack(view)}`,
    ),
  );
}
