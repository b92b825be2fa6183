/** The 3-D Secure challenge of the card issuer: in a dialog of the payment page, or on the page of the bank. */
import type { NextStep } from '../../core/context.ts';
import { challengeTarget } from '../../core/payments/return.ts';
import { CHALLENGE_SIZES, type ChallengeSize, creqOf } from '../../lib/cards/creq.ts';
import { Html, html } from '../../lib/text/html.ts';
import type { Page } from '../layout.ts';
import { CHALLENGE_SCRIPT } from '../script.ts';
import { leaveForm } from './leave.ts';
import { AUTO_SUBMIT, bankPage, postForm } from './redirect-pages.ts';
import type { PageView } from './view.ts';

export type ChallengeStep = Extract<NextStep, { kind: 'challenge' }>;

/** The bank sends `threeDSSessionData` back: its answer then tells that the challenge was shown in our frame. */
export const IN_FRAME = Buffer.from('frame').toString('base64url');

/**
 * The page of the bank works as in a window of its own, but leads the payer away from our page only if the payer wants it:
 * the frame cannot navigate our page without a click.
 */
const SANDBOX = [
  'allow-forms',
  'allow-scripts',
  'allow-same-origin',
  'allow-popups',
  'allow-popups-to-escape-sandbox',
  'allow-modals',
  'allow-top-navigation-by-user-activation',
].join(' ');

const creqFor = ({ payment }: PageView, { acsTransId, version }: ChallengeStep, size?: ChallengeSize): string =>
  creqOf(payment.paymentId, acsTransId, version, size);

/** The form that opens the challenge on the page of the bank. */
export function challengeForm(view: PageView, step: ChallengeStep, attributes?: Html): Html {
  const target = challengeTarget(view.account);
  return postForm(
    view,
    step.acsUrl,
    { creq: creqFor(view, step), threeDSSessionData: '' },
    view.locale.messages.goToBank,
    html`${target && html` target="${target}"`}${attributes}`,
  );
}

/** The script opens the dialog, and posts the request for the size that fits into the window to the frame. */
function challengeDialog(view: PageView, step: ChallengeStep): Html {
  const { canLeave, locale } = view;
  const { confirmAtBank, challenge } = locale.messages;
  const requests = CHALLENGE_SIZES.map((size) => html` data-creq-${size}="${creqFor(view, step, size)}"`);
  return html`<dialog class="bank" aria-labelledby="bank-title">
<div class="bar"><h2 id="bank-title" tabindex="-1" autofocus>${confirmAtBank}</h2><button class="quiet shut" type="button" aria-label="${challenge.close}">${new Html('&times;')}</button></div>
<iframe name="bank" title="${challenge.frame}" sandbox="${SANDBOX}" allow="publickey-credentials-get"></iframe>
<form method="post" action="${step.acsUrl}" target="bank"${requests}><input type="hidden" name="creq"><input type="hidden" name="threeDSSessionData" value="${IN_FRAME}"></form>
<div class="bar"><button class="quiet" form="bank-page">${challenge.openBank}</button>${canLeave && html`<button class="quiet" form="leave">${challenge.anotherCard}</button>`}</div>
</dialog>`;
}

/** An account that sets a browsing context for the challenge gets the page of the bank there, without the dialog. */
export function challengePage(view: PageView, step: ChallengeStep): Page {
  const another = leaveForm(view, view.locale.messages.challenge.anotherCard);
  if (challengeTarget(view.account) !== undefined) {
    return bankPage(view, html`${challengeForm(view, step, AUTO_SUBMIT)}${another}`);
  }
  const form = challengeForm(view, step, html` id="bank-page"`);
  const page = bankPage(view, html`${form}${another}${challengeDialog(view, step)}`);
  return {
    ...page,
    // The payer may confirm in the app of the bank, and its page does not always notice.
    ...(page.live && { live: { ...page.live, isWaiting: true } }),
    additions: { scripts: [CHALLENGE_SCRIPT], styles: [], bank: new URL(step.acsUrl).origin },
  };
}

/** The page in the frame after the challenge. The script of our page around it follows the link. */
export function framedReturnPage({ locale: { messages } }: Pick<PageView, 'locale'>, next: string): Page {
  return {
    title: messages.oneMoment,
    additions: { scripts: [], styles: [], isInBankFrame: true },
    body: html`<div class="center"><span class="pulse" aria-hidden="true"></span><h1>${messages.oneMoment}</h1><a class="quiet" href="${next}" target="_parent">${messages.next}</a></div>`,
  };
}
