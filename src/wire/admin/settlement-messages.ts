/** Admin calls on the messages to merchants about settlements: the list, and sending one again. */
import type { FastifyInstance } from 'fastify';
import type { Gateway } from '../../core/context.ts';
import { messagesCsv, messageView } from '../../core/exports/settlement-messages.ts';
import { listMessages, resendMessage } from '../../core/settlements/messages.ts';
import { LIMITS } from '../../rules/limits.ts';
import { MESSAGE_STATES } from '../../rules/settlement-messages.ts';
import { needs } from '../bearer.ts';
import { oneOf, page, pageSize, readQuery, uuidText } from './input.ts';
import { asFile, fileSender } from './send-download.ts';

const FILTERS = { mid: uuidText, settlement_id: uuidText, state: oneOf(MESSAGE_STATES) };

export function settlementMessageRoutes(app: FastifyInstance, gateway: Gateway): void {
  const sendFile = fileSender(gateway);

  app.get('/settlement-messages', needs('settlements.view', 'accounts'), async ({ principal, query }) => {
    const readers = { ...FILTERS, limit: pageSize, cursor: uuidText };
    const {
      limit: size = LIMITS.adminPageSize,
      cursor,
      settlement_id: settlementId,
      ...rest
    } = readQuery(query, readers);
    const rows = await listMessages(gateway, principal, { ...rest, settlementId }, size + 1, cursor);
    return page(rows, size, ({ messageId }) => messageId, messageView);
  });

  app.get('/settlement-messages.csv', asFile('settlements.view', 'accounts'), async (request, reply) => {
    const { settlement_id: settlementId, ...rest } = readQuery(request.query, FILTERS);
    const read = (limit: number, before?: string) =>
      listMessages(gateway, request.principal, { ...rest, settlementId }, limit, before);
    return sendFile(reply, await messagesCsv(gateway, read), request.id);
  });

  app.post<{ Params: { messageId: string } }>(
    '/settlement-messages/:messageId/resend',
    needs('settlements.manage', 'accounts'),
    async ({ principal, caller, params }) =>
      messageView(await resendMessage(gateway, principal, caller, params.messageId)),
  );
}
