/** How each connector fares in this process: whether it answers, and when it does again what it left open is asked about. */
import { LIMITS } from '../../rules/limits.ts';
import type { ConnectorHealth, Gateway } from '../context.ts';

export function createConnectorHealth(gateway: Pick<Gateway, 'payments' | 'operations' | 'log'>): ConnectorHealth {
  const failures = new Map<string, { count: number; lastAt: number }>();
  const hastenedAt = new Map<string, number>();

  /** Each row keeps its own time if this fails, so nothing is lost then but time. */
  async function hasten(connector: string): Promise<void> {
    // One that comes and goes is not asked about everything each time: what it leaves open meanwhile is asked about soon
    // by itself.
    if (performance.now() - (hastenedAt.get(connector) ?? Number.NEGATIVE_INFINITY) < LIMITS.backlogEveryMs) return;
    hastenedAt.set(connector, performance.now());
    try {
      await gateway.operations.hasten(connector);
      await gateway.payments.hasten(connector);
      gateway.log.info({ connector }, 'connector answers again');
    } catch (error) {
      gateway.log.warn({ err: error, connector }, 'the backlog of a connector could not be hastened');
    }
  }

  return {
    answered(connector) {
      const failed = failures.get(connector);
      if (!failed) return;
      failures.delete(connector);
      if (failed.count >= LIMITS.connectorFailures) void hasten(connector);
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
