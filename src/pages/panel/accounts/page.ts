/** The page of one account: its keys and state, a tab per group of settings, and the test callback. */

import { CARD_SALES, CONFIRMATION } from '../../../core/accounts/card-sales.ts';
import { keyFacts } from '../../../core/accounts/secret-settings.ts';
import type { TestCallback } from '../../../core/callbacks/test-callback.ts';
import type { Account } from '../../../core/context.ts';
import { type Html, html } from '../../../lib/text/html.ts';
import type { Problem } from '../../../rules/errors.ts';
import { isAllowed } from '../../../rules/roles.ts';
import {
  MERCHANT_SECTIONS,
  SETTING_GROUPS,
  type SettingGroup,
  type SettingSection,
} from '../../../rules/setting-groups.ts';
import { ACCOUNT_NAME_LENGTH, isSecretSetting, type SettingName } from '../../../rules/settings.ts';
import { formToken } from '../frame/layout.ts';
import { badge, copyable, facts, field, notice, tabs, time } from '../frame/parts.ts';
import type { PanelAnswer, PanelRequest } from '../frame/route.ts';
import { shownValues } from '../frame/shown.ts';
import { panelTexts } from '../locales/index.ts';
import { planCard } from '../prices/assignment.ts';
import { volumeCard } from '../risk/volume.ts';
import { brandingPreview } from './branding.ts';
import { logoLink } from './logo.ts';
import { onboarding } from './onboarding.ts';
import { cardSalesBadge, pathOf, stateBadge } from './parts.ts';
import { inputText, settingField, settingText } from './settings.ts';

const text = panelTexts.accounts;
const { settings: settingTexts } = panelTexts;

/** What a submitted form contained, and what came of it. */
export interface Submission {
  form: ReadonlyMap<string, string>;
  problems?: readonly Problem[];
  /** The form was sent to see the preview. */
  isPreview?: true;
  test?: TestCallback;
}

const NO_FORM: ReadonlyMap<string, string> = new Map();

/** The tab of a name that a link or a form contains; without one, the first tab, which is no group of settings. */
export const tabOf = (name: string | undefined): SettingGroup | undefined =>
  [...SETTING_GROUPS.keys()].find((group) => group === name);

export const tabPath = (account: Pick<Account, 'mid'>, tab: SettingGroup | undefined): string =>
  tab === undefined ? pathOf(account) : `${pathOf(account)}?tab=${tab}`;

const accountTabs = (account: Account, current: SettingGroup | undefined): Html =>
  tabs(
    text.tabs,
    [undefined, ...SETTING_GROUPS.keys()].map((tab) => ({
      href: tabPath(account, tab),
      label: tab === undefined ? text.overview : settingTexts.groups[tab],
      isActive: tab === current,
    })),
  );

type Post = (path: string, content: Html) => Html;

