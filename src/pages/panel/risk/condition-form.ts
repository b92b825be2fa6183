/** The part of the form of a risk rule that builds its condition from choices: groups of comparisons and velocities. */
import { type Html, html } from '../../../lib/text/html.ts';
import { OPS } from '../../../rules/risk/conditions.ts';
import { RISK_FIELD_NAMES } from '../../../rules/risk/fields.ts';
import { COUNTED_FIELDS, KEY_FIELDS, MEASURES, OUTCOMES } from '../../../rules/risk/velocities.ts';
import { panelTexts } from '../locales/index.ts';
import { type Group, type Groups, groupName, inputName, JOIN_NAME, JOINS, type Row } from './condition-rows.ts';

type Choices = readonly (readonly [value: string, label: string])[];

const text = panelTexts.risk;
const build = text.builder;

const chosen = <Name extends string>(names: readonly Name[], labels: Readonly<Record<Name, string>>): Choices =>
  names.map((name) => [name, labels[name]] as const);

const PLAIN_OPS = OPS.filter((op) => op !== 'in_list');
const ORDER_OPS = OPS.filter((op) => op !== 'in_list' && op !== 'in');
const KEYS = chosen(KEY_FIELDS, text.fields);

export interface ConditionForm {
  groups: Groups;
  /** The lists that the rule may use. */
  lists: Choices;
  /** The row that was refused, such as `0.1`, and why. */
  error?: { row: string; sentence: string } | undefined;
}

const options = (choices: Choices, value: string): Html[] =>
  choices.map(([one, label]) => html`<option value="${one}"${one === value && html` selected`}>${label}</option>`);

/** `when` names the input, and its values with which this one is shown. */
interface Cell {
  input: string;
  label: string;
  choices?: Choices;
  placeholder?: string;
  first?: string;
  when?: readonly [input: string, ...values: string[]];
}

function cellsOf({ kind }: Row, lists: Choices): Cell[] {
  const unknown: Cell = {
    input: 'unknown',
    label: build.unknown,
    choices: [
      ['', build.unknowns.no_match],
      ['match', build.unknowns.match],
    ],
  };
  if (kind === 'velocity')
    return [
      { input: 'measure', label: build.measure, choices: chosen(MEASURES, build.measures) },
      {
        input: 'of',
        label: build.of,
        first: 'card',
        choices: chosen(COUNTED_FIELDS, text.fields),
        when: ['measure', 'distinct'],
      },
      { input: 'by', label: build.by, choices: KEYS, first: 'email' },
      { input: 'second', label: build.second, choices: [['', build.noSecond], ...KEYS] },
      { input: 'within', label: build.within, placeholder: '24h', first: '24h' },
      { input: 'outcome', label: build.outcome, choices: chosen(OUTCOMES, build.outcomes) },
      { input: 'op', label: text.op, choices: chosen(ORDER_OPS, text.ops), first: '>=' },
      { input: 'value', label: text.value },
      { input: 'currency', label: text.currency, first: 'EUR', when: ['measure', 'amount'] },
      unknown,
    ];
  return [
    { input: 'field', label: text.field, choices: chosen(RISK_FIELD_NAMES, text.fields) },
    {
      input: 'op',
      label: text.op,
      choices: chosen(lists.length > 0 ? OPS : PLAIN_OPS, text.ops),
      first: '>=',
    },
    { input: 'value', label: text.value, when: ['op', ...PLAIN_OPS] },
    ...(lists.length > 0
      ? [{ input: 'list', label: build.list, choices: lists, when: ['op', 'in_list'] } as const]
      : []),
    { input: 'currency', label: text.currency, first: 'EUR', when: ['field', 'amount'] },
    unknown,
  ];
}

function rowFields(group: number, position: number, row: Row, { lists, error }: ConditionForm): Html {
  const id = `${group}.${position}`;
  const isWrong = error?.row === id;
  const cell = ({ input, label, choices, placeholder, first, when }: Cell): Html => {
    const name = inputName(group, position, input);
    const value = row.values[input] ?? first ?? '';
    const [on, ...values] = when ?? [];
    const shown = on !== undefined && html` data-when="${[inputName(group, position, on), ...values].join(' ')}"`;
    const attributes = html`id="${name}" name="${name}"${isWrong && input === 'value' && html` aria-invalid="true" aria-describedby="condition-error"`}`;
    return html`<div class="cell"${shown}><label for="${name}">${label}</label>${
      choices
        ? html`<select ${attributes}>${options(choices, value)}</select>`
        : html`<input ${attributes} value="${value}"${placeholder !== undefined && html` placeholder="${placeholder}"`} autocomplete="off">`
    }</div>`;
  };
  return html`<div class="comparison" role="group" aria-label="${build[row.kind]} ${position + 1}"><input type="hidden" name="${inputName(group, position, 'kind')}" value="${row.kind}">${cellsOf(row, lists).map(cell)}<button class="quiet" name="remove" value="${id}" aria-label="${build.remove} ${position + 1}">×</button>${
    isWrong && html`<p class="error" id="condition-error">${error.sentence}</p>`
  }</div>`;
}

const groupFields = (group: Group, index: number, form: ConditionForm): Html =>
  html`<fieldset class="group"><legend><select name="${groupName(index)}" aria-label="${build.group} ${index + 1}">${options(chosen(JOINS, build.joins), group.join)}</select></legend>${group.rows.map(
    (row, position) => rowFields(index, position, row, form),
  )}<div class="inline"><button class="quiet" name="add" value="${index}.field">${build.addField}</button><button class="quiet" name="add" value="${index}.velocity">${build.addVelocity}</button></div></fieldset>`;

/** The buttons that add and remove rows send the form, so that it works without a script. */
export const conditionFields = (form: ConditionForm): Html => {
  const { join, groups } = form.groups;
  return html`<p class="soft">${build.hint}</p>${
    groups.length > 1
      ? html`<div class="field"><label for="join">${build.join}</label><select id="join" name="${JOIN_NAME}">${options(chosen(['all', 'any'], build.groupJoins), join)}</select></div>`
      : html`<input type="hidden" name="${JOIN_NAME}" value="${join}">`
  }${groups.map((group, index) => groupFields(group, index, form))}<div class="inline"><button class="quiet" name="add" value="group">${build.addGroup}</button></div>`;
};
