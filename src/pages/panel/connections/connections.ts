/** The pages on connections to providers: the list, a new one, its health and settings, the check of its credentials. */
import {
  type CheckResult,
  CONNECTABLE,
  type ConnectionRow,
  type ConnectionView,
  changeConnection,
  checkConnection,
  connectionView,
  createConnection,
  deleteConnection,
  findConnection,
  listConnections,
  type SavedConnection,
} from '../../../core/connections/connections.ts';
import { openValue, sealValue } from '../../../core/operators/sealed-values.ts';
import { isUuid } from '../../../lib/crypto/id.ts';
import { type Html, html } from '../../../lib/text/html.ts';
import { isObject } from '../../../lib/text/json.ts';
import { CONNECTION_NAME_LENGTH, type ConnectionInput, readConnection } from '../../../rules/connection-input.ts';
import { CONNECTORS, type ConnectorEntry, type ConnectorName, connectorEntry } from '../../../rules/connectors.ts';
import { type Problem, Refusal } from '../../../rules/errors.ts';
import { isAllowed } from '../../../rules/roles.ts';
import { methodChoices } from '../accounts/pair-settings.ts';
import { formToken } from '../frame/layout.ts';
import { pairRows, submittedRows } from '../frame/pair-rows.ts';
import { badge, type Column, choiceField, copyable, empty, facts, field, notice, table, time } from '../frame/parts.ts';
import type { PanelAnswer, PanelRequest, PanelRoute } from '../frame/route.ts';
import { isEdited, shownValues } from '../frame/shown.ts';
import { panelTexts } from '../locales/index.ts';
import { accountChoice, accountNames, checkedAccounts, formWith } from '../operators/account-choice.ts';
import { methodName } from '../payments/methods.ts';
import { planCard } from '../prices/assignment.ts';

const text = panelTexts.connections;
const pathOf = (connectionId: string): string => `/admin/connections/${connectionId}`;

const TONES = { closed: 'good', half_open: 'wait', open: 'bad' } as const;
const healthBadge = ({ health: { state } }: ConnectionView): Html => badge(text.states[state], TONES[state]);
const modeBadge = ({ mode }: ConnectionView): Html | null =>
  mode && badge(text.modes[mode], mode === 'live' ? 'good' : 'wait');

async function showList({ gateway, session }: PanelRequest): Promise<PanelAnswer> {
  const rows = (await listConnections(gateway, session.principal)).map((row) => connectionView(gateway, row));
  const columns: Column<ConnectionView>[] = [
    { label: text.name, cell: ({ name, connectionId }) => html`<a href="${pathOf(connectionId)}">${name}</a>` },
    { label: text.connector, cell: ({ connector }) => connectorEntry(connector)?.title ?? connector },
    { label: text.mode, cell: modeBadge },
    { label: text.health, cell: healthBadge },
    { label: text.accounts, cell: ({ mids }) => (mids === null ? text.all : mids.length) },
    { label: text.updated, cell: ({ updatedAt }) => time(updatedAt) },
  ];
  const canManage = isAllowed(session.principal.role, 'connections.manage');
  return {
    title: panelTexts.sections.connections,
    body: html`<div class="head"><h1>${panelTexts.sections.connections}</h1>${
      canManage && html`<div class="actions"><a class="button" href="/admin/connections/new">${text.connect}</a></div>`
    }</div>
<div class="card flush">${rows.length > 0 ? table(panelTexts.sections.connections, columns, rows) : empty(text.none, text.noneHint)}</div>`,
  };
}

/** The connectors to choose from. */
const showChoice = async (): Promise<PanelAnswer> => ({
  title: text.connect,
  body: html`<div class="head"><h1>${text.choose}</h1><p class="soft wide">${text.chooseHint}</p></div>
<div class="cards">${CONNECTABLE.map(
    (name) =>
      html`<section class="card"><h2><a href="/admin/connections/new/${name}">${CONNECTORS[name].title}</a></h2><p class="soft small">${text.connectors[name].about}</p></section>`,
  )}</div>`,
});

const requireConnector = ({ params: { connector = '' } }: PanelRequest): [ConnectorName, ConnectorEntry] => {
  const name = CONNECTABLE.find((each) => each === connector);
  if (!name) throw new Refusal('noSuchConnection');
  return [name, CONNECTORS[name]];
};

/** The methods of a connection that its page lists by name. */
const MOST_TAKEN = 6;
const ACCOUNTS = 'accounts';
const METHODS = 'settings.methods';

const methodsOf = (view: Pick<ConnectionView, 'settings'> | undefined): Record<string, string> => {
  const methods = view?.settings.methods;
  return isObject(methods) ? (methods as Record<string, string>) : {};
};

