/** Erases data by its age: walks over payments, callbacks and notifications in small portions, and remembers where it is. */
import { firstIdAt, LAST_ID } from '../../lib/crypto/id.ts';
import { Refusal } from '../../rules/errors.ts';
import { LIMITS } from '../../rules/limits.ts';
import type { Retention } from '../../rules/retention.ts';
import type { AgedPortion } from '../../store/erasure/aged-data.ts';
import type { Gateway } from '../context.ts';
import type { Erased } from '../metrics.ts';
import { erasePayment } from './erase.ts';

interface Walk {
  name: string;
  what: Erased;
  setting: keyof Retention;
  /** Erases one portion after a position; an empty text is the beginning. */
  step(gateway: Gateway, after: string, ageMs: number): Promise<AgedPortion>;
}

/** A payment that changed meanwhile, that has an undelivered callback, or that fails, is left to the next walk. */
async function erasePayments(gateway: Gateway, after: string, ageMs: number): Promise<AgedPortion> {
  // Ids have real time; in a sandbox the clocks of accounts are ahead of it.
  const until = gateway.environment === 'sandbox' ? LAST_ID : firstIdAt(gateway.clock.real() - ageMs);
  const { read, aged, next } = await gateway.agedData.payments(
    after || firstIdAt(0),
    until,
    ageMs,
    LIMITS.retentionPortion,
  );
  for (const key of aged) {
    const payment = await gateway.payments.find(key);
    if (!payment) continue;
    const keepsCard = payment.details.recurringOf !== undefined;
    await erasePayment(gateway, payment, { by: { actor: 'clock', actorName: null }, keepsCard }).catch((error) => {
      if (!(error instanceof Refusal))
        gateway.log.error({ err: error, payment_id: key.paymentId }, 'the data of a payment could not be erased');
    });
  }
  // Each erasure is counted by itself.
  return { read, erased: 0, next };
}

const bodies =
  (state: 'delivered' | 'parked'): Walk['step'] =>
  ({ agedData, clock }, after, ageMs) =>
    agedData.callbackBodies(state, after, clock.now() - ageMs, LIMITS.retentionPortion);

const notifications =
  (state: 'applied' | 'unmatched'): Walk['step'] =>
  ({ agedData, clock }, after, ageMs) =>
    agedData.notificationBodies(state, after, clock.now() - ageMs, LIMITS.retentionPortion);

const callbacks = { what: 'callback_bodies', setting: 'callbackBodies' } as const;
const ofProvider = { what: 'notifications', setting: 'notifications' } as const;

const WALKS: readonly Walk[] = [
  { name: 'payments', what: 'payments', setting: 'personalData', step: erasePayments },
  { name: 'delivered callbacks', ...callbacks, step: bodies('delivered') },
  { name: 'parked callbacks', ...callbacks, step: bodies('parked') },
  { name: 'applied notifications', ...ofProvider, step: notifications('applied') },
  { name: 'unmatched notifications', ...ofProvider, step: notifications('unmatched') },
];

/** Where each walk of this process is, and when they began. */
const progress = new WeakMap<Gateway, { since: number; positions: Map<string, string> }>();

/**
 * Erases what is older than the settings allow. A walk goes on where the last one ended; from time to time, and with
 * `fromStart`, it begins again, because rows that it passed may be finished by now.
 */
export async function eraseAgedData(gateway: Gateway, isStopped: () => boolean, fromStart = false): Promise<void> {
  const now = performance.now();
  let walked = progress.get(gateway);
  if (!walked || fromStart || now - walked.since >= LIMITS.retentionRestartMs) {
    walked = { since: now, positions: new Map() };
    progress.set(gateway, walked);
  }
  for (const { name, what, setting, step } of WALKS) {
    const days = gateway.retention[setting];
    for (let isDone = days === 0; !isDone && !isStopped(); ) {
      const { read, erased, next } = await step(gateway, walked.positions.get(name) ?? '', days * LIMITS.dayMs);
      gateway.metrics.erased(what, erased);
      if (next !== undefined) walked.positions.set(name, next);
      isDone = read < LIMITS.retentionPortion;
    }
  }
}
