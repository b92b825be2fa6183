/** The pages for payers who reached a limit. Nothing was submitted or paid. */
import type { CardRefusal } from '../../core/cards/card-attempts.ts';
import { html } from '../../lib/text/html.ts';
import { CARD } from '../../rules/brands.ts';
import type { Page } from '../layout.ts';
import type { Locale } from '../locale.ts';
import { messagePage, statusIcon } from './result-pages.ts';
import type { PageView } from './view.ts';

/** Why a card was not used. */
export function cardRefusalText({ waitMs }: CardRefusal, locale: Locale): { title: string; text: string } {
  const { messages, formatMessage, formatDuration } = locale;
  return waitMs === undefined
    ? { title: messages.cardsSpent, text: messages.cardsSpentHow }
    : { title: messages.cardsPaused, text: formatMessage(messages.cardsPausedHow, { time: formatDuration(waitMs) }) };
}

/** Shown when cards are refused for a while or for the rest of the session; other payment methods stay available. */
export function cardRefusedPage({ methods, path, locale }: PageView, refusal: CardRefusal): Page {
  const { messages } = locale;
  const { title, text } = cardRefusalText(refusal, locale);
  const hasOtherMethods = methods.some(({ label }) => label !== CARD);
  return {
    title,
    body: html`<section class="card end">
${statusIcon('late')}
<h1>${title}</h1>
<p>${text}</p>
<a class="button" href="${path}">${hasOtherMethods ? messages.otherWays : messages.openAgain}</a>
</section>`,
  };
}

/** Shown when a link exceeds the submit rate limit; it links to the payment page. */
export const rateLimitPage = ({ messages }: Locale, path: string): Page =>
  messagePage(
    messages.tooFast,
    messages.tooFastHow,
    html`<a class="button" href="${path}">${messages.openAgain}</a>`,
    'late',
  );
