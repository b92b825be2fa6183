/** The conditions of risk rules: reads their JSON, refusing with the path of the node, and compiles them to functions. */
import { isUuid } from '../../lib/crypto/id.ts';
import { addressList } from '../../lib/http/address.ts';
import { minorUnits } from '../../lib/money/money.ts';
import { isObject } from '../../lib/text/json.ts';
import { CURRENCIES, exponentOf } from '../currencies.ts';
import { invalidField } from '../errors.ts';
import { type Facts, isRiskField, RISK_FIELD_NAMES, type RiskField, type RiskFieldName, riskField } from './fields.ts';
import { readVelocity, type Velocity, velocityKey } from './velocities.ts';

export const CONDITION_LIMITS = { levels: 10, nodes: 200, values: 1000 } as const;

export const OPS = ['=', '!=', '<', '<=', '>', '>=', 'in', 'in_list'] as const;
type Op = (typeof OPS)[number];

/** What a condition is evaluated on. */
export interface ConditionContext {
  facts: Facts;
  isListed(listed: ListedField): boolean;
  /** A measured velocity, in minor units for amounts; undefined if the payment lacks a key of it. */
  measured(velocity: Velocity): number | bigint | undefined;
}

/** A list, and the field that is looked up in it. */
export interface ListedField {
  listId: string;
  field: RiskFieldName;
  path: string;
}

/** A cheap test that every payment passes which a condition matches: a text of a field, or the least amount. */
export type Guard = { field: RiskFieldName; texts: readonly string[] } | { currency: string; least: bigint };

export interface Condition {
  matches(context: ConditionContext): boolean;
  guard: Guard | undefined;
  /** What has to be known, measured and looked up before it is evaluated. */
  fields: ReadonlySet<RiskFieldName>;
  velocities: readonly Velocity[];
  lists: readonly ListedField[];
}

interface Test {
  (context: ConditionContext): boolean;
  guard?: Guard | undefined;
}

interface Reading {
  nodes: number;
  fields: Set<RiskFieldName>;
  velocities: Map<string, Velocity>;
  lists: ListedField[];
}

const EXAMPLE = '{"field": "amount", "op": ">", "value": "100.00", "currency": "EUR"}';

export function readCondition(value: unknown, path = 'condition'): Condition {
  const reading: Reading = { nodes: 0, fields: new Set(), velocities: new Map(), lists: [] };
  const matches = readNode(value, path, 1, reading);
  const { fields, velocities, lists } = reading;
  return { matches, guard: matches.guard, fields, velocities: [...velocities.values()], lists };
}

function readNode(value: unknown, path: string, level: number, reading: Reading): Test {
  if (!isObject(value)) {
    throw invalidField(path, 'This value should be an object.', {
      expected: `all, any, not, or a comparison such as ${EXAMPLE}.`,
    });
  }
  reading.nodes += 1;
  if (reading.nodes > CONDITION_LIMITS.nodes)
    throw invalidField(path, `A condition should have ${CONDITION_LIMITS.nodes} nodes or less.`);
  if (level > CONDITION_LIMITS.levels)
    throw invalidField(path, `A condition should have ${CONDITION_LIMITS.levels} levels or less.`);
  const inner = (child: unknown, name: string): Test => readNode(child, `${path}.${name}`, level + 1, reading);
  if ('all' in value || 'any' in value) {
    const name = 'all' in value ? 'all' : 'any';
    requireOnly(value, [name], path);
    const children = value[name];
    if (!Array.isArray(children) || children.length === 0)
      throw invalidField(`${path}.${name}`, 'This value should be a list of one condition or more.');
    const tests = children.map((child, index) => inner(child, `${name}[${index}]`));
    return name === 'all'
      ? guarded(tests.find(({ guard }) => guard)?.guard, (context) => tests.every((test) => test(context)))
      : (context) => tests.some((test) => test(context));
  }
  if ('not' in value) {
    requireOnly(value, ['not'], path);
    const test = inner(value.not, 'not');
    return (context) => !test(context);
  }
  return 'velocity' in value ? readMeasurement(value, path, reading) : readComparison(value, path, reading);
}

const guarded = (guard: Guard | undefined, test: (context: ConditionContext) => boolean): Test =>
  Object.assign(test, { guard });

function requireOnly(value: Record<string, unknown>, known: readonly string[], path: string): void {
  const unknown = Object.keys(value).find((name) => !known.includes(name));
  if (unknown === undefined) return;
  const field = /^\w{1,32}$/.test(unknown) ? `${path}.${unknown}` : path;
  throw invalidField(field, 'This member does not exist here.', { expected: `Only ${known.join(', ')}.` });
}

