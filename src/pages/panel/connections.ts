/** The pages on connections to providers: the list, a new one, its health and settings, the check of its credentials. */
import {
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
} from '../../core/connections.ts';
import { type Html, html } from '../../lib/html.ts';
import { isUuid } from '../../lib/id.ts';
import { isObject } from '../../lib/json.ts';
import {
  CONNECTION_NAME_LENGTH,
  CONNECTORS,
  type ConnectorEntry,
  type ConnectorName,
  connectorEntry,
  readConnection,
} from '../../rules/connectors.ts';
import { type Problem, Refusal } from '../../rules/errors.ts';
import { isAllowed } from '../../rules/roles.ts';
import { formToken } from './layout.ts';
import { en } from './locales/en.ts';
import { badge, type Column, empty, facts, field, notice, table, time } from './parts.ts';
import type { PanelAnswer, PanelRequest, PanelRoute } from './route.ts';

const text = en.connections;
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
    title: en.sections.connections,
    body: html`<div class="head"><h1>${en.sections.connections}</h1>${
      canManage && html`<div class="actions"><a class="button" href="/admin/connections/new">${text.connect}</a></div>`
    }</div>
<div class="card flush">${rows.length > 0 ? table(en.sections.connections, columns, rows) : empty(text.none, text.noneHint)}</div>`,
  };
}

/** The connectors to choose from. */
const showChoice = async (): Promise<PanelAnswer> => ({
  title: text.connect,
  body: html`<div class="head"><h1>${text.choose}</h1><p class="soft wide">${text.chooseHint}</p></div>
<div class="cards">${CONNECTABLE.map(
    (name) =>
      html`<section class="card"><h2><a href="/admin/connections/new/${name}">${CONNECTORS[name].title}</a></h2><p class="soft small">${CONNECTORS[name].about}</p></section>`,
  )}</div>`,
});

const requireConnector = ({ params: { connector = '' } }: PanelRequest): [ConnectorName, ConnectorEntry] => {
  const name = CONNECTABLE.find((each) => each === connector);
  if (!name) throw new Refusal('noSuchConnection');
  return [name, CONNECTORS[name]];
};

/** The inputs of a connection; those of credentials are empty, because stored ones are never shown. */
function connectionForm(
  { gateway, session, form }: PanelRequest,
  entry: ConnectorEntry,
  stored: ConnectionView | undefined,
  problems: readonly Problem[],
  action: string,
): Html {
  const problemOf = (name: string): string | undefined =>
    problems.find(({ field: named }) => named === name || named.startsWith(`${name}.`))?.sentence;
  const textOf = (name: string, saved: unknown): string => form.get(name) ?? (typeof saved === 'string' ? saved : '');
  const settings = stored?.settings ?? {};
  const methods = isObject(settings.methods)
    ? Object.entries(settings.methods).map(([brand, method]) => `${brand}: ${method}`)
    : [];
  const area = (name: string, value: string) => (attributes: Html) =>
    html`<textarea ${attributes} rows="3" spellcheck="false">${form.get(name) ?? value}</textarea>`;
  return html`<form method="post" action="${action}">${formToken(session)}${field({
    name: 'name',
    label: text.name,
    value: textOf('name', stored?.name),
    hint: text.nameHint,
    error: problemOf('name'),
    attributes: html`required maxlength="${CONNECTION_NAME_LENGTH}" autocomplete="off"`,
  })}<div class="field"><fieldset class="bare"><legend>${text.credentials}</legend><p class="hint">${text.credentialsHint}${
    stored && ` ${text.keepHint}`
  }</p>${entry.credentials.map(({ name, label, isAddress }) =>
    field({
      name: `credentials.${name}`,
      label,
      type: isAddress ? 'url' : 'password',
      error: problemOf(`credentials.${name}`),
      attributes: html`autocomplete="off" spellcheck="false"${!stored && html` required`}`,
    }),
  )}</fieldset></div>${field(
    { name: 'mids', label: text.accounts, hint: text.accountsHint, error: problemOf('mids') },
    area('mids', stored?.mids?.join('\n') ?? ''),
  )}${field(
    { name: 'settings.methods', label: text.methods, hint: text.methodsHint, error: problemOf('settings.methods') },
    area('settings.methods', methods.join('\n')),
  )}${Object.entries(entry.settings).map(([name, about]) =>
    field({
      name: `settings.${name}`,
      label: name,
      hint: about,
      value: textOf(`settings.${name}`, settings[name]),
      error: problemOf(`settings.${name}`),
    }),
  )}${
    gateway.environment === 'sandbox' &&
    field({
      name: 'settings.api_base',
      label: text.apiBase,
      type: 'url',
      hint: text.apiBaseHint,
      value: textOf('settings.api_base', settings.api_base),
      error: problemOf('settings.api_base'),
    })
  }<div class="actions"><button>${stored ? text.save : text.connect}</button> <a class="button quiet" href="/admin/connections">${text.cancel}</a></div></form>`;
}

const lines = (value: string): string[] => value.split(/[\s,]+/).filter((line) => line !== '');

