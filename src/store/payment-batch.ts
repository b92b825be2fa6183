/** Batching of payment statements: batch sizes, the size and lock of an item, and reports of outages. */
import { type BatchOptions, batch } from '../lib/batch.ts';
import { isItemFault, isLockTimeout, isOutage } from '../lib/faults.ts';
import type { WaitGauge } from '../lib/wait-gauge.ts';
import { LIMITS } from '../rules/limits.ts';
import type { OpenItem, TransitionItem } from './payment-write.ts';
import type { WriteProbe } from './write-probe.ts';

/** The size of an item's large values, in characters. */
export const sizeOf = (item: OpenItem | TransitionItem): number =>
  'payment' in item ? item.details.length : (item.nextStep?.length ?? 0) + (item.transition.callback?.body.length ?? 0);

/** The key of the lock that an item may wait for: of a payment, or of an order that is being opened. */
export const lockKeyOf = (item: OpenItem | TransitionItem): string =>
  'payment' in item ? `${item.payment.mid} ${item.payment.orderId}` : item.transition.before.paymentId;

export interface PaymentStoreOptions {
  /** The most items in one statement. */
  items?: number;
  /** The most statements in flight. */
  inFlight?: number;
  /** The time of the database, by which it decides whether a payment may still be opened. */
  now?: () => number;
  /** Called after each write: it succeeded, or failed because of an outage. */
  onWrite?: WriteProbe['report'];
  /** Learns how long statements wait to be sent. */
  gauge?: Pick<WaitGauge, 'watch'>;
}

/** Turns a statement that takes many items into a function that takes one and batches concurrent calls. */
export const createBatching =
  (
    onBatch: (statement: string, size: number) => void,
    { items = LIMITS.batchItems, inFlight = LIMITS.batchesInFlight, gauge }: PaymentStoreOptions,
  ) =>
  <Item, Result>(
    name: string,
    run: (items: Item[]) => Promise<Result[]>,
    more: Partial<BatchOptions<Item, Result>> = {},
  ): ((item: Item) => Promise<Result>) =>
    batch(run, {
      maxItems: items,
      maxInFlight: inFlight,
      maxWaiting: LIMITS.batchWaiting,
      maxWaitMs: LIMITS.batchWaitTimeoutMs,
      isItemFault,
      gauge,
      onBatch: (size) => onBatch(name, size),
      ...more,
    });

/** Reports whether a write succeeded. A lock timeout is not an outage: its items are written again one by one. */
export async function reportWrite<Result>(
  write: Promise<Result>,
  { onWrite = () => undefined }: PaymentStoreOptions,
): Promise<Result> {
  try {
    const result = await write;
    onWrite('written');
    return result;
  } catch (error) {
    if (isOutage(error) && !isLockTimeout(error)) onWrite('outage');
    throw error;
  }
}
