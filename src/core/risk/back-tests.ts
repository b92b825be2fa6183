/** Back-tests: what a risk rule would have done to earlier payments, in the background and before a rule is switched on. */
import { firstIdAt, isUuid, newId } from '../../lib/crypto/id.ts';
import { rangesAround } from '../../lib/http/address.ts';
import { amountText } from '../../lib/money/money.ts';
import { exponentOf } from '../../rules/currencies.ts';
import { UNCOUNTED_CLASS } from '../../rules/declines.ts';
import { invalidField, Refusal } from '../../rules/errors.ts';
import { LIMITS } from '../../rules/limits.ts';
import { RISK_REASONS, UNCOUNTED_DECLINES } from '../../rules/reasons.ts';
import { type Condition, readCondition } from '../../rules/risk/conditions.ts';
import { type Facts, isRiskField } from '../../rules/risk/fields.ts';
import { ruleSetOf } from '../../rules/risk/rule-set.ts';
import type { KeyField, Velocity } from '../../rules/risk/velocities.ts';
import type { BackTest, BackTestResult, PastPayment, PastQuery } from '../../store/risk/back-tests.ts';
import type { Evaluation } from '../../store/risk/findings.ts';
import type { RuleTerms } from '../../store/risk/rules.ts';
import type { Keys } from '../../store/risk/velocities.ts';
import { findAccount } from '../accounts/accounts.ts';
import type { Gateway } from '../context.ts';
import { auditEntry, type Caller, type Principal, sees } from '../operators/principal.ts';
import { factsOfPayment, inputOf, keysOf, lookupsOf, withFindings } from './facts.ts';
import { seesOwner } from './lists.ts';

/** What velocities count of a payment. */
interface Counted {
  at: number;
  mid: string;
  amount: bigint;
  currency: string;
  keys: Keys;
  values: Record<string, unknown>;
  isDeclined: boolean;
  isSettled: boolean;
}

const countedOf = (payment: PastPayment, facts: Facts, keys: Keys): Counted => ({
  at: payment.createdAt,
  mid: payment.mid,
  amount: payment.amount,
  currency: payment.currency,
  keys,
  values: inputOf(facts),
  isDeclined:
    payment.state === 'DECLINED' &&
    !payment.isBlocked &&
    !UNCOUNTED_DECLINES.includes(payment.declineReason ?? '') &&
    payment.providerData?.decline?.class !== UNCOUNTED_CLASS,
  isSettled: payment.captured > 0n,
});

/** The payments of the longest window, by the key of each velocity. */
function createWindows(velocities: readonly Velocity[], isOfInstallation: boolean) {
  const windows = velocities.map((velocity) => ({ velocity, byKey: new Map<string, Counted[]>() }));
  const keyOf = ({ by }: Velocity, { keys, mid }: Counted): string | undefined => {
    const parts = by.map((field) => keys[field]);
    return parts.includes(undefined) ? undefined : [isOfInstallation ? '' : mid, ...parts].join(' ');
  };
  const isOutcome = ({ outcome }: Velocity, one: Counted): boolean =>
    outcome === 'attempted' || (outcome === 'declined' ? one.isDeclined : one.isSettled);
  return {
    add(one: Counted): void {
      for (const { velocity, byKey } of windows) {
        const key = keyOf(velocity, one);
        if (key === undefined) continue;
        const list = byKey.get(key) ?? [];
        list.push(one);
        byKey.set(key, list);
      }
    },
    /** In the order of the velocities. */
    measure(current: Counted): (number | bigint | undefined)[] {
      return windows.map(({ velocity, byKey }) => {
        const key = keyOf(velocity, current);
        if (key === undefined) return undefined;
        const inWindow = (byKey.get(key) ?? []).filter((one) => one.at > current.at - velocity.withinMs);
        byKey.set(key, inWindow);
        return totalOf(
          velocity,
          inWindow.filter((one) => isOutcome(velocity, one)),
        );
      });
    },
  };
}

function totalOf({ measure, currency, of }: Velocity, payments: readonly Counted[]): number | bigint {
  if (measure === 'count') return payments.length;
  if (measure === 'amount')
    return payments.filter((one) => one.currency === currency).reduce((sum, { amount }) => sum + amount, 0n);
  const values = payments.map(({ keys, values: known }) => keys[of as KeyField] ?? known[of as string]);
  return new Set(values.filter((value) => value !== undefined)).size;
}

type TestedRule = BackTest['rule'];

const EMPTY: BackTestResult = { seen: 0, hits: 0, amounts: {}, settled: 0, refunded: 0, chargedBack: 0 };

/** Payments that no rule could have stopped: those that had no brand, or that a volume limit declined. */
const isRelevant = ({ declineReason }: PastPayment): boolean => declineReason !== RISK_REASONS.overLimit;

