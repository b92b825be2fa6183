/** Statements of a merchant's balance: of a settlement, and of a month. Their rows are read in portions. */
import { Refusal } from '../../rules/errors.ts';
import { LIMITS } from '../../rules/limits.ts';
import type { MonthSum, StatementEntry } from '../../store/settlements/statements.ts';
import { displayName, findAccount } from '../accounts/accounts.ts';
import { requireAccount } from '../accounts/require-account.ts';
import type { Gateway } from '../context.ts';
import { withCompleteLedger } from '../ledger/fold.ts';
import { invalid, readCurrency } from '../ledger/input.ts';
import type { Principal } from '../operators/principal.ts';
import { findSettlement, type Settlement } from './settlements.ts';

/** `gross`, `fee` and `tax` give `net`; `balance` is the balance after the entry. */
export interface StatementRow extends StatementEntry {
  gross: bigint;
  balance: bigint;
}

export interface Statement {
  mid: string;
  /** Of the account. */
  name: string;
  currency: string;
  /** Null: from the beginning. */
  from: number | null;
  until: number;
  opening: bigint;
  closing: bigint;
  settlement: Settlement | undefined;
  /** Such as `2026-11`; undefined for a settlement. */
  month: string | undefined;
  /** The rows in portions, oldest first; read once. */
  portions: AsyncIterable<StatementRow[]>;
}

/** A month with its balances. */
export interface StatementMonth extends MonthSum {
  opening: bigint;
  closing: bigint;
}

type Read = (limit: number, last?: StatementEntry) => Promise<StatementEntry[]>;

/** What a statement lacks is worse than a statement that breaks off: `closing` is checked if it cannot have changed. */
async function* portionsOf(
  first: StatementEntry[],
  read: Read,
  opening: bigint,
  closing: bigint | undefined,
): AsyncGenerator<StatementRow[], void> {
  let balance = opening;
  for (let entries = first; entries.length > 0; ) {
    yield entries.map((entry) => {
      balance += entry.net;
      return { ...entry, gross: entry.net - entry.fee - entry.tax, balance };
    });
    if (entries.length < LIMITS.exportPortion) break;
    entries = await read(LIMITS.exportPortion, entries.at(-1));
  }
  if (closing !== undefined && balance !== closing)
    throw new Error('The entries of the statement do not give its closing balance.');
}

/** The result of a read from the ledger that contains everything that is committed now. */
const fromLedger = <Result>(gateway: Gateway, read: () => Promise<Result>): Promise<Result> =>
  withCompleteLedger(gateway, async (historyNumber) =>
    (await gateway.statements.isComplete(historyNumber)) ? read() : undefined,
  );

/** The statement of a settlement. A void one has no entries. */
export async function settlementStatement(gateway: Gateway, principal: Principal, id: string): Promise<Statement> {
  const settlement = await findSettlement(gateway, principal, id);
  const { settlementId, mid, currency, fromAt, untilAt, opening, closing, state } = settlement;
  if (state === 'void') throw new Refusal('settlementVoid');
  const read: Read = (limit, last) => gateway.statements.ofSettlement(settlementId, limit, last);
  const first = await fromLedger(gateway, () => read(LIMITS.exportPortion));
  const account = await findAccount(gateway, mid);
  return {
    ...{ mid, currency, opening, closing, settlement },
    name: account ? displayName(account) : mid,
    from: fromAt,
    until: untilAt,
    month: undefined,
    portions: portionsOf(first, read, opening, closing),
  };
}

/** The months of an account with entries, newest first. */
export async function listStatements(gateway: Gateway, mid: string): Promise<StatementMonth[]> {
  const sums = await fromLedger(gateway, () => gateway.statements.months(mid));
  const balances = new Map<string, bigint>();
  const months = sums.map((sum) => {
    const opening = balances.get(sum.currency) ?? 0n;
    const closing = opening + sum.credits - sum.debits;
    balances.set(sum.currency, closing);
    return { ...sum, opening, closing };
  });
  return months.reverse();
}

/** The period of a month in UTC; undefined for a text that is none. */
function periodOf(month: string): { from: number; to: number } | undefined {
  const [, year = '', number = ''] = /^(\d{4})-(0[1-9]|1[0-2])$/.exec(month) ?? [];
  if (year === '') return undefined;
  return { from: Date.UTC(Number(year), Number(number) - 1), to: Date.UTC(Number(year), Number(number)) };
}

/** The statement of a month; that of the present one contains what was posted until now. */
export async function monthStatement(
  gateway: Gateway,
  principal: Principal,
  input: { mid: string; month: string; currency: unknown },
): Promise<Statement> {
  const account = await requireAccount(gateway, principal, input.mid);
  const { mid } = account;
  const period = periodOf(input.month);
  if (!period || period.from > gateway.clock.now(mid))
    throw invalid('month', 'A month that has begun, such as 2026-11.');
  const currency = readCurrency(input.currency);
  const months = await listStatements(gateway, mid);
  const own = months.filter((one) => one.currency === currency && one.month <= input.month);
  const opening = own.find(({ month }) => month < input.month)?.closing ?? 0n;
  const read: Read = (limit, last) => gateway.statements.ofPeriod({ mid, currency }, period, limit, last);
  return {
    ...{ mid, currency, opening, month: input.month, settlement: undefined },
    name: displayName(account),
    from: period.from,
    until: period.to,
    closing: own[0]?.closing ?? 0n,
    portions: portionsOf(await read(LIMITS.exportPortion), read, opening, undefined),
  };
}
