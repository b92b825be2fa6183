/** A condition as groups of rows that a form shows: read from the form, composed to the JSON tree, and taken from it. */
import { isObject } from '../../../lib/text/json.ts';
import { isRiskField, riskField } from '../../../rules/risk/fields.ts';

type Form = ReadonlyMap<string, string>;

export const JOINS = ['all', 'any', 'none'] as const;
type Join = (typeof JOINS)[number];

/** The inputs of a comparison, and those of a velocity. */
export const ROW_INPUTS = {
  field: ['field', 'op', 'value', 'list', 'currency', 'unknown'],
  velocity: ['measure', 'of', 'by', 'second', 'within', 'outcome', 'op', 'value', 'currency', 'unknown'],
} as const;
export type RowKind = keyof typeof ROW_INPUTS;

export interface Row {
  kind: RowKind;
  /** By the name of the input. */
  values: Readonly<Record<string, string>>;
}

export interface Group {
  join: Join;
  rows: readonly Row[];
}

export interface Groups {
  join: 'all' | 'any';
  groups: readonly Group[];
}

export const newRow = (kind: RowKind): Row => ({ kind, values: {} });

export const FIRST: Groups = { join: 'all', groups: [{ join: 'all', rows: [newRow('field')] }] };

/** The name of an input of the form. */
export const inputName = (group: number, row: number, input: string): string => `c.${group}.${row}.${input}`;
export const groupName = (group: number): string => `c.${group}.join`;
export const JOIN_NAME = 'c.join';

const kindOf = (text: string | undefined): RowKind => (text === 'velocity' ? text : 'field');

/** The groups that a form contains; undefined if it has none. */
export function submittedGroups(form: Form): Groups | undefined {
  const groups: Group[] = [];
  for (let group = 0; form.has(groupName(group)); group++) {
    const rows: Row[] = [];
    for (let row = 0; form.has(inputName(group, row, 'kind')); row++) {
      const kind = kindOf(form.get(inputName(group, row, 'kind')));
      const inputs = ROW_INPUTS[kind].map((name) => [name, form.get(inputName(group, row, name))?.trim() ?? '']);
      rows.push({ kind, values: Object.fromEntries(inputs) });
    }
    groups.push({ join: JOINS.find((join) => join === form.get(groupName(group))) ?? 'all', rows });
  }
  if (groups.length === 0) return undefined;
  return { join: form.get(JOIN_NAME) === 'any' ? 'any' : 'all', groups };
}

/** The groups after one of the buttons that add and remove rows: `0.velocity`, `group`, or `0.1`. */
export function changedGroups(groups: Groups, add: string | undefined, remove: string | undefined): Groups {
  if (add === 'group') return { ...groups, groups: [...groups.groups, { join: 'any', rows: [newRow('field')] }] };
  const [group, part = ''] = (add ?? remove ?? '').split('.');
  const change = (one: Group): Group => ({
    ...one,
    rows:
      add === undefined ? one.rows.filter((_, index) => index !== Number(part)) : [...one.rows, newRow(kindOf(part))],
  });
  const changed = groups.groups.map((one, index) => (index === Number(group) ? change(one) : one));
  const kept = changed.filter(({ rows }) => rows.length > 0);
  return kept.length > 0 ? { ...groups, groups: kept } : FIRST;
}

const isFilled = ({ values }: Row): boolean =>
  values.op === 'in_list' ? (values.list ?? '') !== '' : (values.value ?? '') !== '';

const numberOr = (text: string): number | string => (/^\d+$/.test(text) ? Number(text) : text);
const flagOr = (text: string): boolean | string => (text === 'true' ? true : text === 'false' ? false : text);

/** A value as the field has it; one that is not valid stays a text, and the condition refuses it. */
function typedValue(field: string | undefined, text: string): string | number | boolean {
  const type = isRiskField(field) ? riskField(field).type : 'text';
  return type === 'number' ? numberOr(text) : type === 'flag' ? flagOr(text) : text;
}

const unknownOf = ({ unknown }: Row['values']) => (unknown === 'match' && { unknown }) || {};

function comparisonOf({ kind, values }: Row): object {
  const { op, value = '', currency = '' } = values;
  if (kind === 'velocity') {
    const { measure, of, by, second, within, outcome } = values;
    const isAmount = measure === 'amount';
    return {
      velocity: {
        measure,
        ...(measure === 'distinct' && { of }),
        by: second ? [by, second] : [by],
        within,
        ...(outcome && outcome !== 'attempted' && { outcome }),
      },
      op,
      value: isAmount ? value : numberOr(value),
      ...(isAmount && { currency: currency.toUpperCase() }),
      ...unknownOf(values),
    };
  }
  const { field, list } = values;
  const texts = value.split(',').map((text) => text.trim());
  return {
    field,
    op,
    value:
      op === 'in_list' ? list : op === 'in' ? texts.map((text) => typedValue(field, text)) : typedValue(field, value),
    ...(field === 'amount' && { currency: currency.toUpperCase() }),
    ...unknownOf(values),
  };
}

