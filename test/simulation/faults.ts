/** The faults of a run: how likely each kind is, and how many may still happen, so that every run comes to rest. */
import type { Chance } from '../support/chance.ts';

export interface Faults {
  /** Whether a fault of this kind happens now. */
  happens(kind: FaultKind): boolean;
}

export type FaultKind = 'crash' | 'pause' | 'stall' | 'call' | 'outage' | 'miss' | 'notification' | 'receiver';

/** How often each kind happens in a run that has it; crashes and pauses are chosen before each step. */
const RATES: Readonly<Record<FaultKind, readonly number[]>> = {
  crash: [0, 0.002, 0.01, 0.03],
  pause: [0, 0.002, 0.01],
  stall: [0, 0.05, 0.3],
  call: [0, 0.1, 0.3, 0.6],
  outage: [0, 0, 0.3],
  miss: [0, 0.5],
  notification: [0, 0.2, 0.6],
  receiver: [0, 0.2, 0.5],
};

const MOST_FAULTS = 12;

/** Each run has its own mix: a fault that is rare among many others may be needed often to find something. */
export function createFaults(chance: Chance): Faults {
  const rates = Object.fromEntries(Object.entries(RATES).map(([kind, list]) => [kind, chance.of(list)]));
  let left = chance.upTo(MOST_FAULTS + 1) - 1;
  return {
    happens(kind) {
      if (left === 0 || !chance.oneIn(rates[kind] as number)) return false;
      left -= 1;
      return true;
    },
  };
}
