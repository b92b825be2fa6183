/** Admin calls that erase personal data: of a payment, of a payer by e-mail address, of a saved card. */
import type { FastifyInstance } from 'fastify';
import type { Gateway } from '../../core/context.ts';
import { eraseOrderAs, erasePayerAs, removeCardAs } from '../../core/erasure/erase.ts';
import { paymentView } from '../../core/exports/payment-view.ts';
import { invalidField } from '../../rules/errors.ts';
import { SENTENCES } from '../../rules/fields.ts';
import { needs } from '../bearer.ts';
import { objectBody, refuseUnknown, uuidText } from './input.ts';

export function erasureRoutes(app: FastifyInstance, gateway: Gateway): void {
  app.post<{ Params: { paymentId: string } }>(
    '/payments/:paymentId/erase',
    needs('payments.erase', 'accounts'),
    async ({ principal, caller, params }) => {
      const { payment, erased } = await eraseOrderAs(gateway, principal, caller, params.paymentId);
      return { ...paymentView(payment), erased };
    },
  );

  app.post<{ Params: { mid: string } }>(
    '/accounts/:mid/erase',
    needs('payments.erase', 'accounts'),
    async ({ principal, caller, params, body }) => {
      const { email, cursor, ...rest } = objectBody(body);
      refuseUnknown(rest, ['email', 'cursor']);
      const after = cursor === undefined || cursor === null ? undefined : readCursor(cursor);
      const { erased, refused, next } = await erasePayerAs(gateway, principal, caller, params.mid, email, after);
      return {
        erased,
        refused: refused.map(({ paymentId, sentence }) => ({ payment_id: paymentId, reason: sentence })),
        next_cursor: next,
      };
    },
  );

  app.delete<{ Params: { mid: string; cardToken: string } }>(
    '/accounts/:mid/cards/:cardToken',
    needs('cards.remove', 'accounts'),
    async ({ principal, caller, params }) => {
      const removed = await removeCardAs(gateway, principal, caller, params.mid, params.cardToken);
      const { masked, payments, subscriptions } = removed;
      return { card: masked, payments_changed: payments, subscriptions_ended: subscriptions };
    },
  );
}

function readCursor(value: unknown): string {
  const cursor = typeof value === 'string' ? uuidText(value) : undefined;
  if (cursor === undefined) throw invalidField('cursor', SENTENCES.invalid, { expected: uuidText.expected });
  return cursor;
}
