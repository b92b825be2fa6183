/** Price plans as the admin API shows them, and the CSV of their list and of the lines of one plan. */

import { amountText } from '../../lib/money/money.ts';
import { csvRows } from '../../lib/text/csv.ts';
import { wireDate } from '../../lib/time/clock.ts';
import { exponentOf } from '../../rules/currencies.ts';
import { lineView, type PriceWarning } from '../../rules/price-plans.ts';
import type { ListedPlan, PlanAssignment, PricePlan, StoredVersion } from '../prices/prices.ts';

export const planView = ({ planId, name, side, createdAt }: PricePlan) => ({
  plan_id: planId,
  name,
  side,
  created_at: wireDate(createdAt),
});

export const listedPlanView = ({ versions, assigned, ...plan }: ListedPlan) => ({
  ...planView(plan),
  version_count: versions,
  assigned_count: assigned,
});

export const versionView = ({ version, validFrom, refundPolicy, taxPercent, lines, createdAt }: StoredVersion) => ({
  version,
  valid_from: wireDate(validFrom),
  refund_policy: refundPolicy,
  tax_percent: taxPercent,
  lines: lines.map(lineView),
  created_at: wireDate(createdAt),
});

/** A warning as a sentence: which line prices which sale above its amount. */
export function warningText({ line, amount, cost, currency }: PriceWarning): string {
  const shown = (minor: bigint): string => amountText(minor, exponentOf(currency ?? ''));
  const sale = currency === null ? shown(amount) : `${shown(amount)} ${currency}`;
  return `lines[${line}]: A sale of ${sale} costs ${shown(cost)} with tax, which is more than its amount.`;
}

export const assignmentView = (assignments: readonly PlanAssignment[]) => ({
  plan_id: assignments[0]?.planId ?? null,
  assigned_at: assignments[0] ? wireDate(assignments[0].assignedAt) : null,
  history: assignments.map(({ planId, name, assignedAt }) => ({
    plan_id: planId,
    name,
    assigned_at: wireDate(assignedAt),
  })),
});

const PLAN_COLUMNS = ['plan_id', 'name', 'side', 'version_count', 'assigned_count', 'created_at'] as const;

export const plansCsv = (plans: readonly ListedPlan[]): string =>
  csvRows([PLAN_COLUMNS, ...plans.map(listedPlanView).map((view) => PLAN_COLUMNS.map((column) => view[column]))]);

const LINE_COLUMNS = [
  ...['event', 'brands', 'networks', 'currencies', 'connectors', 'min_amount', 'max_amount'],
  ...['percent', 'fixed', 'minimum', 'maximum'],
] as (keyof ReturnType<typeof lineView>)[];

/** One row for each line of each version; lists have spaces between their values. */
export const linesCsv = (versions: readonly StoredVersion[]): string =>
  csvRows([
    ['version', 'valid_from', 'refund_policy', 'tax_percent', 'line', ...LINE_COLUMNS],
    ...versions.flatMap((version) => {
      const { version: number, valid_from, refund_policy, tax_percent, lines } = versionView(version);
      return lines.map((line, index) => [
        ...[number, valid_from, refund_policy, tax_percent, index],
        ...LINE_COLUMNS.map((column) => [line[column] ?? ''].flat().join(' ')),
      ]);
    }),
  ]);
