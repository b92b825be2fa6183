/** Admin calls on a restored installation: what may differ from the provider, and the release of what is held. */
import type { FastifyInstance } from 'fastify';
import type { Gateway, Restore } from '../../core/context.ts';
import { type RestoreReport, releaseRestore, restoreReport } from '../../core/installation/restores.ts';
import { wireDate, wireDateOrNull } from '../../lib/time/clock.ts';
import { AT_PROVIDER } from '../../rules/restores.ts';
import { needs } from '../bearer.ts';
import { objectBody, refuseUnknown } from './input.ts';

export function restoreRoutes(app: FastifyInstance, gateway: Gateway): void {
  app.get('/restore', needs('restore.view', 'installation'), async () => {
    const report = await restoreReport(gateway);
    return { ...restoreView(report?.restore), ...reportView(report) };
  });

  app.post('/restore/release', needs('restore.release', 'installation'), async (request) => {
    const { note, ...rest } = objectBody(request.body);
    refuseUnknown(rest, ['note']);
    return restoreView(await releaseRestore(gateway, request.caller, note));
  });
}

const restoreView = (restore: Restore | undefined) => ({
  held: restore?.releasedAt === null,
  restored_at: wireDateOrNull(restore?.restoredAt ?? null),
  backup_at: wireDateOrNull(restore?.backupAt ?? null),
  released_at: wireDateOrNull(restore?.releasedAt ?? null),
  released_by: restore?.releasedBy ?? null,
  note: restore?.note ?? null,
});

function reportView(report: RestoreReport | undefined) {
  if (!report) return { charges: null, statements: null, access: null };
  const { charges, statements, access } = report;
  return {
    charges: {
      due: charges.due,
      checked: charges.checked.map(({ subscription, order, atProvider }) => ({
        mid: subscription.mid,
        schedule_id: subscription.scheduleId,
        subscription_id: subscription.subscriptionId,
        order_id: order.orderId,
        payment_id: order.paymentId,
        amount: order.amountText,
        currency: order.currency,
        planned_at: wireDate(order.details.recovered as number),
        at_provider: AT_PROVIDER[atProvider],
      })),
    },
    statements: statements.map(({ reconciliationId, fileName, periodFrom, periodTo, missingHere }) => ({
      reconciliation_id: reconciliationId,
      file_name: fileName,
      from: wireDate(periodFrom),
      to: wireDate(periodTo),
      missing_here: missingHere,
    })),
    access: { api_tokens: access.apiTokens, operators: access.operators, saved_cards: access.savedCards },
  };
}
