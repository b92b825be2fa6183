/** The pages on which payers ask for a link, and see and remove what a shop has saved for them; and the e-mail. */
import { displayName } from '../../core/accounts/accounts.ts';
import type { Account, Gateway, MailContent } from '../../core/context.ts';
import type { CustomerCard, CustomerPossessions, CustomerSubscription } from '../../core/customers/customers.ts';
import { networkTitle } from '../../lib/cards/networks.ts';
import { minorUnits } from '../../lib/money/money.ts';
import { type Html, html } from '../../lib/text/html.ts';
import { exponentOf } from '../../rules/currencies.ts';
import type { Page } from '../layout.ts';
import { type Locale, localeFor } from '../locale.ts';
import { shortMail } from '../mail.ts';
import { renderInput } from '../pay/inputs.ts';
import { messagePage } from '../pay/result-pages.ts';

/** What the payer has just done. */
export type Done = 'removed' | 'ended' | 'inUse';

const STYLE = `.saved-list{list-style:none;margin:.75rem 0 0;padding:0}.saved-list li{border-top:1px solid var(--line);padding:.75rem 0}.saved-list details{margin-top:.25rem}.saved-list summary{cursor:pointer;min-height:1.75rem;color:var(--soft)}`;

/** The pages of a payer are never shown in a frame of another site. */
const own = (page: Page): Page => ({ ...page, additions: { scripts: [], styles: [STYLE], isNeverFramed: true } });

const inForm = (path: string, { messages }: Locale, content: Html): Html =>
  html`<form method="post" action="${path}" novalidate data-busy="${messages.oneMoment}" data-blank="${messages.fillIn}">${content}</form>`;

export function requestPage(account: Account, locale: Locale, path: string, email = '', isWrong = false): Page {
  const { messages, formatMessage } = locale;
  const { customer, link } = messages;
  const input = renderInput({
    id: 'email',
    name: 'email',
    label: link.email,
    value: email,
    problem: isWrong ? messages.looksWrong : undefined,
    isFocused: isWrong,
    autocomplete: 'email',
    inputmode: 'email',
  });
  return own({
    title: isWrong ? messages.checkDetails : customer.title,
    body: html`<section class="card"><h1>${customer.title}</h1>
<p>${formatMessage(customer.ask, { merchant: displayName(account) })}</p>
${inForm(path, locale, html`${input}<button>${customer.send}</button>`)}</section>`,
  });
}

export function sentPage(account: Account, { messages: { customer }, formatMessage }: Locale): Page {
  return own(messagePage(customer.sent, formatMessage(customer.sentHow, { merchant: displayName(account) })));
}

/** The button uses the link up: mail programs open links by themselves, and press no buttons. */
export function openPage(account: Account, locale: Locale, path: string): Page {
  const { customer } = locale.messages;
  return own({
    title: customer.title,
    body: html`<section class="card"><h1>${customer.title}</h1><p><bdi>${displayName(account)}</bdi></p>
${inForm(path, locale, html`<button>${customer.open}</button>`)}</section>`,
  });
}

export function usedPage({ messages: { link, customer } }: Locale, path: string): Page {
  return own(messagePage(link.over, '', html`<a class="button" href="${path}">${customer.again}</a>`, 'late'));
}

export function savedPage(
  account: Account,
  { cards, subscriptions }: CustomerPossessions,
  locale: Locale,
  path: string,
  done?: Done,
): Page {
  const { messages, formatMessage, formatAmount, formatDate } = locale;
  const { customer } = messages;
  const merchant = displayName(account);
  const cardText = (masked: string, network: string): string =>
    formatMessage(messages.savedCard, { network: networkTitle(network) ?? messages.card, digits: masked.slice(-4) });
  const action = (text: string, how: string, name: string, id: string): Html =>
    html`<details><summary>${text}</summary><p>${how}</p>${inForm(path, locale, html`<button class="second" name="${name}" value="${id}">${text}</button>`)}</details>`;
  const cardItem = ({ cardIds: [id], masked, network }: CustomerCard): Html =>
    html`<li><strong>${cardText(masked, network)}</strong>${action(customer.remove, formatMessage(customer.removeHow, { merchant }), 'card', id)}</li>`;
  const subscriptionItem = ({ payment, name, nextAt, subscriptionId }: CustomerSubscription): Html => {
    const { card, session } = payment.details;
    const charged = minorUnits(session?.scheduleAmount ?? payment.amountText, exponentOf(payment.currency), 'whole');
    const amount = typeof charged === 'bigint' ? charged : payment.amount;
    const next = nextAt !== null && formatMessage(customer.next, { date: formatDate(nextAt) });
    return html`<li><strong dir="auto">${name}</strong><br><bdi>${formatAmount({ amount, currency: payment.currency })}</bdi>${next && html`<br>${next}`}${card && html`<br>${cardText(card.masked, card.network)}`}${action(customer.end, customer.endHow, 'subscription', subscriptionId)}</li>`;
  };
  const list = (title: string, items: readonly Html[]): Html =>
    html`<section class="card"><h2>${title}</h2>${items.length > 0 ? html`<ul class="saved-list">${items}</ul>` : html`<p class="soft">${customer.nothing}</p>`}</section>`;
  return own({
    title: done ? customer[done] : customer.title,
    body: html`<h1>${customer.title}</h1>
${done && html`<p class="notice info" role="status">${customer[done]}</p>`}
${list(messages.savedCards, cards.map(cardItem))}
${list(customer.subscriptions, subscriptions.map(subscriptionItem))}`,
  });
}

export function customerMail(
  gateway: Pick<Gateway, 'environment'>,
  account: Account,
  url: string,
  language: string,
): MailContent {
  const locale = localeFor(account.settings.locale, language);
  const { customer } = locale.messages;
  const merchant = displayName(account);
  const sentence = locale.formatMessage(customer.mail, { merchant });
  return shortMail(gateway, account, locale, { subject: `${customer.title} · ${merchant}`, sentence, url });
}
