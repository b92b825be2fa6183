/** The admin call that exports payments as CSV. */
import { Readable } from 'node:stream';
import type { FastifyInstance } from 'fastify';
import type { Gateway } from '../../core/context.ts';
import { PAYMENT_COLUMNS, type PaymentColumn, paymentsCsv } from '../../core/exports/payments.ts';
import { needs } from '../bearer.ts';
import { expecting, readQuery } from './input.ts';
import { PAYMENT_FILTERS, paymentFilter } from './payment-filters.ts';

/** Names of columns, each once, in the order of the file. */
const columns = expecting(
  `Names separated by commas, each once: ${PAYMENT_COLUMNS.join(', ')}.`,
  (text: string): PaymentColumn[] | undefined => {
    const names = text.split(',') as PaymentColumn[];
    const isValid = names.every((name) => PAYMENT_COLUMNS.includes(name)) && new Set(names).size === names.length;
    return isValid ? names : undefined;
  },
);

export function paymentExportRoutes(app: FastifyInstance, gateway: Gateway): void {
  // Fastify would answer a HEAD request by reading the whole export.
  app.get(
    '/payments.csv',
    { ...needs('payments.view', 'accounts'), exposeHeadRoute: false },
    async (request, reply) => {
      const { mids } = request.principal;
      const { columns: chosen, ...filters } = readQuery(request.query, { ...PAYMENT_FILTERS, columns });
      const filter = paymentFilter(filters, mids);
      // A failure of the first read is still answered with an error; a later one breaks the response off.
      const { filename, chunks } = await paymentsCsv(gateway, filter, chosen);
      reply.header('content-type', 'text/csv; charset=utf-8');
      reply.header('content-disposition', `attachment; filename=${filename}`);
      // The stream takes the next portion when the client has read enough, and ends the reads when the client disconnects.
      const body = Readable.from(chunks);
      body.on('error', (error) => gateway.log.error({ err: error, request_id: request.id }, 'export broke off'));
      return reply.send(body);
    },
  );
}
