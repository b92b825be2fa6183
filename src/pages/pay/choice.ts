/** The page on which the payer chooses a payment method. */
import { html } from '../../lib/html.ts';
import { CARD } from '../../rules/brands.ts';
import type { Page } from '../layout.ts';
import { methodName } from './fields.ts';
import { cancelLink, declineNotice, ICONS, orderSummary, type PageView, pageTitle, statusPolling } from './view.ts';
import { walletAdditions, walletButtons } from './wallets.ts';

export function choicePage(view: PageView): Page {
  const { locale, methods } = view;
  const { messages } = locale;
  return {
    title: pageTitle(view, messages.howToPay),
    ...statusPolling(view),
    additions: walletAdditions(view),
    body: html`${orderSummary(view)}
<section class="card">
<h1>${messages.howToPay}</h1>
${declineNotice(view)}
${walletButtons(view, 'or')}
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
