/** The data of every page about a payment, and the elements that several pages share. */
import { displayName } from '../../core/accounts/accounts.ts';
import type { Gateway, PaymentWithDetails } from '../../core/context.ts';
import { LEFT } from '../../core/payments/leave.ts';
import type { PayerView } from '../../core/payments/payer.ts';
import type { PaymentResult } from '../../core/payments/return.ts';
import type { Secret } from '../../lib/crypto/secret.ts';
import { Html, html } from '../../lib/text/html.ts';
import { CARD, NO_BRAND_YET } from '../../rules/brands.ts';
import { payerCauseOf, reasonNamed } from '../../rules/reasons.ts';
import { isOpen } from '../../rules/states.ts';
import type { Amount } from '../amount.ts';
import type { Page } from '../layout.ts';
import type { Locale } from '../locale.ts';
import { collapsedLines } from '../order-lines.ts';

/** The route of a payment page. */
export interface LinkRoute {
  Params: { link: string };
  Querystring: Query;
}

/** The query parameters of a payment page. */
interface Query {
  method?: string;
  /** The language that the payer chooses. */
  lang?: string;
  /**
   * The payer returned from another site; `back` if by the back button, which the script detects; `open` if the payer
   * wanted to leave the attempt, or a new code, and the provider has not confirmed it.
   */
  returned?: string;
  /** The payer is sent to the provider, or back to the shop from the payment page or from the card issuer. */
  leaving?: 'provider' | 'page' | 'bank';
}

/** What the script of the pretend wallet needs. */
export interface PretendSheet {
  cards: readonly { id: string; name: string; wallets: readonly string[]; kind: string }[];
  validationUrl: string;
}

/** The card of the last attempt. Pages show the last four digits of its number and its network, never the number. */
export interface KeptInput {
  /** Absent if somebody else entered it for the payer. */
  number?: Secret | undefined;
  holder: string;
  expiry: string;
}

export interface PageView extends PayerView {
  locale: Locale;
  now: number;
  result: PaymentResult;
  /** The path of the payment page: the same for all attempts of a session. */
  path: string;
  /** The card that this browser sent with the last attempt, which was declined. */
  kept?: KeptInput | undefined;
  /** The part of the query that the links to other languages keep. */
  keptQuery?: string;
  /** Whether a shop shows the page in a frame: then it does not lead the frame to other sites. */
  isFramed?: boolean;
  /** Where the payer returns to in the current state, and in which browsing context. */
  back: { address?: string | undefined; target?: string | undefined };
  /** The payer can leave the attempt for another method, or get a new code. */
  canLeave: boolean;
  canRenewCode: boolean;
  /** The payer wanted one of these, and it is not certain that nothing was paid. */
  isStillOpen: boolean;
  /** Where a payer who cancels is sent. */
  cancel?: string | undefined;
  /** The page on which the payer manages what is saved, if something of this payment is. */
  customerPage?: string | undefined;
  /** Whether the payer is asked for an e-mail address for the receipt. */
  asksForReceipt?: boolean | undefined;
  /** The marks that the operator has placed, by network or brand. */
  marks: Gateway['marks'];
  /** The addresses and cards of the pretend wallet, if the page uses it. */
  pretend?: PretendSheet | undefined;
}

/** Identifies what a page shows: the page reloads itself when the version changes. */
export const pageVersion = ({ attempt, state, brand, nextStep, authorised }: PaymentWithDetails): string =>
  [
    attempt,
    state,
    brand === NO_BRAND_YET ? '' : 'chosen',
    nextStep?.kind ?? '',
    authorised > 0n ? 'reserved' : '',
  ].join('.');

/** Lets the page poll the status, as long as the payment can still change. */
export const statusPolling = (
  { payment, path }: PageView,
  isWaiting = false,
): Pick<Page, 'live' | 'refreshSeconds'> => ({
  ...((isOpen(payment.state) || payment.state === 'DECLINED') && {
    live: { url: `${path}/status`, version: pageVersion(payment), isWaiting },
  }),
  ...(isWaiting && { refreshSeconds: 5 }),
});

/** A message with an element in place of a placeholder. */
export function withElement(message: string, placeholder: string, element: Html): Html {
  const [before, after] = message.split(`{${placeholder}}`);
  return html`${before}${element}${after}`;
}

const svgIcon = (path: string, size: number): Html =>
  new Html(
    `<svg width="${size}" height="${size}" viewBox="0 0 24 24" fill="none" stroke="currentColor" stroke-width="2" stroke-linecap="round" stroke-linejoin="round" aria-hidden="true"><path d="${path}"/></svg>`,
  );
const CLOCK = 'M12 3a9 9 0 1 0 0 18 9 9 0 0 0 0-18zm0 4.5V12l3 2';
export const ICONS = {
  clock: svgIcon(CLOCK, 16),
  time: svgIcon(CLOCK, 32),
  info: svgIcon('M12 3a9 9 0 1 0 0 18 9 9 0 0 0 0-18zm0 8v5m0-8.5v.01', 32),
  lock: svgIcon('M6 11h12v9H6zm2.5 0V8a3.5 3.5 0 0 1 7 0v3', 16),
  card: svgIcon('M3 6h18v12H3zm0 4h18M7 15h3', 20),
  check: svgIcon('M5 12.5l4.5 4.5L19 7.5', 32),
  cross: svgIcon('M6.5 6.5l11 11m0-11l-11 11', 32),
} as const;

