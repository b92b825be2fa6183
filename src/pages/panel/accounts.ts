/** The pages on accounts: the list, a new account, its settings from the settings table, and its secrets. */
import { changeAccount, createAccount, findAccount, listAccounts, rotateSecret } from '../../core/accounts.ts';
import type { Account } from '../../core/context.ts';
import { sees } from '../../core/principal.ts';
import { type Html, html } from '../../lib/html.ts';
import { isUuid } from '../../lib/id.ts';
import { keysetPage } from '../../lib/keyset-page.ts';
import { type Problem, Refusal } from '../../rules/errors.ts';
import { isAllowed } from '../../rules/roles.ts';
import {
  ACCOUNT_NAME_LENGTH,
  isAccountName,
  readSettings,
  SETTING_NAMES,
  SETTINGS,
  type SettingInput,
  type SettingName,
} from '../../rules/settings.ts';
import { formToken } from './layout.ts';
import { en } from './locales/en.ts';
import { badge, type Column, choiceField, empty, facts, field, notice, pager, table, time } from './parts.ts';
import { confirmPath, type PanelAnswer, type PanelRequest, type PanelRoute } from './route.ts';

const PAGE_SIZE = 50;
const text = en.accounts;

const pathOf = ({ mid }: Pick<Account, 'mid'>): string => `/admin/accounts/${mid}`;

async function requireAccount({ gateway, session, params: { mid = '' } }: PanelRequest): Promise<Account> {
  const account = isUuid(mid) ? await findAccount(gateway, mid.toLowerCase()) : undefined;
  if (!account || !sees(session.principal, account.mid)) throw new Refusal('noSuchAccount');
  return account;
}

async function showList({ gateway, session, query }: PanelRequest): Promise<PanelAnswer> {
  const before = isUuid(query.cursor ?? '') ? query.cursor : undefined;
  const rows = await listAccounts(gateway, PAGE_SIZE + 1, before, session.principal.mids);
  const { items: shown, last } = keysetPage(rows, PAGE_SIZE);
  const columns: Column<Account>[] = [
    { label: text.name, cell: (account) => html`<a href="${pathOf(account)}">${account.name}</a>` },
    { label: text.state, cell: stateBadge },
    { label: text.mid, cell: ({ mid }) => html`<span class="mono">${mid}</span>` },
    { label: text.clientKey, cell: ({ clientKey }) => html`<span class="mono">${clientKey}</span>` },
    { label: text.created, cell: ({ createdAt }) => time(createdAt) },
  ];
  return {
    title: en.sections.accounts,
    body: html`<div class="head"><h1>${en.sections.accounts}</h1>${
      isAllowed(session.principal.role, 'accounts.create') &&
      html`<div class="actions"><a class="button" href="/admin/accounts/new">${text.create}</a></div>`
    }</div>
<div class="card flush">${shown.length > 0 ? table(en.sections.accounts, columns, shown) : empty(text.none, text.noneHint)}${pager(
      '/admin/accounts',
      query,
      last?.mid,
    )}</div>`,
  };
}

const stateBadge = ({ isSuspended }: Account): Html =>
  isSuspended ? badge(text.suspended, 'bad') : badge(text.active, 'good');

function newAccountPage({ session, form }: PanelRequest, error?: string): PanelAnswer {
  return {
    title: text.create,
    status: error === undefined ? 200 : 400,
    body: html`<div class="card narrow"><h1>${text.create}</h1><p class="soft">${text.createHint}</p>
<form method="post" action="/admin/accounts/new">${formToken(session)}${field({
      name: 'name',
      label: text.name,
      value: form.get('name'),
      error,
      attributes: html`required maxlength="${ACCOUNT_NAME_LENGTH}" autocomplete="off"`,
    })}<div class="actions"><button>${text.create}</button> <a class="button quiet" href="/admin/accounts">${text.cancel}</a></div></form></div>`,
  };
}

/** Secrets are shown on the page that answers the request, and never again. */
const secretsPage = (
  title: string,
  account: Account,
  secrets: readonly (readonly [string, string])[],
): PanelAnswer => ({
  title,
  body: html`<div class="card narrow"><h1>${title}</h1><div class="notice wait">${text.shownOnce}</div>${facts([
    [text.mid, html`<span class="mono">${account.mid}</span>`],
    [text.clientKey, html`<span class="mono">${account.clientKey}</span>`],
    [text.merchantKey, html`<span class="mono">${account.merchantKey}</span>`],
    ...secrets.map(([name, value]): [string, Html] => [name, html`<span class="mono">${value}</span>`]),
  ])}<div class="actions"><a class="button" href="${pathOf(account)}">${text.goToSettings}</a></div></div>`,
});