/** The facts and keys of a payment: those that the rules knew when it was made, else what is stored of it. */
function recalled(gateway: Gateway, payment: PastPayment): { facts: Facts; keys: Keys } {
  const { amount, createdAt, input, keys: known } = payment;
  const facts: Facts = {
    ...factsOfPayment(gateway, payment, {}),
    hour: new Date(createdAt).getUTCHours(),
    ...Object.fromEntries(Object.entries(input ?? {}).filter(([name]) => isRiskField(name))),
    amount,
    ...(known.card !== undefined && { card: known.card }),
  };
  const stored = keysOf(gateway, facts);
  // The payer's browser had another address than the merchant sent, and only its key is stored.
  if (known.ip !== undefined && known.ip !== stored.ip) delete facts.ip;
  return { facts, keys: { ...stored, ...known } };
}

/** Applies a rule to payments in the order of time, a page after another; those of other accounts only count for velocities. */
function createTester(gateway: Gateway, rule: TestedRule, condition: Condition, mid: string | null, from: number) {
  const isOfInstallation = rule.mid === null;
  const windows = createWindows(condition.velocities, isOfInstallation);
  const set = ruleSetOf([
    {
      ruleId: '',
      version: 0,
      name: rule.name,
      isOfInstallation,
      state: 'on',
      priority: 0,
      action: rule.action,
      condition,
    },
  ]);
  const result: BackTestResult = { ...EMPTY, amounts: {} };
  return {
    result,
    async apply(page: readonly PastPayment[]): Promise<void> {
      const items = page.map((payment) => {
        const { facts, keys } = recalled(gateway, payment);
        const item: Evaluation = {
          mid: payment.mid,
          paymentId: payment.paymentId,
          at: payment.createdAt,
          amount: payment.amount,
          currency: payment.currency,
          brand: payment.brand,
          keys: {},
          values: {},
          measurements: [],
          lookups: lookupsOf(set, facts, []),
          bin: typeof facts.bin === 'string' ? facts.bin : undefined,
          networks: typeof facts.ip === 'string' ? rangesAround(facts.ip) : undefined,
          volumes: [],
        };
        return { payment, facts, keys, item };
      });
      const found = await gateway.riskDecisions.findingsOfAll(items.map(({ item }) => item));
      items.forEach(({ payment, facts, keys }, index) => {
        const findings = found[index];
        if (!findings) return;
        const { isKnownCard, details } = payment;
        const all = withFindings(facts, { ...findings, isKnownCard }, details.recurringOf !== undefined);
        const counted = countedOf(payment, all, keys);
        const isHit = condition.matches(set.context(all, windows.measure(counted), findings.listed));
        windows.add(counted);
        if (payment.createdAt < from || (mid !== null && payment.mid !== mid) || !isRelevant(payment)) return;
        result.seen += 1;
        if (!isHit) return;
        result.hits += 1;
        result.amounts[payment.currency] = String(BigInt(result.amounts[payment.currency] ?? '0') + payment.amount);
        if (payment.captured > 0n) result.settled += 1;
        if (payment.refunded > 0n) result.refunded += 1;
        if (payment.isChargedBack) result.chargedBack += 1;
      });
    },
  };
}

/** In production the ids of payments are in the order of time. */
const queryOf = ({ environment }: Gateway, mid: string | null, from: number, to: number): PastQuery => ({
  mid,
  from,
  to,
  firstId: firstIdAt(environment === 'production' ? from - LIMITS.hourMs : 0),
});

const longestWindow = ({ velocities }: Condition): number => Math.max(0, ...velocities.map(({ withinMs }) => withinMs));

/** Runs a back-test to its end, page by page; another process goes on if this one dies. */
async function run(gateway: Gateway, test: BackTest): Promise<void> {
  const { backTestId, rule, mid, fromAt, toAt } = test;
  const condition = readCondition(rule.condition);
  const tester = createTester(gateway, rule, condition, mid, fromAt);
  // Velocities of the installation count payments of all accounts.
  const readMid = condition.velocities.length > 0 ? rule.mid : mid;
  const query = queryOf(gateway, readMid, fromAt - longestWindow(condition), toAt);
  let after: string | undefined;
  for (;;) {
    const page = await gateway.backTests.past(query, LIMITS.riskBackTestPage, after);
    await tester.apply(page);
    if (page.length < LIMITS.riskBackTestPage) break;
    after = page.at(-1)?.paymentId;
    await gateway.backTests.progress(backTestId, tester.result);
  }
  await gateway.backTests.progress(backTestId, tester.result, { state: 'done', failure: null });
}

