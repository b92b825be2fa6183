/** The page on which the payer pays: the methods, one of which is open with its form. */
import type { Method } from '../../core/payments/choose.ts';
import { type Html, html } from '../../lib/text/html.ts';
import { CARD } from '../../rules/brands.ts';
import type { MethodGroup } from '../../rules/method-kinds.ts';
import type { Page } from '../layout.ts';
import type { Messages } from '../locales/index.ts';
import { attemptInput } from './attempt.ts';
import { cardFields } from './card.ts';
import { needsNothing } from './code-methods.ts';
import { fieldsForm, fieldsIntroduction } from './fields.ts';
import { arrangeMethods } from './method-groups.ts';
import { methodTile } from './method-icons.ts';
import { namesOn } from './method-names.ts';
import type { MethodForm } from './problems.ts';
import { cancelLink, orderSummary, type PageView, pageTitle, statusPolling } from './view.ts';
import { walletAdditions, walletButtons } from './wallets.ts';

const GROUP_TITLES: Readonly<Record<MethodGroup, keyof Messages['methods']>> = {
  cards: 'groupCards',
  bank: 'groupBank',
  app: 'groupApp',
  later: 'groupLater',
  more: 'groupMore',
};

/** Whether the payer enters a card here, and not on the page of the provider. */
export const isCardEntry = ({ label, isHosted }: Method): boolean => label === CARD && !isHosted;

const formOf = (view: PageView, form: MethodForm): Html =>
  isCardEntry(form.method) ? cardFields(view, form) : fieldsForm(view, form);

/** The list of methods: one that is chosen opens its form, or shows its code at once. */
function choiceList(view: PageView, methods: readonly Method[], open: MethodForm): Html {
  const nameOf = namesOn(view);
  const { path, locale } = view;
  const content = ({ label }: Method): Html => html`${methodTile(view, label)}<bdi>${nameOf(label)}</bdi>`;
  const entry = (method: Method): Html => {
    if (method.label === open.method.label) {
      const introduction =
        !isCardEntry(method) && html`<p class="small soft">${fieldsIntroduction(method, locale)}</p>`;
      return html`<li class="chosen"><a class="choice" aria-current="true" href="?method=${encodeURIComponent(method.label)}">${content(method)}</a>
<div class="entry">${introduction}${formOf(view, open)}</div></li>`;
    }
    if (needsNothing(view, method)) {
      return html`<li><form method="post" action="${path}" data-busy="${locale.messages.oneMoment}">${attemptInput(view)}<button class="choice" name="method" value="${method.label}">${content(method)}</button></form></li>`;
    }
    return html`<li><a class="choice" href="?method=${encodeURIComponent(method.label)}">${content(method)}</a></li>`;
  };
  return html`<ul class="choices">
${methods.map((method) => html`${entry(method)}\n`)}</ul>`;
}

function methodGroups(view: PageView, open: MethodForm): Html {
  const { messages } = view.locale;
  const { likely, groups } = arrangeMethods(view, open.method);
  return html`${choiceList(view, likely, open)}
${groups.length > 0 && html`<h2 class="more">${messages.methods.moreMethods}</h2>`}
${groups.map(([group, methods]) =>
  methods.length === 1
    ? choiceList(view, methods, open)
    : html`<details class="group"><summary>${methodTile(view, (methods[0] as Method).label)}<h3>${messages.methods[GROUP_TITLES[group]]}</h3><span class="count">${methods.length}</span></summary>
${choiceList(view, methods, open)}</details>
`,
)}`;
}

/** The heading of a page with one method. */
function onlyMethod(view: PageView, { method }: MethodForm): Html {
  const { messages } = view.locale;
  if (isCardEntry(method)) return html`<h1>${view.wallets.length > 0 ? messages.complete : messages.payByCard}</h1>`;
  return html`<div class="method">${methodTile(view, method.label)}<div><h1><bdi>${namesOn(view)(method.label)}</bdi></h1><p class="soft small">${fieldsIntroduction(method, view.locale)}</p></div></div>`;
}

export function payPage(view: PageView, form: MethodForm): Page {
  const { messages } = view.locale;
  const isOnly = view.methods.length === 1;
  const title = isOnly ? (isCardEntry(form.method) ? messages.payByCard : messages.complete) : messages.howToPay;
  return {
    title: pageTitle(view, title, form.problems.length),
    ...statusPolling(view),
    additions: walletAdditions(view),
    body: html`${orderSummary(view)}
<section class="card">
${isOnly ? onlyMethod(view, form) : html`<h1>${messages.howToPay}</h1>`}
${walletButtons(view, 'or')}
${isOnly ? formOf(view, form) : methodGroups(view, form)}
${cancelLink(view)}
</section>`,
  };
}
