/** A model of a payment provider: its own ledger, its payers, and a network that delays, loses and repeats messages. */
import type {
  Capabilities,
  Connector,
  NotificationMeaning,
  OperationOutcome,
  Outcome,
  ProviderNotification,
  ProviderOperation,
  Submission,
} from '../../src/connectors/connector.ts';
import { NotSent } from '../../src/connectors/connector.ts';
import type { Deadline } from '../../src/lib/time/deadline.ts';
import type { Faults } from './faults.ts';
import { type Owner, type Scheduler, WORLD } from './scheduler.ts';

/** An entry of the provider's ledger. */
export interface ProviderPayment {
  reference: string;
  amount: bigint;
  currency: string;
  authoriseOnly: boolean;
  status: 'settled' | 'authorised' | 'accepted' | 'redirected' | 'declined' | 'voided';
  captured: bigint;
  refunded: bigint;
  /** When the payer paid, in milliseconds since the start; undefined if the provider decided at once. */
  paidAt?: number;
  operations: Map<string, ProviderBooking>;
  arrivedAt: number;
  /** A query answered that there is no such payment. */
  wasMissed: boolean;
}

interface ProviderBooking {
  verb: ProviderOperation['verb'];
  amount: bigint;
  state: 'done' | 'declined' | 'pending';
}

export interface Provider {
  ledger: ReadonlyMap<string, ProviderPayment>;
  /** What the gateway should not have sent: captures and refunds that the payment did not allow, and repeated queries. */
  protests: readonly string[];
  /** The provider as a process sees it; a worker queries what is due. */
  of(owner: Owner, isWorker: boolean): Connector;
}

/** Delivers a notification to the gateway; false if the gateway did not acknowledge it. */
export type Notify = (connector: string, event: ProviderNotification) => Promise<boolean>;

const CAPABILITIES: Capabilities = {
  isIdempotent: true,
  supportsQueries: true,
  notFoundIsFinal: true,
  refunds: 'api',
  authentication: 'gateway',
  supportsWithdrawals: true,
  concurrency: 64,
};

const SECOND = 1000;
const MINUTE = 60 * SECOND;
/** The gateway relies on it: after its last moment to send and `neverReceivedMs`, what was sent has arrived, or never will. */
const LONGEST_WAY_MS = 55 * SECOND;
const BACK_MS = [300, 300, 3 * SECOND];
/** So long after its arrival, one query may still miss a payment. */
const MISSED_MS = 3 * MINUTE;
const DECISIONS_MS = [
  [10, 5 * MINUTE],
  [10, 5 * MINUTE],
  [25 * MINUTE, 59 * MINUTE],
  [59 * MINUTE, 61 * MINUTE],
] as const;
const REASON = 'The provider declined it.';

const FATES = [
  ...(['not sent', 'lost before', 'lost after', 'lost after', 'failed before', 'failed after'] as const),
  ...(['slow', 'slow', 'late', 'repeated'] as const),
];
type Fate = 'answered' | (typeof FATES)[number];

