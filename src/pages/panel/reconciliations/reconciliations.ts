/** The pages on reconciliations: the statements that were uploaded, and the result of one. */
import type { ReconciledRow, Reconciliation, StatementTotal } from '../../../core/context.ts';
import { reconciliationCsv } from '../../../core/exports/reconciliations.ts';
import {
  beginComparison,
  deleteReconciliation,
  isStale,
  requireReconciliation,
  runComparison,
} from '../../../core/reconciliations/compare.ts';
import { storeStatement } from '../../../core/reconciliations/upload.ts';
import { keysetPage } from '../../../lib/http/keyset-page.ts';
import { type Html, html } from '../../../lib/text/html.ts';
import { utcDay } from '../../../lib/time/day.ts';
import { Refusal } from '../../../rules/errors.ts';
import { LIMITS } from '../../../rules/limits.ts';
import { isAllowed } from '../../../rules/roles.ts';
import { OUTCOMES, type Outcome } from '../../../rules/statements.ts';
import { exportLink } from '../frame/filters.ts';
import { formToken } from '../frame/layout.ts';
import {
  badge,
  type Column,
  copyLink,
  count,
  empty,
  facts,
  field,
  idCursor,
  money,
  notice,
  pager,
  pills,
  table,
  tabs,
  time,
  withQuery,
} from '../frame/parts.ts';
import type { PanelAnswer, PanelRequest, PanelRoute } from '../frame/route.ts';
import { panelTexts } from '../locales/index.ts';
import { readTerms, termsForm } from './terms.ts';

const PAGE_SIZE = 50;
const LIST = '/admin/reports/reconciliations';

const text = panelTexts.reconciliations;
const pathOf = ({ reconciliationId }: Reconciliation): string => `${LIST}/${reconciliationId}`;

const TONES = { uploaded: 'wait', comparing: 'wait', failed: 'bad', done: 'good' } as const;
const OUTCOME_TONES = {
  different: 'bad',
  reversed: 'bad',
  missing_here: 'bad',
  missing_there: 'bad',
  matched: 'good',
} as const;

const requireFound = ({ gateway, params: { reconciliationId = '' } }: PanelRequest): Promise<Reconciliation> =>
  requireReconciliation(gateway, reconciliationId);

const mayReconcile = ({ session }: PanelRequest): boolean => isAllowed(session.principal.role, 'reports.reconcile');

/** The views of the section on reports, for an operator of the whole installation. */
export const reportTabs = ({ session }: PanelRequest, active: 'figures' | 'reconciliation'): Html | false =>
  session.principal.mids === null &&
  tabs(panelTexts.sections.reports, [
    { href: '/admin/reports', label: text.figures, isActive: active === 'figures' },
    { href: LIST, label: text.title, isActive: active === 'reconciliation' },
  ]);

const rowsOf = (totals: readonly StatementTotal[], outcome: Outcome): number => {
  // A difference of currencies is in the sums of both.
  const side = outcome === 'missing_there' ? 'ours' : 'statement';
  return totals
    .filter((total) => total.outcome === outcome && BigInt(total[side]) !== 0n)
    .reduce((sum, { rows }) => sum + rows, 0);
};

const periodText = ({ periodFrom, periodTo }: Reconciliation): string =>
  periodFrom === null || periodTo === null ? '–' : `${utcDay(periodFrom)} – ${utcDay(periodTo - 1)}`;