/** The remaining time; the script counts it down, and announces the last minute if there is a text for it. */
export const countdown = (ms: number, { formatDuration }: Locale, soon?: string): Html =>
  html`<span role="timer" data-left="${Math.ceil(ms / 1000)}"${soon && html` data-soon="${soon}"`}>${formatDuration(ms)}</span>`;

/** The remaining time is shown from here on; before, it would only hurry the payer. The script knows it, too. */
const NEAR_END_MS = 5 * 60_000;

/** Until when the payer can pay; after a decline this is the end of the session, not of the last attempt. */
const payerDeadline = ({ state, payerUntil, details: { session } }: PaymentWithDetails): number | null | undefined =>
  isOpen(state) ? payerUntil : session?.until;

/** A longer amount gets a smaller font, so that it fits on one line on a phone. */
const LONG_AMOUNT = 16;
/** A longer description is collapsed, so that the form stays near the top of the page. */
const LONG_DESCRIPTION = 260;

/** Allows a line break between the number and the currency only. */
const breakBesideCurrency = (amount: string): string => amount.replace(/(?<=[A-Z]{3})\u00a0|\u00a0(?=[A-Z]{3})/, ' ');

/** An amount in large letters. */
export function amountLine(payment: Amount, { formatAmount }: Locale): Html {
  const amount = formatAmount(payment);
  return html`<p class="amount ${amount.length > LONG_AMOUNT && 'wide'}"><bdi>${breakBesideCurrency(amount)}</bdi></p>`;
}

/** The order: amount, description, and the remaining time unless the page shows another countdown. */
export function orderSummary({ payment, locale, now }: PageView, hasTime = true): Html {
  const { messages, formatMessage } = locale;
  const { description } = payment.details;
  const leftMs = (payerDeadline(payment) ?? now) - now;
  return html`<section class="card summary" aria-label="${messages.yourOrder}">
${payment.details.session?.isTelephoneOrder && html`<p><strong>${messages.telephone.title}</strong><br><span class="small">${messages.telephone.how}</span></p>`}
${amountLine(payment, locale)}
<p class="what" dir="auto">${description}</p>
${description.length > LONG_DESCRIPTION && html`<details class="whole"><summary>${messages.wholeText}</summary></details>`}
<div class="about"><p>${formatMessage(messages.orderNumber, { order: payment.orderId })}</p>${
    hasTime &&
    leftMs > 0 &&
    html`<p class="time"${leftMs > NEAR_END_MS && html` hidden`}>${ICONS.clock}<span>${withElement(messages.timeLeft, 'time', countdown(leftMs, locale, messages.lastMinute))}</span></p>`
  }</div>
${collapsedLines(payment, locale)}
</section>`;
}

/** What the payer reads about a decline. The texts of providers are for merchants and operators only. */
interface DeclineText {
  text: string;
  /** Whether the text says what to do next. */
  hasAdvice: boolean;
}

export function declineText({ payment, locale: { messages } }: PageView): DeclineText | undefined {
  const reason = payment.declineReason ?? '';
  const name = reasonNamed(reason);
  // The advice about some causes is to use another card.
  const cause = name && payment.brand !== CARD ? undefined : payerCauseOf(reason);
  if (cause) return { text: messages.cardForm[cause], hasAdvice: true };
  return name && { text: messages.reasons[name], hasAdvice: false };
}

export function reasonText(view: PageView): Html | undefined {
  const decline = declineText(view);
  return decline && html`<p class="small">${decline.text}</p>`;
}

const isLeft = ({ declineReason }: PaymentWithDetails): boolean => declineReason === LEFT;

/** The title of a page. A problem comes first, because screen readers announce the title first. */
export const pageTitle = ({ payment, locale: { messages } }: PageView, usual: string, problems = 0): string =>
  problems > 0 ? messages.checkDetails : payment.state === 'DECLINED' && !isLeft(payment) ? messages.declined : usual;

const targetAttribute = (target: string | undefined): Html | undefined =>
  target === undefined ? undefined : html` target="${target}"`;

export const cancelLink = ({ cancel, back, locale: { messages } }: PageView): Html | false =>
  cancel !== undefined &&
  html`<a class="quiet" href="${cancel}"${targetAttribute(back.target)} data-cancel>${messages.cancel}</a>`;

/** The way back to the shop while the payment is open. */
export const wayBack = (view: PageView): Html | false | undefined =>
  view.cancel === undefined ? shopLink(view, 'quiet', html` data-cancel`) : cancelLink(view);

/** The link back to the shop, styled as a button or as a secondary link. */
export function shopLink(
  { back, account, locale: { messages, formatMessage } }: PageView,
  className: string,
  attributes?: Html,
): Html | undefined {
  if (back.address === undefined) return undefined;
  const text = formatMessage(messages.backTo, { merchant: displayName(account) });
  return html`<a class="${className}" href="${back.address}"${targetAttribute(back.target)}${attributes}>${text}</a>`;
}
