/** The pages on accounts: the list, a new account with its secrets, and the changes of one account. */
import { changeAccount, createAccount, listAccounts, rotateSecret } from '../../../core/accounts/accounts.ts';
import { CONFIRMATION, requireCardSalesConfirmed } from '../../../core/accounts/card-sales.ts';
import { openTestPayment } from '../../../core/accounts/demo.ts';
import { requireOwnSettings } from '../../../core/accounts/own-settings.ts';
import { readAccountSettings } from '../../../core/accounts/secret-settings.ts';
import { sendTestCallback } from '../../../core/callbacks/test-callback.ts';
import type { Account } from '../../../core/context.ts';
import { keysetPage } from '../../../lib/http/keyset-page.ts';
import { type Html, html } from '../../../lib/text/html.ts';
import { invalidField, type Problem, Refusal } from '../../../rules/errors.ts';
import { SENTENCES } from '../../../rules/fields.ts';
import { isAllowed } from '../../../rules/roles.ts';
import { groupOf } from '../../../rules/setting-groups.ts';
import { ACCOUNT_NAME_LENGTH, completeSettings, isAccountName, type SettingName } from '../../../rules/settings.ts';
import { formToken } from '../frame/layout.ts';
import { type Column, copyable, empty, facts, field, idCursor, pager, table, time } from '../frame/parts.ts';
import type { PanelAnswer, PanelRequest, PanelRoute } from '../frame/route.ts';
import { panelTexts } from '../locales/index.ts';
import { showColourNotes, showPreview } from './branding.ts';
import { emptyLists } from './lists.ts';
import { logoPages } from './logo.ts';
import { accountPage, tabOf, tabPath } from './page.ts';
import { accountOfPath, cardSalesBadge, pathOf, stateBadge } from './parts.ts';
import { changedSettings, inputText, withComposed } from './settings.ts';

const PAGE_SIZE = 50;
const text = panelTexts.accounts;

async function showList({ gateway, session, query }: PanelRequest): Promise<PanelAnswer> {
  const before = idCursor(query);
  const rows = await listAccounts(gateway, PAGE_SIZE + 1, before, session.principal.mids);
  const { items: shown, last } = keysetPage(rows, PAGE_SIZE);
  const columns: Column<Account>[] = [
    { label: text.name, cell: (account) => html`<a href="${pathOf(account)}">${account.name}</a>` },
    { label: text.state, cell: (account) => html`${stateBadge(account)}${cardSalesBadge(account)}` },
    { label: text.mid, cell: ({ mid }) => html`<span class="mono">${mid}</span>` },
    { label: text.clientKey, cell: ({ clientKey }) => html`<span class="mono">${clientKey}</span>` },
    { label: text.created, cell: ({ createdAt }) => time(createdAt) },
  ];
  return {
    title: panelTexts.sections.accounts,
    body: html`<div class="head"><h1>${panelTexts.sections.accounts}</h1>${
      isAllowed(session.principal.role, 'accounts.create') &&
      session.principal.mids === null &&
      html`<div class="actions"><a class="button" href="/admin/accounts/new">${text.create}</a></div>`
    }</div>
<div class="card flush">${shown.length > 0 ? table(panelTexts.sections.accounts, columns, shown) : empty(text.none, text.noneHint)}${pager(
      '/admin/accounts',
      query,
      last?.mid,
    )}</div>`,
  };
}

/** The settings that a new account needs first. */
const FIRST_SETTINGS = ['callback_url', 'descriptor'] as const satisfies SettingName[];

function newAccountPage({ gateway, session, form }: PanelRequest, problems: readonly Problem[] = []): PanelAnswer {
  const defaults = completeSettings({}, gateway.environment);
  const errorOf = (name: string): string | undefined => problems.find((problem) => problem.field === name)?.sentence;
  return {
    title: text.create,
    status: problems.length === 0 ? 200 : 400,
    body: html`<div class="card narrow"><h1>${text.create}</h1><p class="soft">${text.createHint}</p>
<form method="post" action="/admin/accounts/new">${formToken(session)}${field({
      name: 'name',
      label: text.name,
      value: form.get('name'),
      error: errorOf('name'),
      attributes: html`required maxlength="${ACCOUNT_NAME_LENGTH}" autocomplete="off"`,
    })}${FIRST_SETTINGS.map((name) =>
      field({
        name,
        label: panelTexts.settings.names[name],
        hint: panelTexts.settings.hints[name],
        value: form.get(name) ?? inputText(defaults[name]),
        error: errorOf(name),
      }),
    )}<p class="hint field">${text.laterHint}</p><div class="actions"><button>${text.create}</button> <a class="button quiet" href="/admin/accounts">${text.cancel}</a></div></form></div>`,
  };
}

