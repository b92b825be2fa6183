/** What a form tells about the last attempt: a decline, wrong fields, or what its script has to say. */
import { LEFT } from '../../core/payments/leave.ts';
import { type Html, html } from '../../lib/text/html.ts';
import { CARD } from '../../rules/brands.ts';
import { declineText, type PageView } from './view.ts';

export interface Notice {
  /** Empty if nothing went wrong. */
  title: string;
  text: string;
}

/** What the payer reads about an attempt that was declined, or that the payer has left. */
export function declineNotice(view: PageView): Notice | undefined {
  const { payment, areCardsSpent, methods, locale } = view;
  const { declined, noMoney, tryAgain, tryCard, trySame, cardsSpent, challenge } = locale.messages;
  if (payment.state !== 'DECLINED') return undefined;
  const spent = areCardsSpent ? [`${cardsSpent}.`] : [];
  if (payment.declineReason === LEFT) return { title: '', text: [challenge.left, ...spent].join(' ') };
  const decline = declineText(view);
  if (decline?.hasAdvice) return { title: declined, text: [decline.text, noMoney, ...spent].join(' ') };
  const advice = methods.every(({ label }) => label === CARD) ? tryCard : methods.length > 1 ? tryAgain : trySame;
  const parts = [noMoney, ...(areCardsSpent ? spent : [advice]), ...(decline ? [decline.text] : [])];
  return { title: declined, text: parts.join(' ') };
}

/** The box of a form for its notice; the script writes into it, too. `wrong` is the number of wrong fields. */
export function noticeBox(view: PageView, wrong = 0): Html {
  const { messages, formatPlural } = view.locale;
  const notice = wrong > 0 ? { title: '', text: formatPlural(messages.checkMarked, wrong) } : declineNotice(view);
  const isInfo = notice?.title === '' && wrong === 0;
  return html`<div class="notice ${isInfo && 'info'}" id="notice" role="${isInfo ? 'status' : 'alert'}"${wrong > 0 && html` data-marks`}${!notice && html` hidden`}><h2${!notice?.title && html` hidden`}>${notice?.title}</h2><p>${notice?.text}</p></div>`;
}
