/** The marks of the card networks: those that the operator has placed, else their plain names. */
import { CARD_NETWORKS, type KnownNetwork } from '../../lib/cards/networks.ts';
import { Html, html } from '../../lib/text/html.ts';
import type { PageView } from './view.ts';

/** Names that would be too long for a row of marks. */
const SHORT: Readonly<Partial<Record<KnownNetwork, string>>> = { amex: 'Amex', diners: 'Diners' };

/** The picture of a mark, if the operator has placed one. */
export function placedMark({ marks }: Pick<PageView, 'marks'>, name: string, title: string): Html | undefined {
  const mark = marks.get(name);
  return mark && html`<img class="placed" src="${mark.path}" alt="${title}" height="24">`;
}

/** The mark of a network beside other text. */
export const networkMark = (view: PageView, name: KnownNetwork): Html =>
  placedMark(view, name, CARD_NETWORKS[name].title) ?? html`${SHORT[name] ?? CARD_NETWORKS[name].title}`;

/** A row of the marks of these networks; the script highlights the one of the number. */
export const markRow = (view: PageView, networks: readonly KnownNetwork[]): Html =>
  html`<ul class="networks fresh" role="list" aria-label="${view.locale.messages.cardForm.accepted}">${networks.map(
    (name) => html`<li data-network="${name}">${networkMark(view, name)}</li>`,
  )}</ul>`;

/** Where the security code is on a card: on the back, or on the front above the number. */
export const CODE_MARK = new Html(
  `<svg class="where" viewBox="0 0 32 20" aria-hidden="true"><rect x=".75" y=".75" width="30.5" height="18.5" rx="3"/><g class="back"><path d="M1 5.5h30"/><rect x="19" y="9" width="9" height="6" rx="3" class="spot"/></g><g class="front"><path d="M4 15h12"/><rect x="19" y="4" width="9" height="6" rx="3" class="spot"/></g></svg>`,
);
