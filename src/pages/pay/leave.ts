/** The button with which a payer leaves an attempt for another method, and what the payer is told afterwards. */
import { type Html, html } from '../../lib/text/html.ts';
import type { PageView } from './view.ts';

/** Leaves the attempt; `form` is the id of the form, so that a button elsewhere on the page can submit it, too. */
export const leaveForm = ({ path, canLeave, locale: { messages } }: PageView, text: string): Html | false =>
  canLeave &&
  html`<form method="post" action="${path}/leave" id="leave" data-busy="${messages.oneMoment}"><button class="quiet">${text}</button></form>`;

/** Shown if the provider has not confirmed that the attempt is ended, or has not answered when a new code was wanted. */
export const stillOpenNotice = ({ isStillOpen, locale: { messages } }: PageView): Html | false =>
  isStillOpen && html`<div class="notice info" role="status"><p>${messages.challenge.stillOpen}</p></div>`;
