/** Admin calls on the ledger: the balance of an account, entries, the trial balance, and adjustments. */
import type { FastifyInstance } from 'fastify';
import { requireAccount } from '../../core/accounts/require-account.ts';
import type { Gateway } from '../../core/context.ts';
import {
  adjustmentsCsv,
  adjustmentView,
  balanceView,
  entriesCsv,
  entryView,
  marginsCsv,
  marginView,
  receivablesCsv,
  receivableView,
  trialBalanceCsv,
  trialBalanceView,
} from '../../core/exports/ledger.ts';
import { decideAdjustment, listAdjustments, proposeAdjustment } from '../../core/ledger/adjustments.ts';
import {
  accountBalance,
  listEntries,
  MARGIN_GROUPS,
  margins,
  receivables,
  trialBalance,
} from '../../core/ledger/ledger.ts';
import { isUuid } from '../../lib/crypto/id.ts';
import { wireDate } from '../../lib/time/clock.ts';
import { invalidField } from '../../rules/errors.ts';
import { ADJUSTMENT_STATES, availableAfter, CATEGORY_GROUPS, isAccountName, isCategory } from '../../rules/ledger.ts';
import { LIMITS } from '../../rules/limits.ts';
import { needs } from '../bearer.ts';
import {
  dateTime,
  epochMs,
  expecting,
  objectBody,
  oneOf,
  page,
  pageSize,
  readQuery,
  refuseUnknown,
  uuidText,
} from './input.ts';
import { listFile, wholly } from './list-file.ts';
import { fileSender } from './send-download.ts';

const category = expecting(
  `One of ${CATEGORY_GROUPS.join(', ')}, or one with an event, such as fee.sale.`,
  (text: string) => (isCategory(text) ? text : undefined),
);
const account = expecting(
  'The name of a ledger account, such as operator:fees or merchant:01a1dd06-691f-7000-87fc-b0749d0543ed:balance.',
  (text: string) => (isAccountName(text) ? text : undefined),
);

const FILTERS = { mid: uuidText, payment_id: uuidText, category, account, from: dateTime, to: dateTime };

/** The time and the id of the last entry of a page. */
function readCursor(text: string) {
  const [time = '', entryId = ''] = text.split('.');
  const postedAt = epochMs(time);
  return postedAt !== undefined && isUuid(entryId) ? { postedAt, entryId } : undefined;
}

const day = expecting('A day, such as 2026-11-15.', (text: string): string | undefined => {
  const ms = /^\d{4}-\d\d-\d\d$/.test(text) ? dateTime(text) : undefined;
  return ms === undefined ? undefined : availableAfter(ms);
});

/** The groups of margins, by their names in the API. */
const GROUPS = { day: 'day', mid: 'mid', brand: 'brand', connection: 'connector' } as const;
const readGroups = expecting(`Any of ${Object.keys(GROUPS).join(', ')}, separated by commas.`, (text: string) => {
  const names = text.split(',');
  const isValid = names.every((name, index) => Object.hasOwn(GROUPS, name) && names.indexOf(name) === index);
  return isValid ? MARGIN_GROUPS.filter((group) => names.some((name) => GROUPS[name as 'day'] === group)) : undefined;
});

const ADJUSTMENT_FILTERS = { mid: uuidText, state: oneOf(ADJUSTMENT_STATES) };