async function create(request: PanelRequest): Promise<PanelAnswer> {
  const name = (request.form.get('name') ?? '').trim();
  if (!isAccountName(name)) return newAccountPage(request, text.nameProblem);
  if (request.session.principal.mids !== null) throw new Refusal('forbidden');
  const { account, password, callbackSecret } = await createAccount(request.gateway, request.caller, name, {});
  return secretsPage(text.createdTitle, account, [
    [text.password, password.reveal()],
    [text.callbackSecret, callbackSecret.reveal()],
  ]);
}

/** The value of a setting as the text of its input. */
function inputText(value: unknown): string {
  if (Array.isArray(value)) return value.join('\n');
  if (typeof value === 'object' && value !== null) {
    return Object.entries(value)
      .map(([name, one]) => `${name}: ${one}`)
      .join('\n');
  }
  return String(value);
}

const lines = (value: string): string[] =>
  value
    .split(/\r?\n/)
    .map((line) => line.trim())
    .filter((line) => line !== '');

/** The value that the text of an input stands for; the settings table checks it. */
function settingValue(input: SettingInput, value: string): unknown {
  if (input === 'flag') return value === 'true';
  if (input === 'number') return /^\d+$/.test(value.trim()) ? Number(value) : value;
  if (input === 'list') return lines(value);
  if (input === 'pairs') {
    return Object.fromEntries(lines(value).map((line) => line.split(/:\s*/, 2).concat('').slice(0, 2)));
  }
  return value.trim();
}

function settingField(name: SettingName, value: string, error: string | undefined): Html {
  const { about: hint, input } = SETTINGS[name];
  const options = { name, label: text.settings[name] ?? name, value, hint, error };
  if (input === 'flag') {
    return choiceField(options, [
      ['true', text.yes],
      ['false', text.no],
    ]);
  }
  if (Array.isArray(input)) {
    return choiceField(
      options,
      input.map((choice): [string, string] => [choice, choice]),
    );
  }
  if (input === 'list' || input === 'pairs') {
    return field(
      options,
      (attributes) => html`<textarea ${attributes} rows="3" spellcheck="false">${value}</textarea>`,
    );
  }
  return field({ ...options, attributes: html`autocomplete="off"${input === 'number' && html` inputmode="numeric"`}` });
}

function accountPage(
  { session, query }: PanelRequest,
  account: Account,
  sent?: { form: ReadonlyMap<string, string>; problems: readonly Problem[]; needsConfirmation?: true },
): PanelAnswer {
  const { role } = session.principal;
  const mayChange = isAllowed(role, 'accounts.change');
  const errorOf = (name: string): string | undefined =>
    sent?.problems.find((problem) => problem.field === name)?.sentence;
  const shownValue = (name: SettingName): string => sent?.form.get(name) ?? inputText(account.settings[name]);
  const groups = Object.entries(text.groups).map(
    ([title, names]) =>
      html`<fieldset class="card"><legend><h2>${title}</h2></legend>${names.map((name) => settingField(name, shownValue(name), errorOf(name)))}</fieldset>`,
  );
  const post = (path: string, label: string, css: string, fields?: Html): Html =>
    html`<form method="post" action="${pathOf(account)}/${path}">${formToken(session)}${fields}<button class="${css}">${label}</button></form>`;
  return {
    title: account.name,
    status: sent ? 400 : 200,
    body: html`${notice(query.done && text.saved)}${sent && !sent.needsConfirmation && notice(text.notSaved, 'bad')}${sent?.needsConfirmation && confirmNotice(account)}
<div class="head"><h1>${account.name}</h1>${stateBadge(account)}<div class="actions"><a class="button quiet" href="/admin/payments?mid=${account.mid}">${text.payments}</a>${
      isAllowed(role, 'connections.view') &&
      html`<a class="button quiet" href="${pathOf(account)}/routes">${en.connections.routes}</a>`
    }${
      isAllowed(role, 'requests.explain') &&
      html`<a class="button quiet" href="/admin/debugger?mid=${account.mid}">${en.sections.debugger}</a>`
    }${
      isAllowed(role, 'accounts.rotate_secrets') &&
      html`${post('rotate-password', text.rotatePassword, 'quiet')}${post('rotate-callback-secret', text.rotateCallbackSecret, 'quiet')}`
    }${
      mayChange &&
      post(
        'suspend',
        account.isSuspended ? text.resume : text.suspend,
        account.isSuspended ? '' : 'danger',
        html`<input type="hidden" name="suspended" value="${String(!account.isSuspended)}">`,
      )
    }</div></div>
${account.isSuspended && notice(text.suspendedHint, 'bad')}
<div class="card">${facts([
      [text.mid, html`<span class="mono">${account.mid}</span>`],
      [text.clientKey, html`<span class="mono">${account.clientKey}</span>`],
      [text.merchantKey, html`<span class="mono">${account.merchantKey}</span>`],
      [text.created, time(account.createdAt)],
    ])}</div>
<form method="post" action="${pathOf(account)}">${formToken(session)}<fieldset class="bare"${!mayChange && html` disabled`}>${groups}</fieldset>${
      mayChange && html`<div class="actions"><button>${text.save}</button></div>`
    }</form>`,
  };
}

