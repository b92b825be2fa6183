/** What a form carries so that it is sent once: which attempt of the order it submits, and the texts of its script. */
import type { PaymentWithDetails } from '../../core/context.ts';
import { type Html, html } from '../../lib/text/html.ts';
import type { PageView } from './view.ts';

/** The attempt that a form of this page submits: after a decline, the next one. */
export const submittedAttempt = ({ attempt, state }: PaymentWithDetails): number =>
  state === 'DECLINED' ? attempt + 1 : attempt;

export const attemptInput = ({ payment }: PageView): Html =>
  html`<input type="hidden" name="attempt" value="${submittedAttempt(payment)}">`;

/**
 * Whether a form belongs to an attempt that was submitted meanwhile: by an earlier copy of the same form, or in another
 * tab. Its payer has not seen the outcome of that attempt.
 */
export const isOutdated = (payment: PaymentWithDetails, sent: string | undefined): boolean =>
  sent !== undefined && sent !== String(submittedAttempt(payment));

/** The script sends the form without leaving the page, and says what happened if it got no answer. */
export const sendAttributes = ({ locale: { messages } }: PageView, busy: string): Html =>
  html` data-busy="${busy}" data-lost="${messages.sending.lost}" data-again="${messages.sending.again}"`;