function readOp(value: unknown, path: string, allowed: readonly Op[]): Op {
  const op = allowed.find((one) => one === value);
  if (op === undefined)
    throw invalidField(`${path}.op`, 'The value you selected is not a valid choice.', {
      expected: `One of ${allowed.join(', ')}.`,
    });
  return op;
}

/** Whether a missing value matches. */
function readUnknown(value: unknown, path: string): boolean {
  if (value !== undefined && value !== 'match' && value !== 'no_match')
    throw invalidField(`${path}.unknown`, 'The value you selected is not a valid choice.', {
      expected: 'One of match, no_match.',
    });
  return value === 'match';
}

function readCurrency(value: unknown, path: string): string {
  if (typeof value !== 'string' || !CURRENCIES[value])
    throw invalidField(
      `${path}.currency`,
      value === undefined ? 'This value should not be blank.' : 'This value is not valid.',
      {
        expected: 'The currency of the amount, such as EUR.',
      },
    );
  return value;
}

/** An amount in minor units; zero is one, too. */
export function readUnits(value: unknown, currency: string, path: string): bigint {
  const units = typeof value === 'string' ? minorUnits(value, exponentOf(currency)) : 'malformed';
  if (units === 'malformed')
    throw invalidField(path, 'This value is not valid.', { expected: 'A decimal number as a text, such as "100.00".' });
  return units === 'zero' ? 0n : units;
}

const NUMBER_OPS: readonly Op[] = ['=', '!=', '<', '<=', '>', '>='];
const OPS_OF: Readonly<Record<RiskField['type'], readonly Op[]>> = {
  text: ['=', '!=', 'in'],
  amount: [...NUMBER_OPS, 'in'],
  number: [...NUMBER_OPS, 'in'],
  flag: ['=', '!='],
};

type Ordered = number | bigint;
const ORDERS: Readonly<Record<string, (one: Ordered, other: Ordered) => boolean>> = {
  '=': (one, other) => one === other,
  '!=': (one, other) => one !== other,
  '<': (one, other) => one < other,
  '<=': (one, other) => one <= other,
  '>': (one, other) => one > other,
  '>=': (one, other) => one >= other,
};

function readComparison(value: Record<string, unknown>, path: string, reading: Reading): Test {
  const { field, op: wanted, value: given } = value;
  if (!isRiskField(field))
    throw invalidField(
      `${path}.field`,
      field === undefined ? 'This value should not be blank.' : 'This field does not exist.',
      {
        expected: `One of ${RISK_FIELD_NAMES.join(', ')}; or velocity.`,
      },
    );
  reading.fields.add(field);
  const { type, list } = riskField(field);
  const isAmount = type === 'amount';
  requireOnly(value, ['field', 'op', 'value', 'unknown', ...(isAmount ? ['currency'] : [])], path);
  const op = readOp(wanted, path, list ? [...OPS_OF[type], 'in_list'] : OPS_OF[type]);
  const whenUnknown = readUnknown(value.unknown, path);
  const currency = isAmount ? readCurrency(value.currency, path) : undefined;
  if (op === 'in_list') return readListed(given, field, path, reading, whenUnknown);
  const values = op === 'in' ? readValues(given, path) : [given];
  const paths = op === 'in' ? values.map((_, index) => `${path}.value[${index}]`) : [`${path}.value`];
  const read = values.map((one, index) =>
    type === 'text'
      ? readText(one, field, paths[index] as string)
      : readPlain(one, type, currency, paths[index] as string),
  );
  const test =
    type === 'text' ? textTest(field, op, read as string[]) : plainTest(op, read as readonly (Ordered | boolean)[]);
  return guarded(whenUnknown ? undefined : guardOf(field, op, read, currency), ({ facts }) => {
    const fact = facts[field];
    if (fact === undefined) return whenUnknown;
    if (currency !== undefined && facts.currency !== currency) return false;
    return test(fact);
  });
}

function guardOf(
  field: RiskFieldName,
  op: Op,
  values: readonly unknown[],
  currency: string | undefined,
): Guard | undefined {
  if (currency !== undefined) {
    const [value] = values as bigint[];
    if (value === undefined || !['>', '>=', '='].includes(op)) return undefined;
    return { currency, least: op === '>' ? value + 1n : value };
  }
  // Addresses and first digits of cards are compared by ranges and prefixes.
  const isText = riskField(field).type === 'text' && field !== 'ip' && field !== 'bin';
  return isText && (op === '=' || op === 'in') ? { field, texts: values as string[] } : undefined;
}

