/** What is owed to merchants: how much of it from which day on, when it is cut next, and why it would not be paid. */
import { LEDGER_ACCOUNTS } from '../../rules/ledger.ts';
import { availableToday } from '../../rules/settlement-calendar.ts';
import type { CycleState } from '../../store/settlements/settlements.ts';
import type { Gateway } from '../context.ts';
import type { Principal } from '../operators/principal.ts';

export interface Owed {
  mid: string;
  currency: string;
  available: bigint;
  pending: bigint;
  total: bigint;
  /** The parts of `pending`, in the order of their days. */
  becoming: { day: string; amount: bigint }[];
  cycle: CycleState | undefined;
}

export interface OwedToMerchants {
  today: string;
  isComplete: boolean;
  /** The largest amounts first. */
  items: Owed[];
}

const [BEFORE, AFTER] = LEDGER_ACCOUNTS.balance.name.split('{mid}').map(({ length }) => length) as [number, number];

/** Each balance of the accounts that the caller sees, by the clock of the installation. */
export async function owedToMerchants(gateway: Gateway, { mids }: Pick<Principal, 'mids'>): Promise<OwedToMerchants> {
  const today = availableToday(gateway.clock.now(), []);
  const [{ rows, isComplete }, cycles] = await Promise.all([
    gateway.ledger.owed(mids, today),
    gateway.settlements.cycles(mids),
  ]);
  const cycleOf = new Map(cycles.map((cycle) => [`${cycle.mid} ${cycle.currency}`, cycle]));
  const items = [...Map.groupBy(rows, ({ account, currency }) => `${account.slice(BEFORE, -AFTER)} ${currency}`)].map(
    ([key, parts]): Owed => {
      const [mid = '', currency = ''] = key.split(' ');
      // The balances of merchants have their normal side at the credit.
      const sum = (some: typeof parts): bigint => some.reduce((total, { amount }) => total - amount, 0n);
      const later = parts.filter(({ availableOn, amount }) => availableOn > today && amount !== 0n);
      return {
        mid,
        currency,
        available: sum(parts.filter(({ availableOn }) => availableOn <= today)),
        pending: sum(later),
        total: sum(parts),
        becoming: later
          .map(({ availableOn, amount }) => ({ day: availableOn, amount: -amount }))
          .sort((a, b) => (a.day < b.day ? -1 : 1)),
        cycle: cycleOf.get(key),
      };
    },
  );
  const isOwed = ({ available, pending }: Owed): boolean => available !== 0n || pending !== 0n;
  return { today, isComplete, items: items.filter(isOwed).sort((a, b) => Number(b.total - a.total)) };
}
