/** Compares what providers owe by the ledger with their statements and with what arrived at the bank. */
import { availableAfter } from '../../rules/ledger.ts';
import { LIMITS } from '../../rules/limits.ts';
import {
  isException,
  PROVIDER_DAYS,
  PROVIDER_DAYS_MOST,
  type ProviderDay,
  type ThreeWayDay,
  type ThreeWayState,
  threeWay,
} from '../../rules/three-way.ts';
import type { ProviderTerms, SideSum } from '../../store/reconciliations/three-way.ts';
import type { Gateway } from '../context.ts';
import { invalid, readWholeNumber } from '../ledger/input.ts';
import { auditEntry, type Caller } from '../operators/principal.ts';

export type { ProviderTerms } from '../../store/reconciliations/three-way.ts';

/** A day of a provider and currency; without a day, it is what was paid beyond all of them. */
export interface ThreeWayRow extends Omit<ThreeWayDay, 'day' | 'dueOn'> {
  connector: string;
  currency: string;
  day: string | null;
  dueOn: string | null;
}

export interface ThreeWayFilter {
  connector?: string | undefined;
  currency?: string | undefined;
  state?: ThreeWayState | undefined;
  /** The first day of those that are no exception. */
  from?: string | undefined;
}

const keyOf = ({ connector, currency }: { connector: string; currency: string }): string => `${connector} ${currency}`;

/** What is owed for each day, without what was paid for it. */
function daysOf(
  ledger: readonly SideSum[],
  payments: readonly SideSum[],
  statements: readonly SideSum[],
): ProviderDay[] {
  const days = new Map<string, ProviderDay>();
  const add = ({ day, amount }: SideSum, side: 'ours' | 'statement'): void => {
    const one = days.get(day) ?? { day, ours: 0n, statement: null };
    days.set(day, { ...one, [side]: (one[side] ?? 0n) + amount });
  };
  // The ledger has deducted payments on the day on which they were recorded.
  for (const sum of [...ledger, ...payments]) add(sum, 'ours');
  for (const sum of statements) add(sum, 'statement');
  return [...days.values()].filter(({ ours, statement }) => ours !== 0n || statement !== null);
}

/** All exceptions, and the other days from one on; newest first. */
export async function compareThreeWays(
  gateway: Gateway,
  filter: ThreeWayFilter,
): Promise<{ rows: ThreeWayRow[]; isComplete: boolean }> {
  const today = availableAfter(gateway.clock.now());
  const { rows: ledger, isComplete } = await gateway.ledger.receivables();
  const [statements, payments, terms] = await Promise.all([
    gateway.threeWay.statements(),
    gateway.threeWay.payments(),
    gateway.threeWay.terms(),
  ]);
  const ours = ledger.map(({ account, currency, day, debit, credit }): SideSum => {
    const [, connector = ''] = account.split(':');
    return { connector, currency, day, amount: debit - credit };
  });
  const keys = [...new Set([...ours, ...statements, ...payments].map(keyOf))].sort();
  const { from = availableAfter(gateway.clock.now() - 31 * LIMITS.dayMs) } = filter;
  const rows = keys.flatMap((key) => {
    const [connector = '', currency = ''] = key.split(' ');
    const own = (sums: readonly SideSum[]): SideSum[] => sums.filter((sum) => keyOf(sum) === key);
    const paid = own(payments).reduce((sum, { amount }) => sum + amount, 0n);
    const dueDays = terms.find((one) => one.connector === connector)?.days ?? PROVIDER_DAYS;
    const compared = threeWay(daysOf(own(ours), own(payments), own(statements)), paid, { today, dueDays });
    const rest = { day: null, dueOn: null, ours: 0n, statement: null, state: 'unassigned' } as const;
    const all: Omit<ThreeWayRow, 'connector' | 'currency'>[] = [
      ...(compared.unassigned > 0n ? [{ ...rest, bank: compared.unassigned }] : []),
      ...compared.days.toReversed(),
    ];
    return all.map((row) => ({ connector, currency, ...row }));
  });
  const isWanted = (row: ThreeWayRow): boolean =>
    (filter.connector === undefined || row.connector === filter.connector) &&
    (filter.currency === undefined || row.currency === filter.currency) &&
    (filter.state === undefined || row.state === filter.state) &&
    (isException(row.state) || row.day === null || row.day >= from);
  return { rows: rows.filter(isWanted), isComplete };
}

/** How long each provider takes to pay, where it was set. */
export const listProviderTerms = (gateway: Gateway): Promise<ProviderTerms[]> => gateway.threeWay.terms();

/** Sets after how many days a provider pays. */
export async function setProviderTerms(
  gateway: Gateway,
  by: Caller,
  input: { connector: unknown; days: unknown },
): Promise<ProviderTerms> {
  const { connector } = input;
  if (typeof connector !== 'string' || !/^[a-z0-9][\w-]{0,63}$/.test(connector))
    throw invalid('connector', 'The connector of payments, as they are listed, such as stripe.');
  const days = readWholeNumber(input.days, 'days', 0, PROVIDER_DAYS_MOST);
  const terms = { connector, days, changedAt: gateway.clock.now() };
  const after = { connector, days };
  await gateway.threeWay.setTerms(terms, auditEntry(gateway, by, 'reconciliations.set_terms', { after }));
  return terms;
}
