/** Batching of the statements of payments and their cards: batch sizes, locked rows, and reports of outages. */
import { type BatchOptions, batch } from '../../lib/flow/batch.ts';
import { isItemFault, isLockTimeout, isOutage } from '../../lib/flow/faults.ts';
import type { WaitGauge } from '../../lib/flow/wait-gauge.ts';
import { LIMITS } from '../../rules/limits.ts';
import type { WriteProbe } from '../database/write-probe.ts';

export interface PaymentStoreOptions {
  /** The most items in one statement. */
  items?: number;
  /** The most statements in flight. */
  inFlight?: number;
  /** The time of the database, by which it decides whether a payment may still be opened. */
  now?: () => number;
  /** Called after each write: it succeeded, or failed because of an outage. */
  onWrite?: WriteProbe['report'];
  /** Called with the number of changes of risk rules, as a payment that is about to be submitted saw it. */
  onRiskVersion?: (version: number) => void;
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

/** Runs an item that waits for a locked row on its own, so that the row delays nothing else. */
export const isolating = <Item, Result>(
  keyOf: (item: Item) => string,
  run: (items: Item[]) => Promise<Result[]>,
): Pick<BatchOptions<Item, Result>, 'isolation'> => ({
  isolation: { isNeeded: isLockTimeout, keyOf, run: async (item) => (await run([item]))[0] as Result },
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
