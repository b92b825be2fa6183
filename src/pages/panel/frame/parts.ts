/** Parts that the pages of the panel share: badges, times, amounts, tables, fields, notices. */

import { isUuid } from '../../../lib/crypto/id.ts';
import { scaledDecimal } from '../../../lib/money/decimal.ts';
import { type Html, html } from '../../../lib/text/html.ts';
import { exponentOf } from '../../../rules/currencies.ts';
import { ERRORS, type Refusal } from '../../../rules/errors.ts';
import { formatAmount } from '../../amount.ts';
import { languageTag, panelTexts } from '../locales/index.ts';

type Tone = 'good' | 'bad' | 'wait' | '';

const STATE_TONES: Readonly<Record<string, Tone>> = {
  SETTLED: 'good',
  DECLINED: 'bad',
  CHARGEBACK: 'bad',
  PREPARE: 'wait',
  REDIRECT: 'wait',
  '3DS': 'wait',
  PENDING: 'wait',
  delivered: 'good',
  waiting: 'wait',
  parked: 'bad',
  active: 'good',
};

export const toneOf = (state: string): Tone => STATE_TONES[state] ?? '';

export const badge = (text: string, tone: Tone = toneOf(text)): Html =>
  html`<span class="badge ${tone}">${text}</span>`;

/** UTC; the script shows it in the viewer's zone. */
export function time(ms: number | null): Html {
  if (ms === null) return html`<span class="soft">–</span>`;
  const iso = new Date(ms).toISOString();
  return html`<time datetime="${iso}">${iso.slice(0, 19).replace('T', ' ')}</time>`;
}

/** Replaces the placeholders of a text, such as `{amount}`. */
export const fill = (text: string, values: Readonly<Record<string, string>>): string =>
  text.replace(/\{(\w+)\}/g, (placeholder, name: string) => values[name] ?? placeholder);

export const count = (value: number | bigint): string => value.toLocaleString(languageTag());

export const money = (minor: bigint, currency: string): string =>
  formatAmount(languageTag(), { amount: minor, currency });

/** The same for an amount as the API writes it. */
export const moneyText = (amount: string, currency: string): string =>
  money(scaledDecimal(amount, exponentOf(currency)) ?? 0n, currency);

export interface Column<Row> {
  label: string;
  cell(row: Row): Html | string | number | null;
  isNumber?: true;
}

/** A table that becomes a list of cards on a phone. */
export function table<Row>(caption: string, columns: readonly Column<Row>[], rows: readonly Row[]): Html {
  const align = ({ isNumber }: Column<Row>): Html | false => isNumber === true && html` class="number"`;
  return html`<div class="scroll"><table class="stack"><caption>${caption}</caption><thead><tr>${columns.map(
    (column) => html`<th scope="col"${align(column)}>${column.label}</th>`,
  )}</tr></thead><tbody>${rows.map(
    (row) =>
      html`<tr>${columns.map((column) => html`<td data-label="${column.label}"${align(column)}>${column.cell(row) ?? '–'}</td>`)}</tr>`,
  )}</tbody></table></div>`;
}

export const facts = (pairs: readonly (readonly [string, Html | string | number | null | undefined])[]): Html =>
  html`<dl class="facts">${pairs
    .filter(([, value]) => value !== undefined)
    .map(([name, value]) => html`<dt>${name}</dt><dd>${value === null || value === '' ? '–' : value}</dd>`)}</dl>`;

/** A value with a button that copies it, which the script adds. */
export const copyable = (value: string): Html =>
  html`<span class="mono" data-copy="${panelTexts.copy}" data-copied="${panelTexts.copied}">${value}</span>`;

export const empty = (title: string, text: string): Html =>
  html`<div class="empty"><h2>${title}</h2><p>${text}</p></div>`;

/** Why a request was refused: the entry of the field, or else the message of the error. */
export const refusalText = ({ error, problems }: Refusal): string => problems[0]?.sentence ?? ERRORS[error].message;

