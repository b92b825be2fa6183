/** The page of a link: what is to be paid, and what the payer is asked for; and the pages of a link that cannot be paid. */
import { displayName } from '../../core/accounts/accounts.ts';
import type { Account, OpenedLink } from '../../core/context.ts';
import { boundsOf, type TypedProblem } from '../../core/links/begin.ts';
import type { Obstacle } from '../../core/links/claims.ts';
import { type Html, html } from '../../lib/text/html.ts';
import type { Asked } from '../../rules/links.ts';
import type { Page } from '../layout.ts';
import type { Locale } from '../locale.ts';
import { renderInput } from '../pay/inputs.ts';
import { messagePage } from '../pay/result-pages.ts';
import { amountLine } from '../pay/view.ts';

/** What came of a form: what was typed, and what is wrong with it. */
export interface Typed {
  form: ReadonlyMap<string, string>;
  problems: ReadonlyMap<string, TypedProblem>;
}

const AUTOCOMPLETE: Readonly<Record<Asked, string>> = { name: 'name', email: 'email', phone: 'tel', reference: 'off' };
const INPUT_MODES: Readonly<Record<Asked, string>> = { name: 'text', email: 'email', phone: 'tel', reference: 'text' };

/** Why a link cannot be paid, for its payer. */
export function obstaclePage({ messages, formatMessage }: Locale, account: Account, obstacle: Obstacle): Page {
  const { link } = messages;
  const text = formatMessage(link[`${obstacle}How`], { merchant: displayName(account) });
  return messagePage(link[obstacle], text, undefined, obstacle === 'usedUp' ? 'good' : 'late');
}

export function linkPage(link: OpenedLink, locale: Locale, path: string, { form, problems }: Typed): Page {
  const { messages, formatMessage, formatAmount, formatPlural } = locale;
  const { currency, amount } = link;
  const bounds = boundsOf(link);
  const [focused] = problems.keys();
  const labels: Readonly<Record<string, string>> = { ...messages.link, reference: messages.receipt.reference };
  const problemOf = (name: string): string | undefined => {
    const problem = problems.get(name);
    return problem && (problem === 'missing' ? messages.fillIn : messages.looksWrong);
  };
  const input = (name: string, label: string, more: object): Html =>
    renderInput({
      id: name,
      name,
      label,
      value: form.get(name) ?? '',
      problem: problemOf(name),
      isFocused: name === focused,
      ...more,
    });
  const range =
    bounds &&
    formatMessage(messages.link.between, {
      least: formatAmount({ amount: bounds.least, currency }),
      most: formatAmount({ amount: bounds.most, currency }),
    });
  return {
    title: problems.size > 0 ? messages.checkDetails : link.title,
    body: html`<section class="card summary" aria-label="${messages.yourOrder}">
${amount !== null && amountLine({ amount, currency }, locale)}
<h1 class="what" dir="auto">${link.title}</h1>
${link.description !== '' && html`<p class="what" dir="auto">${link.description}</p>`}
</section>
<section class="card">
<form method="post" action="${path}" novalidate data-busy="${messages.oneMoment}" data-blank="${messages.fillIn}">
${problems.size > 0 && html`<div class="notice" role="alert"><p>${formatPlural(messages.checkMarked, problems.size)}</p></div>`}
${bounds && input('amount', `${messages.amount} (${currency})`, { hint: range, inputmode: 'decimal' })}
${(link.ask as Asked[]).map((name) => input(name, labels[name] ?? name, { autocomplete: AUTOCOMPLETE[name], inputmode: INPUT_MODES[name] }))}
<button>${messages.next}</button>
</form>
</section>`,
  };
}
