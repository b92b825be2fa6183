/** Admin calls on risk lists and their entries. */
import type { FastifyInstance } from 'fastify';
import type { Gateway, ListEntry, ListedRiskList, RiskList } from '../../../core/context.ts';
import {
  addEntries,
  createList,
  deleteList,
  ENTRY_COLUMNS,
  importEntries,
  listEntries,
  listLists,
  type NewEntry,
  readName,
  removeEntry,
  requireOwner,
} from '../../../core/risk/lists.ts';
import { wireDate } from '../../../lib/time/clock.ts';
import { dateTime as readDateTime } from '../../../lib/time/date-time.ts';
import { invalidField } from '../../../rules/errors.ts';
import { SENTENCES } from '../../../rules/fields.ts';
import { LIMITS } from '../../../rules/limits.ts';
import { LIST_KIND_NAMES } from '../../../rules/risk/list-kinds.ts';
import { needs } from '../../bearer.ts';
import { dateTime, objectBody, page, pageSize, readQuery, refuseUnknown, uuidText } from '../input.ts';
import { listFile } from '../list-file.ts';
import { bytesOf, CSV_ROWS_MOST, sendCsv, withFiles } from './csv.ts';

interface ListParams {
  Params: { listId: string };
}
interface EntryParams {
  Params: { listId: string; entryId: string };
}

export function listRoutes(app: FastifyInstance, gateway: Gateway): void {
  app.post('/risk/lists', needs('risk.manage', 'installation without mid'), async (request, reply) => {
    const { mid, name, kind, ...rest } = objectBody(request.body);
    refuseUnknown(rest, ['mid', 'name', 'kind']);
    const owner = await requireOwner(gateway, request.principal, mid);
    const found = LIST_KIND_NAMES.find((one) => one === kind);
    if (found === undefined)
      throw invalidField('kind', 'The value you selected is not a valid choice.', {
        expected: `One of ${LIST_KIND_NAMES.join(', ')}.`,
      });
    const list = await createList(gateway, request.caller, { mid: owner, name: readName(name), kind: found });
    reply.code(201);
    return listView({ ...list, entries: 0 });
  });

  app.get('/risk/lists', needs('risk.view', 'accounts'), async (request) => {
    const { limit, cursor, mid } = readQuery(request.query, { mid: uuidText, limit: pageSize, cursor: uuidText });
    const size = limit ?? LIMITS.adminPageSize;
    const rows = await listLists(gateway, { mid, mids: request.principal.mids }, size + 1, cursor);
    return page(rows, size, ({ listId }) => listId, listView);
  });

  app.get('/risk/lists.csv', needs('risk.view', 'accounts'), async (request, reply) => {
    const { mid } = readQuery(request.query, { mid: uuidText });
    const rows = await listLists(gateway, { mid, mids: request.principal.mids }, CSV_ROWS_MOST);
    const header = ['list_id', 'mid', 'name', 'kind', 'entries', 'created_at'];
    return sendCsv(
      reply,
      'risk-lists.csv',
      header,
      rows.map((row) => [row.listId, row.mid, row.name, row.kind, row.entries, wireDate(row.createdAt)]),
    );
  });

  app.delete<ListParams>('/risk/lists/:listId', needs('risk.manage', 'accounts'), async (request) => {
    const { listId } = request.params;
    await deleteList(gateway, request.principal, request.caller, listId);
    return { list_id: listId.toLowerCase(), deleted: true };
  });

  app.post<ListParams>('/risk/lists/:listId/entries', needs('risk.manage', 'accounts'), async (request, reply) => {
    const { items, ...rest } = objectBody(request.body);
    refuseUnknown(rest, ['items']);
    if (!Array.isArray(items) || items.length === 0 || items.length > LIMITS.riskEntriesAtATime)
      throw invalidField('items', SENTENCES.invalid, {
        expected: `A list of 1 to ${LIMITS.riskEntriesAtATime} entries, such as {"value": "jo@example.com"}.`,
      });
    const { principal, caller, params } = request;
    const entries = await addEntries(gateway, principal, caller, params.listId, items.map(readEntry));
    reply.code(201);
    return { items: entries.map(entryView), next_cursor: null };
  });

  app.get<ListParams>('/risk/lists/:listId/entries', needs('risk.view', 'accounts'), async (request) => {
    const { limit, cursor } = readQuery(request.query, { limit: pageSize, cursor: uuidText });
    const size = limit ?? LIMITS.adminPageSize;
    const rows = await listEntries(gateway, request.principal, request.params.listId, size + 1, cursor);
    return page(rows, size, ({ entryId }) => entryId, entryView);
  });

  listFile<ListEntry>(app, gateway, '/risk/lists/:listId/entries', {
    guard: ['risk.view', 'accounts'],
    name: 'entries',
    columns: ENTRY_COLUMNS,
    read: ({ principal, params }, limit, last) => listEntries(gateway, principal, params.listId, limit, last?.entryId),
    cells: entryView,
  });

  withFiles(app, (uploads) => {
    uploads.post<ListParams>(
      '/risk/lists/:listId/entries.csv',
      { ...needs('risk.manage', 'accounts'), bodyLimit: LIMITS.riskFileBytes },
      async ({ principal, caller, params, body }, reply) => {
        const entries = await importEntries(gateway, principal, caller, params.listId, bytesOf(body));
        reply.code(201);
        return { entries };
      },
    );
  });

  app.delete<EntryParams>('/risk/lists/:listId/entries/:entryId', needs('risk.manage', 'accounts'), async (request) => {
    const { listId, entryId } = request.params;
    await removeEntry(gateway, request.principal, request.caller, listId, entryId);
    return { entry_id: entryId.toLowerCase(), deleted: true };
  });
}

function readEntry(item: unknown, index: number): NewEntry {
  const path = `items[${index}]`;
  const { value, payment_id, reason, expires_at, ...rest } = objectBody(item, path);
  refuseUnknown(rest, ['value', 'payment_id', 'reason', 'expires_at']);
  if (value !== undefined && typeof value !== 'string') throw invalidField(`${path}.value`, SENTENCES.notText);
  if (payment_id !== undefined && (typeof payment_id !== 'string' || value !== undefined))
    throw invalidField(`${path}.payment_id`, SENTENCES.invalid, {
      expected: 'The id of a payment, in place of a value.',
    });
  const hasExpiry = expires_at !== undefined && expires_at !== null;
  const expiresAt = hasExpiry && typeof expires_at === 'string' ? readDateTime(expires_at) : undefined;
  if (hasExpiry && expiresAt === undefined)
    throw invalidField(`${path}.expires_at`, SENTENCES.invalid, { expected: dateTime.expected });
  return {
    path,
    value,
    paymentId: payment_id as string | undefined,
    reason: (reason ?? undefined) as string,
    expiresAt,
  };
}

const listView = (list: RiskList & Pick<ListedRiskList, 'entries'>) => ({
  list_id: list.listId,
  mid: list.mid,
  name: list.name,
  kind: list.kind,
  entries: list.entries,
  created_at: wireDate(list.createdAt),
});

const entryView = (entry: ListEntry) => ({
  entry_id: entry.entryId,
  value: entry.value,
  reason: entry.reason,
  expires_at: entry.expiresAt === null ? null : wireDate(entry.expiresAt),
  created_by: entry.createdBy,
  created_at: wireDate(entry.createdAt),
});
