/** The active rules of an account, prepared once: which of them may match a payment, and what has to be known for that. */
import { type ActiveRule, byPriority, type Exemption } from './actions.ts';
import type { ConditionContext, ListedField } from './conditions.ts';
import type { Facts, RiskFieldName } from './fields.ts';
import { type Measurement, type Velocity, velocityKey } from './velocities.ts';

export interface RuleSet {
  /** In their order. */
  rules: readonly ActiveRule[];
  /** Those that a payment may match, in their order; the others are not evaluated. */
  candidates(facts: Facts): readonly ActiveRule[];
  /** What the conditions compare. */
  fields: ReadonlySet<RiskFieldName>;
  exemptions: ReadonlySet<Exemption>;
  /** What has to be measured and looked up, each once. */
  measurements: readonly Measurement[];
  lists: readonly ListedField[];
  /** What the conditions are evaluated on, from what was found, in the order of the measurements and lists. */
  context(facts: Facts, measured: readonly Measured[], listed: readonly boolean[]): ConditionContext;
}

type Measured = number | bigint | undefined;

/** The first of all that have the same key, in their order, and the position of each one among them. */
function eachOnce<One, Part>(all: readonly One[], keyOf: (one: One) => string, partOf: (one: One) => Part) {
  const positions = new Map<string, number>();
  const kept: One[] = [];
  const positionOf = new Map<Part, number>();
  for (const one of all) {
    const key = keyOf(one);
    const position = positions.get(key) ?? kept.push(one) - 1;
    positions.set(key, position);
    positionOf.set(partOf(one), position);
  }
  return { kept, positionOf };
}

export function ruleSetOf(unordered: readonly ActiveRule[]): RuleSet {
  const rules = unordered.toSorted(byPriority);
  const measurements = eachOnce<Measurement, Velocity>(
    rules.flatMap(({ condition, isOfInstallation }) =>
      condition.velocities.map((velocity) => ({ velocity, isOfInstallation })),
    ),
    ({ velocity, isOfInstallation }) => `${isOfInstallation} ${velocityKey(velocity)}`,
    ({ velocity }) => velocity,
  );
  const lists = eachOnce<ListedField, ListedField>(
    rules.flatMap(({ condition }) => condition.lists),
    ({ listId, field }) => `${listId} ${field}`,
    (listed) => listed,
  );
  return {
    rules,
    candidates: finderOf(rules),
    fields: new Set(rules.flatMap(({ condition }) => [...condition.fields])),
    exemptions: new Set(rules.flatMap(({ action }) => (action.kind === 'exempt' ? action.reason : []))),
    measurements: measurements.kept,
    lists: lists.kept,
    context: (facts, measured, listed) => ({
      facts,
      measured: (velocity) => measured[measurements.positionOf.get(velocity) as number],
      isListed: (one) => listed[lists.positionOf.get(one) as number] === true,
    }),
  };
}

/** Finds rules by the guards of their conditions; those without one are always found. */
function finderOf(rules: readonly ActiveRule[]): RuleSet['candidates'] {
  const always: number[] = [];
  const byText = new Map<RiskFieldName, Map<string, number[]>>();
  const byAmount = new Map<string, { least: bigint; position: number }[]>();
  const add = <Key, Value>(map: Map<Key, Value[]>, key: Key, value: Value): void => {
    const list = map.get(key);
    if (list) list.push(value);
    else map.set(key, [value]);
  };
  rules.forEach(({ condition: { guard } }, position) => {
    if (!guard) always.push(position);
    else if ('currency' in guard) add(byAmount, guard.currency, { least: guard.least, position });
    else {
      const texts = byText.get(guard.field) ?? new Map<string, number[]>();
      byText.set(guard.field, texts);
      for (const text of new Set(guard.texts)) add(texts, text, position);
    }
  });
  for (const list of byAmount.values()) list.sort((one, other) => (one.least < other.least ? -1 : 1));
  return (facts) => {
    const found = [...always];
    for (const [field, texts] of byText) found.push(...(texts.get(facts[field] as string) ?? []));
    for (const { least, position } of byAmount.get(facts.currency ?? '') ?? []) {
      if (least > (facts.amount as bigint)) break;
      found.push(position);
    }
    return found.sort((one, other) => one - other).map((position) => rules[position] as ActiveRule);
  };
}
