/** The fields of keys and certificates in the settings of an account; a private key is never shown. */
import type { KeyFacts } from '../../../core/accounts/secret-settings.ts';
import { type Html, html } from '../../../lib/text/html.ts';
import { isSecretSetting, type SettingName } from '../../../rules/settings.ts';
import { type FieldOptions, field, time } from '../frame/parts.ts';
import { panelTexts } from '../locales/index.ts';

const text = panelTexts.accounts;

/** The name of the box that removes a key. */
const removalOf = (name: SettingName): string => `${name} remove`;

/** The text that a form has for a key: undefined to keep the key, empty to remove it. */
export function sentKey(name: SettingName, form: ReadonlyMap<string, string>): string | undefined {
  return form.get(name)?.trim() || (form.has(removalOf(name)) ? '' : undefined);
}

function factLines(facts: KeyFacts, now: number): Html {
  const { publicKeyHash, expiresAt, previous } = facts;
  const hash = (value: string): Html => html`<span class="mono">${value}</span>`;
  return html`<p class="hint">${text.publicKeyHash}: ${hash(publicKeyHash)}${
    expiresAt !== undefined && html`<br>${expiresAt > now ? text.expires : text.expired} ${time(expiresAt)}`
  }${previous && html`<br>${text.previousKey} ${time(previous.until)}: ${hash(previous.publicKeyHash)}`}</p>`;
}

/** A text area with an upload, which the script shows; an empty one keeps a key that is set. */
export function keyField(name: SettingName, options: FieldOptions, facts: KeyFacts | undefined, now: number): Html {
  const isSecret = isSecretSetting(name);
  const placeholder = isSecret && facts ? text.keyIsSet : '';
  const upload = html`<input type="file" hidden data-fills="${name}"${!isSecret && html` data-der="CERTIFICATE"`} aria-label="${text.chooseFile}: ${options.label}" accept=".pem,.key,.cer,.crt,.txt">`;
  const removal =
    isSecret &&
    facts &&
    html`<label class="choice"><input type="checkbox" name="${removalOf(name)}" value="1">${text.removeKey}</label>`;
  const control = field(
    options,
    (attributes) =>
      html`<textarea ${attributes} class="mono" rows="4" spellcheck="false" autocomplete="off" placeholder="${placeholder}">${isSecret ? '' : options.value}</textarea>${upload}`,
  );
  return html`${control}${facts && factLines(facts, now)}${removal}`;
}
