/** A write whose response was lost with its connection: finds out, by its key, whether it is committed. */
import { setTimeout as pause } from 'node:timers/promises';
import { isOutage, within } from '../../lib/flow/faults.ts';
import { LIMITS } from '../../rules/limits.ts';
import type { OpenItem, TransitionItem } from '../payments/write.ts';
import { iso } from './columns.ts';
import { type PipelinedConnection, run } from './pipelined-connection.ts';

/**
 * The lock on the row is itself written to the log, so the commit of this statement waits for the synchronous standby:
 * what it found is replicated when it returns.
 */
const FIND_OPENED = `
  select p.payment_id from payments p where p.mid = $1 and p.payment_id = $2 for no key update`;

const FIND_TRANSITION = `
  select p.payment_id
  from payments p
  join history h on h.mid = p.mid and h.payment_id = p.payment_id and h.seq = $3
  where p.mid = $1 and p.payment_id = $2 and h.event = $4 and h.actor = $5 and h.at = $6
    and ($7::uuid is null or exists (
      select from operations o where o.mid = p.mid and o.operation_id = $7 and o.payment_id = p.payment_id
    ))
  for no key update of p`;

function lookup(item: OpenItem | TransitionItem): [name: string, text: string, values: unknown[]] {
  if ('payment' in item) return ['find_opened', FIND_OPENED, [item.payment.mid, item.payment.paymentId]];
  const { before, after, event, actor, operation } = item.transition;
  const values = [after.historyLength, event, actor, iso(after.updatedAt), operation?.operationId ?? null];
  return ['find_transition', FIND_TRANSITION, [before.mid, before.paymentId, ...values]];
}

/**
 * Whether the item is committed and replicated. False means that it is not known: a statement that is still running may
 * commit it later, or the database does not answer in time.
 */
export async function isCommitted(connection: PipelinedConnection, item: OpenItem | TransitionItem): Promise<boolean> {
  const end = performance.now() + LIMITS.lostWriteTimeoutMs;
  for (let left = end - performance.now(); left > 0; left = end - performance.now()) {
    try {
      return (await within(left, run(connection, ...lookup(item)))).length > 0;
    } catch (error) {
      if (!isOutage(error)) throw error;
      await pause(LIMITS.lostWritePauseMs);
    }
  }
  return false;
}
