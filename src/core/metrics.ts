/** What the gateway counts, for Prometheus. */
import { Counter, collectDefaultMetrics, Histogram, Registry } from 'prom-client';
import type { StateName } from '../rules/states.ts';

export interface Metrics {
  registry: Registry;
  /** The counts as Prometheus reads them. */
  text(): Promise<string>;
  contentType: string;
  request(action: string, outcome: string, seconds: number): void;
  batch(statement: string, size: number): void;
  entered(state: StateName): void;
}

export function createMetrics(): Metrics {
  const registry = new Registry();
  const registers = [registry];
  // Brings memory, CPU and the lag of the event loop.
  collectDefaultMetrics({ register: registry });
  const requests = new Counter({
    name: 'turnpike_requests_total',
    help: 'Requests by action and outcome.',
    labelNames: ['action', 'outcome'],
    registers,
  });
  const seconds = new Histogram({
    name: 'turnpike_request_seconds',
    help: 'Time from a request to its answer, by action.',
    labelNames: ['action'],
    buckets: [0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10],
    registers,
  });
  const batches = new Histogram({
    name: 'turnpike_batch_items',
    help: 'Items that travelled together in one statement.',
    labelNames: ['statement'],
    buckets: [1, 2, 4, 8, 16, 32, 64, 128, 256],
    registers,
  });
  const payments = new Counter({
    name: 'turnpike_payments_total',
    help: 'Payments that entered each state.',
    labelNames: ['state'],
    registers,
  });
  // Looking a label up costs more than counting; actions and outcomes are few.
  const known = new Map<string, { requests: Counter.Internal; seconds: Histogram.Internal<'action'> }>();
  return {
    registry,
    text: () => registry.metrics(),
    contentType: registry.contentType,
    request(action, outcome, took) {
      const name = `${action} ${outcome}`;
      let counted = known.get(name);
      if (!counted) {
        counted = { requests: requests.labels(action, outcome), seconds: seconds.labels(action) };
        known.set(name, counted);
      }
      counted.requests.inc();
      counted.seconds.observe(took);
    },
    batch(statement, size) {
      batches.labels(statement).observe(size);
    },
    entered(state) {
      payments.labels(state).inc();
    },
  };
}
