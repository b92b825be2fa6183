/** The pages that send the payer to the provider or back to the shop, and what the page of the challenge shares with them. */
import { displayName } from '../../core/accounts/accounts.ts';
import type { NextStep } from '../../core/context.ts';
import { type Html, html } from '../../lib/text/html.ts';
import type { Page } from '../layout.ts';
import { leaveForm } from './leave.ts';
import { cancelLink, orderSummary, type PageView, shopLink, statusPolling } from './view.ts';

export type RedirectStep = Extract<NextStep, { kind: 'redirect' }>;

/** With JavaScript, the form is submitted or the link followed after this many seconds. */
export const AUTO_SUBMIT = html` data-go="0.4"`;

/** The address of the provider's page, with its parameters in the query string. */
export function redirectUrl({ url, params }: RedirectStep): string {
  const address = new URL(url);
  for (const [name, value] of Object.entries(params)) address.searchParams.set(name, value);
  return address.href;
}

/** A form that posts the values to another site. */
export function postForm(
  { locale: { messages } }: PageView,
  action: string,
  values: Readonly<Record<string, string>>,
  button: string,
  attributes?: Html,
): Html {
  return html`<form method="post" action="${action}" data-busy="${messages.oneMoment}"${attributes}>
${Object.entries(values).map(([name, value]) => html`<input type="hidden" name="${name}" value="${value}">`)}
<button>${button}</button>
</form>`;
}

/** The button to the provider's page: a link, or a form if the provider expects POST. */
export function redirectButton(view: PageView, step: RedirectStep, text: string, attributes?: Html): Html {
  return step.method === 'GET'
    ? html`<a class="button" href="${redirectUrl(step)}"${attributes}>${text}</a>`
    : postForm(view, step.url, step.params, text, attributes);
}

/** Tells the payer that the bank asks for a confirmation; the form leads there by itself. */
export function bankPage(view: PageView, form: Html): Page {
  const { messages } = view.locale;
  return {
    title: messages.confirmAtBank,
    ...statusPolling(view),
    body: html`${orderSummary(view)}
<section class="card">
<h1>${messages.confirmAtBank}</h1>
<p>${messages.confirmWhy}</p>
${form}
${cancelLink(view)}
</section>`,
  };
}

/** Starts the authentication of a wallet's card: the request to the bank describes the browser that submits this form. */
export const authenticationPage = (view: PageView): Page =>
  bankPage(view, postForm(view, view.path, {}, view.locale.messages.next, AUTO_SUBMIT));

/** Leads to a provider that expects POST, right after the submission. A payer who comes back to it finds the other ways. */
export function redirectPage(view: PageView, step: RedirectStep): Page {
  const { messages } = view.locale;
  return {
    title: messages.oneMoreStep,
    ...statusPolling(view),
    body: html`${orderSummary(view)}
<section class="card">
<h1>${messages.oneMoreStep}</h1>
<p>${messages.payAtProvider}</p>
${redirectButton(view, step, messages.next, AUTO_SUBMIT)}
${leaveForm(view, messages.otherWays)}
${cancelLink(view)}
</section>`,
  };
}

/** Sends the payer back to the shop in another browsing context, which an HTTP redirect cannot do. */
export function returnPage(view: PageView): Page {
  const { account, locale } = view;
  const text = locale.formatMessage(locale.messages.goingBack, { merchant: displayName(account) });
  return {
    title: locale.messages.oneMoment,
    body: html`<section class="card end">
<span class="pulse" aria-hidden="true"></span>
<h1>${locale.messages.oneMoment}</h1>
<p>${text}</p>
${shopLink(view, 'button', AUTO_SUBMIT)}
</section>`,
  };
}
