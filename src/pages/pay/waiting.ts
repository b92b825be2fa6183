/** The pages on which a payer waits for the outcome; each follows by itself what becomes of the payment. */
import encodeQR from 'qr';
import type { NextStep } from '../../core/context.ts';
import { Html, html } from '../../lib/html.ts';
import type { Page } from '../layout.ts';
import { formToBank, redirectControl } from './redirect-pages.ts';
import { backLink, cancelLink, following, type PageView, sentence, summary, timer } from './view.ts';

const turning = (content: Html): Html =>
  html`<div class="center"><span class="pulse" aria-hidden="true"></span>${content}</div>`;

function waitingWith(view: PageView, title: string, content: Html, hasTime = true): Page {
  return {
    title,
    ...following(view, true),
    body: html`${summary(view, hasTime)}
<section class="card">
${content}
</section>`,
  };
}

/** A code to scan, for as long as it lives. */
function codePage(view: PageView, { text, until }: Extract<NextStep, { kind: 'code' }>): Page {
  const { now, locale } = view;
  const { messages } = locale;
  return waitingWith(
    view,
    messages.scanToPay,
    html`<div class="center">
<h1>${messages.scanToPay}</h1>
<p>${messages.scanHow}</p>
<div class="code" role="img" aria-label="${messages.codeAlt}">${new Html(encodeQR(text, 'svg'))}</div>
<p class="time"><span>${sentence(messages.codeLeft, 'time', timer(until - now, locale))}</span></p>
</div>
${backLink(view, 'quiet')}`,
    false,
  );
}

/** Providers name what the payer needs; a name that is not known is shown as it came. */
function instructionName(name: string, { locale: { messages } }: PageView): string {
  const plain = name.replaceAll('_', ' ');
  return (
    (messages.instructions as Readonly<Record<string, string>>)[name] ?? plain.charAt(0).toUpperCase() + plain.slice(1)
  );
}

/** Where scripts run, what has to be typed into another app can be taken along. */
function instructionRow([known, text]: readonly [name: string, text: string], view: PageView): Html {
  const { copy, copied } = view.locale.messages;
  const name = instructionName(known, view);
  return html`<dt>${name}<button class="copy" type="button" hidden data-copy="${copy}" data-copied="${copied}" aria-label="${copy}: ${name}">${copy}</button></dt><dd><bdi>${text}</bdi></dd>`;
}

function transferPage(view: PageView, instructions: readonly [name: string, text: string][]): Page {
  const { payment, locale } = view;
  const { messages, translate, amount } = locale;
  return waitingWith(
    view,
    messages.transfer,
    html`<h1>${messages.transfer}</h1>
<p>${translate(messages.sendExactly, { amount: amount(payment) })}</p>
<dl class="stack">${instructions.map((instruction) => instructionRow(instruction, view))}</dl>
<p class="soft small">${messages.waiting}…</p>
${backLink(view, 'quiet')}`,
  );
}

/** The payment that is under way, or the answer that has not come yet. */
export function waitingPage(view: PageView): Page {
  const { payment, now, result, locale } = view;
  const { messages } = locale;
  const { nextStep } = payment;
  if (nextStep?.kind === 'code' && now < nextStep.until) return codePage(view, nextStep);
  if (nextStep?.kind === 'transfer') return transferPage(view, nextStep.instructions);
  const [title, text] =
    nextStep?.kind === 'code'
      ? [messages.codeOver, messages.codeOverHow]
      : result === 'unknown'
        ? [messages.checking, messages.checkingHow]
        : [messages.waiting, messages.waitingHow];
  const content = turning(html`<h1>${title}</h1><p>${text}</p>${backLink(view, 'quiet')}`);
  // Whose answer is late has done what they could; no time runs out on them.
  return waitingWith(view, title, content, result !== 'unknown');
}

/** The payer is back before anything was decided: they may have paid, or want to go on where they left off. */
export function unfinishedPage(view: PageView): Page {
  const { payment, locale } = view;
  const { messages } = locale;
  const { nextStep } = payment;
  const way =
    nextStep?.kind === 'challenge'
      ? formToBank(view, nextStep)
      : nextStep?.kind === 'redirect' && redirectControl(view, nextStep, messages.openAgain);
  if (!way) return waitingPage(view);
  return waitingWith(
    view,
    messages.unfinished,
    turning(html`<h1>${messages.unfinished}</h1><p>${messages.unfinishedHow}</p>${way}${cancelLink(view)}`),
  );
}
