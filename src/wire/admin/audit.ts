/** Admin call on the audit log: what operators changed, newest first. */
import type { FastifyInstance } from 'fastify';
import type { AuditRow, Gateway } from '../../core/context.ts';
import { wireDate } from '../../lib/time/clock.ts';
import { LIMITS } from '../../rules/limits.ts';
import { needs } from '../bearer.ts';
import { anyText, dateTime, page, pageSize, readQuery } from './input.ts';

export function auditRoutes(app: FastifyInstance, gateway: Gateway): void {
  app.get('/audit', needs('audit.view', 'accounts'), async (request) => {
    const query = readQuery(request.query, {
      actor: anyText,
      action: anyText,
      from: dateTime,
      to: dateTime,
      limit: pageSize,
      cursor: (text) => (/^\d{1,18}$/.test(text) ? BigInt(text) : undefined),
    });
    const { limit: size = LIMITS.adminPageSize, cursor, ...filter } = query;
    const rows = await gateway.audit.list({ ...filter, mids: request.principal.mids }, size + 1, cursor);
    return page(rows, size, ({ seq }) => String(seq), entryView);
  });
}

const entryView = (row: AuditRow) => ({
  seq: Number(row.seq),
  at: wireDate(row.at),
  actor: { kind: row.actorKind, id: row.actorId, name: row.actorName },
  address: row.address,
  action: row.action,
  mid: row.mid,
  subject: row.subject,
  before: row.before,
  after: row.after,
  digest: row.digest.toString('hex'),
});
