/** What every page about a payment needs to know, and the pieces that several of them have. */
import { displayName } from '../../core/accounts.ts';
import type { WholePayment } from '../../core/context.ts';
import type { PayerView } from '../../core/payments/payer.ts';
import type { PaymentResult } from '../../core/payments/return.ts';
import { Html, html } from '../../lib/html.ts';
import { CARD } from '../../rules/brands.ts';
import { reasonNamed } from '../../rules/reasons.ts';
import { isOpen } from '../../rules/states.ts';
import type { Page } from '../layout.ts';
import type { Locale } from '../locale.ts';

export interface PageView extends PayerView {
  locale: Locale;
  now: number;
  result: PaymentResult;
  /** The path of our page for this payment. */
  path: string;
  /** Where the payer goes back to, as it stands, and in which browsing context. */
  back: { address?: string | undefined; target?: string | undefined };
  /** Where a payer goes who does not want to pay. */
  cancel?: string | undefined;
}

/** Two pages of a payment with the same version say the same. */
export const versionOf = ({ attempt, state, nextStep, authorised }: WholePayment): string =>
  [attempt, state, nextStep?.kind ?? '', authorised > 0n ? 'reserved' : ''].join('.');

/** The page keeps an eye on the payment, as long as something can happen to it. */
export const following = ({ payment, path }: PageView, isWaiting = false): Pick<Page, 'live' | 'refreshSeconds'> => ({
  ...((isOpen(payment.state) || payment.state === 'DECLINED') && {
    live: { url: `${path}/status`, version: versionOf(payment), isWaiting },
  }),
  ...(isWaiting && { refreshSeconds: 5 }),
});

/** A sentence with a piece of a page in the place that it has for it. */
export function sentence(messages: string, place: string, piece: Html): Html {
  const [before, after] = messages.split(`{${place}}`);
  return html`${before}${piece}${after}`;
}

const drawing = (path: string, size: number): Html =>
  new Html(
    `<svg width="${size}" height="${size}" viewBox="0 0 24 24" fill="none" stroke="currentColor" stroke-width="2" stroke-linecap="round" stroke-linejoin="round" aria-hidden="true"><path d="${path}"/></svg>`,
  );
const CLOCK = 'M12 3a9 9 0 1 0 0 18 9 9 0 0 0 0-18zm0 4.5V12l3 2';
export const ICONS = {
  clock: drawing(CLOCK, 16),
  time: drawing(CLOCK, 32),
  info: drawing('M12 3a9 9 0 1 0 0 18 9 9 0 0 0 0-18zm0 8v5m0-8.5v.01', 32),
  lock: drawing('M6 11h12v9H6zm2.5 0V8a3.5 3.5 0 0 1 7 0v3', 16),
  card: drawing('M3 6h18v12H3zm0 4h18M7 15h3', 20),
  check: drawing('M5 12.5l4.5 4.5L19 7.5', 32),
  cross: drawing('M6.5 6.5l11 11m0-11l-11 11', 32),
} as const;

/** A time that runs down while the page is open, where scripts run. */
export const timer = (ms: number, { time, messages }: Locale): Html =>
  html`<span role="timer" data-left="${Math.ceil(ms / 1000)}" data-soon="${messages.lastMinute}">${time(ms)}</span>`;

/** Until when the payer can pay; after a decline the session counts, whatever time the last way left. */
const timeOf = ({ state, payerUntil, details: { session } }: WholePayment): number | null | undefined =>
  isOpen(state) ? payerUntil : session?.until;

/** An amount of more signs is written smaller, so that a phone shows it in one line. */
const LONG_AMOUNT = 16;
/** A description of more signs shows its beginning, so that what is to be done stays near the top. */
const LONG_DESCRIPTION = 260;

/** Where an amount has to be broken, that is between the number and its currency. */
const breakable = (amount: string): string => amount.replace(/(?<=[A-Z]{3})\u00a0|\u00a0(?=[A-Z]{3})/, ' ');

/** What is to be paid, and how much time there is, where no other time counts. */
export function summary({ payment, locale, now }: PageView, hasTime = true): Html {
  const { messages, translate, amount } = locale;
  const shownAmount = amount(payment);
  const { description } = payment.details;
  const leftMs = (timeOf(payment) ?? now) - now;
  return html`<section class="card summary" aria-label="${messages.yourOrder}">
<p class="amount ${shownAmount.length > LONG_AMOUNT && 'wide'}"><bdi>${breakable(shownAmount)}</bdi></p>
<p class="what" dir="auto">${description}</p>
${description.length > LONG_DESCRIPTION && html`<details class="whole"><summary>${messages.wholeText}</summary></details>`}
<p class="soft small">${translate(messages.orderNumber, { order: payment.orderId })}</p>
${hasTime && leftMs > 0 && html`<p class="time">${ICONS.clock}<span>${sentence(messages.timeLeft, 'time', timer(leftMs, locale))}</span></p>`}
</section>`;
}

/** Why it failed: our own reasons in the payer's language, and what a provider said as it said it. */
export function reason({ payment, locale: { messages } }: PageView): Html | undefined {
  const { declineReason } = payment;
  if (declineReason === null) return undefined;
  const name = reasonNamed(declineReason);
  return name
    ? html`<p class="small">${messages.reasons[name]}</p>`
    : html`<p class="small">${messages.reasonGiven} <span lang="en" dir="auto">${declineReason}</span></p>`;
}

/** A title is what is heard first, and seen of a tab: what went wrong comes before what is to be done. */
export const titleOf = ({ payment, locale: { messages } }: PageView, usual: string, problems = 0): string =>
  problems > 0 ? messages.checkDetails : payment.state === 'DECLINED' ? messages.declined : usual;

/** Said plainly after a decline, before the payer tries again. */
export function declinedBefore(view: PageView): Html | undefined {
  const { payment, locale, areCardsSpent, methods } = view;
  const { declined, noMoney, tryAgain, tryCard, trySame, cardsSpent } = locale.messages;
  if (payment.state !== 'DECLINED') return undefined;
  const advice = methods.every(({ label }) => label === CARD) ? tryCard : methods.length > 1 ? tryAgain : trySame;
  return html`<div class="notice" role="alert"><h2>${declined}</h2><p>${noMoney} ${!areCardsSpent && advice}</p>${areCardsSpent && html`<p>${cardsSpent}</p>`}${reason(view)}</div>`;
}

/** How many fields have to be looked at again. */
export const checkAgain = (count: number, { messages, count: counted }: Locale): Html | false =>
  count > 0 &&
  html`<div class="notice" data-marks role="alert"><strong>${counted(messages.checkMarked, count)}</strong></div>`;

const into = (target: string | undefined): Html | undefined =>
  target === undefined ? undefined : html` target="${target}"`;

export const cancelLink = ({ cancel, back, locale: { messages } }: PageView): Html | false =>
  cancel !== undefined && html`<a class="quiet" href="${cancel}"${into(back.target)}>${messages.cancel}</a>`;

/** The way back to the shop, as the main thing to do or as one among others. */
export function backLink(
  { back, account, locale: { messages, translate } }: PageView,
  kind: string,
  traits?: Html,
): Html | undefined {
  if (back.address === undefined) return undefined;
  const text = translate(messages.backTo, { merchant: displayName(account) });
  return html`<a class="${kind}" href="${back.address}"${into(back.target)}${traits}>${text}</a>`;
}
