/** The page on which the payer chooses a payment method. */
import type { Method } from '../../core/payments/choose.ts';
import { type Html, html } from '../../lib/html.ts';
import type { MethodGroup } from '../../rules/method-kinds.ts';
import type { Page } from '../layout.ts';
import type { Messages } from '../locales/index.ts';
import { arrangeMethods } from './method-groups.ts';
import { methodTile } from './method-icons.ts';
import { namesOn } from './method-names.ts';
import { cancelLink, declineNotice, orderSummary, type PageView, pageTitle, statusPolling } from './view.ts';
import { walletAdditions, walletButtons } from './wallets.ts';

const GROUP_TITLES: Readonly<Record<MethodGroup, keyof Messages['methods']>> = {
  cards: 'groupCards',
  bank: 'groupBank',
  app: 'groupApp',
  later: 'groupLater',
  more: 'groupMore',
};

const choiceList = (methods: readonly Method[], nameOf: (label: string) => string): Html =>
  html`<ul class="choices">
${methods.map(
  ({ label }) =>
    html`<li><a class="choice" href="?method=${encodeURIComponent(label)}">${methodTile(label)}<bdi>${nameOf(label)}</bdi></a></li>
`,
)}</ul>`;

export function choicePage(view: PageView): Page {
  const { messages } = view.locale;
  const nameOf = namesOn(view);
  const { likely, groups } = arrangeMethods(view);
  return {
    title: pageTitle(view, messages.howToPay),
    ...statusPolling(view),
    additions: walletAdditions(view),
    body: html`${orderSummary(view)}
<section class="card">
<h1>${messages.howToPay}</h1>
${declineNotice(view)}
${walletButtons(view, 'or')}
${choiceList(likely, nameOf)}
${groups.length > 0 && html`<h2 class="more">${messages.methods.moreMethods}</h2>`}
${groups.map(([group, methods]) =>
  methods.length === 1
    ? choiceList(methods, nameOf)
    : html`<details class="group"><summary>${methodTile((methods[0] as Method).label)}<h3>${messages.methods[GROUP_TITLES[group]]}</h3><span class="count">${methods.length}</span></summary>
${choiceList(methods, nameOf)}</details>
`,
)}
${cancelLink(view)}
</section>`,
  };
}
