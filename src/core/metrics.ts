/** The Prometheus metrics of the gateway. */
import { Counter, collectDefaultMetrics, Gauge, Histogram, Registry } from 'prom-client';
import type { StateName } from '../rules/states.ts';
import type { ProjectionStatus } from '../store/projections/projections.ts';

type RequestLimit =
  | 'account'
  | 'address'
  | 'notification_address'
  | 'connection'
  | 'unsigned_notification'
  /** New payments, while the process has more work than it can do. */
  | 'overload';

export interface Metrics {
  registry: Registry;
  /** In the text format of Prometheus. */
  text(): Promise<string>;
  contentType: string;
  request(action: string, outcome: string, seconds: number): void;
  batch(statement: string, size: number): void;
  entered(state: StateName): void;
  /** An attempt to deliver a callback left it in this state; `ageMs` is the time since its event. */
  delivered(state: string, ageMs: number): void;
  cardRefused(limit: string): void;
  /** A request of a merchant, or a notification of a provider, was refused because there were too many. */
  requestLimited(limit: RequestLimit): void;
  /** A notification for this connector, or connection, had no valid signature. */
  notificationRefused(connector: string): void;
  /** API calls that do not appear in the list of calls, and why. */
  callsNotKept(why: 'sampled' | 'overload' | 'failed', count: number): void;
  /** Rows could not be folded into a projection; it is tried again. */
  projectionFailed(projection: string): void;
  /** Data was erased, by request or by age. */
  erased(what: Erased, count: number): void;
  /** Sets the source of the gauge of bytes reserved for large bodies. */
  observeLargeBodies(read: () => number): void;
  /** Sets the source of the gauge of when the roots of wallets expire, in milliseconds since 1970. */
  observeWalletRoots(read: () => Readonly<Record<string, number>>): void;
  /** Sets the source of the gauge of circuit breakers. */
  observeBreakers(read: () => [connector: string, state: string][]): void;
  /** Sets the source of the gauges of projections. */
  observeProjections(read: () => Promise<readonly ProjectionStatus[]>): void;
  /** The risk rules decided about a payment, or could not be evaluated. */
  riskDecided(decision: string): void;
  riskFailed(): void;
  /** Sets the source of the gauge of payments that wait for a review. */
  observeReviews(read: () => Promise<number>): void;
  /** Sets the source of the gauge of a restore that is held. */
  observeHold(read: () => Promise<boolean>): void;
}

export type Erased = 'payments' | 'cards' | 'callback_bodies' | 'notifications' | 'api_calls' | 'callback_attempts';

const BREAKER_VALUES = ['closed', 'half_open', 'open'];

