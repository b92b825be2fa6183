/** How the statements of payments are batched: sizes, the weight of an item, locks, and reports of outages. */
import { type BatchOptions, batch } from '../lib/batch.ts';
import { isItemFault, isLockTimeout, isOutage } from '../lib/faults.ts';
import { LIMITS } from '../rules/limits.ts';
import type { OpenItem, TransitionItem } from './payment-write.ts';
import type { WriteProbe } from './write-probe.ts';

export const weigh = (item: OpenItem | TransitionItem): number =>
  'payment' in item ? item.details.length : (item.nextStep?.length ?? 0) + (item.transition.callback?.body.length ?? 0);

/** Items with the same key can wait for the same lock: that of a payment, or that of an order which is being opened. */
export const lockedBy = (item: OpenItem | TransitionItem): string =>
  'payment' in item ? `${item.payment.mid} ${item.payment.orderId}` : item.transition.before.paymentId;

export interface PaymentStoreOptions {
  /** Items in one statement, and statements in flight. */
  items?: number;
  inFlight?: number;
  /** The clock of the database, as far as this process knows it: payments are opened only up to a time by it. */
  now?: () => number;
  /** Hears whether payments were written, or could not be because of an outage. */
  onWrite?: WriteProbe['report'];
}

/** Makes a batched statement of one that takes many items. */
export const createBatching =
  (
    onBatch: (statement: string, size: number) => void,
    { items = LIMITS.batchItems, inFlight = LIMITS.batchesInFlight }: PaymentStoreOptions,
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
      onBatch: (size) => onBatch(name, size),
      ...more,
    });

/** Passes on what came of a write, and reports it. A lock that was not free is no outage: its items are written apart. */
export async function reported<Result>(
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
