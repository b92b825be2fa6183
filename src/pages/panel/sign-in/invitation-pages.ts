/** The pages of an invitation: the choice of passkey or password, the authenticator app, and the recovery codes. */
import encodeQR from 'qr';
import type { Gateway } from '../../../core/context.ts';
import { OPERATOR_NAME_LENGTH, type OpenInvitation, type Setup } from '../../../core/operators/invitations.ts';
import { totpUri } from '../../../core/operators/totp.ts';
import { Html, html } from '../../../lib/text/html.ts';
import type { PanelPage } from '../frame/layout.ts';
import { panelTexts } from '../locales/index.ts';
import { field, hidden, notice, passkeyButton, passkeyElsewhere, passkeyForm } from './fields.ts';

const { signIn: texts } = panelTexts;

export interface InvitationForm {
  name?: string;
  email?: string;
  problem?: string | undefined;
  errors?: Partial<Record<'name' | 'email' | 'password', string>>;
}

export function invitationPage(
  { publicUrl }: Pick<Gateway, 'publicUrl'>,
  secret: string,
  { operator }: OpenInvitation,
  { name, email, problem, errors = {} }: InvitationForm,
): PanelPage {
  const path = `/admin/invitation/${secret}`;
  const title = operator ? texts.invitationTitle : texts.ownerTitle;
  const focused = (['email', 'name', 'password'] as const).find((each) => errors[each] !== undefined);
  const first = operator ? 'name' : 'email';
  const isFocused = (each: string): boolean => each === (focused ?? first);
  const knownName = operator?.state === 'active' ? operator.name : '';
  return {
    title,
    body: html`<div class="head"><h1>${title}</h1></div>
${notice('bad', problem)}
<form method="post" action="${path}" ${passkeyForm(publicUrl, 'create', `${path}/passkey`)}>
<div class="card">
${
  operator
    ? html`<p>${texts.invitationIntro} <strong>${operator.email}</strong> (${panelTexts.roles[operator.role]}).</p>
${operator.state === 'active' && html`<p>${texts.replaces}</p>`}
<input type="hidden" name="email" autocomplete="username" value="${operator.email}">`
    : html`<p>${texts.ownerIntro}</p>
${field({ name: 'email', label: texts.email, type: 'email', value: email, autocomplete: 'username', error: errors.email, isFocused: isFocused('email') })}`
}
${field({ name: 'name', label: texts.name, value: name ?? knownName, autocomplete: 'name', hint: texts.nameHint, error: errors.name, isFocused: isFocused('name'), maxlength: OPERATOR_NAME_LENGTH })}
</div>
<section class="card" aria-labelledby="with-passkey">
<h2 id="with-passkey">${texts.passkeyTitle}</h2>
<p class="hint">${texts.passkeyHint}</p>
<p class="hint" data-passkey-off>${texts.passkeyUnavailable}</p>
${passkeyElsewhere(publicUrl, path)}
<div class="field">${passkeyButton(`${path}/passkey`, texts.createPasskey)}</div>
</section>
<section class="card" aria-labelledby="with-password">
<h2 id="with-password">${texts.passwordTitle}</h2>
${field({ name: 'password', label: texts.password, type: 'password', autocomplete: 'new-password', hint: texts.passwordHint, error: errors.password, isRequired: false, isFocused: isFocused('password') })}
<div class="field"><button class="wide quiet">${texts.usePassword}</button></div>
</section>
</form>`,
  };
}

/** Groups of four characters are easier to copy by hand. */
const grouped = (key: string): string => key.match(/.{1,4}/g)?.join(' ') ?? key;

/** A QR code with a white margin, so that it can be scanned on a dark page, too. */
function qrCode(text: string): Html {
  const svg = encodeQR(text, 'svg', { border: 4 });
  const size = /viewBox="0 0 (\d+)/.exec(svg)?.[1] ?? '0';
  const ground = `<rect width="${size}" height="${size}" fill="#fff"/>`;
  return new Html(svg.replace(/<svg ([^>]*)>/, `<svg width="220" height="220" $1>${ground}`));
}

/** The QR code of the authenticator app, and the form for its first code. */
export function setupPage(
  action: string,
  { email, seed }: Pick<Setup, 'email' | 'seed'>,
  sealed: string,
  error?: string,
  token?: Html,
): PanelPage {
  return {
    title: texts.setupTitle,
    body: html`<div class="head"><h1>${texts.setupTitle}</h1></div>
<div class="card narrow">
<p>${texts.setupIntro}</p>
<p role="img" aria-label="${texts.setupAlt}">${qrCode(totpUri(seed, email, 'Turnpike'))}</p>
<p class="small">${texts.setupKey}<br><code class="mono">${grouped(seed)}</code></p>
<form method="post" action="${action}">
${token}${hidden('setup', sealed)}
${field({ name: 'code', label: texts.code, autocomplete: 'one-time-code', inputmode: 'numeric', error, isFocused: true, maxlength: 12 })}
<div class="field"><button class="wide">${texts.continue}</button></div>
</form>
</div>`,
  };
}

export const recoveryPage = (codes: readonly string[], next = '/admin'): PanelPage => ({
  title: texts.recoveryTitle,
  body: html`<div class="head"><h1>${texts.recoveryTitle}</h1></div>
<div class="card narrow">
<p>${texts.recoveryIntro}</p>
<pre id="recovery-codes">${codes.join('\n')}</pre>
<div class="field no-print"><a class="button wide" href="${next}">${texts.recoveryDone}</a></div>
</div>`,
});

export const noInvitationPage = (): PanelPage => ({
  title: texts.invalidTitle,
  body: html`<div class="card"><h1>${texts.invalidTitle}</h1>
<p>${texts.invalidText}</p>
<p>${texts.invalidOwner}</p>
<pre>turnpike operator invite you@example.com</pre>
<div class="field"><a class="button" href="/admin/sign-in">${texts.toSignIn}</a></div></div>`,
});