/** The stored values as the texts of their inputs; credentials are not among them. */
function storedTexts(entry: ConnectorEntry, { name, mids, settings }: ConnectionView): Record<string, string> {
  const pairs = Object.entries(methodsOf({ settings })).map((pair) => pair.join(': '));
  const textOf = (value: unknown): string =>
    typeof value === 'string' || typeof value === 'number' ? String(value) : '';
  return {
    name,
    mids: mids?.toSorted().join('\n') ?? '',
    'settings.methods': pairs.join('\n'),
    ...Object.fromEntries(settingNames(entry).map((each) => [`settings.${each}`, textOf(settings[each])])),
  };
}

/** The settings that have an input of their own. */
const settingNames = (entry: ConnectorEntry): string[] => [...Object.keys(entry.settings), 'api_base'];

/** The inputs of a connection; those of credentials are empty, because stored ones are never shown. */
async function connectionForm(
  { gateway, session, form }: PanelRequest,
  entry: ConnectorEntry,
  stored: ConnectionView | undefined,
  problems: readonly Problem[],
  action: string,
): Promise<Html> {
  const problemOf = (name: string): string | undefined =>
    problems.find(({ field: named }) => named === name || named.startsWith(`${name}.`))?.sentence;
  const saved = stored ? storedTexts(entry, stored) : {};
  const textOf = (name: string): string => form.get(name) ?? saved[name] ?? '';
  const chosen = form.has(ACCOUNTS) ? form : formWith(stored?.mids ?? []);
  const methods = submittedRows(form, METHODS) ?? Object.entries(methodsOf(stored));
  return html`<form method="post" action="${action}">${formToken(session)}${stored && shownValues(form, saved)}${field({
    name: 'name',
    label: text.name,
    value: textOf('name'),
    hint: text.nameHint,
    error: problemOf('name'),
    attributes: html`required maxlength="${CONNECTION_NAME_LENGTH}" autocomplete="off"`,
  })}<div class="field"><fieldset class="bare"><legend>${text.credentials}</legend><p class="hint">${text.credentialsHint}${
    stored && ` ${text.keepHint}`
  }</p>${entry.credentials.map(({ name, label, isAddress, isOptional }) =>
    field({
      name: `credentials.${name}`,
      label,
      type: isAddress ? 'url' : 'password',
      error: problemOf(`credentials.${name}`),
      attributes: html`autocomplete="off" spellcheck="false"${!stored && !isOptional && html` required`}`,
    }),
  )}</fieldset></div><input type="hidden" name="${ACCOUNTS}" value="1">${await accountChoice(gateway, session.principal, chosen, problemOf('mids'), text.accountsHint)}${pairRows(
    {
      name: METHODS,
      columns: [
        { label: panelTexts.settings.pairs.method, choices: methodChoices() },
        { label: panelTexts.settings.pairs.providerName },
      ],
      rows: methods,
      legend: text.methods,
      hint: `${text.methodsHint} ${panelTexts.settings.pairs.hint}`,
      error: problemOf(METHODS),
    },
  )}${Object.keys(entry.settings).map((name) => {
    const options = {
      name: `settings.${name}`,
      label: text.settingNames[name] ?? name,
      hint: text.settingHints[name],
      value: textOf(`settings.${name}`),
      error: problemOf(`settings.${name}`),
    };
    const choices = entry.choices?.[name];
    return choices
      ? choiceField(
          options,
          choices.map((one) => [one, text.settingChoices[name]?.[one] ?? one]),
        )
      : field(options);
  })}${
    gateway.environment === 'sandbox' &&
    field({
      name: 'settings.api_base',
      label: text.apiBase,
      type: 'url',
      hint: text.apiBaseHint,
      value: textOf('settings.api_base'),
      error: problemOf('settings.api_base'),
    })
  }<div class="actions"><button>${stored ? text.save : text.connect}</button> <a class="button quiet" href="/admin/connections">${text.cancel}</a></div></form>`;
}

/** The fields of accounts and methods, composed to the texts that `storedTexts` has of them. */
function composed(form: PanelRequest['form']): PanelRequest['form'] {
  const rows = submittedRows(form, METHODS);
  return new Map([
    ...form,
    ...(form.has(ACCOUNTS) ? [['mids', checkedAccounts(form).toSorted().join('\n')] as const] : []),
    ...(rows ? [[METHODS, rows.map((row) => row.join(': ')).join('\n')] as const] : []),
  ]);
}

