/** The readiness probe: checks on the connection for payment writes that payments can be written. */
import { randomBytes } from 'node:crypto';
import { within } from '../../lib/flow/faults.ts';
import { LIMITS } from '../../rules/limits.ts';
import type { Database } from './database.ts';

export interface WriteProbe {
  /** Records whether a write of payments succeeded or failed because of an outage. */
  report(outcome: 'written' | 'outage'): void;
  /** Fails when payments cannot be written, or when the probe does not finish in time. */
  prove(): Promise<void>;
}

/** An incompressible value that is stored out of line (TOAST): it needs disk space, which a small update may not. */
const WRITE_A_VALUE = `
  insert into installation (name, value) values ('writable', $1)
  on conflict (name) do update set value = excluded.value`;
const VALUE_BYTES = 8 * 1024;

/** Writes a copy of the latest payment and rolls it back, to find any fault that prevents payment writes. */
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
  /** The number of outages after which a write is known to have succeeded. */
  let recovered = 0;
  let isRunning = false;
  let last: { startedAt: number; outages: number; result: Promise<void> } | undefined;

  async function probe(): Promise<void> {
    const outagesAtStart = outages;
    await writes.query({ name: 'probe_value', text: WRITE_A_VALUE, values: [randomBytes(VALUE_BYTES)] });
    if (recovered === outagesAtStart) return;
    await writes.query({ name: 'probe_payment', text: TRY_A_PAYMENT, values: [] });
    recovered = Math.max(recovered, outagesAtStart);
  }

  return {
    report(outcome) {
      if (outcome === 'outage') outages++;
      else recovered = outages;
    },
    prove() {
      const now = performance.now();
      const isReusable = last && (isRunning || (last.outages === outages && now - last.startedAt < LIMITS.probeKeptMs));
      if (!last || !isReusable) {
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
