/** The pages on which a payer waits for the outcome; each follows by itself what becomes of the payment. */
import encodeQR from 'qr';
import type { NextStep } from '../../core/context.ts';
import { Html, html } from '../../lib/html.ts';
import type { Page } from '../layout.ts';
import { formToBank, wayToProvider } from './onward.ts';
import { backLink, cancelLink, following, type Shown, sentence, summary, timer } from './shown.ts';

const turning = (content: Html): Html =>
  html`<div class="center"><span class="pulse" aria-hidden="true"></span>${content}</div>`;

function waitingWith(shown: Shown, title: string, content: Html, hasTime = true): Page {
  return {
    title,
    ...following(shown, true),
    body: html`${summary(shown, hasTime)}
<section class="card">
${content}
</section>`,
  };
}

/** A code to scan, for as long as it lives. */
function codePage(shown: Shown, { text, until }: Extract<NextStep, { kind: 'code' }>): Page {
  const { now, speech } = shown;
  const { words } = speech;
  return waitingWith(
    shown,
    words.scanToPay,
    html`<div class="center">
<h1>${words.scanToPay}</h1>
<p>${words.scanHow}</p>
<div class="code" role="img" aria-label="${words.codeAlt}">${new Html(encodeQR(text, 'svg'))}</div>
<p class="time"><span>${sentence(words.codeLeft, 'time', timer(until - now, speech))}</span></p>
</div>
${backLink(shown, 'quiet')}`,
    false,
  );
}

/** Providers name what the payer needs; a name that is not known is shown as it came. */
function instructionName(name: string, { speech: { words } }: Shown): string {
  const plain = name.replaceAll('_', ' ');
  return (
    (words.instructions as Readonly<Record<string, string>>)[name] ?? plain.charAt(0).toUpperCase() + plain.slice(1)
  );
}

/** Where scripts run, what has to be typed into another app can be taken along. */
function instructionRow([known, text]: readonly [name: string, text: string], shown: Shown): Html {
  const { copy, copied } = shown.speech.words;
  const name = instructionName(known, shown);
  return html`<dt>${name}<button class="copy" type="button" hidden data-copy="${copy}" data-copied="${copied}" aria-label="${copy}: ${name}">${copy}</button></dt><dd><bdi>${text}</bdi></dd>`;
}

function transferPage(shown: Shown, instructions: readonly [name: string, text: string][]): Page {
  const { payment, speech } = shown;
  const { words, say, amount } = speech;
  return waitingWith(
    shown,
    words.transfer,
    html`<h1>${words.transfer}</h1>
<p>${say(words.sendExactly, { amount: amount(payment) })}</p>
<dl class="stack">${instructions.map((instruction) => instructionRow(instruction, shown))}</dl>
<p class="soft small">${words.waiting}…</p>
${backLink(shown, 'quiet')}`,
  );
}

/** The payment that is under way, or the answer that has not come yet. */
export function waitingPage(shown: Shown): Page {
  const { payment, now, ending, speech } = shown;
  const { words } = speech;
  const { nextStep } = payment;
  if (nextStep?.kind === 'code' && now < nextStep.until) return codePage(shown, nextStep);
  if (nextStep?.kind === 'transfer') return transferPage(shown, nextStep.instructions);
  const [title, text] =
    nextStep?.kind === 'code'
      ? [words.codeOver, words.codeOverHow]
      : ending === 'unknown'
        ? [words.checking, words.checkingHow]
        : [words.waiting, words.waitingHow];
  const content = turning(html`<h1>${title}</h1><p>${text}</p>${backLink(shown, 'quiet')}`);
  // Whose answer is late has done what they could; no time runs out on them.
  return waitingWith(shown, title, content, ending !== 'unknown');
}

/** The payer is back before anything was decided: they may have paid, or want to go on where they left off. */
export function unfinishedPage(shown: Shown): Page {
  const { payment, speech } = shown;
  const { words } = speech;
  const { nextStep } = payment;
  const way =
    nextStep?.kind === 'challenge'
      ? formToBank(shown, nextStep)
      : nextStep?.kind === 'redirect' && wayToProvider(shown, nextStep, words.openAgain);
  if (!way) return waitingPage(shown);
  return waitingWith(
    shown,
    words.unfinished,
    turning(html`<h1>${words.unfinished}</h1><p>${words.unfinishedHow}</p>${way}${cancelLink(shown)}`),
  );
}