/** The form as the admin API would get it. */
function readForm({ gateway, form: sentForm }: PanelRequest, entry: ConnectorEntry, isChange: boolean) {
  const form = composed(sentForm);
  const textOf = (name: string): string => (form.get(name) ?? '').trim();
  const credentials = Object.fromEntries(
    entry.credentials
      .map(({ name }) => [name, textOf(`credentials.${name}`)] as const)
      .filter(([, value]) => !isChange || value !== ''),
  );
  const rows = submittedRows(sentForm, METHODS) ?? [];
  const isComplete = rows.every((row) => row.every((cell) => cell !== ''));
  const methods = Object.fromEntries(rows);
  const mids = (form.get('mids') ?? '').split('\n').filter((mid) => mid !== '');
  const settings = {
    ...(rows.length > 0 && { methods }),
    ...Object.fromEntries(
      settingNames(entry)
        .map((name) => [name, textOf(`settings.${name}`)] as const)
        .filter(([, value]) => value !== ''),
    ),
  };
  const sent = { name: textOf('name'), mids: mids.length > 0 ? mids : null, credentials, settings };
  const read = readConnection(entry, sent, gateway.environment, isChange);
  if (!isComplete) read.problems.push({ field: METHODS, sentence: text.methodsProblem });
  return read;
}

/** Shows refusals of the core beside their fields, too. */
async function orProblems<Result>(work: Promise<Result>): Promise<Result | Problem[]> {
  try {
    return await work;
  } catch (error) {
    if (error instanceof Refusal && error.error === 'invalidData') return [...error.problems];
    throw error;
  }
}

async function newPage(request: PanelRequest, problems: readonly Problem[] = []): Promise<PanelAnswer> {
  const [name, entry] = requireConnector(request);
  return {
    title: entry.title,
    status: problems.length > 0 ? 400 : 200,
    body: html`<div class="card narrow"><h1>${entry.title}</h1><p class="soft">${text.connectors[name].about}</p>${await connectionForm(
      request,
      entry,
      undefined,
      problems,
      `/admin/connections/new/${name}`,
    )}</div>`,
  };
}

async function create(request: PanelRequest): Promise<PanelAnswer> {
  const { gateway, session, caller } = request;
  const [name, entry] = requireConnector(request);
  const { input, problems } = readForm(request, entry, false);
  if (problems.length > 0) return newPage(request, problems);
  const created = await orProblems(createConnection(gateway, session.principal, caller, name, input));
  return Array.isArray(created) ? newPage(request, created) : savedAnswer(request, created);
}

/** Long enough to follow the redirect. */
const CHECK_SHOWN_MS = 60_000;
const checkPurpose = (connectionId: string): string => `connection check ${connectionId}`;

/** Shows the page of the connection with the result of its check, which the address carries, sealed. */
function savedAnswer({ gateway }: PanelRequest, { row: { connectionId }, check }: SavedConnection): PanelAnswer {
  const shown = check && { ok: check.ok, detail: check.detail };
  const result = shown && sealValue(gateway, checkPurpose(connectionId), shown, CHECK_SHOWN_MS);
  return { redirect: `${pathOf(connectionId)}?done=1${result === undefined ? '' : `&check=${result}`}` };
}

const openCheck = ({ gateway, query: { check } }: PanelRequest, connectionId: string): CheckResult | undefined =>
  check === undefined ? undefined : openValue<CheckResult>(gateway, checkPurpose(connectionId), check)?.value;

const requireConnection = ({
  gateway,
  session,
  params: { connectionId = '' },
}: PanelRequest): Promise<ConnectionRow> => {
  if (!isUuid(connectionId)) throw new Refusal('noSuchConnection');
  return findConnection(gateway, session.principal, connectionId.toLowerCase());
};

interface Shown {
  problems?: readonly Problem[];
  checked?: CheckResult;
  refused?: string;
}

