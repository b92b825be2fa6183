/** Risk rules: creates, changes and deletes them, and tries them on a payment that is only described. */
import { isDeepStrictEqual } from 'node:util';
import { FIRST_ID, isUuid, newId } from '../../lib/crypto/id.ts';
import { canonicalAddress } from '../../lib/http/address.ts';
import { isObject } from '../../lib/text/json.ts';
import { CARD } from '../../rules/brands.ts';
import { CURRENCIES } from '../../rules/currencies.ts';
import { invalidField, Refusal } from '../../rules/errors.ts';
import { LIMITS } from '../../rules/limits.ts';
import {
  DEFAULT_PRIORITY,
  type Decided,
  PRIORITY_MOST,
  RULE_STATES,
  type RuleState,
  readAction,
} from '../../rules/risk/actions.ts';
import { type Condition, readCondition, readUnits } from '../../rules/risk/conditions.ts';
import { type Facts, isRiskField, RISK_FIELD_NAMES, riskField } from '../../rules/risk/fields.ts';
import { ruleSetOf } from '../../rules/risk/rule-set.ts';
import type { Evaluation } from '../../store/risk/findings.ts';
import type { RiskRule, RuleTerms } from '../../store/risk/rules.ts';
import { expectedConnector } from '../connections/route.ts';
import type { Account, Gateway } from '../context.ts';
import { auditEntry, type Caller, type Principal, sees } from '../operators/principal.ts';
import { compileRule } from './book.ts';
import { dataFor, decideBy, fraudRateOf } from './evaluate.ts';
import { defined, keysOf, lookupsOf, withFindings } from './facts.ts';
import { readName, requireOwner, seesOwner } from './lists.ts';

type Viewer = Pick<Principal, 'mids'>;

/** The members of a rule as they were sent. */
export type SentRule = Partial<Record<keyof RuleTerms, unknown>>;

function readState(value: unknown): RuleState {
  const state = RULE_STATES.find((one) => one === value);
  if (state === undefined)
    throw invalidField('state', 'The value you selected is not a valid choice.', {
      expected: `One of ${RULE_STATES.join(', ')}.`,
    });
  return state;
}

function readPriority(value: unknown): number {
  if (Number.isInteger(value) && (value as number) >= 0 && (value as number) <= PRIORITY_MOST) return value as number;
  throw invalidField('priority', 'This value is not valid.', {
    expected: `A whole number from 0 to ${PRIORITY_MOST}.`,
  });
}

const READERS: { [Name in keyof RuleTerms]: (value: unknown) => RuleTerms[Name] } = {
  name: readName,
  condition: (value) => {
    readCondition(value);
    return value;
  },
  action: readAction,
  state: readState,
  priority: readPriority,
};

/** Reads the members that were sent, and refuses the first that is not valid. */
const readTerms = (sent: SentRule): Partial<RuleTerms> =>
  Object.fromEntries(
    (Object.keys(READERS) as (keyof RuleTerms)[])
      .filter((name) => sent[name] !== undefined)
      .map((name) => [name, READERS[name](sent[name])]),
  );

/** Refuses a rule that compares a field with a list of another kind, or with one that its owner may not use. */
export async function requireLists(
  gateway: Gateway,
  principal: Viewer,
  mid: string | null,
  { lists }: Condition,
): Promise<void> {
  const found = await gateway.riskLists.findAll([...new Set(lists.map(({ listId }) => listId))]);
  for (const { listId, field, path } of lists) {
    const list = found.find((one) => one.listId === listId);
    const isUsable = list && (list.mid === mid || (list.mid === null && seesOwner(principal, null)));
    if (!isUsable)
      throw invalidField(path, 'This list does not exist.', { expected: 'The list_id of a list of the same owner.' });
    if (riskField(field).list !== list.kind)
      throw invalidField(
        path,
        `This list has the kind ${list.kind}, and the field ${field} needs ${riskField(field).list}.`,
      );
  }
}

