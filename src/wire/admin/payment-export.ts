/** The export of payments as CSV, streamed: memory does not grow with the number of payments. */
import { Readable } from 'node:stream';
import type { FastifyInstance } from 'fastify';
import type { Gateway, Payment } from '../../core/context.ts';
import { exportPayments } from '../../core/payments/find.ts';
import { csvRows } from '../../lib/csv.ts';
import { needs } from '../bearer.ts';
import { readQuery } from './input.ts';
import { PAYMENT_FILTERS, paymentFilter } from './payment-filters.ts';
import { type PaymentView, paymentView } from './payment-view.ts';

export function paymentExportRoutes(app: FastifyInstance, gateway: Gateway): void {
  // Fastify would answer a HEAD request by reading the whole export.
  app.get('/payments.csv', { ...needs('payments.view'), exposeHeadRoute: false }, async (request, reply) => {
    const { mids } = request.principal;
    const filter = paymentFilter(readQuery(request.query, PAYMENT_FILTERS), mids);
    const portions = exportPayments(gateway, filter);
    // A failure of the first read is still answered with an error; a later one breaks the response off.
    const first = await portions.next();
    const time = new Date(gateway.clock.now()).toISOString().replace(/\..*|:/g, '');
    reply.header('content-type', 'text/csv; charset=utf-8');
    reply.header('content-disposition', `attachment; filename=payments-${time}Z.csv`);
    // The stream takes the next portion when the client has read enough, and ends the reads when the client disconnects.
    const body = Readable.from(csv(first.value ?? [], portions));
    body.on('error', (error) => gateway.log.error({ err: error, request_id: request.id }, 'export broke off'));
    return reply.send(body);
  });
}

async function* csv(first: Payment[], rest: AsyncIterable<Payment[]>): AsyncGenerator<string, void> {
  yield csvRows([PAYMENT_FIELDS, ...first.map(fieldValues)]);
  for await (const payments of rest) {
    // An empty chunk would end the stream.
    if (payments.length > 0) yield csvRows(payments.map(fieldValues));
  }
}

/** The columns; the compiler requires all fields of the API. */
const COLUMNS: Readonly<Record<keyof PaymentView, true>> = {
  payment_id: true,
  mid: true,
  order_id: true,
  attempt: true,
  status: true,
  brand: true,
  protocol: true,
  amount: true,
  currency: true,
  authorised: true,
  captured: true,
  refunded: true,
  decline_reason: true,
  attention: true,
  schedule_id: true,
  created_at: true,
  updated_at: true,
};
const PAYMENT_FIELDS = Object.keys(COLUMNS) as (keyof PaymentView)[];

function fieldValues(payment: Payment): (string | number | null)[] {
  const view = paymentView(payment);
  return PAYMENT_FIELDS.map((name) => view[name]);
}
