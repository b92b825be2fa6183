/** Says that the sandbox clock was moved, so that nobody wonders about the times. */
import type { Gateway } from '../../../core/context.ts';
import { type Html, html } from '../../../lib/text/html.ts';
import { LIMITS } from '../../../rules/limits.ts';
import { languageTag, panelTexts } from '../locales/index.ts';
import { fill } from './parts.ts';

/** Less is not worth a word. */
const LEAST_MS = 60_000;

function duration(ms: number): string {
  const [unit, size] =
    ms >= 2 * LIMITS.dayMs
      ? (['day', LIMITS.dayMs] as const)
      : ms >= 2 * LIMITS.hourMs
        ? (['hour', LIMITS.hourMs] as const)
        : (['minute', LEAST_MS] as const);
  return new Intl.NumberFormat(languageTag(), {
    style: 'unit',
    unit,
    unitDisplay: 'long',
    maximumFractionDigits: 0,
  }).format(ms / size);
}

function notice(text: string, aheadMs: number, now: number): Html | false {
  if (aheadMs < LEAST_MS) return false;
  const at = new Intl.DateTimeFormat(languageTag(), { dateStyle: 'medium', timeStyle: 'short', timeZone: 'UTC' });
  return html`<div class="notice wait" role="status">${fill(text, { ahead: duration(aheadMs), now: `${at.format(now)} UTC` })}</div>`;
}

/** For every page: the clock of all accounts, or of those that the operator sees. */
export function clockNotice({ clock, environment }: Gateway, mids: readonly string[] | null): Html | false {
  if (environment !== 'sandbox') return false;
  const [first] = mids === null ? [undefined] : mids.toSorted((a, b) => clock.offset(b) - clock.offset(a));
  return notice(panelTexts.clockAhead, clock.offset(first), clock.now(first));
}

/** For the page of something of one account, whose clock may be ahead of the others. */
export const accountClockNotice = ({ clock }: Gateway, mid: string): Html | false =>
  clock.offset(mid) > clock.offset() && notice(panelTexts.clockAheadHere, clock.offset(mid), clock.now(mid));
