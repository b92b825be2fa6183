/** The choice of the role of a token or an operator, and of its accounts: by name, and by id where there are many. */
import { findAccount, listAccounts } from '../../../core/accounts/accounts.ts';
import type { Gateway } from '../../../core/context.ts';
import { type Principal, sees } from '../../../core/operators/principal.ts';
import { isUuid } from '../../../lib/crypto/id.ts';
import { isRefundLimit } from '../../../lib/money/refund-limit.ts';
import { type Html, html } from '../../../lib/text/html.ts';
import { isMerchantRole, isWithin, ROLES, type Role } from '../../../rules/roles.ts';
import { field } from '../frame/parts.ts';
import { panelTexts } from '../locales/index.ts';

const text = panelTexts.accountChoice;

/** The newest accounts are offered by name. */
const MOST_BY_NAME = 100;
/** A table shows this many accounts by name. */
const MOST_SHOWN = 3;
const CHECKBOX = 'mid.';

/** The roles that the operator may give. */
export const offeredRoles = ({ role }: Principal): Role[] => ROLES.filter((one) => isWithin(one, role));

export async function accountChoice(
  gateway: Gateway,
  { mids }: Principal,
  form: ReadonlyMap<string, string>,
  error: string | undefined,
  hint = mids === null ? text.hint : text.restrictedHint,
): Promise<Html> {
  const accounts = await listAccounts(gateway, MOST_BY_NAME + 1, undefined, mids);
  const named = accounts.slice(0, MOST_BY_NAME);
  const checked = checkedAccounts(form);
  const boxes = named.map(
    ({ mid, name }) =>
      html`<label class="choice"><input type="checkbox" name="${CHECKBOX}${mid}" value="1"${checked.includes(mid) && html` checked`}><span>${name} <span class="soft mono">${mid.slice(-6)}</span></span></label>`,
  );
  // Accounts without a box stay chosen when the form is saved.
  const others = typedAccounts(form).filter((typed) => !named.some(({ mid }) => mid === typed));
  const hasMore = accounts.length > MOST_BY_NAME || others.length > 0;
  return html`<fieldset class="field bare" aria-describedby="accounts-hint${error !== undefined && ' accounts-error'}"><legend>${text.title}</legend>${
    boxes.length > 0 && html`<div class="scrolled" role="group" tabindex="0" aria-label="${text.title}">${boxes}</div>`
  }${error !== undefined && html`<p class="error" id="accounts-error">${error}</p>`}<p class="hint" id="accounts-hint">${hint}</p>${
    hasMore &&
    field(
      { name: 'mids', label: text.more },
      (attributes) => html`<textarea ${attributes} rows="2" spellcheck="false">${others.join('\n')}</textarea>`,
    )
  }</fieldset>`;
}

/** The field for the limit of refunds. */
export const refundLimitField = (form: ReadonlyMap<string, string>, error: string | undefined): Html =>
  field({
    name: 'refund_limit',
    label: panelTexts.operators.refundLimit,
    value: form.get('refund_limit'),
    hint: panelTexts.operators.refundLimitHint,
    error,
    attributes: html`inputmode="decimal" autocomplete="off"`,
  });

/** The limit that was typed, null for none; or what is wrong with it. */
export function typedRefundLimit(form: ReadonlyMap<string, string>): { refundLimit: string | null; problem?: string } {
  const typed = (form.get('refund_limit') ?? '').trim().replace(',', '.');
  if (typed === '') return { refundLimit: null };
  return isRefundLimit(typed)
    ? { refundLimit: typed }
    : { refundLimit: null, problem: panelTexts.operators.refundLimitProblem };
}

/** The ids of the accounts that are chosen in a form. */
export function checkedAccounts(form: ReadonlyMap<string, string>): string[] {
  const checked = [...form.keys()]
    .filter((name) => name.startsWith(CHECKBOX))
    .map((name) => name.slice(CHECKBOX.length));
  return [...new Set([...checked.map((mid) => mid.toLowerCase()), ...typedAccounts(form)])];
}

const typedAccounts = (form: ReadonlyMap<string, string>): string[] =>
  (form.get('mids') ?? '')
    .toLowerCase()
    .split(/\s+/)
    .filter((mid) => mid !== '');

/** A form in which these accounts are chosen. */
export const formWith = (mids: readonly string[]): ReadonlyMap<string, string> => new Map([['mids', mids.join(' ')]]);

/** The ids of the chosen accounts, null if none is chosen; or what is wrong with the choice. */
export async function chosenAccounts(
  gateway: Gateway,
  principal: Principal,
  role: Role,
  form: ReadonlyMap<string, string>,
): Promise<{ mids: string[] | null; problem?: string }> {
  const mids = checkedAccounts(form);
  const isKnown = async (mid: string): Promise<boolean> =>
    isUuid(mid) && sees(principal, mid) && (await findAccount(gateway, mid)) !== undefined;
  if ((await Promise.all(mids.map(isKnown))).includes(false)) return { mids, problem: text.problem };
  if (mids.length > 0) return { mids };
  if (principal.mids !== null) return { mids: null, problem: text.restricted };
  return { mids: null, ...(isMerchantRole(role) && { problem: text.missing }) };
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
