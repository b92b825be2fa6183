/** Settlements as rows of the database. */
import type { SettlementLine, SettlementState, Withheld } from '../../rules/settlements.ts';
import { iso, isoOrNull } from '../database/columns.ts';
import type { Database } from '../database/database.ts';
import { writeMessages } from './messages.ts';

export interface Settlement {
  settlementId: string;
  mid: string;
  currency: string;
  number: number;
  fromAt: number | null;
  untilAt: number;
  opening: bigint;
  closing: bigint;
  payout: bigint;
  lines: SettlementLine[];
  withheld: Withheld[];
  state: SettlementState;
  cutBy: string;
  cutAt: number;
  decidedBy: string | null;
  decidedAt: number | null;
}

type StoredLine = Omit<SettlementLine, 'amount'> & { amount: string };
type StoredWithheld = Omit<Withheld, 'amount'> & { amount: string };
export type SettlementRow = Omit<Settlement, 'lines' | 'withheld'> & {
  lines: StoredLine[];
  withheld: StoredWithheld[];
};

export const settlementOf = ({ lines, withheld, ...row }: SettlementRow): Settlement => ({
  ...row,
  lines: lines.map((line) => ({ ...line, amount: BigInt(line.amount) })),
  withheld: withheld.map((one) => ({ ...one, amount: BigInt(one.amount) })),
});

/** JSON has no whole numbers of this size. */
const stored = (items: readonly { amount: bigint }[]): string =>
  JSON.stringify(items.map((item) => ({ ...item, amount: String(item.amount) })));

export const rowOf = ({ lines, withheld, fromAt, untilAt, cutAt, decidedAt, ...rest }: Settlement) => ({
  ...rest,
  lines: stored(lines),
  withheld: stored(withheld),
  fromAt: isoOrNull(fromAt),
  untilAt: iso(untilAt),
  cutAt: iso(cutAt),
  decidedAt: isoOrNull(decidedAt),
});

/** Tells merchants of the states of their settlements, each at the time when it entered the state. */
export const tell = (transaction: Database['query'], settlements: readonly Settlement[]): Promise<void> =>
  writeMessages(
    transaction,
    settlements.map(({ mid, currency, settlementId, state, cutAt, decidedAt }) => ({
      ...{ mid, type: 'settlement', status: state, currency, settlementId, transferId: null, detail: null },
      at: decidedAt ?? cutAt,
    })),
  );