async function overviewTab(request: PanelRequest, account: Account, post: Post, nameError?: string): Promise<Html> {
  const { gateway, session, form } = request;
  const may = (permission: Parameters<typeof isAllowed>[1]): boolean => isAllowed(session.principal.role, permission);
  const { isSuspended } = account;
  return html`${await onboarding(request, account)}<section class="card"><h2>${text.keys}</h2>${facts([
    [text.mid, copyable(account.mid)],
    [text.clientKey, copyable(account.clientKey)],
    [text.merchantKey, copyable(account.merchantKey)],
    [text.created, time(account.createdAt)],
  ])}${
    may('accounts.rotate_secrets') &&
    html`<p class="hint">${text.rotateHint}</p><div class="actions">${post('rotate-password', html`<button class="quiet">${text.rotatePassword}</button>`)}${post('rotate-callback-secret', html`<button class="quiet">${text.rotateCallbackSecret}</button>`)}</div>`
  }</section>
${await volumeCard(gateway, account)}${
  gateway.environment === 'sandbox' &&
  !isSuspended &&
  may('sandbox.use') &&
  html`<section class="card"><h2>${text.testPayment}</h2><p class="soft">${text.testPaymentHint}</p><div class="actions">${post('test-payment', html`<button class="quiet">${text.testPaymentButton}</button>`)}</div></section>`
}
${may('prices.view') && (await planCard(request, { mid: account.mid }))}
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

/** The confirmation without which card sales are not switched on in production. */
function cardSalesConfirmation(
  { gateway, session }: PanelRequest,
  { settings }: Account,
  error: string | undefined,
): Html | undefined {
  if (gateway.environment !== 'production' || settings[CARD_SALES]) return;
  if (session.principal.role !== 'owner') return html`<p class="hint">${text.cardSalesByOwner}</p>`;
  return html`<label class="choice"><input type="checkbox" name="${CONFIRMATION}" value="true">${text.confirmCardData}</label>${
    error !== undefined && html`<p class="error" role="alert">${text.confirmCardDataMissing}</p>`
  }`;
}

function testResult({ isAccepted, status, problem, answer, tookMs }: TestCallback): Html {
  return html`<div class="notice ${isAccepted ? 'good' : 'bad'}" role="status">${problem ?? text.testAccepted}</div>${facts(
    [
      [text.testStatus, status === null ? text.testNoAnswer : status],
      [text.testTook, `${tookMs} ms`],
    ],
  )}${answer !== null && answer !== '' && html`<h3 class="field">${text.testAnswer}</h3><pre class="wrap">${answer}</pre>`}`;
}

const testCard = (
  { session }: PanelRequest,
  account: Account,
  post: Post,
  test: TestCallback | undefined,
): Html | false =>
  isAllowed(session.principal.role, 'callbacks.resend') &&
  html`<section class="card" id="test"><h2>${text.test}</h2><p class="soft">${text.testHint}</p>${test && testResult(test)}${
    account.settings.callback_url === ''
      ? html`<p class="field">${text.testNoUrl}</p>`
      : html`<div class="actions">${post('test-callback', html`<button class="quiet">${text.testButton}</button>`)}</div>`
  }</section>`;

async function settingsTab(
  request: PanelRequest,
  account: Account,
  group: SettingGroup,
  { form, problems = [], test }: Submission,
  post: Post,
): Promise<Html> {
  const { gateway, session } = request;
  const { role } = session.principal;
  const all = [...(SETTING_GROUPS.get(group) ?? [])];
  const sections = isAllowed(role, 'accounts.change')
    ? all
    : all.filter(([section]) => isAllowed(role, 'accounts.change_own') && MERCHANT_SECTIONS.includes(section));
  if (sections.length === 0) return readOnlyTab(request, account, all, post, test);
  const keys = await keyFacts(gateway, account);
  const errorOf = (name: string): string | undefined => problems.find(({ field }) => field === name)?.sentence;
  /** A secret that was typed is not repeated in the page. */
  const typedValue = (name: SettingName): string | undefined => (isSecretSetting(name) ? undefined : form.get(name));
  const shownValue = (name: SettingName): string => typedValue(name) ?? inputText(account.settings[name]);
  const oneField = (name: SettingName): Html => {
    const after =
      name === 'ip_allowlist'
        ? addressHint(request, account)
        : name === 'branding.logo'
          ? logoLink(request, account)
          : name === CARD_SALES
            ? cardSalesConfirmation(request, account, errorOf(CONFIRMATION))
            : undefined;
    return settingField(name, {
      gateway,
      account,
      value: shownValue(name),
      error: errorOf(name),
      after,
      key: keys[name],
    });
  };
  const stored = Object.fromEntries(
    sections
      .flatMap(([, names]) => names)
      .filter((name) => !isSecretSetting(name))
      .map((name) => [name, inputText(account.settings[name])]),
  );
  const save = html`<div class="actions"><button>${text.save}</button></div>`;
  const fields = html`${sections.map(
    ([section, names]) =>
      html`<section class="card"><h2>${settingTexts.sections[section].title}</h2><p class="soft">${settingTexts.sections[section].about}</p>${names.map(oneField)}${save}</section>`,
  )}`;
  return html`<form method="post" action="${pathOf(account)}">${formToken(session)}<input type="hidden" name="tab" value="${group}">${shownValues(form, stored)}${
    group === 'page'
      ? html`<div class="editor"><div>${fields}</div>${brandingPreview(account, form, shownValue)}</div>`
      : fields
  }</form>${group === 'notifications' && testCard(request, account, post, test)}`;
}

/** The settings for those who may not change them: what they are, as text. */
function readOnlyTab(
  request: PanelRequest,
  account: Account,
  sections: readonly (readonly [SettingSection, readonly SettingName[]])[],
  post: Post,
  test: TestCallback | undefined,
): Html {
  const isCallbacks = sections.some(([section]) => section === 'callbacks');
  return html`<div class="notice">${settingTexts.readOnly}</div>${sections.map(
    ([section, names]) =>
      html`<section class="card"><h2>${settingTexts.sections[section].title}</h2>${facts(
        names.map((name) => [settingTexts.names[name], settingText(name, account)] as const),
      )}</section>`,
  )}${isCallbacks && testCard(request, account, post, test)}`;
}

/** The account with one of its tabs, and what came of a submitted form. */
export async function accountPage(
  request: PanelRequest,
  account: Account,
  tab: SettingGroup | undefined,
  submission: Submission = { form: NO_FORM },
): Promise<PanelAnswer> {
  const { session, query } = request;
  const { role } = session.principal;
  const { problems = [] } = submission;
  const post: Post = (path, content) =>
    html`<form method="post" action="${pathOf(account)}/${path}">${formToken(session)}${content}</form>`;
  const nameError = problems.find(({ field }) => field === 'name')?.sentence;
  return {
    title: account.name,
    status: problems.length > 0 ? 400 : 200,
    ...(tab === 'page' && { hasFrames: true }),
    body: html`${notice(query.done && text.saved)}${problems.length > 0 && notice(text.notSaved, 'bad')}${submission.isPreview && notice(text.preview.unsaved, 'wait')}
<div class="head"><h1>${account.name}</h1>${stateBadge(account)}${cardSalesBadge(account)}<div class="actions"><a class="button quiet" href="/admin/payments?mid=${account.mid}">${text.payments}</a><a class="button quiet" href="/admin/ledger?mid=${account.mid}">${panelTexts.ledger.viewBalance}</a>${
      isAllowed(role, 'settlements.view') &&
      html`<a class="button quiet" href="${pathOf(account)}/settlement">${panelTexts.payouts.paid}</a>`
    }<a class="button quiet" href="/admin/callbacks?mid=${account.mid}">${panelTexts.sections.callbacks}</a>${
      isAllowed(role, 'connections.view') &&
      html`<a class="button quiet" href="${pathOf(account)}/routes">${panelTexts.connections.routes}</a>`
    }${
      isAllowed(role, 'requests.explain') &&
      html`<a class="button quiet" href="/admin/debugger?mid=${account.mid}">${panelTexts.sections.debugger}</a>`
    }</div></div>
${account.isSuspended && notice(text.suspendedHint, 'bad')}
${accountTabs(account, tab)}
${tab === undefined ? await overviewTab(request, account, post, nameError) : await settingsTab(request, account, tab, submission, post)}`,
  };
}
