/** Rows of a form in which a key is chosen and a text is typed: a method and its name, for example. */
import { type Html, html } from '../../../lib/text/html.ts';

type Form = ReadonlyMap<string, string>;

/** The empty rows for new entries. */
const SPARE = 2;

export interface PairRows {
  name: string;
  /** The label of each input of a row; those with choices are selects. */
  columns: readonly { label: string; choices?: readonly (readonly [string, string])[] | undefined }[];
  rows: readonly (readonly string[])[];
  legend: string;
  hint: string;
  error?: string | undefined;
}

const inputOf = (name: string, row: number, column: number): string => `${name}.row${row}.${column}`;

/** The rows that a form contains; undefined if it has none of them. A row without any text is left out. */
export function submittedRows(form: Form, name: string): string[][] | undefined {
  if (!form.has(inputOf(name, 0, 0))) return undefined;
  const rows: string[][] = [];
  for (let row = 0; form.has(inputOf(name, row, 0)); row++) {
    const cells: string[] = [];
    for (let column = 0; form.has(inputOf(name, row, column)); column++) {
      cells.push((form.get(inputOf(name, row, column)) ?? '').trim());
    }
    if (cells.some((cell) => cell !== '')) rows.push(cells);
  }
  return rows;
}

export function pairRows({ name, columns, rows, legend, hint, error }: PairRows): Html {
  const cell = (row: number, column: number, value: string): Html => {
    const { label, choices } = columns[column] as PairRows['columns'][number];
    const attributes = html`name="${inputOf(name, row, column)}" aria-label="${label} ${row + 1}"`;
    if (!choices) return html`<input ${attributes} value="${value}" autocomplete="off">`;
    const all = choices.some(([one]) => one === value) ? choices : [...choices, [value, value] as const];
    return html`<select ${attributes}>${all.map(([one, text]) => html`<option value="${one}"${one === value && html` selected`}>${text}</option>`)}</select>`;
  };
  const described = [error !== undefined && `${name}-error`, `${name}-hint`].filter(Boolean).join(' ');
  return html`<fieldset class="field bare pairs" aria-describedby="${described}"><legend>${legend}</legend>${
    error !== undefined && html`<p class="error" id="${name}-error">${error}</p>`
  }<p class="hint" id="${name}-hint">${hint}</p>${Array.from(
    { length: rows.length + SPARE },
    (_, row) =>
      html`<div class="pair">${columns.map((_column, column) => cell(row, column, rows[row]?.[column] ?? ''))}</div>`,
  )}</fieldset>`;
}