export function createMetrics(): Metrics {
  const registry = new Registry();
  const registers = [registry];
  // Memory, CPU and event-loop lag.
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
    help: 'Items written or read by one batched statement.',
    labelNames: ['statement'],
    buckets: [1, 2, 4, 8, 16, 32, 64, 128, 256],
    registers,
  });
  const riskDecisions = new Counter({
    name: 'turnpike_risk_decisions_total',
    help: 'Decisions of risk rules about payments.',
    labelNames: ['decision'],
    registers,
  });
  const riskFailures = new Counter({
    name: 'turnpike_risk_failures_total',
    help: 'Payments whose risk rules could not be evaluated.',
    registers,
  });
  let reviewsWaiting: () => Promise<number> = async () => 0;
  new Gauge({
    name: 'turnpike_risk_reviews_waiting',
    help: 'Payments that wait for a review.',
    registers,
    async collect() {
      this.set(await reviewsWaiting());
    },
  });
  const payments = new Counter({
    name: 'turnpike_payments_total',
    help: 'Payments that entered each state.',
    labelNames: ['state'],
    registers,
  });
  const cardsRefused = new Counter({
    name: 'turnpike_card_attempts_refused_total',
    help: 'Card attempts that were refused by a limit.',
    labelNames: ['limit'],
    registers,
  });
  const requestsLimited = new Counter({
    name: 'turnpike_requests_limited_total',
    help: 'Requests and notifications that were refused by a rate limit.',
    labelNames: ['limit'],
    registers,
  });
  const notificationsRefused = new Counter({
    name: 'turnpike_notifications_refused_total',
    help: 'Notifications of providers that were refused because their signature was missing or wrong.',
    labelNames: ['connector'],
    registers,
  });
  const callsNotKept = new Counter({
    name: 'turnpike_api_calls_not_kept_total',
    help: 'API calls that were not kept for the list of calls.',
    labelNames: ['why'],
    registers,
  });
  const sampledCalls = callsNotKept.labels('sampled');
  let largeBodyBytes = (): number => 0;
  new Gauge({
    name: 'turnpike_large_body_bytes',
    help: 'Bytes reserved for large request bodies.',
    registers,
    collect() {
      this.set(largeBodyBytes());
    },
  });
  let walletRoots = (): Readonly<Record<string, number>> => ({});
  new Gauge({
    name: 'turnpike_wallet_roots_expire_seconds',
    help: 'When the last root key of a wallet expires, in seconds since 1970.',
    labelNames: ['wallet'],
    aggregator: 'first',
    registers,
    collect() {
      for (const [wallet, at] of Object.entries(walletRoots())) this.labels(wallet).set(Math.floor(at / 1000));
    },
  });
  let breakers = (): [string, string][] => [];
  new Gauge({
    name: 'turnpike_breaker',
    help: 'The circuit breaker of each connection that has failed: 0 closed, 1 half open, 2 open.',
    labelNames: ['connection'],
    registers,
    collect() {
      for (const [connection, state] of breakers()) this.set({ connection }, BREAKER_VALUES.indexOf(state));
    },
  });
  let isHeld = async (): Promise<boolean> => false;
  new Gauge({
    name: 'turnpike_restore_held',
    help: '1 while automatic charges and voids wait for the release of a restored backup.',
    aggregator: 'max',
    registers,
    async collect() {
      // Without the database the last value stays.
      await isHeld().then(
        (held) => this.set(held ? 1 : 0),
        () => undefined,
      );
    },
  });
  let projections = async (): Promise<readonly ProjectionStatus[]> => [];
  // The gauges of one scrape share a reading.
  let reading: Promise<readonly ProjectionStatus[]> | undefined;
  const readProjections = (): Promise<readonly ProjectionStatus[]> => {
    reading ??= projections().finally(() => {
      reading = undefined;
    });
    return reading;
  };
  const projectionGauge = (name: string, help: string, value: (status: ProjectionStatus) => number): void => {
    new Gauge({
      name,
      help,
      labelNames: ['projection'],
      aggregator: 'max',
      registers,
      async collect() {
        // Without the database the last values stay.
        const statuses = await readProjections().catch(() => []);
        for (const status of statuses) this.labels(status.name).set(value(status));
      },
    });
  };
  projectionGauge(
    'turnpike_projection_rows_behind',
    'Rows of the logs that are not folded into a projection yet.',
    ({ rowsBehind }) => Number(rowsBehind),
  );
  projectionGauge(
    'turnpike_projection_seconds_behind',
    'The age of the oldest row that is not folded into a projection yet.',
    ({ secondsBehind }) => secondsBehind,
  );
  projectionGauge(
    'turnpike_projection_backfilled',
    'The part of the build of a projection that is done, by the time of the payments; 1 when it is complete.',
    ({ backfilled }) => backfilled ?? 1,
  );
  new Gauge({
    name: 'turnpike_ledger_lag_seconds',
    help: 'The age of the oldest event that is not in the ledger yet; balances and lists contain it nevertheless.',
    aggregator: 'max',
    registers,
    async collect() {
      const statuses = await readProjections().catch(() => []);
      for (const { name, secondsBehind } of statuses) if (name === 'ledger') this.set(secondsBehind);
    },
  });
  const projectionFailures = new Counter({
    name: 'turnpike_projection_failures_total',
    help: 'Failures to fold rows of the logs into a projection; each is tried again.',
    labelNames: ['projection'],
    registers,
  });
  const erasures = new Counter({
    name: 'turnpike_erased_total',
    help: 'Payments, cards and records whose data was erased, by request or by age.',
    labelNames: ['what'],
    registers,
  });
  const callbacks = new Counter({
    name: 'turnpike_callback_attempts_total',
    help: 'Attempts to deliver a callback, by the state after it: delivered, waiting for the next attempt, or parked.',
    labelNames: ['state'],
    registers,
  });
  const callbackSeconds = new Histogram({
    name: 'turnpike_callback_seconds',
    help: 'Time from an event to the delivery of its callback.',
    buckets: [0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 5, 30, 120, 600, 3600, 86400],
    registers,
  });
  // Looking up labels costs more than counting; there are few states, actions and outcomes.
  const states = new Map<string, Counter.Internal>();
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
      let counted = states.get(state);
      if (!counted) {
        counted = payments.labels(state);
        states.set(state, counted);
      }
      counted.inc();
    },
    delivered(state, ageMs) {
      callbacks.labels(state).inc();
      if (state === 'delivered') callbackSeconds.observe(ageMs / 1000);
    },
    cardRefused(limit) {
      cardsRefused.labels(limit).inc();
    },
    projectionFailed(projection) {
      projectionFailures.labels(projection).inc();
    },
    erased(what, count) {
      if (count > 0) erasures.labels(what).inc(count);
    },
    notificationRefused(connector) {
      notificationsRefused.inc({ connector });
    },
    requestLimited(limit) {
      requestsLimited.labels(limit).inc();
    },
    callsNotKept(why, count) {
      // Most calls of a busy account are counted here, and looking up the label costs more than counting.
      if (why === 'sampled') sampledCalls.inc(count);
      else callsNotKept.labels(why).inc(count);
    },
    observeWalletRoots(read) {
      walletRoots = read;
    },
    observeLargeBodies(read) {
      largeBodyBytes = read;
    },
    observeProjections(read) {
      projections = read;
    },
    riskDecided(decision) {
      riskDecisions.labels(decision).inc();
    },
    riskFailed() {
      riskFailures.inc();
    },
    observeReviews(read) {
      reviewsWaiting = read;
    },
    observeHold(read) {
      isHeld = read;
    },
    observeBreakers(read) {
      breakers = read;
    },
  };
}
