/** The pages on risk lists: the lists, one with its entries, a form that adds an entry, and the import of a file. */
import type { ListEntry, ListedRiskList } from '../../../core/context.ts';
import {
  addEntries,
  createList,
  deleteList,
  importEntries,
  listEntries,
  listLists,
  readName,
  removeEntry,
  requireList,
  requireOwner,
} from '../../../core/risk/lists.ts';
import { keysetPage } from '../../../lib/http/keyset-page.ts';
import { type Html, html } from '../../../lib/text/html.ts';
import { invalidField, Refusal } from '../../../rules/errors.ts';
import { LIMITS } from '../../../rules/limits.ts';
import { LIST_KIND_NAMES, type ListKindName } from '../../../rules/risk/list-kinds.ts';
import { isAllowed } from '../../../rules/roles.ts';
import { readFile } from '../../multipart.ts';
import { accountNames, dayStart } from '../frame/filters.ts';
import { formToken } from '../frame/layout.ts';
import {
  type Column,
  choiceField,
  count,
  empty,
  field,
  idCursor,
  notice,
  pager,
  refusalText,
  table,
  time,
} from '../frame/parts.ts';
import type { PanelAnswer, PanelRequest, PanelRoute } from '../frame/route.ts';
import { panelTexts } from '../locales/index.ts';
import { riskHead } from './head.ts';

const LISTS = '/admin/risk/lists';
const text = panelTexts.risk;
const listText = text.lists;

/** What a form is shown with after a refusal. */
type FormError = { field: string; sentence: string } | undefined;

/** Shows the page again with the refusal of a form; what is no fault of the form is thrown. */
async function refusing(work: () => Promise<PanelAnswer>, show: (error: FormError) => Promise<PanelAnswer>) {
  try {
    return await work();
  } catch (error) {
    const problem = error instanceof Refusal ? error.problems[0] : undefined;
    if (!problem) throw error;
    return show({ field: problem.field, sentence: refusalText(error as Refusal) });
  }
}

async function showLists(request: PanelRequest, error?: FormError): Promise<PanelAnswer> {
  const { gateway, session, query, form } = request;
  const { mids, role } = session.principal;
  const names = await accountNames(request);
  const { items, last } = keysetPage(
    await listLists(gateway, { mids }, LIMITS.adminPageSize + 1, idCursor(query)),
    LIMITS.adminPageSize,
  );
  const columns: Column<ListedRiskList>[] = [
    { label: text.name, cell: (list) => html`<a href="${LISTS}/${list.listId}">${list.name}</a>` },
    { label: listText.kind, cell: ({ kind }) => listText.kinds[kind] },
    { label: listText.entries, isNumber: true, cell: ({ entries }) => count(entries) },
    { label: text.account, cell: ({ mid }) => (mid === null ? text.installation : (names.get(mid) ?? mid)) },
  ];
  const errorOf = (name: string): string | undefined => (error?.field === name ? error.sentence : undefined);
  return {
    title: text.tabs.lists,
    status: error ? 400 : 200,
    body: html`${notice(query.done === 'deleted' ? listText.deleted : undefined)}${riskHead('lists', mids)}<div class="card flush">${
      items.length > 0 ? table(text.tabs.lists, columns, items) : empty(listText.none, listText.noneHint)
    }</div>${pager(LISTS, query, last?.listId)}${
      isAllowed(role, 'risk.manage') &&
      html`<form class="card" method="post" action="${LISTS}">${formToken(session)}<h2>${listText.create}</h2>
${field({ name: 'name', label: text.name, value: form.get('name') ?? '', error: errorOf('name') })}
${choiceField(
  { name: 'kind', label: listText.kind, value: form.get('kind') ?? 'email' },
  LIST_KIND_NAMES.map((kind) => [kind, listText.kinds[kind]] as const),
)}
${choiceField({ name: 'mid', label: text.account, value: form.get('mid') ?? '', error: errorOf('mid') }, [
  ...(mids === null ? [['', text.installation] as const] : []),
  ...names,
])}
<div class="actions"><button>${listText.create}</button></div></form>`
    }`,
  };
}

const create = (request: PanelRequest): Promise<PanelAnswer> =>
  refusing(
    async () => {
      const { gateway, session, caller, form } = request;
      const kind = LIST_KIND_NAMES.find((one) => one === form.get('kind')) as ListKindName | undefined;
      if (kind === undefined) throw invalidField('kind', 'The value you selected is not a valid choice.');
      const mid = await requireOwner(gateway, session.principal, form.get('mid') || null);
      const { listId } = await createList(gateway, caller, { mid, name: readName(form.get('name')), kind });
      return { redirect: `${LISTS}/${listId}` };
    },
    (error) => showLists(request, error),
  );

