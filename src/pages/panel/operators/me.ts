/** The page on which an operator changes how it signs in, and sees and ends its sessions. */
import { chooseTopics, topicsFor } from '../../../core/operators/notices.ts';
import {
  type ActiveSession,
  addPasskey,
  beginOwnSetup,
  changePassword,
  endOwnSessions,
  finishOwnSetup,
  type OwnSignIn,
  openOwnSetup,
  ownPasskeyOptions,
  ownSignIn,
  PASSKEY_NAME_LENGTH,
  readPasskeyName,
  removePasskey,
  renamePasskey,
  renewRecoveryCodes,
  setLanguage,
} from '../../../core/operators/own-sign-in.ts';
import { Secret } from '../../../lib/crypto/secret.ts';
import { type Html, html } from '../../../lib/text/html.ts';
import { NOTICE_TOPICS, type NoticeTopic } from '../../../rules/notices.ts';
import { formToken } from '../frame/layout.ts';
import { badge, type Column, choiceField, field, fill, notice, table, time } from '../frame/parts.ts';
import { confirmPath, type PanelAnswer, type PanelRequest, type PanelRoute } from '../frame/route.ts';
import { PANEL_TAGS, panelTexts } from '../locales/index.ts';
import { passkeyButton, passkeyElsewhere, passkeyForm } from '../sign-in/fields.ts';
import { recoveryPage, setupPage } from '../sign-in/invitation-pages.ts';

const PATH = '/admin/me';
const text = panelTexts.me;
const { signIn: signInText } = panelTexts;

