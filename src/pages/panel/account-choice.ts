/** The choice of the accounts that a token or an operator is restricted to: by name, and by id where there are many. */
import { findAccount, listAccounts } from '../../core/accounts.ts';
import type { Gateway } from '../../core/context.ts';
import { type Html, html } from '../../lib/html.ts';
import { isUuid } from '../../lib/id.ts';
import { en } from './locales/en.ts';
import { field } from './parts.ts';

const text = en.accountChoice;

/** The newest accounts are offered by name. */
const MOST_BY_NAME = 100;
/** A table shows this many accounts by name. */
const MOST_SHOWN = 3;
const CHECKBOX = 'mid.';

export async function accountChoice(
  gateway: Gateway,
  form: ReadonlyMap<string, string>,
  error: string | undefined,
): Promise<Html> {
  const accounts = await listAccounts(gateway, MOST_BY_NAME + 1, undefined, null);
  const boxes = accounts
    .slice(0, MOST_BY_NAME)
    .map(
      ({ mid, name }) =>
        html`<label class="choice"><input type="checkbox" name="${CHECKBOX}${mid}" value="1"${form.has(CHECKBOX + mid) && html` checked`}><span>${name} <span class="soft mono">${mid.slice(-6)}</span></span></label>`,
    );
  const hasMore = accounts.length > MOST_BY_NAME || (form.get('mids') ?? '') !== '';
  return html`<fieldset class="field bare" aria-describedby="accounts-hint${error !== undefined && ' accounts-error'}"><legend>${text.title}</legend>${
    boxes.length > 0 && html`<div class="scrolled" role="group" tabindex="0" aria-label="${text.title}">${boxes}</div>`
  }${error !== undefined && html`<p class="error" id="accounts-error">${error}</p>`}<p class="hint" id="accounts-hint">${text.hint}</p>${
    hasMore &&
    field(
      { name: 'mids', label: text.more },
      (attributes) => html`<textarea ${attributes} rows="2" spellcheck="false">${form.get('mids') ?? ''}</textarea>`,
    )
  }</fieldset>`;
}

/** The ids of the chosen accounts; undefined if one of them does not exist. */
export async function chosenAccounts(
  gateway: Gateway,
  form: ReadonlyMap<string, string>,
): Promise<string[] | undefined> {
  const checked = [...form.keys()]
    .filter((name) => name.startsWith(CHECKBOX))
    .map((name) => name.slice(CHECKBOX.length));
  const typed = (form.get('mids') ?? '').split(/\s+/).filter((mid) => mid !== '');
  const mids = [...new Set([...checked, ...typed].map((mid) => mid.toLowerCase()))];
  const found = await Promise.all(mids.map((mid) => (isUuid(mid) ? findAccount(gateway, mid) : undefined)));
  return found.includes(undefined) ? undefined : mids;
}

/** The accounts of a token or an operator by name. */
export async function accountNames(gateway: Gateway, mids: readonly string[] | null): Promise<string> {
  if (mids === null) return text.all;
  const names = await Promise.all(
    mids.slice(0, MOST_SHOWN).map(async (mid) => (await findAccount(gateway, mid))?.name ?? mid),
  );
  const more = mids.length - names.length;
  return [...names, ...(more > 0 ? [`+${more}`] : [])].join(', ');
}
