/** Whether the database takes payments at the moment, proved on the connection that payments are written on. */
import { randomBytes } from 'node:crypto';
import { within } from '../lib/faults.ts';
import { LIMITS } from '../rules/limits.ts';
import type { Database } from './database.ts';

export interface WriteProbe {
  /** Payments were written, or could not be because of an outage. */
  report(outcome: 'written' | 'outage'): void;
  /** Fails when payments could not be written, or when that cannot be found out in time. */
  prove(): Promise<void>;
}

/** A value that does not fit beside its row and cannot be compressed: it needs room, where an update may find some. */
const WRITE_A_VALUE = `
  insert into installation (name, value) values ('writable', $1)
  on conflict (name) do update set value = excluded.value`;
const VALUE_BYTES = 8 * 1024;

/** Writes a copy of the newest payment and undoes it: what keeps payments from being written fails here too. */
const TRY_A_PAYMENT = `
  do $$ begin
    insert into payments select (jsonb_populate_record(p, jsonb_build_object(
      'payment_id', gen_random_uuid(), 'order_id', gen_random_uuid()))).*
    from payments p order by payment_id desc limit 1;
    raise exception sqlstate 'TP001';
  exception when sqlstate 'TP001' then null;
  end $$`;

export function createWriteProbe({ writes }: Pick<Database, 'writes'>): WriteProbe {
  let outages = 0;
  /** Up to which one it is known that payments could be written afterwards. */
  let overcome = 0;
  let isRunning = false;
  let last: { startedAt: number; outages: number; result: Promise<void> } | undefined;

  async function probe(): Promise<void> {
    const seen = outages;
    await writes.query({ name: 'probe_value', text: WRITE_A_VALUE, values: [randomBytes(VALUE_BYTES)] });
    if (overcome === seen) return;
    await writes.query({ name: 'probe_payment', text: TRY_A_PAYMENT, values: [] });
    overcome = Math.max(overcome, seen);
  }

  return {
    report(outcome) {
      if (outcome === 'outage') outages++;
      else overcome = outages;
    },
    prove() {
      const now = performance.now();
      const isKnown = last && (isRunning || (last.outages === outages && now - last.startedAt < LIMITS.probeKeptMs));
      if (!last || !isKnown) {
        isRunning = true;
        const result = probe().finally(() => {
          isRunning = false;
        });
        last = { startedAt: now, outages, result };
      }
      return within(LIMITS.probeTimeoutMs, last.result);
    },
  };
}