/** What happened after a form was submitted, or why it was refused. */
export const notice = (text: string | undefined, tone: Tone = 'good'): Html | false =>
  text !== undefined && html`<div class="notice ${tone}" role="status">${text}</div>`;

export interface FieldOptions {
  name: string;
  label: string;
  value?: string | undefined;
  type?: string;
  hint?: Html | string | undefined;
  error?: string | undefined;
  attributes?: Html;
}

const describedBy = ({ name, hint, error }: Pick<FieldOptions, 'name' | 'hint' | 'error'>): Html | false => {
  const ids = [error !== undefined && `${name}-error`, hint !== undefined && `${name}-hint`].filter(Boolean);
  return ids.length > 0 && html` aria-describedby="${ids.join(' ')}"`;
};

/** The label, the input, its hint and its error. */
export function field(options: FieldOptions, input?: (attributes: Html) => Html): Html {
  const { name, label, value = '', type = 'text', hint, error, attributes } = options;
  const common = html`id="${name}" name="${name}"${error !== undefined && html` aria-invalid="true"`}${describedBy(options)}${attributes && html` ${attributes}`}`;
  const control = input ? input(common) : html`<input ${common} type="${type}" value="${value}">`;
  return html`<div class="field"><label for="${name}">${label}</label>${control}${
    error !== undefined && html`<p class="error" id="${name}-error">${error}</p>`
  }${hint !== undefined && html`<p class="hint" id="${name}-hint">${hint}</p>`}</div>`;
}

export const choiceField = (
  options: FieldOptions,
  choices: readonly (readonly [value: string, label: string])[],
): Html =>
  field(
    options,
    (attributes) =>
      html`<select ${attributes}>${choices.map(
        ([value, label]) =>
          html`<option value="${value}"${value === options.value && html` selected`}>${label}</option>`,
      )}</select>`,
  );

/** An address with a query string. */
export function withQuery(path: string, query: Readonly<Record<string, string>>): string {
  const text = new URLSearchParams(query).toString();
  return text === '' ? path : `${path}?${text}`;
}

/** The id after which a page of a list begins; anything else in its place shows the first page. */
export const idCursor = ({ cursor = '' }: Readonly<Record<string, string>>): string | undefined =>
  isUuid(cursor) ? cursor : undefined;

/** Links to the first and the next page of a list. */
export function pager(path: string, query: Readonly<Record<string, string>>, next: string | undefined): Html | false {
  const { cursor, ...rest } = query;
  if (cursor === undefined && next === undefined) return false;
  const link = (label: string, more: Record<string, string>): Html =>
    html`<a class="button quiet" href="${withQuery(path, { ...rest, ...more })}">${label}</a>`;
  return html`<div class="pages">${cursor !== undefined && link(panelTexts.firstPage, {})}${next !== undefined && link(panelTexts.nextPage, { cursor: next })}</div>`;
}

export interface View {
  href: string;
  label: Html | string;
  isActive: boolean;
  /** What follows the link, such as a button. */
  after?: Html | false;
}

const viewLink = ({ href, label, isActive, after }: View): Html =>
  html`<li${isActive && html` class="active"`}><a href="${href}"${isActive && html` aria-current="page"`}>${label}</a>${after}</li>`;

/** Links between the pages of a section. */
export const tabs = (label: string, views: readonly View[]): Html =>
  html`<div class="tabs" role="navigation" aria-label="${label}"><ul>${views.map(viewLink)}</ul></div>`;

/** Links between selections of the same list. */
export const pills = (label: string, views: readonly View[]): Html =>
  html`<ul class="pills" aria-label="${label}">${views.map(viewLink)}</ul>`;

/** Copies the address of what the page shows; the script shows the button where the browser can copy. */
export const copyLink = (path: string): Html =>
  html`<button type="button" class="quiet" data-copy-link="${path}" data-copied="${panelTexts.copied}" hidden>${panelTexts.copyLink}</button>`;
