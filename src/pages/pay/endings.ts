/** The pages at the end: paid, declined, over, cancelled, and those of links that lead nowhere. */
import { shownName } from '../../core/accounts.ts';
import type { Ending } from '../../core/payments/return.ts';
import { type Html, html } from '../../lib/html.ts';
import type { Page } from '../layout.ts';
import type { Speech } from '../speech.ts';
import type { Words } from '../words/index.ts';
import { backLink, following, ICONS, reason, type Shown } from './shown.ts';

/** The words that are plain sentences. */
type Sentence = { [Key in keyof Words]: Words[Key] extends string ? Key : never }[keyof Words];

const MARKS = { good: ICONS.check, bad: ICONS.cross, late: ICONS.time, info: ICONS.info } as const;

const mark = (name: keyof typeof MARKS): Html => html`<p class="mark ${name}">${MARKS[name]}</p>`;

interface End {
  title: Sentence;
  text: Sentence;
  mark: keyof typeof MARKS;
}

const ENDS: Readonly<Partial<Record<Ending, End>>> = {
  paid: { title: 'paid', text: 'paidHow', mark: 'good' },
  declined: { title: 'notPaid', text: 'notPaidHow', mark: 'bad' },
  failed: { title: 'notPaid', text: 'failedHow', mark: 'bad' },
  expired: { title: 'expired', text: 'expiredHow', mark: 'late' },
  givenBack: { title: 'cancelled', text: 'cancelledHow', mark: 'info' },
};

/** How the payment ended; nothing as long as it is open. */
export function endPage(shown: Shown): Page | undefined {
  const { payment, account, ending, speech, back } = shown;
  const { words, say, amount } = speech;
  const end = ENDS[ending];
  if (!end) return undefined;
  const leadsOn = end.mark === 'good' && back.address !== undefined;
  return {
    title: words[end.title],
    ...following(shown),
    body: html`<section class="card end">
${mark(end.mark)}
<h1>${words[end.title]}</h1>
<p>${words[end.text]}</p>
${ending === 'declined' && reason(shown)}
<dl><dt>${words.amount}</dt><dd><bdi>${amount(payment)}</bdi></dd><dt>${words.order}</dt><dd><bdi>${payment.orderId}</bdi></dd></dl>
${backLink(shown, 'button', leadsOn ? html` data-go="5"` : undefined)}
${leadsOn && html`<p class="soft small" hidden data-with-go>${say(words.goingBackSoon, { merchant: shownName(account) })}</p>`}
</section>`,
  };
}

/** The shop offers nothing that fits the order. */
export function noWayPage(shown: Shown): Page {
  const { words } = shown.speech;
  return {
    title: words.noWay,
    body: html`<section class="card end">
${mark('info')}
<h1>${words.noWay}</h1>
<p>${words.noWayHow}</p>
${backLink(shown, 'button')}
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

export const unknownPage = ({ words }: Speech): Page => messagePage(words.unknown, words.unknownHow);

export const troublePage = ({ words }: Speech): Page => messagePage(words.trouble, words.troubleHow);

/** A form that another site sent is not taken; the payer can open ours. */
export const foreignPage = ({ words }: Speech, path: string): Page =>
  messagePage(words.foreign, words.foreignHow, html`<a class="button" href="${path}">${words.openAgain}</a>`);
