/** The pages at the end: paid, declined, over, cancelled, and those of links that lead nowhere. */
import { displayName } from '../../core/accounts.ts';
import type { PaymentResult } from '../../core/payments/return.ts';
import { type Html, html } from '../../lib/html.ts';
import type { Page } from '../layout.ts';
import type { Locale } from '../locale.ts';
import type { Messages } from '../locales/index.ts';
import { backLink, following, ICONS, type PageView, reason } from './view.ts';

/** The words that are plain sentences. */
type MessageKey = { [Key in keyof Messages]: Messages[Key] extends string ? Key : never }[keyof Messages];

const MARKS = { good: ICONS.check, bad: ICONS.cross, late: ICONS.time, info: ICONS.info } as const;

const mark = (name: keyof typeof MARKS): Html => html`<p class="mark ${name}">${MARKS[name]}</p>`;

interface End {
  title: MessageKey;
  text: MessageKey;
  mark: keyof typeof MARKS;
}

const ENDS: Readonly<Partial<Record<PaymentResult, End>>> = {
  paid: { title: 'paid', text: 'paidHow', mark: 'good' },
  declined: { title: 'notPaid', text: 'notPaidHow', mark: 'bad' },
  failed: { title: 'notPaid', text: 'failedHow', mark: 'bad' },
  expired: { title: 'expired', text: 'expiredHow', mark: 'late' },
  givenBack: { title: 'cancelled', text: 'cancelledHow', mark: 'info' },
};

/** How the payment ended; nothing as long as it is open. */
export function resultPage(view: PageView): Page | undefined {
  const { payment, account, result, locale, back } = view;
  const { messages, translate, amount } = locale;
  const end = ENDS[result];
  if (!end) return undefined;
  const leadsOn = end.mark === 'good' && back.address !== undefined;
  return {
    title: messages[end.title],
    ...following(view),
    body: html`<section class="card end">
${mark(end.mark)}
<h1>${messages[end.title]}</h1>
<p>${messages[end.text]}</p>
${result === 'declined' && reason(view)}
<dl><dt>${messages.amount}</dt><dd><bdi>${amount(payment)}</bdi></dd><dt>${messages.order}</dt><dd><bdi>${payment.orderId}</bdi></dd></dl>
${backLink(view, 'button', leadsOn ? html` data-go="5"` : undefined)}
${leadsOn && html`<p class="soft small" hidden data-with-go>${translate(messages.goingBackSoon, { merchant: displayName(account) })}</p>`}
</section>`,
  };
}

/** The shop offers nothing that fits the order. */
export function noWayPage(view: PageView): Page {
  const { messages } = view.locale;
  return {
    title: messages.noWay,
    body: html`<section class="card end">
${mark('info')}
<h1>${messages.noWay}</h1>
<p>${messages.noWayHow}</p>
${backLink(view, 'button')}
</section>`,
  };
}

const messagePage = (title: string, text: string, way?: Html): Page => ({
  title,
  body: html`<section class="card end">
${mark('info')}
<h1>${title}</h1><p>${text}</p>${way}
</section>`,
});

export const unknownPage = ({ messages }: Locale): Page => messagePage(messages.unknown, messages.unknownHow);

export const troublePage = ({ messages }: Locale): Page => messagePage(messages.trouble, messages.troubleHow);

/** A form that another site sent is not taken; the payer can open ours. */
export const foreignPage = ({ messages }: Locale, path: string): Page =>
  messagePage(messages.foreign, messages.foreignHow, html`<a class="button" href="${path}">${messages.openAgain}</a>`);