async function showOne(request: PanelRequest, { problems = [], refused, ...shown }: Shown = {}): Promise<PanelAnswer> {
  const { gateway, session, query } = request;
  const view = connectionView(gateway, await requireConnection(request));
  const checked = shown.checked ?? openCheck(request, view.connectionId);
  const entry = connectorEntry(view.connector) as ConnectorEntry;
  const canManage = isAllowed(session.principal.role, 'connections.manage');
  const action = (name: string, label: string, className = 'quiet'): Html =>
    html`<form method="post" action="${pathOf(view.connectionId)}/${name}">${formToken(session)}<button class="${className}">${label}</button></form>`;
  const { since, lastError } = view.health;
  const takes = Object.keys(view.methods);
  return {
    title: view.name,
    status: problems.length > 0 || refused !== undefined ? 400 : 200,
    body: html`${notice(query.done && text.saved)}${notice(refused, 'bad')}${
      checked &&
      notice(`${checked.ok ? text.checkOk : text.checkFailed} ${checked.detail}`, checked.ok ? 'good' : 'bad')
    }
<div class="head"><h1>${view.name}</h1>${healthBadge(view)}${modeBadge(view)}${
      canManage && html`<div class="actions">${action('check', text.check)}</div>`
    }</div>
<div class="columns"><div>${
      canManage &&
      html`<section class="card"><h2>${text.settings}</h2>${await connectionForm(request, entry, view, problems, pathOf(view.connectionId))}</section>
<section class="card"><details><summary>${text.delete}</summary><p class="soft">${text.deleteHint}</p><div class="actions">${action('delete', text.delete, 'danger')}</div></details></section>`
    }${session.principal.mids === null && (await planCard(request, { connectionId: view.connectionId }))}</div>
<section class="card">${facts([
      [text.connector, entry.title],
      [text.accounts, await accountNames(gateway, view.mids)],
      [
        text.takes,
        `${takes.slice(0, MOST_TAKEN).map(methodName).join(', ')}${takes.length > MOST_TAKEN ? ` … (${takes.length})` : ''}`,
      ],
      [
        text.inactive,
        view.inactiveMethods.length > 0
          ? html`${view.inactiveMethods.map(methodName).join(', ')}<p class="hint">${text.inactiveHint}</p>`
          : undefined,
      ],
      [text.notificationUrl, html`${copyable(view.notificationUrl)}<p class="hint">${text.notificationHint}</p>`],
      [text.health, html`${healthBadge(view)}<p class="hint">${text.healthHint}</p>`],
      [text.since, since === null ? undefined : time(since)],
      [text.lastError, lastError ?? undefined],
      [text.created, time(view.createdAt)],
      [text.updated, time(view.updatedAt)],
    ])}</section></div>`,
  };
}

async function change(request: PanelRequest): Promise<PanelAnswer> {
  const { gateway, session, caller } = request;
  const row = await requireConnection(request);
  const entry = connectorEntry(row.connector) as ConnectorEntry;
  const { input, problems } = readForm(request, entry, true);
  if (problems.length > 0) return showOne(request, { problems });
  const edited = editedInput(composed(request.form), storedTexts(entry, connectionView(gateway, row)), input);
  if (Object.keys(edited).length === 0) return savedAnswer(request, { row });
  const changed = await orProblems(changeConnection(gateway, session.principal, caller, row.connectionId, edited));
  return Array.isArray(changed) ? showOne(request, { problems: changed }) : savedAnswer(request, changed);
}

/** What the operator changed in the form; settings are replaced together. */
function editedInput(
  form: PanelRequest['form'],
  stored: Record<string, string>,
  input: ConnectionInput,
): ConnectionInput {
  const { name, mids, credentials = {}, settings } = input;
  const isChanged = (field: string): boolean => isEdited(form, field, stored[field] ?? '');
  const areSettingsChanged = Object.keys(stored).some((field) => field.startsWith('settings.') && isChanged(field));
  return {
    ...(name !== undefined && isChanged('name') && { name }),
    ...(mids !== undefined && isChanged('mids') && { mids }),
    ...(Object.keys(credentials).length > 0 && { credentials }),
    ...(settings && areSettingsChanged && { settings }),
  };
}

async function check(request: PanelRequest): Promise<PanelAnswer> {
  return showOne(request, { checked: await checkConnection(request.gateway, await requireConnection(request)) });
}

async function remove(request: PanelRequest): Promise<PanelAnswer> {
  try {
    const { gateway, session, caller } = request;
    const { connectionId } = await requireConnection(request);
    await deleteConnection(gateway, session.principal, caller, connectionId);
  } catch (error) {
    if (!(error instanceof Refusal) || error.error !== 'connectionInUse') throw error;
    return showOne(request, { refused: text.inUse });
  }
  return { redirect: '/admin/connections' };
}

const LIST = '/admin/connections';
const ONE = `${LIST}/:connectionId`;
const manage = { method: 'POST', permission: 'connections.manage', scope: 'accounts' } as const;

export const connectionPages: readonly PanelRoute[] = [
  { method: 'GET', path: LIST, permission: 'connections.view', scope: 'accounts', handle: showList },
  {
    method: 'GET',
    path: `${LIST}/new`,
    permission: 'connections.manage',
    scope: 'accounts',
    confirmFirst: true,
    handle: showChoice,
  },
  {
    method: 'GET',
    path: `${LIST}/new/:connector`,
    permission: 'connections.manage',
    scope: 'accounts',
    confirmFirst: true,
    handle: (request) => newPage(request),
  },
  { ...manage, path: `${LIST}/new/:connector`, confirmFor: LIST, handle: create },
  {
    method: 'GET',
    path: ONE,
    permission: 'connections.view',
    scope: 'accounts',
    handle: (request) => showOne(request),
  },
  { ...manage, path: ONE, confirmFor: ONE, handle: change },
  { ...manage, path: `${ONE}/check`, unconfirmed: 'It makes a call that changes nothing.', handle: check },
  { ...manage, path: `${ONE}/delete`, confirmFor: ONE, handle: remove },
];
