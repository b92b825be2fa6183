/** The pages on fee invoices: the list with its forms, and an invoice or a credit note, which prints on A4. */
import { feeInvoicesCsv } from '../../../core/exports/fee-invoices.ts';
import {
  findFeeInvoice,
  findIssuer,
  type ListedFeeInvoice,
  listFeeInvoices,
} from '../../../core/settlements/fee-invoices.ts';
import { isUuid } from '../../../lib/crypto/id.ts';
import { keysetPage } from '../../../lib/http/keyset-page.ts';
import { type Html, html } from '../../../lib/text/html.ts';
import { utcDay } from '../../../lib/time/day.ts';
import type { Problem } from '../../../rules/errors.ts';
import { type FeeInvoiceLine, feeInvoiceNumber, type InvoiceParty } from '../../../rules/fee-invoices.ts';
import type { Category } from '../../../rules/ledger.ts';
import { isAllowed } from '../../../rules/roles.ts';
import { accountNames, downloadLink } from '../frame/filters.ts';
import { badge, type Column, count, empty, facts, idCursor, money, notice, pager, table } from '../frame/parts.ts';
import type { PanelAnswer, PanelRequest, PanelRoute } from '../frame/route.ts';
import { categoryName, ledgerTabs, PATHS } from '../ledger/parts.ts';
import { panelTexts } from '../locales/index.ts';
import { changeIssuer, correct, correctForm, issuerForm, make, makeForm, type Refused } from './fee-invoice-forms.ts';

const PAGE_SIZE = 25;
const text = panelTexts.feeInvoices;

/** The forms for those who may use them; the issuer is that of the whole installation. */
async function formsOf(
  request: PanelRequest,
  names: ReadonlyMap<string, string>,
  { make: making = [], issuer: issuing = [] }: Refused,
): Promise<Html | false> {
  const { role, mids } = request.session.principal;
  const issuer = await findIssuer(request.gateway);
  const forms = [
    isAllowed(role, 'settlements.manage') && makeForm(request, names, making),
    isAllowed(role, 'settlements.set_terms') && mids === null && issuerForm(request, issuer, issuing),
  ].filter((form) => form !== false);
  return forms.length > 0 && html`${!issuer && notice(text.noIssuer, 'wait')}<div class="columns even">${forms}</div>`;
}

async function showInvoices(request: PanelRequest, refused: Refused = {}): Promise<PanelAnswer> {
  const { gateway, session, query } = request;
  const names = await accountNames(request);
  const before = idCursor(query);
  const mid = isUuid(query.mid ?? '') ? query.mid?.toLowerCase() : undefined;
  const found = await listFeeInvoices(gateway, session.principal, { mid }, PAGE_SIZE + 1, before);
  const { items, last } = keysetPage(found, PAGE_SIZE);
  const columns: Column<ListedFeeInvoice>[] = [
    {
      label: text.number,
      cell: (one) => html`<a href="${PATHS.feeInvoices}/${one.feeInvoiceId}">${feeInvoiceNumber(one)}</a>`,
    },
    {
      label: text.kind,
      cell: ({ kind, correctedBy }) =>
        html`${text.kinds[kind]}${correctedBy !== null && html` ${badge(text.corrected, 'bad')}`}`,
    },
    { label: text.account, cell: ({ mid: owner }) => names.get(owner) ?? owner },
    { label: text.date, cell: ({ issuedAt }) => utcDay(issuedAt) },
    { label: text.net, isNumber: true, cell: ({ net, currency }) => money(net, currency) },
    { label: text.tax, isNumber: true, cell: ({ tax, currency }) => money(tax, currency) },
    { label: text.total, isNumber: true, cell: ({ net, tax, currency }) => money(net + tax, currency) },
  ];
  return {
    title: text.title,
    status: refused.make || refused.issuer ? 400 : 200,
    body: html`${notice(query.done === 'issuer' ? text.issuerSet : undefined)}<div class="head"><h1>${text.title}</h1><div class="actions">${downloadLink(`${PATHS.feeInvoices}.csv`, query)}</div></div>
${ledgerTabs(request, 'feeInvoices')}
${await formsOf(request, names, refused)}
<section class="card flush"><p class="soft inset">${text.about}</p>${
      items.length > 0 ? table(text.title, columns, items) : empty(text.none, text.noneHint)
    }${pager(PATHS.feeInvoices, query, last?.feeInvoiceId)}</section>`,
  };
}

