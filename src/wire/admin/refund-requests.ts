/** Admin calls on refunds that need a second person: the list, its file, and the decision. */
import type { FastifyInstance } from 'fastify';
import type { Gateway } from '../../core/context.ts';
import { REFUND_REQUEST_COLUMNS, refundRequestView } from '../../core/exports/refund-requests.ts';
import { decideRefundRequest, listRefundRequests, type RefundRequest } from '../../core/payments/refund-requests.ts';
import { LIMITS } from '../../rules/limits.ts';
import { REFUND_REQUEST_STATES } from '../../rules/refund-requests.ts';
import { needs } from '../bearer.ts';
import { oneOf, page, pageSize, readQuery, uuidText } from './input.ts';
import { listFile } from './list-file.ts';

const FILTERS = { mid: uuidText, payment_id: uuidText, state: oneOf(REFUND_REQUEST_STATES) };

export function refundRequestRoutes(app: FastifyInstance, gateway: Gateway): void {
  app.get('/refund-requests', needs('payments.view', 'accounts'), async ({ query, principal: { mids } }) => {
    const {
      limit: size = LIMITS.adminPageSize,
      cursor,
      payment_id: paymentId,
      ...filter
    } = readQuery(query, { ...FILTERS, limit: pageSize, cursor: uuidText });
    const rows = await listRefundRequests(gateway, { ...filter, paymentId, mids }, size + 1, cursor);
    return page(rows, size, ({ requestId }) => requestId, refundRequestView);
  });

  listFile(app, gateway, '/refund-requests', {
    guard: ['payments.view', 'accounts'],
    name: 'refund-requests',
    columns: REFUND_REQUEST_COLUMNS,
    read({ query, principal: { mids } }, limit, last?: RefundRequest) {
      const { payment_id: paymentId, ...filter } = readQuery(query, FILTERS);
      return listRefundRequests(gateway, { ...filter, paymentId, mids }, limit, last?.requestId);
    },
    cells: refundRequestView,
  });

  for (const [name, state] of [
    ['approve', 'approved'],
    ['refuse', 'refused'],
  ] as const) {
    app.post<{ Params: { requestId: string } }>(
      `/refund-requests/:requestId/${name}`,
      needs('payments.refund', 'accounts'),
      async ({ principal, caller, params }) =>
        refundRequestView(await decideRefundRequest(gateway, principal, caller, params.requestId, state)),
    );
  }
}