const isComplete = (terms: Partial<RuleTerms>): terms is RuleTerms =>
  terms.name !== undefined && terms.condition !== undefined && terms.action !== undefined && terms.state !== undefined;

/** Refuses to let a rule decide that would have stopped many payments; `confirm` lets it. */
type Confirm = (rule: RuleTerms & { mid: string | null }) => Promise<void>;

export async function readRule(
  gateway: Gateway,
  principal: Viewer,
  sentMid: unknown,
  sent: SentRule,
): Promise<RuleTerms & { mid: string | null }> {
  const mid = await requireOwner(gateway, principal, sentMid);
  const terms = { priority: DEFAULT_PRIORITY, ...readTerms(sent) };
  if (!isComplete(terms)) {
    const missing = (['name', 'condition', 'action', 'state'] as const).find((name) => terms[name] === undefined);
    throw invalidField(missing as string, 'This value should not be blank.');
  }
  await requireLists(gateway, principal, mid, readCondition(terms.condition));
  return { ...terms, mid };
}

export async function createRule(
  gateway: Gateway,
  principal: Viewer,
  by: Caller,
  sentMid: unknown,
  sent: SentRule,
  confirm: Confirm,
): Promise<RiskRule> {
  const read = await readRule(gateway, principal, sentMid, sent);
  const own = await gateway.riskRules.list({ mids: null, mid: read.mid }, LIMITS.riskRulesMost);
  if (own.length >= LIMITS.riskRulesMost)
    throw invalidField('body', `There should be ${LIMITS.riskRulesMost} rules or less.`);
  await confirm(read);
  const now = gateway.clock.real();
  const rule: RiskRule = { ruleId: newId(), version: 1, createdAt: now, changedAt: now, ...read };
  const { mid, ...after } = read;
  await gateway.riskRules.insert(
    rule,
    by.name,
    auditEntry(gateway, by, 'risk.create_rule', { mid, subject: rule.ruleId, after }),
  );
  gateway.ruleBook.forget();
  return rule;
}

export async function requireRule(gateway: Gateway, principal: Viewer, ruleId: string): Promise<RiskRule> {
  const rule = isUuid(ruleId) ? await gateway.riskRules.find(ruleId.toLowerCase()) : undefined;
  if (!rule || !seesOwner(principal, rule.mid)) throw new Refusal('noSuchRiskRule');
  return rule;
}

type Deeds = Pick<RuleTerms, 'state' | 'condition' | 'action'>;

/** Whether a rule does something else than before; its name and its priority do nothing. */
export const doesOther = (wanted: Deeds, before: Deeds): boolean =>
  !isDeepStrictEqual([wanted.state, wanted.condition, wanted.action], [before.state, before.condition, before.action]);

export async function changeRule(
  gateway: Gateway,
  principal: Viewer,
  by: Caller,
  ruleId: string,
  sent: SentRule,
  confirm: Confirm,
): Promise<RiskRule> {
  const found = await requireRule(gateway, principal, ruleId);
  const change = readTerms(sent);
  if (Object.keys(change).length === 0) return found;
  const wanted = { ...found, ...change };
  // A condition that stays was checked before, perhaps for a caller who may use more lists.
  if (change.condition !== undefined)
    await requireLists(gateway, principal, found.mid, readCondition(change.condition));
  if (doesOther(wanted, found)) await confirm(wanted);
  const changed = await gateway.riskRules.change(found.ruleId, by.name, gateway.clock.real(), (row) => {
    const before = Object.fromEntries(Object.keys(change).map((name) => [name, row[name as keyof RuleTerms]]));
    const facts = { mid: row.mid, subject: row.ruleId, before, after: { ...change } };
    return { change, audit: auditEntry(gateway, by, 'risk.change_rule', facts) };
  });
  if (!changed) throw new Refusal('noSuchRiskRule');
  gateway.ruleBook.forget();
  return changed;
}

