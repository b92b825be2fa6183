/** What the payer is told about the charges that follow a payment, and the box by which the payer agrees to them. */
import { displayName } from '../../core/accounts/accounts.ts';
import { type Html, html } from '../../lib/text/html.ts';
import type { PageView } from './view.ts';

/** The name of the box. */
export const CONSENT = 'consent';

/** Whether the payer has to agree, and has not. */
export const lacksConsent = ({ payment }: Pick<PageView, 'payment'>, answers: ReadonlyMap<string, string>): boolean =>
  payment.details.session?.needsConsent === true && answers.get(CONSENT) !== 'Y';

/** The terms as pairs of a label and a value; empty if the merchant charges without a schedule. */
function termsOf({ series, payment, locale }: PageView): [label: string, value: string][] {
  const { messages, formatAmount, formatInterval, formatDate } = locale;
  if (!series?.charges) return [];
  const { schedule, firstAt, amount } = series.charges;
  return [
    [messages.amount, formatAmount({ amount, currency: payment.currency })],
    [messages.interval, formatInterval(schedule.intervalUnit, schedule.intervalLength)],
    [messages.charges, String(schedule.paymentsCount)],
    [messages.firstCharge, formatDate(firstAt)],
  ];
}

/** Without a schedule only the merchant and the payer know how much is charged, and when. */
const introductionOf = ({ series, account, locale: { messages, formatMessage } }: PageView): string =>
  formatMessage(series?.charges ? messages.repeatedHow : messages.repeatedOpenHow, { merchant: displayName(account) });

/** Everything that the payer agrees to, as one text for the record; undefined if no consent is needed. */
export function consentText(view: PageView): string | undefined {
  const { payment, account, locale } = view;
  if (!payment.details.session?.needsConsent) return undefined;
  const { messages, formatMessage } = locale;
  const merchant = displayName(account);
  const terms = termsOf(view).map(([label, value]) => `${label}: ${value.replace(/\.$/, '')}.`);
  return [introductionOf(view), ...terms, formatMessage(messages.agree, { merchant })].join(' ');
}

/** The part of a form that describes the series; `isMissing` marks a box that has to be ticked. */
export function seriesTerms(view: PageView, isMissing: boolean): Html | false {
  const { series, payment, account, locale } = view;
  if (!series) return false;
  const { messages, formatMessage } = locale;
  const merchant = displayName(account);
  const terms = termsOf(view);
  return html`<div class="series"><h2>${messages.repeated}</h2>
<p class="small">${introductionOf(view)}</p>
${terms.length > 0 && html`<dl>${terms.map(([label, value]) => html`<div><dt>${label}</dt><dd><bdi>${value}</bdi></dd></div>`)}</dl>`}
${
  payment.details.session?.needsConsent &&
  html`<label class="saved"><input type="checkbox" id="${CONSENT}" name="${CONSENT}" value="Y" required aria-describedby="${CONSENT}-error" data-blank="${messages.agreeFirst}"${isMissing && html` aria-invalid="true" autofocus`}><span>${formatMessage(messages.agree, { merchant })}</span></label>
<p class="error" id="${CONSENT}-error"${!isMissing && html` hidden`}>${isMissing && messages.agreeFirst}</p>`
}</div>`;
}
