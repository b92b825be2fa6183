/** The parts of the sign-in forms: fields with their hints and errors, notices, and the passkey button. */
import { panelUrl, relyingPartyId } from '../../../core/operators/panel-address.ts';
import { type Html, html } from '../../../lib/text/html.ts';
import { panelTexts } from '../locales/index.ts';

const { signIn: texts } = panelTexts;

export interface FieldOptions {
  name: string;
  label: string;
  type?: 'text' | 'email' | 'password';
  value?: string | undefined;
  autocomplete: string;
  inputmode?: 'numeric' | 'email';
  hint?: string;
  error?: string | undefined;
  isRequired?: boolean;
  isFocused?: boolean;
  maxlength?: number;
}

/** An input with its label; the hint and the error are connected to it. */
export function field(options: FieldOptions): Html {
  const { name, label, type = 'text', value, autocomplete, inputmode, hint, error } = options;
  const described = [error !== undefined && `${name}-error`, hint !== undefined && `${name}-hint`].filter(Boolean);
  return html`<div class="field"><label for="${name}">${label}</label>
<input id="${name}" name="${name}" type="${type}" autocomplete="${autocomplete}" value="${value ?? ''}"${
    inputmode && html` inputmode="${inputmode}"`
  }${options.maxlength && html` maxlength="${options.maxlength}"`} autocapitalize="${name === 'name' ? 'words' : 'none'}" spellcheck="false"${
    options.isRequired !== false && html` required`
  }${options.isFocused && html` autofocus`}${error !== undefined && html` aria-invalid="true"`}${
    described.length > 0 && html` aria-describedby="${described.join(' ')}"`
  }>
${error !== undefined && html`<p class="error" id="${name}-error">${error}</p>`}
${hint !== undefined && html`<p class="hint" id="${name}-hint">${hint}</p>`}</div>`;
}

export const hidden = (name: string, value: string): Html =>
  html`<input type="hidden" name="${name}" value="${value}">`;

export const notice = (kind: 'bad' | 'good' | 'wait', text: string | undefined): Html | undefined =>
  text === undefined
    ? undefined
    : html`<p class="notice ${kind}" role="${kind === 'bad' ? 'alert' : 'status'}">${text}</p>`;

/** The attributes of a form that uses a passkey; the script of the panel reads them. */
export const passkeyForm = (publicUrl: string, call: 'create' | 'get', options: string): Html =>
  html`data-passkey="${call}" data-rp="${relyingPartyId(publicUrl) ?? ''}" data-options="${options}"`;

/** The button of such a form, hidden until the script knows that passkeys work here. */
export const passkeyButton = (action: string, label: string): Html =>
  html`<div hidden data-passkey-on><button class="wide" type="button" formaction="${action}" data-passkey-button>${label}</button></div>
<p class="error" role="alert" hidden data-passkey-failed>${texts.passkeyFailed}</p>${hidden('state', '')}${hidden('credential', '')}`;

/** Where passkeys work, for a page that was opened at another address of the same machine. */
export const passkeyElsewhere = (publicUrl: string, path: string): Html | undefined => {
  if (relyingPartyId(publicUrl) === undefined) return undefined;
  const address = panelUrl(publicUrl) + path;
  return html`<p class="small soft" hidden data-passkey-elsewhere>${texts.passkeyElsewhere} <a href="${address}">${address}</a></p>`;
};