export async function deleteRule(gateway: Gateway, principal: Viewer, by: Caller, ruleId: string): Promise<void> {
  const { ruleId: subject, mid, name } = await requireRule(gateway, principal, ruleId);
  const audit = auditEntry(gateway, by, 'risk.delete_rule', { mid, subject, before: { name } });
  if (!(await gateway.riskRules.remove(subject, gateway.clock.real(), audit))) throw new Refusal('noSuchRiskRule');
  gateway.ruleBook.forget();
}

export const listRules = (
  gateway: Gateway,
  filter: { mid?: string | undefined; mids: readonly string[] | null },
  limit?: number,
  before?: string,
): Promise<RiskRule[]> =>
  filter.mid !== undefined && !sees(filter, filter.mid)
    ? Promise.resolve([])
    : gateway.riskRules.list(filter, limit, before);

/** Reads the fields of a payment that is only described. */
export function readFacts(sent: unknown): Facts {
  if (!isObject(sent))
    throw invalidField('payment', 'This value should be an object.', { expected: 'The fields of conditions.' });
  const { currency } = sent;
  const facts: Record<string, unknown> = {};
  for (const [name, value] of Object.entries(sent)) {
    const path = `payment.${/^\w{1,32}$/.test(name) ? name : 'field'}`;
    if (!isRiskField(name))
      throw invalidField(path, 'This field does not exist.', { expected: `Only ${RISK_FIELD_NAMES.join(', ')}.` });
    const { type, read, expects } = riskField(name);
    if (value === null) continue;
    if (type === 'amount') {
      if (typeof currency !== 'string' || !CURRENCIES[currency])
        throw invalidField('payment.currency', 'This value is not valid.', {
          expected: 'The currency of the amount, such as EUR.',
        });
      facts[name] = readUnits(value, currency, path);
    } else if (type === 'text') {
      facts[name] = typeof value === 'string' ? (name === 'ip' ? canonicalAddress(value) : read?.(value)) : undefined;
    } else facts[name] = typeof value === (type === 'flag' ? 'boolean' : 'number') ? value : undefined;
    if (facts[name] === undefined) throw invalidField(path, 'This value is not valid.', { expected: expects });
  }
  const { email } = facts;
  return defined({ ...(typeof email === 'string' && { email_domain: email.split('@').at(-1) }), ...facts }) as Facts;
}

/** The connection whose fraud rate counts. Only cards have exemptions. */
const connectorFor = (
  gateway: Gateway,
  account: Account,
  { amount, currency, brand }: Pick<Evaluation, 'amount' | 'currency' | 'brand'>,
  { payer_country, network, bin }: Facts,
): string =>
  expectedConnector(gateway, account, {
    ...{ amount, currency, brand: brand || CARD },
    ...defined({ country: payer_country as string, network: network as string, bin: bin as string }),
  });

/** What the rules would decide about a payment, without doing anything. */
export async function tryRules(gateway: Gateway, account: Account, facts: Facts): Promise<Decided> {
  const { mid } = account;
  const { rules: all } = await gateway.riskRules.active();
  const rules = ruleSetOf(all.filter((rule) => rule.mid === null || rule.mid === mid).map(compileRule));
  const at = gateway.clock.now(mid);
  const described = {
    amount: (facts.amount as bigint | undefined) ?? 0n,
    currency: facts.currency ?? '',
    brand: String(facts.brand ?? ''),
  };
  const found = await gateway.riskDecisions.findings({
    mid,
    paymentId: FIRST_ID,
    at,
    ...described,
    keys: keysOf(gateway, facts),
    values: {},
    measurements: rules.measurements,
    lookups: lookupsOf(rules, facts, []),
    ...dataFor(facts, rules),
    fraudRate: fraudRateOf(gateway, account, connectorFor(gateway, account, described, facts), rules),
    volumes: [],
  });
  return decideBy(rules, account, withFindings(facts, found, false), found);
}
