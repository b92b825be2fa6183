/** The form that tells how a statement is read: the columns, the formats, the provider and the period. */
import type { Reconciliation, StatementTerms } from '../../../core/context.ts';
import { requireHead, type StatementHead } from '../../../core/reconciliations/upload.ts';
import { type Html, html } from '../../../lib/text/html.ts';
import { scrub } from '../../../lib/text/scrub.ts';
import { utcDay } from '../../../lib/time/day.ts';
import { invalidField, type Problem, Refusal } from '../../../rules/errors.ts';
import { LIMITS } from '../../../rules/limits.ts';
import {
  AMOUNT_FORMATS,
  DELIMITERS,
  type DelimiterName,
  guessMapping,
  STATEMENT_COLUMNS,
  type StatementColumn,
} from '../../../rules/statements.ts';
import { dayStart } from '../frame/filters.ts';
import { formToken } from '../frame/layout.ts';
import { choiceField, field } from '../frame/parts.ts';
import type { PanelRequest } from '../frame/route.ts';
import { panelTexts } from '../locales/index.ts';

const text = panelTexts.reconciliations;
const DELIMITER_NAMES = Object.keys(DELIMITERS) as DelimiterName[];

const delimiterOf = (name: string | undefined): DelimiterName | undefined =>
  DELIMITER_NAMES.find((one) => one === name);

/** The terms of a submitted form; the last day is part of the period. */
export async function readTerms({ gateway, form }: PanelRequest, found: Reconciliation): Promise<StatementTerms> {
  const { header, delimiter } = await requireHead(gateway, found.reconciliationId, delimiterOf(form.get('delimiter')));
  const value = (name: string): string | undefined => form.get(name)?.trim() || undefined;
  const day = (name: string): number | null => {
    const start = dayStart(value(name));
    if (value(name) !== undefined && start === undefined) throw invalidField(name, panelTexts.reports.notADay);
    return start ?? null;
  };
  const columns = STATEMENT_COLUMNS.map((column) => [column, value(column)] as const);
  const to = day('to');
  return {
    mapping: Object.fromEntries(columns.filter(([, name]) => name !== undefined && header.includes(name))),
    delimiter,
    amountFormat: AMOUNT_FORMATS.find((format) => format === value('amount_format')) ?? 'decimal',
    currency: value('fixed_currency')?.toUpperCase() ?? null,
    connector: value('connector') ?? null,
    from: day('from'),
    to: to === null ? null : to + LIMITS.dayMs,
  };
}

/** What the form shows: what was submitted, what was used before, or what is guessed. */
function valuesOf({ form }: PanelRequest, { terms }: Reconciliation, { header }: StatementHead) {
  const isSubmitted = form.has('amount_format');
  const guessed = guessMapping(header);
  const column = (name: StatementColumn): string => {
    const chosen = isSubmitted ? form.get(name) : terms ? (terms.mapping[name] ?? '') : undefined;
    // A column that another delimiter made is gone.
    return chosen === '' || (chosen !== undefined && header.includes(chosen)) ? chosen : (guessed[name] ?? '');
  };
  const value = (name: string, used: string | null | undefined): string => (isSubmitted ? form.get(name) : used) ?? '';
  return {
    column,
    amountFormat: value('amount_format', terms?.amountFormat),
    currency: value('fixed_currency', terms?.currency),
    connector: value('connector', terms?.connector),
    from: value('from', terms?.from == null ? null : utcDay(terms.from)),
    to: value('to', terms?.to == null ? null : utcDay(terms.to - 1)),
  };
}

async function headOf({ gateway, form }: PanelRequest, { reconciliationId, terms }: Reconciliation) {
  const wanted = delimiterOf(form.get('delimiter')) ?? terms?.delimiter;
  try {
    return { ...(await requireHead(gateway, reconciliationId, wanted)), problem: undefined };
  } catch (error) {
    if (!(error instanceof Refusal)) throw error;
    return { delimiter: wanted ?? 'comma', header: [], rows: [], problem: error.problems[0]?.sentence };
  }
}

export async function termsForm(
  request: PanelRequest,
  found: Reconciliation,
  path: string,
  problems: readonly Problem[],
): Promise<Html> {
  const head = await headOf(request, found);
  const values = valuesOf(request, found, head);
  const errorOf = (name: string): string | undefined => problems.find((problem) => problem.field === name)?.sentence;
  const columnField = (name: StatementColumn): Html =>
    choiceField(
      {
        name,
        label: text.columnLabels[name],
        value: values.column(name),
        hint: text.columnHints[name],
        error: errorOf(name),
      },
      [['', text.notUsed], ...head.header.map((one): [string, string] => [one, one])],
    );
  const connectors = Object.keys(request.gateway.connectors).map((name): [string, string] => [name, name]);
  return html`<form class="block" method="post" action="${path}/compare">${formToken(request.session)}
${head.problem !== undefined && html`<div class="notice bad" role="status">${head.problem}</div>`}
<fieldset class="card"><legend><h2>${text.columns}</h2></legend><p class="soft">${text.columnsHint}</p><div class="grid">${STATEMENT_COLUMNS.map(columnField)}</div></fieldset>
<fieldset class="card"><legend><h2>${text.format}</h2></legend><div class="grid">${choiceField(
    { name: 'delimiter', label: text.delimiter, value: head.delimiter },
    DELIMITER_NAMES.map((name): [string, string] => [name, text.delimiters[name]]),
  )}${choiceField(
    { name: 'amount_format', label: text.amountFormat, value: values.amountFormat },
    AMOUNT_FORMATS.map((name): [string, string] => [name, text.amountFormats[name]]),
  )}${field({
    name: 'fixed_currency',
    label: text.fixedCurrency,
    value: values.currency,
    error: errorOf('fixed_currency'),
    attributes: html`maxlength="3" autocomplete="off" placeholder="EUR"`,
  })}</div></fieldset>
<fieldset class="card"><legend><h2>${text.against}</h2></legend><div class="grid">${choiceField(
    { name: 'connector', label: text.provider, value: values.connector, error: errorOf('connector') },
    [['', text.allProviders], ...connectors],
  )}${field({ name: 'from', label: text.from, value: values.from, type: 'date', hint: text.periodHint, error: errorOf('from') })}${field(
    { name: 'to', label: text.to, value: values.to, type: 'date', error: errorOf('to') },
  )}</div></fieldset>
${head.rows.length > 0 && preview(head)}
<div class="actions"><button>${text.compare}</button></div></form>`;
}

/** A statement may contain anything, so card numbers are masked. */
const preview = ({ header, rows }: StatementHead): Html =>
  html`<section class="card flush dense"><h2 class="inset">${text.firstRows}</h2><div class="scroll" tabindex="0" role="region" aria-label="${text.firstRows}"><table><thead><tr>${header.map(
    (name) => html`<th scope="col">${name}</th>`,
  )}</tr></thead><tbody>${rows.map(
    (cells) =>
      html`<tr>${cells.map((cell) => html`<td><span class="key">${scrub(cell.slice(0, 80))}</span></td>`)}</tr>`,
  )}</tbody></table></div></section>`;
