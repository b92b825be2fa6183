/** The status of a payment as people call it. */
import type { Payment } from '../../../core/context.ts';
import type { Html } from '../../../lib/text/html.ts';
import { badge, toneOf } from '../frame/parts.ts';
import { panelTexts } from '../locales/index.ts';

type Shown = Pick<Payment, 'state' | 'authorised' | 'refunded'>;

/** A payment that was refunded in part, or whose amount is only reserved, has a word of its own. */
export function statusText({ state, authorised, refunded }: Shown): string {
  const { states } = panelTexts.payments;
  if (state === 'SETTLED' && refunded > 0n) return states.partlyRefunded;
  if (state === 'PENDING' && authorised > 0n) return states.authorised;
  return states[state];
}

export const statusBadge = (payment: Shown): Html => badge(statusText(payment), toneOf(payment.state));
