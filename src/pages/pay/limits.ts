/** The pages for payers who met a limit: nothing was sent, nothing was paid, and this is how to go on. */
import type { CardRefusal } from '../../core/card-tries.ts';
import { html } from '../../lib/html.ts';
import { CARD } from '../../rules/brands.ts';
import type { Page } from '../layout.ts';
import type { Speech } from '../speech.ts';
import type { Shown } from './shown.ts';

/** Says that no card is taken at the moment, or in this session at all; other ways to pay stay. */
export function cardRefusedPage({ methods, path, speech }: Shown, { waitMs }: CardRefusal): Page {
  const { words, say, time } = speech;
  const title = waitMs === undefined ? words.cardsSpent : words.cardsPaused;
  const text = waitMs === undefined ? words.cardsSpentHow : say(words.cardsPausedHow, { time: time(waitMs) });
  const hasOtherWays = methods.some(({ label }) => label !== CARD);
  return {
    title,
    body: html`<section class="card end">
<h1>${title}</h1>
<p>${text}</p>
<a class="button" href="${path}">${hasOtherWays ? words.otherWays : words.openAgain}</a>
</section>`,
  };
}

/** Somebody presses faster than people do. */
export const tooFastPage = ({ words }: Speech): Page => ({
  title: words.tooFast,
  body: html`<section class="card end"><h1>${words.tooFast}</h1><p>${words.tooFastHow}</p></section>`,
});