/** Settings that decide where money and notices go, and who may send requests: they need a recent proof. */
const SENSITIVE: readonly SettingName[] = ['callback_url', 'ip_allowlist', 'refunds_allowed'];

/** In another tab, so that what was typed is kept. */
const confirmNotice = (account: Account): Html =>
  html`<div class="notice wait" role="status">${text.confirmFirst} <a href="${confirmPath(pathOf(account))}" target="_blank">${text.confirmLink}</a></div>`;

async function save(request: PanelRequest): Promise<PanelAnswer> {
  const account = await requireAccount(request);
  const { gateway, caller, form } = request;
  const changed = SETTING_NAMES.filter(
    (name) => form.has(name) && normalise(form.get(name) ?? '') !== inputText(account.settings[name]),
  );
  const values = changed.map((name) => [name, settingValue(SETTINGS[name].input, form.get(name) ?? '')]);
  const { set, problems } = readSettings(Object.fromEntries(values), gateway.callbackReach);
  if (problems.length > 0) return accountPage(request, account, { form, problems });
  if (!request.session.isConfirmed && changed.some((name) => SENSITIVE.includes(name))) {
    return accountPage(request, account, { form, problems: [], needsConfirmation: true });
  }
  if (changed.length > 0) await changeAccount(gateway, caller, account.mid, { settings: set });
  return { redirect: `${pathOf(account)}?done=1` };
}

/** Browsers send line breaks of a text area as CRLF. */
const normalise = (value: string): string => value.replaceAll('\r\n', '\n');

async function suspend(request: PanelRequest): Promise<PanelAnswer> {
  const account = await requireAccount(request);
  const isSuspended = request.form.get('suspended') === 'true';
  await changeAccount(request.gateway, request.caller, account.mid, { isSuspended });
  return { redirect: `${pathOf(account)}?done=1` };
}

const rotate =
  (name: 'password' | 'callbackSecret') =>
  async (request: PanelRequest): Promise<PanelAnswer> => {
    const account = await requireAccount(request);
    const { secret, previousUntil } = await rotateSecret(request.gateway, request.caller, account.mid, name);
    const until = new Date(previousUntil).toISOString().slice(0, 16).replace('T', ' ');
    return secretsPage(text.rotatedTitle, account, [
      [text[name], secret.reveal()],
      [text.previousUntil, `${until} UTC`],
    ]);
  };

export const accountPages: readonly PanelRoute[] = [
  { method: 'GET', path: '/admin/accounts', permission: 'accounts.view', handle: showList },
  {
    method: 'GET',
    path: '/admin/accounts/new',
    permission: 'accounts.create',
    handle: async (request) => newAccountPage(request),
  },
  { method: 'POST', path: '/admin/accounts/new', permission: 'accounts.create', handle: create },
  {
    method: 'GET',
    path: '/admin/accounts/:mid',
    permission: 'accounts.view',
    handle: async (request) => accountPage(request, await requireAccount(request)),
  },
  { method: 'POST', path: '/admin/accounts/:mid', permission: 'accounts.change', handle: save },
  { method: 'POST', path: '/admin/accounts/:mid/suspend', permission: 'accounts.change', handle: suspend },
  {
    method: 'POST',
    path: '/admin/accounts/:mid/rotate-password',
    permission: 'accounts.rotate_secrets',
    confirmFor: '/admin/accounts/:mid',
    handle: rotate('password'),
  },
  {
    method: 'POST',
    path: '/admin/accounts/:mid/rotate-callback-secret',
    permission: 'accounts.rotate_secrets',
    confirmFor: '/admin/accounts/:mid',
    handle: rotate('callbackSecret'),
  },
];
