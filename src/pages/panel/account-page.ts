/** The page of one account: its keys and state, a tab per group of settings, and the test callback. */
import type { TestCallback } from '../../core/callbacks/test-callback.ts';
import type { Account } from '../../core/context.ts';
import { keyFacts } from '../../core/wallet-keys.ts';
import { type Html, html } from '../../lib/html.ts';
import type { Problem } from '../../rules/errors.ts';
import { isAllowed } from '../../rules/roles.ts';
import { ACCOUNT_NAME_LENGTH, isSecretSetting, SETTING_GROUPS, type SettingName } from '../../rules/settings.ts';
import { brandingPreview } from './account-branding.ts';
import { brandsField, methodLabels } from './account-brands.ts';
import { pathOf, stateBadge } from './account-parts.ts';
import { inputText, settingField } from './account-settings.ts';
import { formToken } from './layout.ts';
import { en } from './locales/en.ts';
import { badge, copyable, facts, field, notice, tabs, time } from './parts.ts';
import { confirmPath, type PanelAnswer, type PanelRequest } from './route.ts';

const text = en.accounts;

/** What a submitted form contained, and what came of it. */
export interface Submission {
  form: ReadonlyMap<string, string>;
  problems?: readonly Problem[];
  /** Nothing was saved, because the operator has to prove first who it is. */
  needsConfirmation?: true;
  /** The form was sent to see the preview. */
  isPreview?: true;
  test?: TestCallback;
}

const NO_FORM: ReadonlyMap<string, string> = new Map();

/** The tab of a name that a link or a form contains; without one, the first tab, which is no group of settings. */
export const tabOf = (name: string | undefined): string | undefined =>
  name !== undefined && SETTING_GROUPS.has(name) ? name : undefined;

export const tabPath = (account: Pick<Account, 'mid'>, tab: string | undefined): string =>
  tab === undefined ? pathOf(account) : `${pathOf(account)}?tab=${tab}`;

const groupText = (group: string): { title: string; about?: string } =>
  (text.groups as Record<string, { title: string; about: string }>)[group] ?? { title: group };

const accountTabs = (account: Account, current: string | undefined): Html =>
  tabs(
    text.tabs,
    [undefined, ...SETTING_GROUPS.keys()].map((tab) => ({
      href: tabPath(account, tab),
      label: tab === undefined ? text.overview : groupText(tab).title,
      isActive: tab === current,
    })),
  );

/** In another tab of the browser, so that what was typed is kept. */
const confirmNotice = (account: Account, tab: string | undefined): Html =>
  html`<div class="notice wait" role="status">${text.confirmFirst} <a href="${confirmPath(tabPath(account, tab))}" target="_blank">${text.confirmLink}</a></div>`;

type Post = (path: string, content: Html) => Html;

function overviewTab({ gateway, session, form }: PanelRequest, account: Account, post: Post, nameError?: string): Html {
  const may = (permission: Parameters<typeof isAllowed>[1]): boolean => isAllowed(session.principal.role, permission);
  const { isSuspended } = account;
  return html`<section class="card"><h2>${text.keys}</h2>${facts([
    [text.mid, copyable(account.mid)],
    [text.clientKey, copyable(account.clientKey)],
    [text.merchantKey, copyable(account.merchantKey)],
    [text.created, time(account.createdAt)],
  ])}${
    may('accounts.rotate_secrets') &&
    html`<p class="hint">${text.rotateHint}</p><div class="actions">${post('rotate-password', html`<button class="quiet">${text.rotatePassword}</button>`)}${post('rotate-callback-secret', html`<button class="quiet">${text.rotateCallbackSecret}</button>`)}</div>`
  }</section>
${
  gateway.environment === 'sandbox' &&
  !isSuspended &&
  may('sandbox.use') &&
  html`<section class="card"><h2>${text.testPayment}</h2><p class="soft">${text.testPaymentHint}</p><div class="actions">${post('test-payment', html`<button class="quiet">${text.testPaymentButton}</button>`)}</div></section>`
}
${
  may('accounts.change') &&
  html`<section class="card narrow"><h2>${text.rename}</h2>${post(
    'rename',
    html`${field({
      name: 'name',
      label: text.name,
      value: nameError === undefined ? account.name : form.get('name'),
      hint: text.renameHint,
      error: nameError,
      attributes: html`required maxlength="${ACCOUNT_NAME_LENGTH}" autocomplete="off"`,
    })}<div class="actions"><button class="quiet">${text.renameButton}</button></div>`,
  )}</section>
<section class="card"><h2>${text.suspension}</h2><p class="soft">${isSuspended ? text.resumeHint : text.suspendHint}</p>${
    isSuspended
      ? html`<div class="actions">${post('suspend', html`<input type="hidden" name="suspended" value="false"><button>${text.resume}</button>`)}</div>`
      : html`<details class="confirm"><summary class="button quiet">${text.suspendSummary}</summary><p>${text.suspendQuestion}</p><div class="actions">${post('suspend', html`<input type="hidden" name="suspended" value="true"><button class="danger">${text.suspend}</button>`)}</div></details>`
  }</section>`
}`;
}

