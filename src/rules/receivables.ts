/** What a provider still owes, by age: what it paid or deducted settles the oldest amounts first. */

/** The ages in days up to which amounts are summed; the last sum is of older ones. */
export const AGE_LIMITS = [7, 30, 60, 90] as const;

/** The sums of a ledger account on a day, such as `2026-11-15`. */
export interface DaySum {
  day: string;
  debit: bigint;
  credit: bigint;
}

const DAY_MS = 86_400_000;

/**
 * What is left of the debits, summed for each of `AGE_LIMITS` and beyond. If credits exceed debits, the first sum is
 * negative: the provider has paid or deducted too much.
 */
export function agesOf(sums: readonly DaySum[], today: string): bigint[] {
  const ages = Array.from({ length: AGE_LIMITS.length + 1 }, () => 0n);
  let paid = sums.reduce((sum, { credit }) => sum + credit, 0n);
  for (const { day, debit } of sums.toSorted((a, b) => (a.day < b.day ? -1 : 1))) {
    const left = debit > paid ? debit - paid : 0n;
    paid -= debit - left;
    const age = (Date.parse(today) - Date.parse(day)) / DAY_MS;
    const place = AGE_LIMITS.findIndex((limit) => age <= limit);
    const index = place === -1 ? AGE_LIMITS.length : place;
    ages[index] = (ages[index] as bigint) + left;
  }
  ages[0] = (ages[0] as bigint) - paid;
  return ages;
}