async function showList(request: PanelRequest, error?: FormError): Promise<PanelAnswer> {
  const { gateway, session, params, query, form } = request;
  const { principal } = session;
  const list = await requireList(gateway, principal, params.listId ?? '');
  const path = `${LISTS}/${list.listId}`;
  const names = await accountNames(request);
  const { items: entries, last } = keysetPage(
    await listEntries(gateway, principal, list.listId, LIMITS.adminPageSize + 1, idCursor(query)),
    LIMITS.adminPageSize,
  );
  const mayManage = isAllowed(principal.role, 'risk.manage');
  const removal = ({ entryId }: ListEntry): Html =>
    html`<form method="post" action="${path}/entries/${entryId}/delete">${formToken(session)}<button class="quiet whole">${text.delete}</button></form>`;
  const columns: Column<ListEntry>[] = [
    {
      label: text.value,
      cell: ({ value }) => html`<code>${list.kind === 'card' ? `${value.slice(0, 12)}…` : value}</code>`,
    },
    { label: listText.reason, cell: ({ reason }) => reason },
    { label: listText.expires, cell: ({ expiresAt }) => (expiresAt === null ? listText.never : time(expiresAt)) },
    { label: listText.by, cell: ({ createdBy }) => createdBy },
    ...(mayManage ? [{ label: '', cell: removal }] : []),
  ];
  const errorOf = (...fields: string[]): string | undefined =>
    error && fields.some((name) => error.field.includes(name)) ? error.sentence : undefined;
  const done: Readonly<Record<string, string>> = { added: listText.added, removed: listText.removed };
  return {
    title: list.name,
    status: error ? 400 : 200,
    body: html`${notice(query.done && done[query.done])}${error && notice(error.sentence, 'bad')}<div class="head"><h1>${list.name}</h1><div class="actions"><a class="button quiet" href="${LISTS}">${text.tabs.lists}</a></div>
<p class="soft">${listText.kinds[list.kind]} · ${list.mid === null ? text.installation : (names.get(list.mid) ?? list.mid)}</p></div>
<div class="card flush">${entries.length > 0 ? table(listText.entries, columns, entries) : empty(listText.noEntries, listText.noEntriesHint)}</div>
${pager(path, query, last?.entryId)}
${
  mayManage &&
  html`<div class="columns"><form class="card" method="post" action="${path}/entries">${formToken(session)}<h2>${listText.add}</h2>
${field({
  name: 'value',
  label: list.kind === 'card' ? listText.payment : text.value,
  hint: listText.hints[list.kind],
  value: form.get('value') ?? '',
  error: errorOf('.value', '.payment_id'),
})}
${field({ name: 'reason', label: listText.reason, value: form.get('reason') ?? '', error: errorOf('.reason') })}
${field({ name: 'expires', label: listText.expires, type: 'date', hint: listText.expiresHint, value: form.get('expires') ?? '', error: errorOf('.expires_at') })}
<div class="actions"><button>${listText.add}</button></div></form>
<form class="card" method="post" action="${path}/import" enctype="multipart/form-data">${formToken(session)}<h2>${listText.import}</h2>
${field(
  { name: 'file', label: listText.file, hint: listText.fileHint, error: errorOf('line', 'body') },
  (attributes) => html`<input ${attributes} type="file" accept=".csv,text/csv" required>`,
)}
<div class="actions"><button>${listText.import}</button></div></form></div>
<form method="post" action="${path}/delete">${formToken(session)}<div class="actions"><button class="quiet danger">${listText.delete}</button></div></form>`
}`,
  };
}

/** The day of an expiry is the last one. */
function expiryOf(day: string | undefined): number | undefined {
  if (!day) return undefined;
  const start = dayStart(day);
  if (start === undefined) throw invalidField('entry.expires_at', 'This value is not valid.');
  return start + LIMITS.dayMs;
}

const add = (request: PanelRequest): Promise<PanelAnswer> =>
  refusing(
    async () => {
      const { gateway, session, caller, params, form } = request;
      const list = await requireList(gateway, session.principal, params.listId ?? '');
      const value = form.get('value')?.trim() ?? '';
      const expiresAt = expiryOf(form.get('expires'));
      const reason = form.get('reason')?.trim();
      const named = list.kind === 'card' ? { paymentId: value } : { value };
      await addEntries(gateway, session.principal, caller, list.listId, [
        { path: 'entry', reason, expiresAt, ...named },
      ]);
      return { redirect: `${LISTS}/${list.listId}?done=added` };
    },
    (error) => showList(request, error),
  );

const importFile = (request: PanelRequest): Promise<PanelAnswer> =>
  refusing(
    async () => {
      const { gateway, session, caller, params, file } = request;
      const { listId } = await requireList(gateway, session.principal, params.listId ?? '');
      const bytes = file ? await readFile(file, LIMITS.riskFileBytes) : Buffer.alloc(0);
      await importEntries(gateway, session.principal, caller, listId, bytes);
      return { redirect: `${LISTS}/${listId}?done=added` };
    },
    (error) => showList(request, error),
  );

async function removeOne({ gateway, session, caller, params }: PanelRequest): Promise<PanelAnswer> {
  const { listId = '', entryId = '' } = params;
  await removeEntry(gateway, session.principal, caller, listId, entryId);
  return { redirect: `${LISTS}/${listId}?done=removed` };
}

const remove = (request: PanelRequest): Promise<PanelAnswer> =>
  refusing(
    async () => {
      const { gateway, session, caller, params } = request;
      await deleteList(gateway, session.principal, caller, params.listId ?? '');
      return { redirect: `${LISTS}?done=deleted` };
    },
    (error) => showList(request, error),
  );

const ONE = `${LISTS}/:listId`;
const MANAGED = { method: 'POST', permission: 'risk.manage', scope: 'accounts', confirmFor: LISTS } as const;

export const riskListPages: readonly PanelRoute[] = [
  { method: 'GET', path: LISTS, permission: 'risk.view', scope: 'accounts', handle: (request) => showLists(request) },
  { ...MANAGED, path: LISTS, scope: 'installation without mid', handle: create },
  { method: 'GET', path: ONE, permission: 'risk.view', scope: 'accounts', handle: (request) => showList(request) },
  { ...MANAGED, path: `${ONE}/entries`, handle: add },
  { ...MANAGED, path: `${ONE}/import`, handle: importFile },
  { ...MANAGED, path: `${ONE}/entries/:entryId/delete`, handle: removeOne },
  { ...MANAGED, path: `${ONE}/delete`, handle: remove },
];