async function showList(request: PanelRequest, error?: string): Promise<PanelAnswer> {
  const { gateway, query } = request;
  const before = idCursor(query);
  const { items, last } = keysetPage(await gateway.reconciliations.list(PAGE_SIZE + 1, before), PAGE_SIZE);
  const columns: Column<Reconciliation>[] = [
    { label: text.created, cell: ({ createdAt }) => time(createdAt) },
    { label: text.fileName, cell: (one) => html`<a href="${pathOf(one)}">${one.fileName}</a>` },
    { label: text.state, cell: ({ state }) => badge(text.states[state], TONES[state]) },
    { label: text.period, cell: periodText },
    { label: text.rows, isNumber: true, cell: ({ rowsRead }) => count(rowsRead) },
    {
      label: text.differences,
      isNumber: true,
      cell: ({ totals }) =>
        totals && count(OUTCOMES.filter((one) => one !== 'matched').reduce((sum, one) => sum + rowsOf(totals, one), 0)),
    },
    { label: text.by, cell: ({ createdBy }) => createdBy },
  ];
  const isReading = items.some(({ state }) => state === 'comparing');
  return {
    title: text.title,
    status: error === undefined ? 200 : 400,
    body: html`<div class="head"><h1>${panelTexts.sections.reports}</h1></div>
${reportTabs(request, 'reconciliation')}
${mayReconcile(request) && uploadForm(request, error)}
<section class="card flush"${isReading && html` data-refresh="5"`}><h2 class="inset">${text.list}</h2>${
      items.length > 0 ? table(text.list, columns, items) : empty(text.none, text.noneHint)
    }${pager(LIST, query, last?.reconciliationId)}</section>`,
  };
}

/** The token comes before the file, so that it is checked before the file is read. */
const uploadForm = ({ session }: PanelRequest, error: string | undefined): Html =>
  html`<form class="card" method="post" action="${LIST}" enctype="multipart/form-data" data-upload="${text.uploading}" data-most="${LIMITS.statementBytes}" data-too-large="${text.tooLarge}" data-failed="${text.brokenOff}">${formToken(session)}<p>${text.intro}</p>${field(
    { name: 'file', label: text.file, hint: text.fileHint, error },
    (attributes) => html`<input ${attributes} type="file" accept=".csv,.txt,.tsv,text/csv" required>`,
  )}<div class="actions"><button>${text.upload}</button></div><div class="upload" hidden><progress max="100"></progress> <output class="soft small"></output></div></form>`;

async function upload(request: PanelRequest): Promise<PanelAnswer> {
  const { gateway, caller, file } = request;
  if (!file || file.name === '') return showList(request, text.chooseFile);
  try {
    return { redirect: pathOf(await storeStatement(gateway, caller, file.name, file.content)) };
  } catch (error) {
    if (!(error instanceof Refusal) || error.error !== 'invalidData') throw error;
    return showList(request, error.problems[0]?.sentence);
  }
}

/** The file, and where it came from. */
const recordFacts = (found: Reconciliation): Html =>
  facts([
    [text.created, time(found.createdAt)],
    [text.by, found.createdBy],
    [text.provider, found.state === 'done' ? (found.terms?.connector ?? text.allProviders) : undefined],
    [text.period, found.state === 'done' ? periodText(found) : undefined],
    [text.rowsRead, found.state === 'uploaded' ? undefined : count(found.rowsRead)],
    [text.rowsSkipped, found.rowsSkipped > 0n ? count(found.rowsSkipped) : undefined],
    [text.size, `${count(found.bytes)} B`],
    [text.sha256, html`<span class="mono">${found.digest.toString('hex')}</span>`],
  ]);

async function showOne(request: PanelRequest): Promise<PanelAnswer> {
  const found = await requireFound(request);
  const path = pathOf(found);
  const isRunning = found.state === 'comparing' && !isStale(request.gateway, found);
  const isDone = found.state === 'done';
  const actions = html`<div class="actions">${isDone && copyLink(withQuery(path, viewOf(request)))}${
    isDone && exportLink(withQuery(`${path}/rows.csv`, viewOf(request)))
  }${mayReconcile(request) && html`<a class="button quiet" href="${path}/delete">${text.delete}</a>`}</div>`;
  const head = html`<div class="head"><h1>${found.fileName}</h1>${badge(text.states[found.state], TONES[found.state])}${actions}</div>
${reportTabs(request, 'reconciliation')}`;
  if (isDone) return { title: found.fileName, body: html`${head}${await result(request, found)}` };
  if (isRunning) {
    const body = html`<section class="card" data-refresh="2" aria-live="polite"><h2>${text.comparing}</h2><p class="figure">${count(found.rowsRead)}</p><p class="soft">${text.rowsRead}</p><div class="actions"><a class="button quiet" href="${path}">${text.refresh}</a></div></section><section class="card">${recordFacts(found)}</section>`;
    return { title: found.fileName, body: html`${head}${body}` };
  }
  const problem = found.problem ?? undefined;
  return {
    title: found.fileName,
    body: html`${head}${notice(found.state === 'comparing' ? text.stale : problem?.sentence, 'bad')}${
      mayReconcile(request) && (await termsForm(request, found, path, problem ? [problem] : []))
    }<section class="card">${recordFacts(found)}</section>`,
  };
}

