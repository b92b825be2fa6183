/** The pages for payers who met a limit: nothing was sent, nothing was paid, and this is how to go on. */
import type { CardRefusal } from '../../core/card-attempts.ts';
import { html } from '../../lib/html.ts';
import { CARD } from '../../rules/brands.ts';
import type { Page } from '../layout.ts';
import type { Locale } from '../locale.ts';
import type { PageView } from './view.ts';

/** Says that no card is taken at the moment, or in this session at all; other ways to pay stay. */
export function cardRefusedPage({ methods, path, locale }: PageView, { waitMs }: CardRefusal): Page {
  const { messages, translate, time } = locale;
  const title = waitMs === undefined ? messages.cardsSpent : messages.cardsPaused;
  const text =
    waitMs === undefined ? messages.cardsSpentHow : translate(messages.cardsPausedHow, { time: time(waitMs) });
  const hasOtherWays = methods.some(({ label }) => label !== CARD);
  return {
    title,
    body: html`<section class="card end">
<h1>${title}</h1>
<p>${text}</p>
<a class="button" href="${path}">${hasOtherWays ? messages.otherWays : messages.openAgain}</a>
</section>`,
  };
}

/** Somebody presses faster than people do. */
export const tooFastPage = ({ messages }: Locale): Page => ({
  title: messages.tooFast,
  body: html`<section class="card end"><h1>${messages.tooFast}</h1><p>${messages.tooFastHow}</p></section>`,
});