/** The condition, and the path of each row in it, by which a refusal is found again. Rows without a value are left out. */
export function compose({ join, groups }: Groups): { condition: unknown; paths: Map<string, string> } {
  const paths = new Map<string, string>();
  const filled = groups
    .map((group, index) => ({
      ...group,
      rows: group.rows.map((row, position) => ({ row, id: `${index}.${position}` })).filter(({ row }) => isFilled(row)),
    }))
    .filter(({ rows }) => rows.length > 0);
  const conditions = filled.map(({ join: own, rows }, index) => {
    const path = filled.length === 1 ? 'condition' : `condition.${join}[${index}]`;
    const list = own === 'none' ? `${path}.not.any` : `${path}.${own}`;
    const isAlone = own !== 'none' && rows.length === 1;
    const all = rows.map(({ row, id }, position) => {
      paths.set(isAlone ? path : `${list}[${position}]`, id);
      return comparisonOf(row);
    });
    if (isAlone) return all[0];
    return own === 'none' ? { not: { any: all } } : { [own]: all };
  });
  return { condition: conditions.length > 1 ? { [join]: conditions } : conditions[0], paths };
}

/** The row that a refused field belongs to. */
export const rowAt = (paths: ReadonlyMap<string, string>, field: string): string | undefined =>
  [...paths].find(([path]) => field === path || field.startsWith(`${path}.`))?.[1];

function rowOf(node: Record<string, unknown>): Row | undefined {
  const { op, value, currency, unknown } = node;
  const shared = {
    op: String(op),
    currency: String(currency ?? ''),
    unknown: String(unknown ?? ''),
    value: Array.isArray(value) ? value.join(', ') : String(value),
  };
  if (isObject(node.velocity)) {
    const { measure, of, by, within, outcome } = node.velocity;
    const [first, second] = Array.isArray(by) ? by : [];
    const velocity = {
      measure,
      of: of ?? '',
      by: first,
      second: second ?? '',
      within,
      outcome: outcome ?? 'attempted',
    };
    const texts = Object.entries(velocity).map(([name, one]) => [name, String(one)]);
    return { kind: 'velocity', values: { ...Object.fromEntries(texts), ...shared } };
  }
  if (!isRiskField(node.field)) return undefined;
  const isListed = op === 'in_list';
  const values = {
    field: node.field,
    ...shared,
    list: isListed ? shared.value : '',
    value: isListed ? '' : shared.value,
  };
  return { kind: 'field', values };
}

const childrenOf = (node: unknown, join: 'all' | 'any'): Record<string, unknown>[] | undefined =>
  isObject(node) && Array.isArray(node[join]) ? (node[join] as Record<string, unknown>[]) : undefined;

/** One comparison, or a list of comparisons, as a group. */
function groupOf(node: Record<string, unknown>): Group | undefined {
  const [join, nodes] = childrenOf(node, 'all')
    ? (['all', childrenOf(node, 'all')] as const)
    : childrenOf(node, 'any')
      ? (['any', childrenOf(node, 'any')] as const)
      : childrenOf(node.not, 'any')
        ? (['none', childrenOf(node.not, 'any')] as const)
        : (['all', [node]] as const);
  const rows = nodes?.map(rowOf);
  return rows?.every((row) => row !== undefined) ? { join, rows } : undefined;
}

/** The groups of a condition; undefined if it is a deeper tree than the form shows. */
export function groupsOf(condition: unknown): Groups | undefined {
  if (!isObject(condition)) return undefined;
  const whole = groupOf(condition);
  if (whole) return { join: 'all', groups: [whole] };
  for (const join of ['all', 'any'] as const) {
    const nodes = childrenOf(condition, join);
    if (!nodes) continue;
    // Comparisons beside groups are a group of their own.
    const single = nodes.map(rowOf).filter((row) => row !== undefined);
    const groups = nodes.filter((node) => rowOf(node) === undefined).map(groupOf);
    if (!groups.every((group) => group !== undefined)) return undefined;
    return { join, groups: [...(single.length > 0 ? [{ join, rows: single }] : []), ...groups] };
  }
  return undefined;
}
