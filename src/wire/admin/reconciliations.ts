/** Admin calls on reconciliations: compares a statement, and returns, lists and deletes the results. */
import { Readable } from 'node:stream';
import type { FastifyInstance, FastifyRequest } from 'fastify';
import type { Gateway, Reconciliation, StatementTerms, StatementTotal } from '../../core/context.ts';
import { reconciledRowView, reconciliationCsv } from '../../core/exports/reconciliations.ts';
import { reportAmount } from '../../core/exports/reports.ts';
import {
  beginComparison,
  deleteReconciliation,
  requireReconciliation,
  runComparison,
} from '../../core/reconciliations/compare.ts';
import { requireHead, storeStatement } from '../../core/reconciliations/upload.ts';
import { wireDate, wireDateOrNull } from '../../lib/time/clock.ts';
import { invalidField, Refusal } from '../../rules/errors.ts';
import { LIMITS } from '../../rules/limits.ts';
import {
  AMOUNT_FORMATS,
  DELIMITERS,
  type DelimiterName,
  guessMapping,
  OUTCOMES,
  STATEMENT_COLUMNS,
  statementCurrency,
} from '../../rules/statements.ts';
import { needs } from '../bearer.ts';
import { anyText, dateTime, oneOf, page, pageSize, type QueryValues, readQuery, uuidText } from './input.ts';

/** The reader of each parameter of an upload; a column is named as in the first line of the file, `-` means none. */
const PARAMETERS = {
  filename: anyText,
  connector: anyText,
  from: dateTime,
  to: dateTime,
  delimiter: oneOf(Object.keys(DELIMITERS) as DelimiterName[]),
  amount_format: oneOf(AMOUNT_FORMATS),
  fixed_currency: statementCurrency,
  reference: anyText,
  provider_reference: anyText,
  amount: anyText,
  currency: anyText,
  type: anyText,
  date: anyText,
  fee: anyText,
  net: anyText,
};

const outcomeOf = oneOf(OUTCOMES);

type ById = { Params: { id: string } };

export function reconciliationRoutes(app: FastifyInstance, gateway: Gateway): void {
  app.register(async (uploads) => {
    uploads.removeAllContentTypeParsers();
    // The body is read as it arrives.
    uploads.addContentTypeParser('text/csv', (_request, payload, done) => done(null, payload));
    uploads.post('/reconciliations', needs('reports.reconcile', 'installation'), async (request, reply) => {
      const found = await compareStatement(request, readQuery(request.query, PARAMETERS));
      reply.code(201);
      return reconciliationView(found);
    });
  });

  /** A statement that cannot be compared is not kept. */
  const compareStatement = async (
    { body, caller, headers }: FastifyRequest,
    query: QueryValues<typeof PARAMETERS>,
  ): Promise<Reconciliation> => {
    if (!(body instanceof Readable)) throw invalidField('body', 'The body should be a CSV file.');
    if (Number(headers['content-length']) > LIMITS.statementBytes) throw new Refusal('bodyTooLarge');
    const { reconciliationId } = await storeStatement(gateway, caller, query.filename ?? '', body);
    try {
      const terms = await termsOf(reconciliationId, query);
      await runComparison(gateway, await beginComparison(gateway, caller, reconciliationId, terms), terms);
      const found = await requireReconciliation(gateway, reconciliationId);
      if (found.problem) throw invalidField(found.problem.field, found.problem.sentence);
      return found;
    } catch (error) {
      await gateway.reconciliations.discard(reconciliationId);
      throw error;
    }
  };

  const termsOf = async (reconciliationId: string, query: QueryValues<typeof PARAMETERS>): Promise<StatementTerms> => {
    const { header, delimiter } = await requireHead(gateway, reconciliationId, query.delimiter);
    const guessed = guessMapping(header);
    const columns = STATEMENT_COLUMNS.map((column) => [column, query[column] ?? guessed[column] ?? '-'] as const);
    return {
      mapping: Object.fromEntries(columns.filter(([, name]) => name !== '-')),
      delimiter,
      amountFormat: query.amount_format ?? 'decimal',
      currency: query.fixed_currency ?? null,
      connector: query.connector ?? null,
      from: query.from ?? null,
      to: query.to ?? null,
    };
  };

  app.get('/reconciliations', needs('reports.view', 'installation'), async (request) => {
    const { limit: size = LIMITS.adminPageSize, cursor } = readQuery(request.query, {
      limit: pageSize,
      cursor: uuidText,
    });
    const rows = await gateway.reconciliations.list(size + 1, cursor);
    return page(rows, size, ({ reconciliationId }) => reconciliationId, reconciliationView);
  });

  app.get<ById>('/reconciliations/:id', needs('reports.view', 'installation'), async (request) => {
    return reconciliationView(await requireReconciliation(gateway, request.params.id));
  });

  app.get<ById>('/reconciliations/:id/rows', needs('reports.view', 'installation'), async (request) => {
    const { reconciliationId } = await requireReconciliation(gateway, request.params.id);
    const query = readQuery(request.query, {
      outcome: outcomeOf,
      limit: pageSize,
      cursor: (text) => (/^\d{1,18}$/.test(text) ? BigInt(text) : undefined),
    });
    const { outcome, limit: size = LIMITS.adminPageSize, cursor = 0n } = query;
    const rows = await gateway.reconciliationRows.list(reconciliationId, outcome, size + 1, cursor);
    return page(rows, size, ({ number }) => String(number), reconciledRowView);
  });

  // Fastify would answer a HEAD request by reading the whole file.
  const asFile = { ...needs('reports.view', 'installation'), exposeHeadRoute: false };
  app.get<ById>('/reconciliations/:id/rows.csv', asFile, async (request, reply) => {
    const found = await requireReconciliation(gateway, request.params.id);
    const { outcome } = readQuery(request.query, { outcome: outcomeOf });
    const { filename, chunks } = reconciliationCsv(gateway, found, outcome);
    const body = Readable.from(chunks);
    body.on('error', (error) => gateway.log.error({ err: error, request_id: request.id }, 'export broke off'));
    reply.type('text/csv; charset=utf-8').header('content-disposition', `attachment; filename="${filename}"`);
    return reply.send(body);
  });

  app.delete<ById>('/reconciliations/:id', needs('reports.reconcile', 'installation'), async (request) => {
    const { reconciliationId } = await requireReconciliation(gateway, request.params.id);
    await deleteReconciliation(gateway, request.caller, reconciliationId);
    return { reconciliation_id: reconciliationId, deleted: true };
  });
}

const reconciliationView = (found: Reconciliation) => ({
  reconciliation_id: found.reconciliationId,
  file_name: found.fileName,
  sha256: found.digest.toString('hex'),
  bytes: Number(found.bytes),
  created_at: wireDate(found.createdAt),
  created_by: found.createdBy,
  state: found.state,
  error: found.problem?.sentence ?? null,
  columns: found.terms?.mapping ?? null,
  connector: found.terms?.connector ?? null,
  from: wireDateOrNull(found.periodFrom),
  to: wireDateOrNull(found.periodTo),
  rows_read: Number(found.rowsRead),
  rows_skipped: Number(found.rowsSkipped),
  totals: found.totals?.map(totalView) ?? null,
});

const totalView = ({ outcome, type, currency, rows, statement, ours }: StatementTotal) => ({
  outcome,
  type,
  currency,
  rows,
  statement: reportAmount(BigInt(statement), currency),
  ours: reportAmount(BigInt(ours), currency),
});
