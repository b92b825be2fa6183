/** The pages from which the payer goes on elsewhere: to the bank, to the provider, back to the shop. */
import { shownName } from '../../core/accounts.ts';
import type { NextStep } from '../../core/context.ts';
import { challengeTarget } from '../../core/payments/return.ts';
import { creqOf } from '../../lib/creq.ts';
import { type Html, html } from '../../lib/html.ts';
import type { Page } from '../layout.ts';
import { backLink, cancelLink, following, type Shown, summary } from './shown.ts';

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
  { speech: { words } }: Shown,
  action: string,
  values: Readonly<Record<string, string>>,
  button: string,
  traits?: Html,
): Html {
  return html`<form method="post" action="${action}" data-busy="${words.oneMoment}"${traits}>
${Object.entries(values).map(([name, value]) => html`<input type="hidden" name="${name}" value="${value}">`)}
<button>${button}</button>
</form>`;
}

/** The way to the bank of the card, which wants to see its payer. */
export function formToBank(shown: Shown, step: ChallengeStep, traits?: Html): Html {
  const { payment, account, speech } = shown;
  const target = challengeTarget(account);
  const values = { creq: creqOf(payment.paymentId, step.acsTransId, step.version), threeDSSessionData: '' };
  return formTo(
    shown,
    step.acsUrl,
    values,
    speech.words.goToBank,
    html`${target && html` target="${target}"`}${traits}`,
  );
}

/** The way to the provider; some want the payer to come with a form. */
export function wayToProvider(shown: Shown, step: RedirectStep, words: string, traits?: Html): Html {
  return step.method === 'GET'
    ? html`<a class="button" href="${addressWith(step)}"${traits}>${words}</a>`
    : formTo(shown, step.url, step.params, words, traits);
}

export function challengePage(shown: Shown, step: ChallengeStep): Page {
  const { words } = shown.speech;
  return {
    title: words.confirmAtBank,
    ...following(shown),
    body: html`${summary(shown)}
<section class="card">
<h1>${words.confirmAtBank}</h1>
<p>${words.confirmWhy}</p>
${formToBank(shown, step, AT_ONCE)}
${cancelLink(shown)}
</section>`,
  };
}

export function onwardPage(shown: Shown, step: RedirectStep): Page {
  const { words } = shown.speech;
  return {
    title: words.oneMoreStep,
    ...following(shown),
    body: html`${summary(shown)}
<section class="card">
<h1>${words.oneMoreStep}</h1>
<p>${words.payAtProvider}</p>
${wayToProvider(shown, step, words.next, AT_ONCE)}
${cancelLink(shown)}
</section>`,
  };
}

/** A redirect stays in its browsing context; who has to go back in another one goes from here. */
export function backPage(shown: Shown): Page {
  const { account, speech } = shown;
  const text = speech.say(speech.words.goingBack, { merchant: shownName(account) });
  return {
    title: speech.words.oneMoment,
    body: html`<section class="card end">
<span class="pulse" aria-hidden="true"></span>
<h1>${speech.words.oneMoment}</h1>
<p>${text}</p>
${backLink(shown, 'button', AT_ONCE)}
</section>`,
  };
}
