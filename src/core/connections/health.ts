/** The circuit breaker of each connector in this process; after an outage, its open payments are queried early. */
import { LIMITS } from '../../rules/limits.ts';
import type { BreakerState, ConnectorHealth, Gateway } from '../context.ts';

interface Failures {
  /** Consecutive calls without an answer. */
  count: number;
  /** By the clock, which the sandbox can move. */
  lastAt: number;
  /** While a payment tests whether the connector answers again: until when no other one does. */
  probedUntil: number;
  /** When the breaker opened, in real time. */
  openedAt: number | null;
  lastError: string;
}

export function createConnectorHealth(
  gateway: Pick<Gateway, 'payments' | 'operations' | 'log' | 'clock'>,
): ConnectorHealth {
  const failures = new Map<string, Failures>();
  const closedAt = new Map<string, number>();
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

  const stateOf = (failed: Failures | undefined): BreakerState => {
    if (!failed || failed.count < LIMITS.connectorFailures) return 'closed';
    return gateway.clock.now() - failed.lastAt < LIMITS.connectorDownMs ? 'open' : 'half_open';
  };

  return {
    answered(connector) {
      const failed = failures.get(connector);
      if (!failed) return;
      failures.delete(connector);
      if (failed.count < LIMITS.connectorFailures) return;
      closedAt.set(connector, gateway.clock.real());
      void hastenQueries(connector);
    },
    failed(connector, error) {
      const before = failures.get(connector);
      const count = (before?.count ?? 0) + 1;
      const hasOpened = count >= LIMITS.connectorFailures;
      failures.set(connector, {
        count,
        lastAt: gateway.clock.now(),
        probedUntil: Number.NEGATIVE_INFINITY,
        openedAt: hasOpened ? (before?.openedAt ?? gateway.clock.real()) : null,
        lastError: error,
      });
    },
    isDown: (connector) => stateOf(failures.get(connector)) === 'open',
    mayTry(connector) {
      const failed = failures.get(connector);
      const state = stateOf(failed);
      if (state !== 'half_open' || !failed) return state === 'closed';
      return gateway.clock.now() >= failed.probedUntil;
    },
    chosen(connector) {
      const failed = failures.get(connector);
      if (failed && stateOf(failed) === 'half_open') failed.probedUntil = gateway.clock.now() + LIMITS.breakerProbeMs;
    },
    of(connector) {
      const failed = failures.get(connector);
      const state = stateOf(failed);
      const since = state === 'closed' ? (closedAt.get(connector) ?? null) : (failed?.openedAt ?? null);
      return { state, since, lastError: failed?.lastError ?? null };
    },
    all: () =>
      [...new Set([...failures.keys(), ...closedAt.keys()])].map((connector) => [
        connector,
        stateOf(failures.get(connector)),
      ]),
  };
}
