/** The active risk rules in the memory of this process, compiled, and read again as soon as they have changed. */
import type { MaybePromise } from '../../lib/flow/maybe-promise.ts';
import type { ActiveRule } from '../../rules/risk/actions.ts';
import { readCondition } from '../../rules/risk/conditions.ts';
import { type RuleSet, ruleSetOf } from '../../rules/risk/rule-set.ts';
import type { RiskRule, RiskRuleStore } from '../../store/risk/rules.ts';

export interface RuleBook {
  /**
   * A statement that opened a payment, or took its payer's input, saw that rules have changed so often. The payment is
   * evaluated afterwards, so a rule applies to it if it was committed before the payment.
   */
  saw(version: number): void;
  /** Rules have changed. */
  forget(): void;
  /** The rules of the installation and of an account; rejects if they cannot be read. */
  rulesFor(mid: string): MaybePromise<RuleSet>;
  /** The same, if this process has them; undefined if they have changed since, or cannot be read. */
  current(mid: string): RuleSet | undefined;
}

/** Rules, or why they cannot be read. */
type Compiled = RuleSet | Error;

interface Rules {
  version: number;
  ofInstallation: Compiled;
  /** Those of each account that has own ones, with those of the installation. */
  byAccount: ReadonlyMap<string, Compiled>;
}

export const compileRule = (rule: RiskRule): ActiveRule => ({
  ruleId: rule.ruleId,
  version: rule.version,
  name: rule.name,
  isOfInstallation: rule.mid === null,
  state: rule.state === 'on' ? 'on' : 'shadow',
  priority: rule.priority,
  action: rule.action,
  condition: readCondition(rule.condition),
});

function tryToCompile(rule: RiskRule): ActiveRule | Error {
  try {
    return compileRule(rule);
  } catch (error) {
    return error as Error;
  }
}

/** A rule that cannot be read, such as one of a later version, concerns only the accounts that it applies to. */
const together = (rules: readonly (ActiveRule | Error)[]): Compiled =>
  rules.find((rule) => rule instanceof Error) ?? ruleSetOf(rules as ActiveRule[]);

function compile(version: number, rows: readonly RiskRule[]): Rules {
  const rules = rows.map((row) => ({ mid: row.mid, rule: tryToCompile(row) }));
  const ofInstallation = rules.flatMap(({ mid, rule }) => (mid === null ? rule : []));
  const byAccount = Map.groupBy(
    rules.filter(({ mid }) => mid !== null),
    ({ mid }) => mid as string,
  );
  return {
    version,
    ofInstallation: together(ofInstallation),
    byAccount: new Map(
      [...byAccount].map(([mid, own]) => [mid, together([...ofInstallation, ...own.map(({ rule }) => rule)])]),
    ),
  };
}

export function createRuleBook(store: Pick<RiskRuleStore, 'active'>): RuleBook {
  let known: Rules | undefined;
  let newest = 0;
  let reading: Promise<Rules> | undefined;
  async function read(): Promise<Rules> {
    const { version, rules } = await store.active();
    known = compile(version, rules);
    return known;
  }
  function readShared(): Promise<Rules> {
    reading ??= read().finally(() => {
      reading = undefined;
    });
    return reading;
  }
  const compiledIn = ({ byAccount, ofInstallation }: Rules, mid: string): Compiled =>
    byAccount.get(mid) ?? ofInstallation;
  function rulesIn(rules: Rules, mid: string): MaybePromise<RuleSet> {
    const compiled = compiledIn(rules, mid);
    return compiled instanceof Error ? Promise.reject(compiled) : compiled;
  }
  const hasNewest = (rules: Rules | undefined): rules is Rules => rules !== undefined && rules.version >= newest;
  async function readNewest(mid: string, version: number): Promise<RuleSet> {
    const shared = await readShared();
    if (shared.version >= version) return rulesIn(shared, mid);
    // It had begun before the change.
    const rules = await readShared();
    newest = rules.version;
    return rulesIn(rules, mid);
  }
  return {
    saw(version) {
      if (version > newest) newest = version;
    },
    forget() {
      known = undefined;
    },
    rulesFor(mid) {
      return hasNewest(known) ? rulesIn(known, mid) : readNewest(mid, newest);
    },
    current(mid) {
      const rules = hasNewest(known) ? compiledIn(known, mid) : undefined;
      return rules instanceof Error ? undefined : rules;
    },
  };
}
