/** Tracks in this process whether each connector answers; after an outage, its open payments are queried early. */
import { LIMITS } from '../../rules/limits.ts';
import type { ConnectorHealth, Gateway } from '../context.ts';

export function createConnectorHealth(gateway: Pick<Gateway, 'payments' | 'operations' | 'log'>): ConnectorHealth {
  const failures = new Map<string, { count: number; lastAt: number }>();
  const hastenedAt = new Map<string, number>();

  /** Makes open payments and operations due early. If this fails, they are queried at their scheduled time. */
  async function hastenQueries(connector: string): Promise<void> {
    // Not after every short outage: payments that became open since then are queried soon anyway.
    if (performance.now() - (hastenedAt.get(connector) ?? Number.NEGATIVE_INFINITY) < LIMITS.backlogEveryMs) return;
    hastenedAt.set(connector, performance.now());
    try {
      await gateway.operations.hasten(connector);
      await gateway.payments.hasten(connector);
      gateway.log.info({ connector }, 'connector answers again');
    } catch (error) {
      gateway.log.warn({ err: error, connector }, 'open payments of a connector could not be made due early');
    }
  }

  return {
    answered(connector) {
      const failed = failures.get(connector);
      if (!failed) return;
      failures.delete(connector);
      if (failed.count >= LIMITS.connectorFailures) void hastenQueries(connector);
    },
    failed(connector) {
      failures.set(connector, { count: (failures.get(connector)?.count ?? 0) + 1, lastAt: performance.now() });
    },
    isDown(connector) {
      const failed = failures.get(connector);
      if (!failed || failed.count < LIMITS.connectorFailures) return false;
      return performance.now() - failed.lastAt < LIMITS.connectorDownMs;
    },
  };
}
