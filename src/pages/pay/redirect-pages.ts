/** The pages from which the payer goes on elsewhere: to the bank, to the provider, back to the shop. */
import { displayName } from '../../core/accounts.ts';
import type { NextStep } from '../../core/context.ts';
import { challengeTarget } from '../../core/payments/return.ts';
import { creqOf } from '../../lib/creq.ts';
import { type Html, html } from '../../lib/html.ts';
import type { Page } from '../layout.ts';
import { backLink, cancelLink, following, type PageView, summary } from './view.ts';

export type RedirectStep = Extract<NextStep, { kind: 'redirect' }>;
export type ChallengeStep = Extract<NextStep, { kind: 'challenge' }>;

/** Where scripts run, the payer does not have to press. */
const AT_ONCE = html` data-go="0.4"`;

/** The address of a provider's page with what it wants to know in the query. */
export function addressWith({ url, params }: RedirectStep): string {
  const address = new URL(url);
  for (const [name, value] of Object.entries(params)) address.searchParams.set(name, value);
  return address.href;
}

/** A form that takes the payer along with what the other side wants to know. */
function formTo(
  { locale: { messages } }: PageView,
  action: string,
  values: Readonly<Record<string, string>>,
  button: string,
  traits?: Html,
): Html {
  return html`<form method="post" action="${action}" data-busy="${messages.oneMoment}"${traits}>
${Object.entries(values).map(([name, value]) => html`<input type="hidden" name="${name}" value="${value}">`)}
<button>${button}</button>
</form>`;
}

/** The way to the bank of the card, which wants to see its payer. */
export function formToBank(view: PageView, step: ChallengeStep, traits?: Html): Html {
  const { payment, account, locale } = view;
  const target = challengeTarget(account);
  const values = { creq: creqOf(payment.paymentId, step.acsTransId, step.version), threeDSSessionData: '' };
  return formTo(
    view,
    step.acsUrl,
    values,
    locale.messages.goToBank,
    html`${target && html` target="${target}"`}${traits}`,
  );
}

/** The way to the provider; some want the payer to come with a form. */
export function redirectControl(view: PageView, step: RedirectStep, messages: string, traits?: Html): Html {
  return step.method === 'GET'
    ? html`<a class="button" href="${addressWith(step)}"${traits}>${messages}</a>`
    : formTo(view, step.url, step.params, messages, traits);
}

export function challengePage(view: PageView, step: ChallengeStep): Page {
  const { messages } = view.locale;
  return {
    title: messages.confirmAtBank,
    ...following(view),
    body: html`${summary(view)}
<section class="card">
<h1>${messages.confirmAtBank}</h1>
<p>${messages.confirmWhy}</p>
${formToBank(view, step, AT_ONCE)}
${cancelLink(view)}
</section>`,
  };
}

export function redirectPage(view: PageView, step: RedirectStep): Page {
  const { messages } = view.locale;
  return {
    title: messages.oneMoreStep,
    ...following(view),
    body: html`${summary(view)}
<section class="card">
<h1>${messages.oneMoreStep}</h1>
<p>${messages.payAtProvider}</p>
${redirectControl(view, step, messages.next, AT_ONCE)}
${cancelLink(view)}
</section>`,
  };
}

/** A redirect stays in its browsing context; who has to go back in another one goes from here. */
export function backPage(view: PageView): Page {
  const { account, locale } = view;
  const text = locale.translate(locale.messages.goingBack, { merchant: displayName(account) });
  return {
    title: locale.messages.oneMoment,
    body: html`<section class="card end">
<span class="pulse" aria-hidden="true"></span>
<h1>${locale.messages.oneMoment}</h1>
<p>${text}</p>
${backLink(view, 'button', AT_ONCE)}
</section>`,
  };
}