/** From where the request comes, and whether the present list would accept it. */
function addressHint({ caller: { address } }: PanelRequest, account: Account): Html {
  const isAccepted = account.isAddressAllowed(address ?? '');
  return html`<p class="hint">${text.yourAddress} <span class="mono">${address}</span>. ${
    isAccepted ? badge(text.addressAccepted, 'good') : badge(text.addressRefused, 'bad')
  }</p>`;
}

function testResult({ isAccepted, status, problem, answer, tookMs }: TestCallback): Html {
  return html`<div class="notice ${isAccepted ? 'good' : 'bad'}" role="status">${problem ?? text.testAccepted}</div>${facts(
    [
      [text.testStatus, status === null ? text.testNoAnswer : status],
      [text.testTook, `${tookMs} ms`],
    ],
  )}${answer !== null && answer !== '' && html`<h3 class="field">${text.testAnswer}</h3><pre class="wrap">${answer}</pre>`}`;
}

const testCard = (account: Account, post: Post, test: TestCallback | undefined): Html =>
  html`<section class="card" id="test"><h2>${text.test}</h2><p class="soft">${text.testHint}</p>${test && testResult(test)}${
    account.settings.callback_url === ''
      ? html`<p class="field">${text.testNoUrl}</p>`
      : html`<div class="actions">${post('test-callback', html`<button class="quiet">${text.testButton}</button>`)}</div>`
  }</section>`;

async function settingsTab(
  request: PanelRequest,
  account: Account,
  group: string,
  { form, problems = [], test }: Submission,
  post: Post,
): Promise<Html> {
  const { gateway, session, acceptLanguage } = request;
  const { role } = session.principal;
  const mayChange = isAllowed(role, 'accounts.change');
  const keys = await keyFacts(gateway, account);
  const errorOf = (name: string): string | undefined => problems.find(({ field }) => field === name)?.sentence;
  /** A secret that was typed is not repeated in the page. */
  const typedValue = (name: SettingName): string | undefined => (isSecretSetting(name) ? undefined : form.get(name));
  const shownValue = (name: SettingName): string => typedValue(name) ?? inputText(account.settings[name]);
  const oneField = (name: SettingName): Html => {
    const shared = { value: shownValue(name), error: errorOf(name) };
    if (name === 'brands') return brandsField({ gateway, account, acceptLanguage, ...shared });
    const after =
      name === 'ip_allowlist'
        ? addressHint(request, account)
        : name === 'method_names'
          ? methodLabels(account, acceptLanguage)
          : undefined;
    return settingField(name, { ...shared, after, key: keys[name] });
  };
  const { title, about } = groupText(group);
  const hasPreview = group === 'payment_page';
  const fields = html`<section class="card"><h2>${title}</h2>${about !== undefined && html`<p class="soft">${about}</p>`}${SETTING_GROUPS.get(group)?.map(oneField)}${
    mayChange && html`<div class="actions"><button>${text.save}</button></div>`
  }</section>`;
  return html`<form method="post" action="${pathOf(account)}">${formToken(session)}<input type="hidden" name="tab" value="${group}">${
    hasPreview
      ? html`<div class="editor"><fieldset class="bare"${!mayChange && html` disabled`}>${fields}</fieldset>${brandingPreview(account, form, shownValue, mayChange)}</div>`
      : html`<fieldset class="bare"${!mayChange && html` disabled`}>${fields}</fieldset>`
  }</form>${group === 'callbacks' && isAllowed(role, 'callbacks.resend') && testCard(account, post, test)}`;
}

/** The account with one of its tabs, and what came of a submitted form. */
export async function accountPage(
  request: PanelRequest,
  account: Account,
  tab: string | undefined,
  submission: Submission = { form: NO_FORM },
): Promise<PanelAnswer> {
  const { session, query } = request;
  const { role } = session.principal;
  const { problems = [], needsConfirmation } = submission;
  const post: Post = (path, content) =>
    html`<form method="post" action="${pathOf(account)}/${path}">${formToken(session)}${content}</form>`;
  const nameError = problems.find(({ field }) => field === 'name')?.sentence;
  return {
    title: account.name,
    status: problems.length > 0 || needsConfirmation ? 400 : 200,
    ...(tab === 'payment_page' && { hasFrames: true }),
    body: html`${notice(query.done && text.saved)}${problems.length > 0 && notice(text.notSaved, 'bad')}${needsConfirmation && confirmNotice(account, tab)}${submission.isPreview && notice(text.preview.unsaved, 'wait')}
<div class="head"><h1>${account.name}</h1>${stateBadge(account)}<div class="actions"><a class="button quiet" href="/admin/payments?mid=${account.mid}">${text.payments}</a><a class="button quiet" href="/admin/callbacks?mid=${account.mid}">${en.sections.callbacks}</a>${
      isAllowed(role, 'connections.view') &&
      html`<a class="button quiet" href="${pathOf(account)}/routes">${en.connections.routes}</a>`
    }${
      isAllowed(role, 'requests.explain') &&
      html`<a class="button quiet" href="/admin/debugger?mid=${account.mid}">${en.sections.debugger}</a>`
    }</div></div>
${account.isSuspended && notice(text.suspendedHint, 'bad')}
${accountTabs(account, tab)}
${tab === undefined ? overviewTab(request, account, post, nameError) : await settingsTab(request, account, tab, submission, post)}`,
  };
}