/** Secrets are shown on the page that answers the request, and never again. */
const secretsPage = (
  title: string,
  account: Account,
  secrets: readonly (readonly [string, Html | string])[],
  after?: Html,
): PanelAnswer => ({
  title,
  body: html`<div class="card narrow"><h1>${title}</h1><div class="notice wait">${text.shownOnce}</div>${facts([
    [text.mid, copyable(account.mid)],
    [text.clientKey, copyable(account.clientKey)],
    [text.merchantKey, copyable(account.merchantKey)],
    ...secrets,
  ])}<div class="actions"><a class="button" href="${pathOf(account)}">${text.goToSettings}</a></div></div>${after}`,
});

/** What to do with a new account. */
function nextSteps({ gateway, session }: PanelRequest, account: Account): Html {
  const { role } = session.principal;
  const steps = [
    text.steps.store,
    gateway.environment === 'sandbox' &&
      isAllowed(role, 'sandbox.use') &&
      html`${text.steps.pay} <form method="post" action="${pathOf(account)}/test-payment">${formToken(session)}<div class="actions"><button class="quiet">${text.testPaymentButton}</button></div></form>`,
    html`<a href="${tabPath(account, 'notifications')}">${text.steps.callbacks}</a>`,
    html`<a href="${tabPath(account, 'page')}">${text.steps.branding}</a>`,
    html`<a href="/admin/debugger?mid=${account.mid}">${text.steps.requests}</a>`,
    html`<a href="/docs/merchant/quick-start">${text.steps.guide}</a> <a href="/docs/reference">${text.steps.reference}</a>`,
  ];
  return html`<section class="card narrow"><h2>${text.steps.title}</h2><ol class="links">${steps
    .filter((step) => step !== false)
    .map((step) => html`<li>${step}</li>`)}</ol></section>`;
}

async function create(request: PanelRequest): Promise<PanelAnswer> {
  const { gateway, caller, form } = request;
  const name = (form.get('name') ?? '').trim();
  const typed = new Map([...form].filter(([field]) => FIRST_SETTINGS.some((setting) => setting === field)));
  const settings = changedSettings({ settings: completeSettings({}, gateway.environment) }, typed);
  const { set, problems } = await readAccountSettings(gateway, undefined, settings);
  if (!isAccountName(name)) problems.unshift({ field: 'name', sentence: text.nameProblem });
  if (problems.length > 0) return newAccountPage(request, problems);
  const { account, password, callbackSecret } = await createAccount(gateway, caller, name, set);
  const secrets = [
    [text.password, copyable(password.reveal())],
    [text.callbackSecret, copyable(callbackSecret.reveal())],
  ] as const;
  return secretsPage(text.createdTitle, account, secrets, nextSteps(request, account));
}

async function save(request: PanelRequest): Promise<PanelAnswer> {
  const account = await accountOfPath(request);
  const { gateway, caller, session } = request;
  const form = withComposed(request.form);
  const settings = changedSettings(account, form);
  const changed = Object.keys(settings) as SettingName[];
  const { set, problems } = await readAccountSettings(gateway, account, settings);
  const isConfirmed = form.get(CONFIRMATION) === 'true';
  problems.push(...requireCardSalesConfirmed(gateway, session.principal, account, set, isConfirmed));
  problems.push(...emptyLists(form));
  const firstAtFault = (problems[0]?.field ?? changed[0]) as SettingName | undefined;
  const tab = tabOf(form.get('tab') ?? (firstAtFault && groupOf(firstAtFault)));
  if (problems.length > 0) return accountPage(request, account, tab, { form, problems });
  requireOwnSettings(request.session.principal, { settings });
  if (changed.length > 0) await changeAccount(gateway, caller, account.mid, { settings: set });
  const path = tabPath(account, tabOf(form.get('tab')));
  return { redirect: `${path}${path.includes('?') ? '&' : '?'}done=1` };
}

async function preview(request: PanelRequest): Promise<PanelAnswer> {
  const account = await accountOfPath(request);
  return accountPage(request, account, 'page', { form: withComposed(request.form), isPreview: true });
}