/** Runs back-tests that no process works on: a certain one, or all. */
export async function runBackTests(gateway: Gateway, backTestId?: string): Promise<void> {
  for (;;) {
    const test = await gateway.backTests.claim(LIMITS.comparisonTimeoutMs, backTestId);
    if (!test) return;
    await run(gateway, test).catch((error) => {
      gateway.log.error({ err: error, back_test_id: test.backTestId }, 'a back-test failed');
      return gateway.backTests.progress(test.backTestId, EMPTY, { state: 'failed', failure: 'The back-test failed.' });
    });
  }
}

export async function startBackTest(
  gateway: Gateway,
  by: Caller,
  rule: TestedRule,
  mid: string | null,
  from: number,
  to: number,
): Promise<BackTest> {
  if (to <= from) throw invalidField('to', 'This value should be after from.');
  const test: BackTest = {
    ...EMPTY,
    backTestId: newId(),
    mid,
    rule,
    fromAt: from,
    toAt: to,
    state: 'running',
    failure: null,
    createdBy: by.name,
    createdAt: gateway.clock.real(),
  };
  const audit = auditEntry(gateway, by, 'risk.back_test', {
    mid: rule.mid,
    subject: test.backTestId,
    after: { name: rule.name },
  });
  await gateway.backTests.insert(test, audit);
  // The work loop goes on with it if this process dies.
  runBackTests(gateway, test.backTestId).catch((error) =>
    gateway.log.warn({ err: error }, 'a back-test did not start'),
  );
  return test;
}

export async function requireBackTest(
  gateway: Gateway,
  principal: Pick<Principal, 'mids'>,
  backTestId: string,
): Promise<BackTest> {
  const test = isUuid(backTestId) ? await gateway.backTests.find(backTestId.toLowerCase()) : undefined;
  // A test shows the condition of its rule, so that one of a rule of the installation is not for merchants.
  if (!test || !seesOwner(principal, test.rule.mid)) throw new Refusal('noSuchBackTest');
  return test;
}

/** The account whose payments a back-test reads: that of the rule, or a narrower choice of a rule of the installation. */
export function testedAccount(
  principal: Pick<Principal, 'mids'>,
  ruleMid: string | null,
  wanted: unknown,
): string | null {
  if (wanted === undefined || wanted === null) return ruleMid;
  if (typeof wanted !== 'string' || !isUuid(wanted)) throw invalidField('mid', 'This value is not a valid UUID.');
  const mid = wanted.toLowerCase();
  if (!sees(principal, mid)) throw new Refusal('noSuchAccount');
  if (ruleMid !== null && ruleMid !== mid) throw invalidField('mid', 'This is not the account of the rule.');
  return mid;
}

/** What a rule would have done to the newest payments of the last days. */
export async function recentEffect(
  gateway: Gateway,
  rule: Pick<RuleTerms, 'name' | 'condition' | 'action'> & { mid: string | null },
): Promise<BackTestResult> {
  const now = gateway.clock.now(rule.mid ?? undefined);
  const condition = readCondition(rule.condition);
  const tester = createTester(gateway, rule, condition, rule.mid, 0);
  const query = queryOf(gateway, rule.mid, now - LIMITS.riskRecentMs, now + LIMITS.dayMs);
  await tester.apply(await gateway.backTests.newest(query, LIMITS.riskRecentMost));
  return tester.result;
}

/** Whether a rule stops payments by itself; one with points does if they reach a threshold of its account. */
async function stopsAlone(gateway: Gateway, { mid, action }: TestedRule): Promise<boolean> {
  if (action.kind !== 'score') return action.kind === 'block' || action.kind === 'review';
  const account = mid === null ? undefined : await findAccount(gateway, mid);
  const thresholds = [account?.settings['risk.review_score'] ?? 0, account?.settings['risk.block_score'] ?? 0];
  return thresholds.some((threshold) => threshold > 0 && action.points >= threshold);
}

/** Refuses to let a rule decide that would have stopped a large share of the last days, unless that is confirmed. */
export async function requireConfirmed(
  gateway: Gateway,
  rule: RuleTerms & { mid: string | null },
  isConfirmed: boolean,
): Promise<void> {
  if (isConfirmed || rule.state !== 'on' || !(await stopsAlone(gateway, rule))) return;
  const { seen, hits } = await recentEffect(gateway, rule);
  if (seen < LIMITS.riskRecentLeast || hits <= seen * LIMITS.riskConfirmShare) return;
  throw invalidField('confirm', `This rule would have stopped ${hits} of the last ${seen} payments.`, {
    expected: 'true, if that is meant; or the state shadow, to try the rule first.',
  });
}

export const amountsOf = ({ amounts }: BackTestResult): { currency: string; amount: string }[] =>
  Object.entries(amounts)
    .map(([currency, units]) => ({ currency, amount: amountText(BigInt(units), exponentOf(currency)) }))
    .sort((one, other) => (one.currency < other.currency ? -1 : 1));
