/** The page on a restored backup: what may differ from the providers, and the release. */
import type { Restore } from '../../../core/context.ts';
import { type RestoreReport, releaseRestore, restoreReport } from '../../../core/installation/restores.ts';
import { type Html, html } from '../../../lib/text/html.ts';
import { Refusal } from '../../../rules/errors.ts';
import { isAllowed } from '../../../rules/roles.ts';
import { formToken } from '../frame/layout.ts';
import { badge, type Column, empty, facts, field, refusalText, table, time } from '../frame/parts.ts';
import type { PanelAnswer, PanelRequest, PanelRoute } from '../frame/route.ts';
import { panelTexts } from '../locales/index.ts';

const PATH = '/admin/restore';
const text = panelTexts.restore;

type Charge = RestoreReport['charges']['checked'][number];
type Statement = RestoreReport['statements'][number];

async function show(request: PanelRequest, error?: string): Promise<PanelAnswer> {
  const report = await restoreReport(request.gateway);
  const head = html`<div class="head"><h1>${text.title}</h1></div>`;
  if (!report)
    return { title: text.title, body: html`${head}<div class="card">${empty(text.none, text.noneHint)}</div>` };
  const { restore } = report;
  const isHeld = restore.releasedAt === null;
  return {
    title: text.title,
    status: error === undefined ? 200 : 400,
    body: html`${head}
<section class="card"><p>${isHeld ? text.leadHeld : text.leadReleased}</p>${restoreFacts(restore)}</section>
${isHeld && charges(report)}${statements(report)}${payouts(request)}${access(request, report)}${isHeld && releaseForm(request, error)}`,
  };
}

const restoreFacts = ({ restoredAt, backupAt, releasedAt, releasedBy, note }: Restore): Html =>
  facts([
    [text.state, releasedAt === null ? badge(text.held, 'wait') : badge(text.released, 'good')],
    [text.backupAt, time(backupAt)],
    [text.restoredAt, time(restoredAt)],
    [text.releasedAt, releasedAt === null ? undefined : time(releasedAt)],
    [text.releasedBy, releasedBy ?? undefined],
    [text.note, note ?? undefined],
  ]);

/** The texts are read while the page is written. */
const chargeColumns = (): readonly Column<Charge>[] => [
  { label: text.order, cell: ({ order }) => order.orderId },
  { label: text.amount, isNumber: true, cell: ({ order }) => `${order.amountText} ${order.currency}` },
  { label: text.planned, cell: ({ order }) => time(order.details.recovered ?? null) },
  { label: text.atProviderLabel, cell: ({ atProvider }) => text.atProvider[atProvider] },
];

function charges({ charges: { due, checked } }: RestoreReport): Html {
  const list =
    checked.length === 0 ? empty(text.noCharges, text.noChargesHint) : table(text.charges, chargeColumns(), checked);
  return html`<section class="card flush"><div class="inset"><h2>${text.charges}</h2><p class="soft">${text.chargesHint}</p>${
    checked.length < due && html`<p>${text.chargesShown(checked.length, due)}</p>`
  }</div>${list}</section>`;
}

const statementColumns = (): readonly Column<Statement>[] => [
  {
    label: text.statement,
    cell: ({ reconciliationId, fileName }) =>
      html`<a href="/admin/reports/reconciliations/${reconciliationId}?outcome=missing_here">${fileName}</a>`,
  },
  { label: text.from, cell: ({ periodFrom }) => time(periodFrom) },
  { label: text.to, cell: ({ periodTo }) => time(periodTo) },
  { label: text.missingHere, isNumber: true, cell: ({ missingHere }) => missingHere },
];

function statements({ statements: rows }: RestoreReport): Html {
  const head = html`<h2>${text.statements}</h2><p class="soft">${text.statementsHint}</p>${
    rows.length === 0 && html`<p>${text.noStatements}</p>`
  }<p><a class="button quiet" href="/admin/reports/reconciliations">${text.upload}</a></p>`;
  return rows.length === 0
    ? html`<section class="card">${head}</section>`
    : html`<section class="card flush"><div class="inset">${head}</div>${table(text.statements, statementColumns(), rows)}</section>`;
}

/** A settlement of a period that was paid since the backup is made again. */
const payouts = ({ session }: PanelRequest): Html =>
  html`<section class="card"><h2>${text.payouts}</h2><p class="soft">${text.payoutsHint}</p>${
    isAllowed(session.principal.role, 'settlements.view') &&
    html`<p><a class="button quiet" href="/admin/ledger/payouts">${text.payoutsLink}</a></p>`
  }</section>`;

function access({ session }: PanelRequest, { access: { apiTokens, operators, savedCards } }: RestoreReport): Html {
  const link = (path: string, permission: Parameters<typeof isAllowed>[1], count: number): Html | number =>
    isAllowed(session.principal.role, permission) ? html`<a href="${path}">${count}</a>` : count;
  return html`<section class="card"><h2>${text.access}</h2><p class="soft">${text.accessHint}</p>${facts([
    [text.tokens, link('/admin/tokens', 'tokens.manage', apiTokens)],
    [text.operators, link('/admin/operators', 'operators.manage', operators)],
    [text.cards, savedCards],
  ])}</section>`;
}

const releaseForm = ({ session, form }: PanelRequest, error: string | undefined): Html | false =>
  isAllowed(session.principal.role, 'restore.release') &&
  html`<section class="card narrow"><h2>${text.release}</h2><p>${text.releaseHint}</p><form method="post" action="${PATH}/release">${formToken(session)}${field(
    { name: 'note', label: text.note, hint: text.noteHint, error },
    (attributes) => html`<textarea ${attributes} rows="3" required>${form.get('note') ?? ''}</textarea>`,
  )}<div class="actions"><button class="danger">${text.release}</button></div></form></section>`;

async function release(request: PanelRequest): Promise<PanelAnswer> {
  const { gateway, caller, form } = request;
  try {
    await releaseRestore(gateway, caller, form.get('note'));
    return { redirect: PATH };
  } catch (error) {
    if (!(error instanceof Refusal) || error.error !== 'invalidData') throw error;
    return show(request, refusalText(error));
  }
}

/** On every page, for those who may see what to check. */
export const heldBanner = (): Html =>
  html`<div class="notice wait" role="status">${text.banner} <a href="${PATH}">${text.bannerLink}</a></div>`;

export const restorePages: readonly PanelRoute[] = [
  { method: 'GET', path: PATH, permission: 'restore.view', scope: 'installation', handle: (request) => show(request) },
  {
    method: 'POST',
    path: `${PATH}/release`,
    permission: 'restore.release',
    scope: 'installation',
    confirmFor: PATH,
    handle: release,
  },
];
