/** The pages for the result of a payment, and the error pages. */
import { displayName } from '../../core/accounts/accounts.ts';
import type { PaymentResult } from '../../core/payments/return.ts';
import { type Html, html } from '../../lib/text/html.ts';
import type { Page } from '../layout.ts';
import type { Locale } from '../locale.ts';
import type { Messages } from '../locales/index.ts';
import { receiptLink } from './receipt.ts';
import { ICONS, type PageView, reasonText, shopLink, statusPolling } from './view.ts';

/** The keys of messages that are plain strings. */
type MessageKey = { [Key in keyof Messages]: Messages[Key] extends string ? Key : never }[keyof Messages];

const STATUS_ICONS = { good: ICONS.check, bad: ICONS.cross, late: ICONS.time, info: ICONS.info } as const;

export const statusIcon = (name: keyof typeof STATUS_ICONS): Html =>
  html`<p class="mark ${name}">${STATUS_ICONS[name]}</p>`;

interface ResultContent {
  title: MessageKey;
  /** Without one, the payer is thanked. */
  text?: MessageKey;
  icon: keyof typeof STATUS_ICONS;
}

const RESULT_CONTENTS: Readonly<Partial<Record<PaymentResult, ResultContent>>> = {
  paid: { title: 'paid', icon: 'good' },
  declined: { title: 'notPaid', text: 'notPaidHow', icon: 'bad' },
  failed: { title: 'notPaid', text: 'failedHow', icon: 'bad' },
  expired: { title: 'expired', text: 'expiredHow', icon: 'late' },
  cancelled: { title: 'cancelled', text: 'cancelledHow', icon: 'info' },
};

/** The result of a payment; undefined while it is open. */
export function resultPage(view: PageView): Page | undefined {
  const { payment, account, result, locale, back } = view;
  const { messages, formatMessage, formatAmount } = locale;
  const content = RESULT_CONTENTS[result];
  if (!content) return undefined;
  const returnsAutomatically = content.icon === 'good' && back.address !== undefined;
  return {
    title: messages[content.title],
    ...statusPolling(view),
    body: html`<section class="card end">
${statusIcon(content.icon)}
<h1>${messages[content.title]}</h1>
<p>${content.text ? messages[content.text] : formatMessage(messages.receipt.thanks, { merchant: displayName(account) })}</p>
${result === 'declined' && reasonText(view)}
<dl><dt>${messages.amount}</dt><dd><bdi>${formatAmount(payment)}</bdi></dd><dt>${messages.order}</dt><dd><bdi>${payment.orderId}</bdi></dd></dl>
${shopLink(view, 'button', returnsAutomatically ? html` data-go="5"` : undefined)}
${returnsAutomatically && html`<p class="soft small" hidden data-with-go>${formatMessage(messages.goingBackSoon, { merchant: displayName(account) })}</p>`}
${receiptLink(view)}
</section>`,
  };
}

/** Shown when no payment method is available for the order. */
export function noMethodPage(view: PageView): Page {
  const { messages } = view.locale;
  return {
    title: messages.noWay,
    body: html`<section class="card end">
${statusIcon('info')}
<h1>${messages.noWay}</h1>
<p>${messages.noWayHow}</p>
${shopLink(view, 'button')}
</section>`,
  };
}

export const messagePage = (
  title: string,
  text: string,
  action?: Html,
  icon: keyof typeof STATUS_ICONS = 'info',
): Page => ({
  title,
  body: html`<section class="card end">
${statusIcon(icon)}
<h1>${title}</h1><p>${text}</p>${action}
</section>`,
});

export const unknownLinkPage = ({ messages }: Locale): Page => messagePage(messages.unknown, messages.unknownHow);

export const errorPage = ({ messages }: Locale): Page => messagePage(messages.trouble, messages.troubleHow);

/** Shown when another site submitted the form; it links to the payment page. */
export const crossSitePage = ({ messages }: Locale, path: string): Page =>
  messagePage(messages.foreign, messages.foreignHow, html`<a class="button" href="${path}">${messages.openAgain}</a>`);