export function createProvider(seed: number, scheduler: Scheduler, faults: Faults, notify: Notify): Provider {
  const { chance } = scheduler;
  const ledger = new Map<string, ProviderPayment>();
  const protests: string[] = [];
  let events = 0;
  /** The provider answers nothing before. */
  let outUntil = 0;

  /** Sends a call over the network; `act` is what the provider does when it arrives. */
  function call<Result>(owner: Owner, label: string, deadline: Deadline, act: () => Result): Promise<Result> {
    if (!deadline.begin()) throw new NotSent('The deadline has passed.');
    const isOut = scheduler.now < outUntil;
    const fate: Fate = isOut ? 'failed before' : faults.happens('call') ? chance.of(FATES) : 'answered';
    const isSlow = fate === 'slow';
    const thereMs = chance.between(5, isSlow ? LONGEST_WAY_MS : 300);
    const backMs = fate === 'late' ? chance.between(3 * SECOND, 60 * SECOND) : chance.between(5, chance.of(BACK_MS));
    return new Promise((resolve, reject) => {
      const answer = (run: () => void): void => void scheduler.after(owner, backMs, `gets the answer to ${label}`, run);
      const fail = (): void => answer(() => reject(new Error('The provider answered 500.')));
      if (fate === 'not sent') answer(() => reject(new NotSent('The connection was refused.')));
      if (fate === 'not sent' || fate === 'lost before') return;
      scheduler.after(WORLD, thereMs, `provider gets ${label} (${fate})`, () => {
        if (fate === 'failed before') return fail();
        const result = act();
        if (fate === 'repeated')
          scheduler.after(WORLD, chance.between(5, LONGEST_WAY_MS), `provider gets ${label} again`, act);
        const breaksDown = label === 'submit' && faults.happens('outage');
        if (breaksDown) outUntil = scheduler.now + chance.between(MINUTE, 3 * MINUTE);
        if (fate === 'failed after' || breaksDown) fail();
        else if (fate !== 'lost after') answer(() => resolve(result));
      });
    });
  }

  const queriedAt = new Map<string, number>();
  /** A lease keeps others from what a worker is querying, and then it is due some seconds later at the earliest. */
  function noteQuery(subject: string): void {
    const lastAt = queriedAt.get(subject);
    queriedAt.set(subject, scheduler.now);
    if (scheduler.isCalm && lastAt !== undefined && scheduler.now < lastAt + SECOND)
      protests.push('Something was queried twice within a second.');
  }

  /** Sends a notification, perhaps several times; it is repeated some time later if it is not acknowledged. */
  function send(connector: string, event: Omit<ProviderNotification, 'eventId'>): void {
    const sent = { ...event, eventId: `${seed}-${++events}` };
    const attempt = (left: number, ms: number): void =>
      void scheduler.after(WORLD, ms, 'provider notifies', async () => {
        if (!(await notify(connector, sent)) && left > 0) attempt(left - 1, 30 * SECOND);
      });
    const fault = faults.happens('notification') ? chance.of(['lost', 'repeated', 'late'] as const) : undefined;
    if (fault !== 'lost') attempt(3, chance.between(1, fault === 'late' ? 10 * MINUTE : chance.of([50, SECOND])));
    if (fault === 'repeated') attempt(0, chance.between(1, MINUTE));
  }

  const report = ({ reference, status, amount, currency }: ProviderPayment, connector: string): void =>
    send(connector, { reference, body: { status, amount: String(amount), currency } });

  function outcomeOf({ status, amount, currency, reference }: ProviderPayment): Outcome {
    const reportedAmount = { amount, currency };
    if (status === 'redirected')
      return { kind: status, url: `https://provider.example/${reference}`, method: 'GET', params: {}, reportedAmount };
    if (status === 'declined' || status === 'voided') return { kind: 'declined', reason: REASON, reportedAmount };
    return { kind: status, reportedAmount };
  }

  /** Once, a query does not find a payment that arrived lately. */
  function isMissed(payment: ProviderPayment): boolean {
    if (payment.wasMissed || scheduler.now > payment.arrivedAt + MISSED_MS || !faults.happens('miss')) return false;
    payment.wasMissed = true;
    return true;
  }

  /** The provider has the money, or its promise. */
  function pay(payment: ProviderPayment): void {
    payment.status = payment.authoriseOnly ? 'authorised' : 'settled';
    if (payment.status === 'settled') payment.captured = payment.amount;
  }

  /** The payer decides soon, after the last query before the end of the time, about that end, or never. */
  function awaitPayer(payment: ProviderPayment, connector: string): void {
    const decision = chance.of(['pays', 'pays', 'pays', 'declines', 'leaves'] as const);
    if (decision === 'leaves') return;
    const [least, most] = chance.of(DECISIONS_MS);
    const ms = chance.between(least, most);
    scheduler.after(WORLD, ms, `payer ${decision}`, () => {
      if (payment.status !== 'accepted' && payment.status !== 'redirected') return;
      payment.paidAt = scheduler.now;
      if (decision === 'pays') pay(payment);
      else payment.status = 'declined';
      // After the last query, only that of the deadline finds out without a notification.
      if (least < 25 * MINUTE || chance.oneIn(0.3)) report(payment, connector);
    });
  }

  function submit({ reference, brand, amount, currency, authoriseOnly }: Submission): Outcome {
    const known = ledger.get(reference);
    if (known) return outcomeOf(known);
    const booked = { captured: 0n, refunded: 0n, operations: new Map<string, ProviderBooking>() };
    const arrival = { arrivedAt: scheduler.now, wasMissed: false };
    const order = { reference, amount, currency, authoriseOnly };
    const payment: ProviderPayment = { ...order, status: 'declined', ...booked, ...arrival };
    ledger.set(reference, payment);
    const connector = connectorOf(brand);
    if (chance.oneIn(0.15)) payment.status = 'declined';
    else if (brand === 'hosted-b') payment.status = 'redirected';
    else if (brand === 'pin-a' && chance.oneIn(0.3)) payment.status = 'accepted';
    else pay(payment);
    if (payment.status === 'redirected' || payment.status === 'accepted') awaitPayer(payment, connector);
    else if (chance.oneIn(0.4)) report(payment, connector);
    return outcomeOf(payment);
  }

  /** Books an operation in the ledger; false if the payment does not allow it. */
  function book(payment: ProviderPayment, { verb, amount }: Pick<ProviderBooking, 'verb' | 'amount'>): boolean {
    const { status, captured, refunded } = payment;
    if (verb === 'capture' && status === 'authorised' && amount <= payment.amount) {
      Object.assign(payment, { status: 'settled', captured: amount });
    } else if (verb === 'void' && ['authorised', 'accepted', 'redirected'].includes(status)) payment.status = 'voided';
    else if (verb === 'refund' && status === 'settled' && refunded + amount <= captured) payment.refunded += amount;
    else {
      if (verb !== 'void') protests.push(`A ${verb} of ${amount} was sent for a payment that is ${status}.`);
      return false;
    }
    return true;
  }

  const operationOutcome = ({ state, amount }: ProviderBooking): OperationOutcome => {
    if (state === 'declined') return { kind: 'declined', reason: REASON };
    return { kind: state === 'done' ? 'done' : 'accepted', reportedAmount: { amount } };
  };

  function operate({ reference, operation, verb, amount, brand }: ProviderOperation): OperationOutcome {
    const payment = ledger.get(reference);
    if (!payment) return { kind: 'notFound' };
    const known = payment.operations.get(operation);
    if (known) return operationOutcome(known);
    const connector = connectorOf(brand);
    const booking: ProviderBooking = { verb, amount, state: 'pending' };
    payment.operations.set(operation, booking);
    const decide = (): void => {
      // A provider that holds an authorisation and declines to void it would leave that to the operator.
      const isWilling = verb === 'void' || chance.oneIn(0.9);
      booking.state = isWilling && book(payment, booking) ? 'done' : 'declined';
    };
    const tell = (): void =>
      send(connector, { reference, operation, body: { operation: booking.state, amount: String(amount) } });
    if (verb === 'refund' && chance.oneIn(0.2)) {
      scheduler.after(WORLD, chance.between(SECOND, 30 * MINUTE), 'provider decides about a refund', () => {
        decide();
        tell();
      });
    } else {
      decide();
      if (verb === 'capture' && booking.state === 'done' && chance.oneIn(0.6)) report(payment, connector);
      else if (chance.oneIn(0.3)) tell();
    }
    return operationOutcome(booking);
  }

  return {
    ledger,
    protests,
    of: (owner, isWorker) => ({
      capabilities: CAPABILITIES,
      submit: (submission, deadline) => call(owner, 'submit', deadline, () => submit(submission)),
      query({ reference }, deadline) {
        if (isWorker) noteQuery(reference);
        return call(owner, 'query', deadline, (): Outcome => {
          const payment = ledger.get(reference);
          return payment && !isMissed(payment) ? outcomeOf(payment) : { kind: 'notFound' };
        });
      },
      operate: (operation, deadline) => call(owner, operation.verb, deadline, () => operate(operation)),
      queryOperation({ reference, operation }, deadline) {
        if (isWorker) noteQuery(operation);
        return call(owner, 'query of an operation', deadline, (): OperationOutcome => {
          const booking = ledger.get(reference)?.operations.get(operation);
          return booking ? operationOutcome(booking) : { kind: 'notFound' };
        });
      },
      readNotifications: () => undefined,
      interpretNotification,
    }),
  };
}

/** Brands of the simulation belong to two connectors. */
const connectorOf = (brand: string): string => (brand === 'vcard' ? 'vcard' : 'upstream');

function interpretNotification(body: Record<string, unknown>): NotificationMeaning {
  const amount = BigInt(body.amount as string);
  if (body.operation === 'declined') return { kind: 'operation', outcome: { kind: 'declined', reason: REASON } };
  if (body.operation !== undefined) return { kind: 'operation', outcome: { kind: 'done', reportedAmount: { amount } } };
  const reportedAmount = { amount, currency: String(body.currency) };
  const status = body.status as 'settled' | 'authorised' | 'declined';
  return status === 'declined' ? { kind: status, reason: REASON, reportedAmount } : { kind: status, reportedAmount };
}