/** The browser and the system that a user agent names. */
function browserName(userAgent: string): string {
  const find = (names: readonly (readonly [RegExp, string])[]): string | undefined =>
    names.find(([pattern]) => pattern.test(userAgent))?.[1];
  const browser = find([
    [/Edg\//, 'Edge'],
    [/OPR\//, 'Opera'],
    [/Firefox\//, 'Firefox'],
    [/Chrome\//, 'Chrome'],
    [/Safari\//, 'Safari'],
  ]);
  const system = find([
    [/iPhone|iPad/, 'iOS'],
    [/Android/, 'Android'],
    [/Mac OS X/, 'macOS'],
    [/Windows/, 'Windows'],
    [/Linux/, 'Linux'],
  ]);
  return [browser ?? text.unknownBrowser, system].filter((part) => part !== undefined).join(', ');
}

interface Problems {
  notice?: string;
  password?: string;
  passkeyName?: string;
}

type Post = (path: string, content: Html, attributes?: Html) => Html;

function passkeySection(
  { gateway: { publicUrl }, form }: PanelRequest,
  { passkeys }: OwnSignIn,
  post: Post,
  error: string | undefined,
): Html {
  const columns: Column<OwnSignIn['passkeys'][number]>[] = [
    {
      label: text.passkeyName,
      cell: ({ id, name }) =>
        post(
          `/passkeys/${id}/rename`,
          html`<div class="inline"><input class="short" name="new_name" value="${name}" maxlength="${PASSKEY_NAME_LENGTH}" required aria-label="${text.passkeyName}: ${name}"><button class="quiet" aria-label="${text.rename} ${name}">${text.rename}</button></div>`,
        ),
    },
    { label: text.created, cell: ({ createdAt }) => time(createdAt) },
    { label: text.lastUsed, cell: ({ lastUsedAt }) => time(lastUsedAt) },
    {
      label: text.remove,
      cell: ({ id, name }) =>
        post(
          `/passkeys/${id}/remove`,
          html`<button class="quiet" aria-label="${text.remove} ${name}">${text.remove}</button>`,
        ),
    },
  ];
  return html`<section class="card flush"><div class="inset"><h2>${text.passkeys}</h2><p class="soft">${text.passkeysHint}</p></div>${
    passkeys.length > 0 ? table(text.passkeys, columns, passkeys) : html`<p class="inset">${text.noPasskeys}</p>`
  }<div class="inset end">${post(
    '/passkeys',
    html`<p class="hint" data-passkey-off>${signInText.passkeyUnavailable}</p>${passkeyElsewhere(publicUrl, PATH)}<div class="narrow" hidden data-passkey-on>${field(
      {
        name: 'passkey_name',
        label: text.passkeyName,
        value: form.get('passkey_name'),
        hint: text.passkeyNameHint,
        error,
        attributes: html`maxlength="${PASSKEY_NAME_LENGTH}" autocomplete="off"`,
      },
    )}</div><div class="field inline">${passkeyButton(`${PATH}/passkeys`, text.addPasskey)}</div>`,
    passkeyForm(publicUrl, 'create', `${PATH}/passkeys/options`),
  )}</div></section>`;
}

function passwordSection(
  { session }: PanelRequest,
  { hasPassword, passwordChangedAt, recoveryCodesLeft }: OwnSignIn,
  post: Post,
  error: string | undefined,
): Html {
  const passwordForm = post(
    hasPassword ? '/password' : '/setup',
    html`<input type="hidden" name="username" autocomplete="username" value="${session.operator.email}">${field({
      name: 'password',
      label: text.newPassword,
      type: 'password',
      hint: hasPassword ? `${signInText.passwordHint} ${text.othersEnd}` : signInText.passwordHint,
      error,
      attributes: html`required autocomplete="new-password"`,
    })}<div class="actions"><button class="quiet">${hasPassword ? text.changePassword : text.addPassword}</button></div>`,
  );
  const action = (title: string, hint: Html, path: string, label: string): Html =>
    html`<div class="field"><h3>${title}</h3><p class="soft small">${hint}</p>${post(path, html`<div class="actions"><button class="quiet">${label}</button></div>`)}</div>`;
  return html`<section class="card"><h2>${text.password}</h2>${
    hasPassword
      ? html`<p class="soft">${text.passwordSince} ${time(passwordChangedAt)}</p>`
      : html`<p class="soft">${text.passwordNone}</p>`
  }<div class="columns even"><div class="narrow">${passwordForm}</div>${
    hasPassword &&
    html`<div>${action(text.totp, html`${text.totpHint}`, '/setup', text.totpButton)}${action(
      text.recovery,
      html`${text.recoveryLeft} <strong>${recoveryCodesLeft}</strong>. ${text.recoveryHint}`,
      '/recovery-codes',
      text.recoveryButton,
    )}</div>`
  }</div></section>`;
}

function sessionSection({ sessions }: OwnSignIn, post: Post): Html {
  const columns: Column<ActiveSession>[] = [
    {
      label: text.browser,
      cell: ({ userAgent, isCurrent }) =>
        html`<span title="${userAgent}">${browserName(userAgent)} ${isCurrent && badge(text.thisSession, 'good')}</span>`,
    },
    { label: text.address, cell: ({ address }) => html`<span class="mono">${address}</span>` },
    { label: text.signedIn, cell: ({ createdAt }) => time(createdAt) },
    { label: text.lastActive, cell: ({ usedAt }) => time(usedAt) },
    {
      label: text.end,
      cell: ({ id, isCurrent, address }) =>
        isCurrent
          ? '–'
          : post(
              `/sessions/${id}/end`,
              html`<button class="quiet" aria-label="${text.end} ${address}">${text.end}</button>`,
            ),
    },
  ];
  return html`<section class="card flush"><div class="inset"><h2>${text.sessions}</h2></div>${table(text.sessions, columns, sessions)}${
    sessions.length > 1 &&
    html`<div class="inset end">${post('/sessions/end', html`<button class="quiet">${text.endOthers}</button>`)}</div>`
  }</section>`;
}

/** Each language by its own name. */
const languageSection = (chosen: string, post: Post): Html =>
  html`<section class="card narrow"><h2>${text.language}</h2>${post(
    '/language',
    html`${choiceField({ name: 'language', label: text.languageLabel, value: chosen }, [
      ['', text.browserLanguage],
      ...PANEL_TAGS.map((tag): [string, string] => [
        tag,
        new Intl.DisplayNames(tag, { type: 'language' }).of(tag) ?? tag,
      ]),
    ])}<div class="actions"><button class="quiet">${text.languageButton}</button></div>`,
  )}</section>`;

/** The topics that the role allows; without a mail server the page says so. */
async function noticeSection({ gateway, session: { operator } }: PanelRequest, post: Post): Promise<Html> {
  const chosen = await gateway.notices.chosen(operator.operatorId);
  const box = (topic: NoticeTopic): Html =>
    html`<label class="choice"><input type="checkbox" name="${topic}" value="1"${chosen.includes(topic) && html` checked`}><span>${text.topics[topic]}</span></label>`;
  const hint = gateway.mailer ? fill(text.noticesHint, { email: operator.email }) : text.noticesOff;
  return html`<section class="card narrow"><h2>${text.notices}</h2><p class="soft">${hint}</p>${post(
    '/notices',
    html`${topicsFor(operator).map(box)}<div class="actions"><button class="quiet">${text.noticesButton}</button></div>`,
  )}</section>`;
}

async function saveNotices({ gateway, caller, session, form }: PanelRequest): Promise<PanelAnswer> {
  await chooseTopics(
    gateway,
    caller,
    session,
    NOTICE_TOPICS.filter((topic) => form.has(topic)),
  );
  return DONE;
}

async function saveLanguage({ gateway, caller, session, form }: PanelRequest): Promise<PanelAnswer> {
  const language = PANEL_TAGS.find((tag) => tag === form.get('language')) ?? null;
  await setLanguage(gateway, caller, session, language);
  return DONE;
}

async function showPage(request: PanelRequest, problems: Problems = {}): Promise<PanelAnswer> {
  const { gateway, session, query } = request;
  const own = await ownSignIn(gateway, session);
  const post: Post = (path, content, attributes) =>
    html`<form method="post" action="${PATH}${path}"${attributes && html` ${attributes}`}>${formToken(session)}${content}</form>`;
  return {
    title: text.title,
    status: Object.keys(problems).length === 0 ? 200 : 400,
    body: html`${notice(query.done && text.done)}${notice(problems.notice, 'bad')}${
      !session.isConfirmed &&
      html`<div class="notice wait" role="status">${text.confirmFirst} <a href="${confirmPath(PATH)}">${text.confirmLink}</a></div>`
    }
<div class="head"><div><h1>${text.title}</h1><p class="soft">${text.intro}</p></div></div>
${languageSection(session.operator.language ?? '', post)}
${await noticeSection(request, post)}
<fieldset class="bare"${!session.isConfirmed && html` disabled`}>
${passkeySection(request, own, post, problems.passkeyName)}
${passwordSection(request, own, post, problems.password)}
${sessionSection(own, post)}
</fieldset>`,
  };
}

const DONE: PanelAnswer = { redirect: `${PATH}?done=1` };

async function savePassword(request: PanelRequest): Promise<PanelAnswer> {
  const { gateway, caller, session, form } = request;
  const problem = await changePassword(gateway, caller, session, new Secret(form.get('password') ?? ''));
  if (problem === undefined) return DONE;
  return problem === 'noPassword'
    ? showPage(request, { notice: text.passwordNone })
    : showPage(request, { password: signInText.passwordProblems[problem] });
}

const showSetup = (
  { session }: PanelRequest,
  seed: string,
  sealed: string,
  error?: string,
): Extract<PanelAnswer, { title: string }> => {
  const { email } = session.operator;
  return setupPage(`${PATH}/setup/code`, { email, seed }, sealed, error, formToken(session));
};

/** Begins with a new password if the operator has none, otherwise with a new authenticator app. */
async function beginSetup(request: PanelRequest): Promise<PanelAnswer> {
  const { gateway, session, form } = request;
  const { hasPassword } = await ownSignIn(gateway, session);
  const password = hasPassword ? undefined : new Secret(form.get('password') ?? '');
  const begun = await beginOwnSetup(gateway, session, password);
  return typeof begun === 'string'
    ? showPage(request, { password: signInText.passwordProblems[begun] })
    : showSetup(request, begun.setup.seed, begun.sealed);
}

async function finishSetup(request: PanelRequest): Promise<PanelAnswer> {
  const { gateway, caller, session, form } = request;
  const sealed = form.get('setup') ?? '';
  const outcome = await finishOwnSetup(gateway, caller, session, sealed, form.get('code') ?? '');
  if (typeof outcome === 'object') return recoveryPage(outcome.recoveryCodes, `${PATH}?done=1`);
  const setup = outcome === 'wrongCode' ? openOwnSetup(gateway, session, sealed) : undefined;
  return setup
    ? { ...showSetup(request, setup.seed, sealed, signInText.setupWrong), status: 400 }
    : showPage(request, { notice: signInText.setupExpired });
}

async function newCodes(request: PanelRequest): Promise<PanelAnswer> {
  const { gateway, caller, session } = request;
  const codes = await renewRecoveryCodes(gateway, caller, session);
  return codes ? recoveryPage(codes, PATH) : showPage(request, { notice: text.passwordNone });
}

async function savePasskey(request: PanelRequest): Promise<PanelAnswer> {
  const { gateway, caller, session, form } = request;
  const name = readPasskeyName(form.get('passkey_name') ?? '');
  if (name === undefined) return showPage(request, { passkeyName: text.passkeyNameProblem });
  const result = { state: form.get('state') ?? '', credential: form.get('credential') ?? '' };
  const outcome = await addPasskey(gateway, caller, session, result, name);
  return outcome === 'added' ? DONE : showPage(request, { notice: text.passkeyRefused });
}

async function saveName(request: PanelRequest): Promise<PanelAnswer> {
  const { gateway, caller, session, params, form } = request;
  const name = readPasskeyName(form.get('new_name') ?? '');
  if (name === undefined) return showPage(request, { notice: text.passkeyNameProblem });
  if (name === '') return showPage(request, { notice: text.passkeyNameMissing });
  await renamePasskey(gateway, caller, session, params.passkeyId ?? '', name);
  return DONE;
}

async function deletePasskey(request: PanelRequest): Promise<PanelAnswer> {
  const { gateway, caller, session, params } = request;
  const outcome = await removePasskey(gateway, caller, session, params.passkeyId ?? '');
  return outcome === 'lastWay' ? showPage(request, { notice: text.lastWay }) : DONE;
}

async function endSessions({ gateway, caller, session, params }: PanelRequest): Promise<PanelAnswer> {
  await endOwnSessions(gateway, caller, session, params.sessionId);
  return DONE;
}

const change = (path: string, handle: PanelRoute['handle']): PanelRoute => ({
  method: 'POST',
  path: PATH + path,
  permission: 'any',
  scope: 'accounts',
  confirmFor: PATH,
  handle,
});

export const ownSignInPages: readonly PanelRoute[] = [
  { method: 'GET', path: PATH, permission: 'any', scope: 'accounts', handle: (request) => showPage(request) },
  {
    method: 'GET',
    path: `${PATH}/passkeys/options`,
    permission: 'any',
    scope: 'accounts',
    async handle({ gateway, session }) {
      const options = await ownPasskeyOptions(gateway, session);
      return options ? { json: options } : { json: {}, status: 404 };
    },
  },
  {
    method: 'POST',
    path: `${PATH}/language`,
    permission: 'any',
    scope: 'accounts',
    unconfirmed: 'It changes the language of the pages only.',
    handle: saveLanguage,
  },
  {
    method: 'POST',
    path: `${PATH}/notices`,
    permission: 'any',
    scope: 'accounts',
    unconfirmed: 'It changes which e-mails the operator gets only.',
    handle: saveNotices,
  },
  change('/passkeys', savePasskey),
  change('/passkeys/:passkeyId/rename', saveName),
  change('/passkeys/:passkeyId/remove', deletePasskey),
  change('/password', savePassword),
  change('/setup', beginSetup),
  change('/setup/code', finishSetup),
  change('/recovery-codes', newCodes),
  change('/sessions/end', endSessions),
  change('/sessions/:sessionId/end', endSessions),
];
