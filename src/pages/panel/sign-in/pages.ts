/** The sign-in pages: e-mail and password, the code, the confirmation, and refusals. */
import type { Gateway } from '../../../core/context.ts';
import type { Session } from '../../../core/operators/sessions.ts';
import { html } from '../../../lib/text/html.ts';
import { formToken, type PanelPage } from '../frame/layout.ts';
import { panelTexts } from '../locales/index.ts';
import { field, hidden, notice, passkeyButton, passkeyElsewhere, passkeyForm } from './fields.ts';

const { signIn: texts } = panelTexts;
type PublicUrl = Pick<Gateway, 'publicUrl'> & Partial<Pick<Gateway, 'mailer'>>;

export interface SignInForm {
  next: string;
  email?: string;
  /** A message above the form. */
  problem?: string | undefined;
  message?: string | undefined;
  errors?: Partial<Record<'email' | 'password', string>>;
}

export function signInPage(
  { publicUrl, mailer }: PublicUrl,
  { next, email, problem, message, errors = {} }: SignInForm,
): PanelPage {
  const isRetry = errors.password !== undefined && errors.email === undefined;
  return {
    title: texts.title,
    body: html`<div class="head"><h1>${texts.title}</h1></div>
${notice('bad', problem)}${notice('good', message)}
<div class="card">
<form method="post" action="/admin/sign-in/passkey" ${passkeyForm(publicUrl, 'get', '/admin/sign-in/passkey')}>
${hidden('next', next)}${passkeyButton('/admin/sign-in/passkey', texts.withPasskey)}
</form>
${passkeyElsewhere(publicUrl, '/admin/sign-in')}
<form method="post" action="/admin/sign-in">
${hidden('next', next)}
<p class="soft field" hidden data-passkey-on>${texts.or}</p>
${field({ name: 'email', label: texts.email, type: 'email', value: email, autocomplete: 'username webauthn', error: errors.email, isFocused: !isRetry })}
${field({ name: 'password', label: texts.password, type: 'password', autocomplete: 'current-password', error: errors.password, isFocused: isRetry })}
<div class="field"><button class="wide quiet">${texts.submit}</button></div>
</form>
</div>
${mailer && html`<p class="small"><a href="/admin/forgotten">${texts.forgottenLink}</a></p>`}
<p class="small soft">${texts.forgotten}</p>`,
  };
}

/** In place of the sign-in form while no operator exists; a request from elsewhere is told the command only. */
const FIRST_OWNER_COMMAND = 'turnpike operator invite you@example.com owner';

export const firstOwnerPage = (mayCreate: boolean): PanelPage => ({
  title: texts.firstTitle,
  body: html`<div class="card"><h1>${texts.firstTitle}</h1>${
    mayCreate
      ? html`<p>${texts.firstText}</p>
<form method="post" action="/admin/first-owner"><div class="field"><button class="wide">${texts.firstButton}</button></div></form>`
      : html`<p>${texts.firstCommandText}</p>
<pre class="wrap"><code data-copy="${panelTexts.copy}" data-copied="${panelTexts.copied}">${FIRST_OWNER_COMMAND}</code></pre>`
  }</div>`,
});

export const codePage = (next: string, pending: string, error?: string): PanelPage => ({
  title: texts.codeTitle,
  body: html`<div class="head"><h1>${texts.codeTitle}</h1></div>
<div class="card">
<p>${texts.codeIntro}</p>
<form method="post" action="/admin/sign-in/code">
${hidden('next', next)}${hidden('pending', pending)}
${field({ name: 'code', label: texts.code, autocomplete: 'one-time-code', hint: texts.codeHint, error, isFocused: true, maxlength: 40 })}
<div class="field"><button class="wide">${texts.continue}</button></div>
</form>
</div>
<p class="small"><a href="/admin/sign-in">${texts.startAgain}</a></p>`,
});

export const codesLeftPage = (next: string, codesLeft: number): PanelPage => ({
  title: texts.title,
  body: html`<div class="card"><h1>${texts.codesLeft} ${codesLeft}</h1>
<p>${texts.codesLeftHint}</p>
<div class="field"><a class="button wide" href="${next}">${texts.continue}</a></div></div>`,
});

export interface ConfirmForm {
  next: string;
  hasPassword: boolean;
  hasPasskey: boolean;
  problem?: string | undefined;
  error?: string | undefined;
}

export function confirmPage({ publicUrl }: PublicUrl, session: Session, form: ConfirmForm): PanelPage {
  const { next, hasPassword, hasPasskey, problem, error } = form;
  return {
    title: texts.confirmTitle,
    session,
    body: html`<div class="head"><h1>${texts.confirmTitle}</h1></div>
${notice('bad', problem)}
<div class="columns"><div class="card">
<p>${texts.confirmIntro}</p>
${
  hasPasskey &&
  html`<form method="post" action="/admin/confirm/passkey" ${passkeyForm(publicUrl, 'get', '/admin/confirm/passkey')}>
${formToken(session)}${hidden('next', next)}
<p class="hint" data-passkey-off>${texts.passkeyUnavailable}</p>
<div class="field">${passkeyButton('/admin/confirm/passkey', texts.confirmPasskey)}</div>
</form>
${passkeyElsewhere(publicUrl, '/admin/sign-in')}`
}
${
  hasPassword &&
  html`<form method="post" action="/admin/confirm">
${formToken(session)}${hidden('next', next)}
<input type="hidden" name="username" autocomplete="username" value="${session.operator.email}">
${field({ name: 'password', label: texts.password, type: 'password', autocomplete: 'current-password', error, isFocused: true })}
${field({ name: 'code', label: texts.code, autocomplete: 'one-time-code', hint: texts.codeHint, maxlength: 40 })}
<div class="field"><button class="wide">${texts.confirm}</button></div>
</form>`
}
</div></div>`,
  };
}

const messagePage = (title: string, text: string, href: string, link: string): PanelPage => ({
  title,
  body: html`<div class="card"><h1>${title}</h1><p>${text}</p>
<div class="field"><a class="button" href="${href}">${link}</a></div></div>`,
});

/** A form of another site, or of a session that has ended. */
export const foreignFormPage = (): PanelPage =>
  messagePage(texts.foreignTitle, texts.foreignText, '/admin', texts.toPanel);

/** Too many passwords are being checked. */
export const busyPage = (otherWays: string): PanelPage =>
  messagePage(texts.busyTitle, `${texts.busyText} ${otherWays}`, '/admin/sign-in', texts.toSignIn);

export const failedPage = (): PanelPage =>
  messagePage(texts.failedTitle, texts.failedText, '/admin/sign-in', texts.toSignIn);