const outcomeOf = ({ query }: PanelRequest): Outcome | undefined => OUTCOMES.find((one) => one === query.outcome);

/** The query of the rows that a page shows. */
function viewOf(request: PanelRequest): Record<string, string> {
  const outcome = outcomeOf(request);
  return outcome ? { outcome } : {};
}

async function result(request: PanelRequest, found: Reconciliation): Promise<Html> {
  const { gateway, query } = request;
  const totals = found.totals ?? [];
  const path = pathOf(found);
  const outcome = outcomeOf(request);
  const after = /^\d{1,18}$/.test(query.cursor ?? '') ? BigInt(query.cursor as string) : 0n;
  const rows = await gateway.reconciliationRows.list(found.reconciliationId, outcome, PAGE_SIZE + 1, after);
  const { items, last } = keysetPage(rows, PAGE_SIZE);
  const cards = OUTCOMES.map(
    (one) =>
      html`<a class="card" href="${withQuery(path, { outcome: one })}"><h2>${text.outcomes[one]}</h2><p class="figure">${count(rowsOf(totals, one))}</p><p class="soft small">${text.outcomeHints[one]}</p></a>`,
  );
  const views = [undefined, ...OUTCOMES].map((one) => ({
    href: withQuery(path, one ? { outcome: one } : {}),
    label: one ? text.outcomes[one] : text.all,
    isActive: one === outcome,
  }));
  return html`<div class="cards">${cards}</div>
<section class="card flush dense"><h2 class="inset">${text.totals}</h2>${
    totals.length > 0 ? table(text.totals, totalColumns(), totals) : html`<p class="inset soft">${text.noRows}</p>`
  }</section>
${pills(text.outcome, views)}
<section class="card flush dense"><h2 class="inset">${outcome ? text.outcomes[outcome] : text.rows}</h2>${
    items.length > 0 ? table(text.rows, rowColumns(), items) : empty(text.noRows, text.noRowsHint)
  }${pager(path, query, last && String(last.number))}</section>
<section class="card">${recordFacts(found)}</section>`;
}

const sum = (minor: string, { currency }: StatementTotal): string => money(BigInt(minor), currency);

const totalColumns = (): readonly Column<StatementTotal>[] => [
  { label: text.outcome, cell: ({ outcome }) => badge(text.outcomes[outcome], OUTCOME_TONES[outcome]) },
  { label: text.type, cell: ({ type }) => text.types[type] },
  { label: text.currency, cell: ({ currency }) => currency },
  { label: text.rows, isNumber: true, cell: ({ rows }) => count(rows) },
  { label: text.inStatement, isNumber: true, cell: (total) => sum(total.statement, total) },
  { label: text.ours, isNumber: true, cell: (total) => sum(total.ours, total) },
  {
    label: text.difference,
    isNumber: true,
    cell: ({ statement, ours, currency }) => money(BigInt(statement) - BigInt(ours), currency),
  },
];

const amount = (minor: bigint | null, currency: string | null): string | null =>
  minor === null || currency === null ? null : money(minor, currency);

