/** Admin calls on fee invoices: who issues them, making, reading and correcting them. */
import type { FastifyInstance } from 'fastify';
import type { Gateway } from '../../core/context.ts';
import { feeInvoicesCsv, feeInvoiceView, issuerView } from '../../core/exports/fee-invoices.ts';
import {
  correctFeeInvoice,
  findFeeInvoice,
  findIssuer,
  ISSUER_FIELDS,
  listFeeInvoices,
  makeFeeInvoice,
  setIssuer,
} from '../../core/settlements/fee-invoices.ts';
import { LIMITS } from '../../rules/limits.ts';
import { needs } from '../bearer.ts';
import { page, pageSize, readBody, readQuery, uuidText } from './input.ts';
import { wholeList } from './list-file.ts';
import { asFile, fileSender } from './send-download.ts';

interface OfInvoice {
  Params: { feeInvoiceId: string };
}

export function feeInvoiceRoutes(app: FastifyInstance, gateway: Gateway): void {
  const sendFile = fileSender(gateway);

  wholeList(app, gateway, '/fee-invoice-issuer', {
    guard: ['settlements.view', 'installation'],
    name: 'fee-invoice-issuer',
    columns: ['name', 'address', 'tax_number', 'prefix', 'changed_at'],
    async read() {
      const issuer = await findIssuer(gateway);
      return issuer ? [issuerView(issuer)] : [];
    },
    cells: (issuer) => ({ ...issuer, address: issuer.address.join(', ') }),
  });

  app.put('/fee-invoice-issuer', needs('settlements.set_terms', 'installation'), async ({ caller, body }) =>
    issuerView(await setIssuer(gateway, caller, readBody(body, ISSUER_FIELDS))),
  );

  app.post('/fee-invoices', needs('settlements.manage', 'accounts'), async ({ principal, caller, body }, reply) => {
    const input = readBody(body, ['mid', 'currency', 'until']);
    const invoice = await makeFeeInvoice(gateway, principal, caller, input);
    reply.code(201);
    return feeInvoiceView(invoice);
  });

  app.get('/fee-invoices', needs('settlements.view', 'accounts'), async ({ principal, query }) => {
    const readers = { mid: uuidText, limit: pageSize, cursor: uuidText };
    const { limit: size = LIMITS.adminPageSize, cursor, ...filter } = readQuery(query, readers);
    const rows = await listFeeInvoices(gateway, principal, filter, size + 1, cursor);
    return page(rows, size, ({ feeInvoiceId }) => feeInvoiceId, feeInvoiceView);
  });

  app.get('/fee-invoices.csv', asFile('settlements.view', 'accounts'), async (request, reply) => {
    const filter = readQuery(request.query, { mid: uuidText });
    const read = (limit: number, before?: string) => listFeeInvoices(gateway, request.principal, filter, limit, before);
    return sendFile(reply, await feeInvoicesCsv(gateway, read), request.id);
  });

  app.get<OfInvoice>(
    '/fee-invoices/:feeInvoiceId',
    needs('settlements.view', 'accounts'),
    async ({ principal, params }) => feeInvoiceView(await findFeeInvoice(gateway, principal, params.feeInvoiceId)),
  );

  app.post<OfInvoice>(
    '/fee-invoices/:feeInvoiceId/correct',
    needs('settlements.manage', 'accounts'),
    async ({ principal, caller, params, body }, reply) => {
      const input = readBody(body, ['reason']);
      const note = await correctFeeInvoice(gateway, principal, caller, params.feeInvoiceId, input);
      reply.code(201);
      return feeInvoiceView(note);
    },
  );
}
