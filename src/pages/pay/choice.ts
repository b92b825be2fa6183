/** The ways to pay, each one press away. */
import { html } from '../../lib/html.ts';
import { CARD } from '../../rules/brands.ts';
import type { Page } from '../layout.ts';
import { methodName } from './fields.ts';
import { cancelLink, declinedBefore, following, ICONS, type Shown, summary, titleOf } from './shown.ts';

export function choicePage(shown: Shown): Page {
  const { speech, methods } = shown;
  const { words } = speech;
  return {
    title: titleOf(shown, words.howToPay),
    ...following(shown),
    body: html`${summary(shown)}
<section class="card">
<h1>${words.howToPay}</h1>
${declinedBefore(shown)}
<div class="wallets" id="wallets"></div>
<ul class="choices">
${methods.map((method) => {
  const name = methodName(method, speech);
  const tile = method.label === CARD ? ICONS.card : name.charAt(0);
  return html`<li><a class="choice" href="?method=${encodeURIComponent(method.label)}"><span class="tile" aria-hidden="true">${tile}</span><bdi>${name}</bdi></a></li>
`;
})}
</ul>
${cancelLink(shown)}
</section>`,
  };
}