export function ledgerRoutes(app: FastifyInstance, gateway: Gateway): void {
  const sendFile = fileSender(gateway);

  app.get<{ Params: { mid: string } }>('/accounts/:mid/balance', needs('ledger.view', 'accounts'), async (request) => {
    readQuery(request.query, {});
    const { mid } = await requireAccount(gateway, request.principal, request.params.mid);
    return balanceView(await accountBalance(gateway, mid));
  });

  listFile(
    app,
    gateway,
    '/accounts/:mid/balance',
    wholly({
      guard: ['ledger.view', 'accounts'],
      name: 'balance',
      columns: ['currency', 'available', 'pending', 'reserve', 'in_transit', 'total'],
      async read({ principal, params, query }) {
        readQuery(query, {});
        return balanceView(await accountBalance(gateway, (await requireAccount(gateway, principal, params.mid)).mid))
          .items;
      },
    }),
  );

  app.get('/ledger/entries', needs('ledger.view', 'accounts'), async ({ query, principal }) => {
    const {
      limit: size = LIMITS.adminPageSize,
      cursor,
      payment_id: paymentId,
      ...filter
    } = readQuery(query, {
      ...FILTERS,
      limit: pageSize,
      cursor: readCursor,
    });
    const rows = await listEntries(gateway, principal, { ...filter, paymentId }, size + 1, cursor);
    return page(rows, size, ({ postedAt, entryId }) => `${postedAt}.${entryId}`, entryView);
  });

  // Fastify would answer a HEAD request by reading the whole file.
  const asFile = { ...needs('ledger.view', 'accounts'), exposeHeadRoute: false };
  app.get('/ledger/entries.csv', asFile, async ({ query, principal, id }, reply) => {
    const { payment_id: paymentId, ...filter } = readQuery(query, FILTERS);
    const file = await entriesCsv(gateway, (limit, before) =>
      listEntries(gateway, principal, { ...filter, paymentId }, limit, before),
    );
    return sendFile(reply, file, id);
  });

  app.get('/ledger/trial-balance', needs('ledger.view', 'installation'), async ({ query }) =>
    trialBalanceView(await trialBalance(gateway, readQuery(query, { at: dateTime }).at)),
  );

  app.get('/ledger/trial-balance.csv', needs('ledger.view', 'installation'), async ({ query, id }, reply) =>
    sendFile(reply, trialBalanceCsv(await trialBalance(gateway, readQuery(query, { at: dateTime }).at)), id),
  );

  /** The last 30 days by default. */
  const readMargins = (query: unknown) => {
    const {
      from,
      to,
      mid,
      group_by: groups = [],
    } = readQuery(query, {
      from: day,
      to: day,
      mid: uuidText,
      group_by: readGroups,
    });
    const last = to ?? availableAfter(gateway.clock.now(mid));
    const first = from ?? availableAfter(Date.parse(last) - 29 * LIMITS.dayMs);
    if (first > last) throw invalidField('from', 'This value should not be after to.');
    return { days: { from: first, to: last, mid }, groups };
  };

  app.get('/ledger/margin', needs('ledger.view', 'installation'), async ({ query }) => {
    const { days, groups } = readMargins(query);
    const { rows, isComplete } = await margins(gateway, days, groups);
    const items = rows.map((row) => marginView(row, groups));
    return { from: days.from, to: days.to, complete: isComplete, items, next_cursor: null };
  });

  app.get('/ledger/margin.csv', needs('ledger.view', 'installation'), async ({ query, id }, reply) => {
    const { days, groups } = readMargins(query);
    return sendFile(reply, marginsCsv((await margins(gateway, days, groups)).rows, groups, days), id);
  });

  app.get('/ledger/receivables', needs('ledger.view', 'installation'), async ({ query }) => {
    readQuery(query, {});
    const { at, rows, isComplete } = await receivables(gateway);
    return { at: wireDate(at), complete: isComplete, items: rows.map(receivableView), next_cursor: null };
  });

  app.get('/ledger/receivables.csv', needs('ledger.view', 'installation'), async ({ query, id }, reply) => {
    readQuery(query, {});
    const { at, rows } = await receivables(gateway);
    return sendFile(reply, receivablesCsv(rows, at), id);
  });

  app.get('/ledger/adjustments', needs('adjustments.view', 'accounts'), async ({ query, principal: { mids } }) => {
    const {
      limit: size = LIMITS.adminPageSize,
      cursor,
      ...filter
    } = readQuery(query, {
      ...ADJUSTMENT_FILTERS,
      limit: pageSize,
      cursor: uuidText,
    });
    const rows = await listAdjustments(gateway, { ...filter, mids }, size + 1, cursor);
    return page(rows, size, ({ adjustmentId }) => adjustmentId, adjustmentView);
  });

  app.get(
    '/ledger/adjustments.csv',
    { ...needs('adjustments.view', 'accounts'), exposeHeadRoute: false },
    async ({ query, principal: { mids }, id }, reply) => {
      const filter = readQuery(query, ADJUSTMENT_FILTERS);
      const file = await adjustmentsCsv(gateway, (limit, before) =>
        listAdjustments(gateway, { ...filter, mids }, limit, before),
      );
      return sendFile(reply, file, id);
    },
  );

  app.post('/ledger/adjustments', needs('adjustments.manage', 'accounts'), async (request, reply) => {
    const { mid, currency, amount, reason, ...rest } = objectBody(request.body);
    refuseUnknown(rest, ['mid', 'currency', 'amount', 'reason']);
    const input = { mid, currency, amount, reason };
    const adjustment = await proposeAdjustment(gateway, request.principal, request.caller, input);
    reply.code(201);
    return adjustmentView(adjustment);
  });

  for (const [name, state] of [
    ['approve', 'approved'],
    ['refuse', 'refused'],
  ] as const) {
    app.post<{ Params: { adjustmentId: string } }>(
      `/ledger/adjustments/:adjustmentId/${name}`,
      needs('adjustments.manage', 'accounts'),
      async ({ principal, caller, params }) =>
        adjustmentView(await decideAdjustment(gateway, principal, caller, params.adjustmentId, state)),
    );
  }
}
