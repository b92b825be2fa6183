/** The ways to pay, each one press away. */
import { html } from '../../lib/html.ts';
import { CARD } from '../../rules/brands.ts';
import type { Page } from '../layout.ts';
import { methodName } from './fields.ts';
import { cancelLink, declinedBefore, following, ICONS, type PageView, summary, titleOf } from './view.ts';

export function choicePage(view: PageView): Page {
  const { locale, methods } = view;
  const { messages } = locale;
  return {
    title: titleOf(view, messages.howToPay),
    ...following(view),
    body: html`${summary(view)}
<section class="card">
<h1>${messages.howToPay}</h1>
${declinedBefore(view)}
<div class="wallets" id="wallets"></div>
<ul class="choices">
${methods.map((method) => {
  const name = methodName(method, locale);
  const tile = method.label === CARD ? ICONS.card : name.charAt(0);
  return html`<li><a class="choice" href="?method=${encodeURIComponent(method.label)}"><span class="tile" aria-hidden="true">${tile}</span><bdi>${name}</bdi></a></li>
`;
})}
</ul>
${cancelLink(view)}
</section>`,
  };
}