/** Reads `brand: method` lines; undefined if one is malformed. */
function methodLines(value: string): Record<string, string> | undefined {
  const pairs = value
    .split('\n')
    .map((line) => line.trim())
    .filter((line) => line !== '')
    .map((line) => line.split(/\s*:\s*/));
  return pairs.every((pair) => pair.length === 2) ? Object.fromEntries(pairs) : undefined;
}

/** The form as the admin API would get it. */
function readForm({ gateway, form }: PanelRequest, entry: ConnectorEntry, isChange: boolean) {
  const textOf = (name: string): string => (form.get(name) ?? '').trim();
  const credentials = Object.fromEntries(
    entry.credentials
      .map(({ name }) => [name, textOf(`credentials.${name}`)] as const)
      .filter(([, value]) => !isChange || value !== ''),
  );
  const methods = methodLines(form.get('settings.methods') ?? '');
  const mids = lines(form.get('mids') ?? '');
  const settings = {
    ...(methods && Object.keys(methods).length > 0 && { methods }),
    ...Object.fromEntries(
      [...Object.keys(entry.settings), 'api_base']
        .map((name) => [name, textOf(`settings.${name}`)] as const)
        .filter(([, value]) => value !== ''),
    ),
  };
  const sent = { name: textOf('name'), mids: mids.length > 0 ? mids : null, credentials, settings };
  const read = readConnection(entry, sent, gateway.environment, isChange);
  if (!methods) read.problems.push({ field: 'settings.methods', sentence: text.methodsProblem });
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

function newPage(request: PanelRequest, problems: readonly Problem[] = []): PanelAnswer {
  const [name, entry] = requireConnector(request);
  return {
    title: entry.title,
    status: problems.length > 0 ? 400 : 200,
    body: html`<div class="card narrow"><h1>${entry.title}</h1><p class="soft">${entry.about}</p>${connectionForm(
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
  return Array.isArray(created) ? newPage(request, created) : { redirect: `${pathOf(created.connectionId)}?done=1` };
}

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
  checked?: { ok: boolean; detail: string };
  refused?: string;
}

async function showOne(request: PanelRequest, { problems = [], checked, refused }: Shown = {}): Promise<PanelAnswer> {
  const { gateway, session, query } = request;
  const view = connectionView(gateway, await requireConnection(request));
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
      html`<section class="card"><h2>${text.settings}</h2>${connectionForm(request, entry, view, problems, pathOf(view.connectionId))}</section>
<section class="card"><details><summary>${text.delete}</summary><p class="soft">${text.deleteHint}</p><div class="actions">${action('delete', text.delete, 'danger')}</div></details></section>`
    }</div>
<section class="card">${facts([
      [text.connector, entry.title],
      [text.accounts, view.mids === null ? text.all : view.mids.length],
      [text.takes, takes.length > 6 ? `${takes.slice(0, 6).join(', ')} … (${takes.length})` : takes.join(', ')],
      [
        text.notificationUrl,
        html`<span class="mono">${view.notificationUrl}</span><p class="hint">${text.notificationHint}</p>`,
      ],
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
  const { input, problems } = readForm(request, connectorEntry(row.connector) as ConnectorEntry, true);
  if (problems.length > 0) return showOne(request, { problems });
  const changed = await orProblems(changeConnection(gateway, session.principal, caller, row, input));
  if (Array.isArray(changed)) return showOne(request, { problems: changed });
  return { redirect: `${pathOf(row.connectionId)}?done=1` };
}

async function check(request: PanelRequest): Promise<PanelAnswer> {
  return showOne(request, { checked: await checkConnection(request.gateway, await requireConnection(request)) });
}

async function remove(request: PanelRequest): Promise<PanelAnswer> {
  try {
    await deleteConnection(request.gateway, request.caller, await requireConnection(request));
  } catch (error) {
    if (!(error instanceof Refusal) || error.error !== 'connectionInUse') throw error;
    return showOne(request, { refused: text.inUse });
  }
  return { redirect: '/admin/connections' };
}

const LIST = '/admin/connections';
const ONE = `${LIST}/:connectionId`;
const manage = { method: 'POST', permission: 'connections.manage' } as const;

export const connectionPages: readonly PanelRoute[] = [
  { method: 'GET', path: LIST, permission: 'connections.view', handle: showList },
  {
    method: 'GET',
    path: `${LIST}/new`,
    permission: 'connections.manage',
    confirmFor: `${LIST}/new`,
    handle: showChoice,
  },
  {
    method: 'GET',
    path: `${LIST}/new/:connector`,
    permission: 'connections.manage',
    handle: async (request) => newPage(request),
  },
  { ...manage, path: `${LIST}/new/:connector`, confirmFor: `${LIST}/new`, handle: create },
  { method: 'GET', path: ONE, permission: 'connections.view', handle: (request) => showOne(request) },
  { ...manage, path: ONE, confirmFor: LIST, handle: change },
  { ...manage, path: `${ONE}/check`, handle: check },
  { ...manage, path: `${ONE}/delete`, confirmFor: LIST, handle: remove },
];