const party = (label: string, { name, address, taxNumber }: InvoiceParty): Html =>
  html`<div><h2>${label}</h2><p>${[name, ...address].map((line, index) => html`${index > 0 && html`<br>`}${line}`)}${
    taxNumber !== '' && html`<br>${text.taxNumber} ${taxNumber}`
  }</p></div>`;

async function showInvoice(request: PanelRequest, problems: readonly Problem[] = []): Promise<PanelAnswer> {
  const { gateway, session, params, query } = request;
  const invoice = await findFeeInvoice(gateway, session.principal, params.feeInvoiceId ?? '');
  const { kind, currency, lines, net, tax, issuer, recipient, corrects, correctedBy, reason } = invoice;
  const title = `${text.kinds[kind]} ${feeInvoiceNumber(invoice)}`;
  const amount = (minor: bigint): Html => html`<span class="amount">${money(minor, currency)}</span>`;
  const columns: Column<FeeInvoiceLine>[] = [
    { label: text.fee, cell: ({ category }) => categoryName(category as Category) },
    { label: text.count, isNumber: true, cell: (line) => count(line.count) },
    { label: text.net, isNumber: true, cell: (line) => money(line.net, currency) },
    { label: text.taxRate, isNumber: true, cell: ({ taxPercent }) => `${taxPercent} %` },
    { label: text.tax, isNumber: true, cell: (line) => money(line.tax, currency) },
  ];
  const mayCorrect =
    isAllowed(session.principal.role, 'settlements.manage') && correctedBy === null && corrects === null;
  const done: Readonly<Record<string, string>> = { made: text.made, takenBack: text.takenBackNow };
  const link = (id: string): Html => html`<a href="${PATHS.feeInvoices}/${id}">${text.open}</a>`;
  return {
    title,
    status: problems.length > 0 ? 400 : 200,
    body: html`${notice(query.done && done[query.done])}<div class="head actions"><a class="button quiet" href="${PATHS.feeInvoices}">${text.back}</a><button type="button" data-print hidden>${text.print}</button></div>
${correctedBy !== null && notice(text.takenBack, 'wait')}
<article class="card statement"><header><p class="shop">${issuer.name}</p><h1>${title}</h1></header>
<div class="columns even">${party(text.issuer, issuer)}${party(text.recipient, recipient)}</div>
${facts([
  [text.date, utcDay(invoice.issuedAt)],
  [text.from, invoice.fromAt === null ? undefined : utcDay(invoice.fromAt)],
  [text.until, utcDay(invoice.untilAt)],
  [text.corrects, corrects === null ? undefined : link(corrects)],
  [text.correctedBy, correctedBy === null ? undefined : link(correctedBy)],
  [text.reason, reason ?? undefined],
])}
${table(title, columns, lines)}
${facts([
  [text.net, amount(net)],
  [text.tax, amount(tax)],
  [text.total, html`<strong>${amount(net + tax)}</strong>`],
])}
<p class="soft">${text.deducted}</p></article>
${mayCorrect && correctForm(request, `${PATHS.feeInvoices}/${invoice.feeInvoiceId}`, problems)}`,
  };
}

async function download({ gateway, session, query }: PanelRequest): Promise<PanelAnswer> {
  const mid = isUuid(query.mid ?? '') ? query.mid?.toLowerCase() : undefined;
  const read = (limit: number, before?: string) => listFeeInvoices(gateway, session.principal, { mid }, limit, before);
  return { download: await feeInvoicesCsv(gateway, read) };
}

const page = { method: 'GET', permission: 'settlements.view', scope: 'accounts' } as const;
const form = { method: 'POST', scope: 'accounts', confirmFor: PATHS.feeInvoices } as const;

export const feeInvoicePages: readonly PanelRoute[] = [
  { ...page, path: PATHS.feeInvoices, handle: (request) => showInvoices(request) },
  { ...page, path: `${PATHS.feeInvoices}.csv`, isDownload: true, handle: download },
  { ...page, path: `${PATHS.feeInvoices}/:feeInvoiceId`, handle: (request) => showInvoice(request) },
  { ...form, path: PATHS.feeInvoices, permission: 'settlements.manage', handle: make(showInvoices) },
  {
    ...form,
    path: `${PATHS.feeInvoices}/issuer`,
    permission: 'settlements.set_terms',
    scope: 'installation',
    handle: changeIssuer(showInvoices),
  },
  {
    ...form,
    path: `${PATHS.feeInvoices}/:feeInvoiceId/correct`,
    permission: 'settlements.manage',
    handle: correct(showInvoice),
  },
];