const rowColumns = (): readonly Column<ReconciledRow>[] => [
  { label: text.row, cell: ({ line }) => (line === null ? null : String(line)) },
  { label: text.outcome, cell: ({ outcome }) => badge(text.outcomes[outcome], OUTCOME_TONES[outcome]) },
  { label: text.type, cell: ({ type }) => html`<span class="key">${text.types[type]}</span>` },
  {
    label: text.reference,
    cell: ({ reference, paymentId }) => {
      const shown = html`<span class="mono">${reference ?? paymentId ?? '–'}</span>`;
      return paymentId ? html`<a href="/admin/payments/${paymentId}">${shown}</a>` : shown;
    },
  },
  { label: text.date, cell: ({ at, ourAt }) => time(ourAt ?? at) },
  { label: text.inStatement, isNumber: true, cell: (row) => amount(row.amount, row.currency) },
  { label: text.ours, isNumber: true, cell: (row) => amount(row.ourAmount, row.ourCurrency) },
];

async function compare(request: PanelRequest): Promise<PanelAnswer> {
  const { gateway, caller } = request;
  const found = await requireFound(request);
  const path = pathOf(found);
  try {
    const terms = await readTerms(request, found);
    const run = await beginComparison(gateway, caller, found.reconciliationId, terms);
    // The page shows the progress; an error is recorded in the reconciliation.
    runComparison(gateway, run, terms).catch((error) => gateway.log.error({ err: error }, 'comparison broke off'));
    return { redirect: path };
  } catch (error) {
    if (!(error instanceof Refusal) || error.error !== 'invalidData') throw error;
    return {
      title: found.fileName,
      status: 400,
      body: html`<div class="head"><h1>${found.fileName}</h1></div>${notice(error.problems.find(({ field: name }) => name === 'file')?.sentence, 'bad')}${await termsForm(request, found, path, error.problems)}`,
    };
  }
}

async function confirmDeletion(request: PanelRequest): Promise<PanelAnswer> {
  const found = await requireFound(request);
  const path = pathOf(found);
  return {
    title: text.deleteTitle,
    body: html`<div class="card narrow"><h1>${text.deleteTitle}</h1><p>${text.deleteHint}</p>${facts([
      [text.fileName, found.fileName],
      [text.created, time(found.createdAt)],
    ])}<form method="post" action="${path}/delete">${formToken(request.session)}<div class="actions"><button class="danger">${text.delete}</button> <a class="button quiet" href="${path}">${text.cancel}</a></div></form></div>`,
  };
}

async function remove(request: PanelRequest): Promise<PanelAnswer> {
  const { reconciliationId } = await requireFound(request);
  await deleteReconciliation(request.gateway, request.caller, reconciliationId);
  return { redirect: LIST };
}

const ONE = `${LIST}/:reconciliationId`;

export const reconciliationPages: readonly PanelRoute[] = [
  {
    method: 'GET',
    path: LIST,
    permission: 'reports.view',
    scope: 'installation',
    handle: (request) => showList(request),
  },
  {
    method: 'POST',
    path: LIST,
    permission: 'reports.reconcile',
    scope: 'installation',
    unconfirmed: 'It adds a file, which changes nothing else.',
    handle: upload,
  },
  { method: 'GET', path: ONE, permission: 'reports.view', scope: 'installation', handle: showOne },
  {
    method: 'POST',
    path: `${ONE}/compare`,
    permission: 'reports.reconcile',
    scope: 'installation',
    unconfirmed: 'It compares a file, which changes nothing else.',
    handle: compare,
  },
  {
    method: 'GET',
    path: `${ONE}/rows.csv`,
    permission: 'reports.view',
    scope: 'installation',
    isDownload: true,
    handle: async (request) => ({
      download: reconciliationCsv(request.gateway, await requireFound(request), outcomeOf(request)),
    }),
  },
  {
    method: 'GET',
    path: `${ONE}/delete`,
    permission: 'reports.reconcile',
    scope: 'installation',
    confirmFirst: true,
    handle: confirmDeletion,
  },
  {
    method: 'POST',
    path: `${ONE}/delete`,
    permission: 'reports.reconcile',
    scope: 'installation',
    confirmFor: ONE,
    handle: remove,
  },
];