async function rename(request: PanelRequest): Promise<PanelAnswer> {
  const account = await accountOfPath(request);
  const name = (request.form.get('name') ?? '').trim();
  if (!isAccountName(name)) {
    const problems = [{ field: 'name', sentence: text.nameProblem }];
    return accountPage(request, account, undefined, { form: request.form, problems });
  }
  if (name !== account.name) await changeAccount(request.gateway, request.caller, account.mid, { name });
  return { redirect: `${pathOf(account)}?done=1` };
}

async function suspend(request: PanelRequest): Promise<PanelAnswer> {
  const account = await accountOfPath(request);
  const isSuspended = request.form.get('suspended') === 'true';
  await changeAccount(request.gateway, request.caller, account.mid, { isSuspended });
  return { redirect: `${pathOf(account)}?done=1` };
}

async function testCallback(request: PanelRequest): Promise<PanelAnswer> {
  const account = await accountOfPath(request);
  const test = await sendTestCallback(request.gateway, request.caller, account);
  return accountPage(request, account, 'notifications', { form: new Map(), test });
}

async function testPayment(request: PanelRequest): Promise<PanelAnswer> {
  const { gateway } = request;
  if (gateway.environment === 'production') throw new Refusal('unknownRoute');
  const account = await accountOfPath(request);
  if (account.isSuspended) throw invalidField('mid', SENTENCES.suspended);
  const successUrl = (id: string): string => `${gateway.publicUrl}/admin/payments/${id}`;
  return { redirect: await openTestPayment(gateway, account, successUrl) };
}

const rotate =
  (name: 'password' | 'callbackSecret') =>
  async (request: PanelRequest): Promise<PanelAnswer> => {
    const account = await accountOfPath(request);
    const { secret, previousUntil } = await rotateSecret(request.gateway, request.caller, account.mid, name);
    return secretsPage(text.rotatedTitle, account, [
      [text[name], copyable(secret.reveal())],
      [text.previousUntil, time(previousUntil)],
    ]);
  };

const ONE = '/admin/accounts/:mid';
const change = (path: string, permission: PanelRoute['permission'], handle: PanelRoute['handle']) =>
  ({ method: 'POST', path: ONE + path, permission, scope: 'accounts', handle }) as const;
const confirmedChange = (...of: Parameters<typeof change>): PanelRoute => ({ ...change(...of), confirmFor: ONE });

export const accountPages: readonly PanelRoute[] = [
  ...logoPages,
  { method: 'GET', path: '/admin/accounts', permission: 'accounts.view', scope: 'accounts', handle: showList },
  {
    method: 'GET',
    path: '/admin/accounts/new',
    permission: 'accounts.create',
    scope: 'installation',
    confirmFirst: true,
    handle: async (request) => newAccountPage(request),
  },
  {
    method: 'POST',
    path: '/admin/accounts/new',
    permission: 'accounts.create',
    scope: 'installation',
    confirmFor: '/admin/accounts',
    handle: create,
  },
  {
    method: 'GET',
    path: '/admin/accounts/:mid',
    permission: 'accounts.view',
    scope: 'accounts',
    handle: async (request) => accountPage(request, await accountOfPath(request), tabOf(request.query.tab)),
  },
  {
    method: 'GET',
    path: '/admin/accounts/:mid/preview',
    permission: 'accounts.view',
    scope: 'accounts',
    handle: showPreview,
  },
  {
    method: 'GET',
    path: '/admin/accounts/:mid/preview/notes',
    permission: 'accounts.view',
    scope: 'accounts',
    handle: showColourNotes,
  },
  confirmedChange('', 'accounts.change_own', save),
  confirmedChange('/rename', 'accounts.change', rename),
  confirmedChange('/suspend', 'accounts.change', suspend),
  confirmedChange('/rotate-password', 'accounts.rotate_secrets', rotate('password')),
  confirmedChange('/rotate-callback-secret', 'accounts.rotate_secrets', rotate('callbackSecret')),
  { ...change('/preview', 'accounts.change_own', preview), unconfirmed: 'It stores nothing.' },
  { ...change('/test-callback', 'callbacks.resend', testCallback), unconfirmed: 'It belongs to no payment.' },
  { ...change('/test-payment', 'sandbox.use', testPayment), unconfirmed: 'The sandbox moves no money.' },
];