function readValues(value: unknown, path: string): unknown[] {
  if (Array.isArray(value) && value.length > 0 && value.length <= CONDITION_LIMITS.values) return value;
  throw invalidField(`${path}.value`, 'This value is not valid.', {
    expected: `A list of 1 to ${CONDITION_LIMITS.values} values; longer lists are lists of their own, for in_list.`,
  });
}

function readPlain(
  value: unknown,
  type: RiskField['type'],
  currency: string | undefined,
  path: string,
): Ordered | boolean {
  if (currency !== undefined) return readUnits(value, currency, path);
  const isValid =
    type === 'flag'
      ? typeof value === 'boolean'
      : Number.isInteger(value) && (value as number) >= 0 && (value as number) <= 23;
  if (!isValid)
    throw invalidField(path, 'This value is not valid.', {
      expected: type === 'flag' ? 'true or false.' : 'A whole number from 0 to 23.',
    });
  return value as number | boolean;
}

function plainTest(op: Op, values: readonly (Ordered | boolean)[]): (fact: unknown) => boolean {
  const [value] = values;
  if (op === 'in') return (fact) => values.includes(fact as Ordered);
  const order = ORDERS[op] as (one: Ordered, other: Ordered) => boolean;
  return (fact) => order(fact as Ordered, value as Ordered);
}

function readText(value: unknown, field: RiskFieldName, path: string): string {
  const { read, expects } = riskField(field);
  const text = typeof value === 'string' ? read?.(value) : undefined;
  if (text === undefined) throw invalidField(path, 'This value is not valid.', { expected: expects });
  return text;
}

function textTest(field: RiskFieldName, op: Op, texts: readonly string[]): (fact: unknown) => boolean {
  const isOneOf = oneOf(field, texts);
  return op === '!=' ? (fact) => !isOneOf(fact as string) : (fact) => isOneOf(fact as string);
}

function oneOf(field: RiskFieldName, texts: readonly string[]): (fact: string) => boolean {
  if (field === 'ip') return addressList(texts);
  if (field === 'bin') return (bin) => texts.some((text) => bin.startsWith(text));
  const all = new Set(texts);
  return (fact) => all.has(fact);
}

function readListed(
  value: unknown,
  field: RiskFieldName,
  path: string,
  { lists }: Reading,
  whenUnknown: boolean,
): Test {
  if (typeof value !== 'string' || !isUuid(value))
    throw invalidField(`${path}.value`, 'This value is not a valid UUID.', { expected: 'The list_id of a list.' });
  const listId = value.toLowerCase();
  const listed: ListedField = { listId, field, path: `${path}.value` };
  lists.push(listed);
  return ({ facts, isListed }) => (facts[field] === undefined ? whenUnknown : isListed(listed));
}

/** The largest count that a velocity is compared with. */
const COUNT_MOST = 1_000_000;

function readMeasurement(value: Record<string, unknown>, path: string, { velocities, fields }: Reading): Test {
  const isAmount = isObject(value.velocity) && value.velocity.measure === 'amount';
  requireOnly(value, ['velocity', 'op', 'value', 'unknown', ...(isAmount ? ['currency'] : [])], path);
  const currency = isAmount ? readCurrency(value.currency, path) : null;
  const read = readVelocity(value.velocity, `${path}.velocity`, currency);
  const velocity = velocities.get(velocityKey(read)) ?? read;
  const op = readOp(value.op, path, NUMBER_OPS);
  const whenUnknown = readUnknown(value.unknown, path);
  const most = currency === null ? readCount(value.value, path) : readUnits(value.value, currency, `${path}.value`);
  velocities.set(velocityKey(velocity), velocity);
  if (velocity.of !== null) fields.add(velocity.of);
  const order = ORDERS[op] as (one: Ordered, other: Ordered) => boolean;
  return ({ facts, measured }) => {
    if (currency !== null && facts.currency !== currency) return false;
    const found = measured(velocity);
    return found === undefined ? whenUnknown : order(found, most);
  };
}

function readCount(value: unknown, path: string): number {
  if (Number.isInteger(value) && (value as number) >= 0 && (value as number) <= COUNT_MOST) return value as number;
  throw invalidField(`${path}.value`, 'This value is not valid.', {
    expected: `A whole number from 0 to ${COUNT_MOST}.`,
  });
}
