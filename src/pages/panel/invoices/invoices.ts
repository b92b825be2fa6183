/** The pages on invoices: the list, the form for a new one, and one invoice to send or void. */

import { findAccount } from '../../../core/accounts/accounts.ts';
import type { Account, PaidInvoice } from '../../../core/context.ts';
import {
  invoiceUrl,
  listInvoices,
  makeInvoice,
  requireInvoice,
  sendInvoice,
  voidInvoice,
} from '../../../core/invoices/invoices.ts';
import { invoiceState } from '../../../core/invoices/state.ts';
import { sees } from '../../../core/operators/principal.ts';
import { isUuid } from '../../../lib/crypto/id.ts';
import { keysetPage } from '../../../lib/http/keyset-page.ts';
import { typedAmount } from '../../../lib/money/typed-amount.ts';
import { type Html, html } from '../../../lib/text/html.ts';
import { utcDay } from '../../../lib/time/day.ts';
import { exponentOf } from '../../../rules/currencies.ts';
import { type Problem, Refusal } from '../../../rules/errors.ts';
import { INVOICE_LIMITS, INVOICE_STATES, type InvoiceState, invoiceNumber } from '../../../rules/invoices.ts';
import { LIMITS } from '../../../rules/limits.ts';
import { isAllowed } from '../../../rules/roles.ts';
import { accountNames } from '../frame/filters.ts';
import { formToken } from '../frame/layout.ts';
import {
  badge,
  type Column,
  copyable,
  empty,
  facts,
  field,
  fill,
  idCursor,
  money,
  notice,
  pager,
  pills,
  table,
  time,
  withQuery,
} from '../frame/parts.ts';
import type { PanelAnswer, PanelRequest, PanelRoute } from '../frame/route.ts';
import { accountField } from '../links/links.ts';
import { panelTexts } from '../locales/index.ts';

const PATH = '/admin/invoices';
const PAGE_SIZE = 25;
/** The lines that the form offers; programs send more. */
const FORM_LINES = 8;
const DUE_DAYS = 14;
const text = panelTexts.invoices;

const TONES = { open: 'wait', paid: 'good', overdue: 'bad', void: '' } as const;
const pathOf = ({ invoiceId }: Pick<PaidInvoice, 'invoiceId'>): string => `${PATH}/${invoiceId}`;
const stateOf = ({ gateway }: PanelRequest, invoice: PaidInvoice): InvoiceState =>
  invoiceState(invoice, gateway.clock.now(invoice.mid));
const stateBadge = (state: InvoiceState): Html => badge(text.states[state], TONES[state]);

const columns = (request: PanelRequest): Column<PaidInvoice>[] => [
  { label: text.number, cell: (invoice) => html`<a href="${pathOf(invoice)}">${invoiceNumber(invoice.sequence)}</a>` },
  { label: text.state, cell: (invoice) => stateBadge(stateOf(request, invoice)) },
  { label: text.payer, cell: ({ payer }) => html`<bdi>${payer.name}</bdi>` },
  { label: text.total, isNumber: true, cell: ({ total, currency }) => money(total, currency) },
  { label: text.due, cell: ({ dueOn }) => dueOn },
  { label: text.created, cell: ({ createdAt }) => time(createdAt) },
];

async function showList(request: PanelRequest): Promise<PanelAnswer> {
  const { gateway, session, query } = request;
  const before = idCursor(query);
  const state = INVOICE_STATES.find((one) => one === query.state);
  const rows = await listInvoices(gateway, session.principal, { state, before, limit: PAGE_SIZE + 1 });
  const { items, last } = keysetPage(rows, PAGE_SIZE);
  const views = [undefined, ...INVOICE_STATES].map((one) => ({
    href: withQuery(PATH, one === undefined ? {} : { state: one }),
    label: one === undefined ? text.allStates : text.states[one],
    isActive: one === state,
  }));
  return {
    title: panelTexts.sections.invoices,
    body: html`<div class="head"><h1>${panelTexts.sections.invoices}</h1>${
      isAllowed(session.principal.role, 'invoices.manage') &&
      html`<div class="actions"><a class="button" href="${PATH}/new">${text.make}</a></div>`
    }</div>${pills(text.state, views)}
<div class="card flush">${items.length > 0 ? table(panelTexts.sections.invoices, columns(request), items) : empty(text.none, text.noneHint)}${pager(PATH, query, last?.invoiceId)}</div>`,
  };
}

async function newInvoice(request: PanelRequest, problems: readonly Problem[] = []): Promise<PanelAnswer> {
  const { gateway, session, form } = request;
  const accounts = await accountNames(request);
  const errorOf = (name: string): string | undefined => problems.find((problem) => problem.field === name)?.sentence;
  const mid = form.get('mid') ?? (accounts.size === 1 ? [...accounts.keys()][0] : undefined);
  const due = utcDay(gateway.clock.now(mid) + DUE_DAYS * LIMITS.dayMs);
  const input = (
    name: string,
    label: string,
    problem: string,
    attributes = html`autocomplete="off"`,
    value = '',
  ): Html => field({ name, label, value: form.get(name) ?? value, error: errorOf(problem), attributes });
  const area = (name: string, label: string, problem: string): Html =>
    field(
      { name, label, error: errorOf(problem) },
      (attributes) => html`<textarea ${attributes} rows="2">${form.get(name) ?? ''}</textarea>`,
    );
  const decimal = html`inputmode="decimal" autocomplete="off"`;
  const lines = Array.from({ length: FORM_LINES }, (_, index) => {
    const name = `line.${index}`;
    const of = `lines.${index}`;
    const isOpen = index === 0 || (form.get(`${name}.description`) ?? '') !== '';
    return html`<details class="field"${isOpen && html` open`}><summary>${fill(text.line, { number: String(index + 1) })}</summary>${input(
      `${name}.description`,
      text.description,
      `${of}.description`,
      html`maxlength="${INVOICE_LIMITS.description}" autocomplete="off"`,
    )}${input(`${name}.quantity`, text.quantity, `${of}.quantity`, decimal, '1')}${input(`${name}.unit_amount`, text.unitAmount, `${of}.unit_amount`, decimal)}${input(`${name}.tax_percent`, text.taxPercent, `${of}.tax_percent`, decimal, '0')}</details>`;
  });
  return {
    title: text.make,
    status: problems.length > 0 ? 400 : 200,
    body: html`<div class="card narrow"><h1>${text.make}</h1>${errorOf('lines') !== undefined && html`<p class="error" role="alert">${errorOf('lines')}</p>`}
<form method="post" action="${PATH}/new">${formToken(session)}${accountField(accounts, form.get('mid'), text.account)}${input('name', text.name, 'payer.name', html`required autocomplete="off"`)}${field(
      {
        name: 'email',
        label: text.email,
        type: 'email',
        value: form.get('email'),
        error: errorOf('payer.email'),
        attributes: html`required autocomplete="off"`,
      },
    )}${area('address', text.address, 'payer.address')}${input('currency', text.currency, 'currency', html`required maxlength="3" autocomplete="off"`, 'EUR')}${field(
      { name: 'due_on', label: text.due, type: 'date', value: form.get('due_on') ?? due, error: errorOf('due_on') },
    )}<h2 class="field">${text.lines}</h2><p class="hint">${text.linesHint}</p>${lines}${area('note', text.note, 'note')}<div class="actions"><button>${text.makeButton}</button> <a class="button quiet" href="${PATH}">${panelTexts.accounts.cancel}</a></div></form></div>`,
  };
}

/** The positions of the lines in the form that have a description. */
const filledLines = (form: ReadonlyMap<string, string>): number[] =>
  [...Array(FORM_LINES).keys()].filter((index) => (form.get(`line.${index}.description`) ?? '').trim() !== '');

function typedLines(form: ReadonlyMap<string, string>, currency: string): object[] {
  const decimal = (value: string | undefined): string => (value ?? '').trim().replace(',', '.');
  return filledLines(form)
    .map((index) => `line.${index}.`)
    .map((name) => ({
      description: form.get(`${name}description`),
      quantity: decimal(form.get(`${name}quantity`)),
      unit_amount: typedAmount(form.get(`${name}unit_amount`) ?? '', exponentOf(currency)),
      tax_percent: decimal(form.get(`${name}tax_percent`)) || '0',
    }));
}

async function make(request: PanelRequest): Promise<PanelAnswer> {
  const { gateway, session, caller, form } = request;
  const mid = form.get('mid') ?? '';
  const account = isUuid(mid) && sees(session.principal, mid) ? await findAccount(gateway, mid) : undefined;
  if (!account) throw new Refusal('noSuchAccount');
  const currency = (form.get('currency') ?? '').trim().toUpperCase();
  const body = {
    currency,
    lines: typedLines(form, currency),
    payer: { name: form.get('name'), email: form.get('email')?.trim(), address: form.get('address') },
    due_on: form.get('due_on'),
    note: form.get('note'),
  };
  try {
    return { redirect: pathOf(await makeInvoice(gateway, account, caller, body)) };
  } catch (error) {
    if (!(error instanceof Refusal) || error.error !== 'invalidData') throw error;
    const filled = filledLines(form);
    const inForm = (field: string): string => field.replace(/^lines\.(\d+)/, (_, index) => `lines.${filled[index]}`);
    return newInvoice(
      request,
      error.problems.map((problem) => ({ ...problem, field: inForm(problem.field) })),
    );
  }
}

async function show(request: PanelRequest, problem?: string): Promise<PanelAnswer> {
  const { gateway, session, params, query } = request;
  const invoice = await requireInvoice(gateway, session.principal, params.invoiceId ?? '');
  const state = stateOf(request, invoice);
  const url = invoiceUrl(gateway, invoice);
  const { payer, currency, total, tax } = invoice;
  const mayManage = isAllowed(session.principal.role, 'invoices.manage') && (state === 'open' || state === 'overdue');
  const post = (path: string, content: Html): Html =>
    html`<form method="post" action="${pathOf(invoice)}/${path}">${formToken(session)}${content}</form>`;
  return {
    title: invoiceNumber(invoice.sequence),
    status: problem === undefined ? 200 : 400,
    body: html`${notice(query.done && text.sent)}${notice(problem, 'bad')}<div class="head"><h1>${invoiceNumber(invoice.sequence)}</h1>${stateBadge(state)}<div class="actions"><a class="button quiet" href="${PATH}">${panelTexts.sections.invoices}</a><a class="button" href="${url}" target="_blank" rel="noopener">${text.show}</a></div></div>
<section class="card">${facts([
      [text.payer, html`<bdi>${payer.name}</bdi>, ${payer.email}`],
      [text.total, money(total, currency)],
      [text.tax, money(tax, currency)],
      [text.due, invoice.dueOn],
      [text.pageAddress, copyable(url)],
      [text.sentAt, invoice.sentAt === null ? undefined : time(invoice.sentAt)],
    ])}${mayManage && html`<div class="actions">${post('send', html`<button>${invoice.sentAt === null ? text.send : text.sendAgain}</button>`)}</div>`}</section>
${mayManage && html`<section class="card"><details class="confirm"><summary class="button quiet">${text.void}</summary><p>${text.voidQuestion}</p><div class="actions">${post('void', html`<button class="danger">${text.void}</button>`)}</div></details></section>`}`,
  };
}

async function send(request: PanelRequest): Promise<PanelAnswer> {
  const { gateway, session, caller, params } = request;
  const invoice = await requireInvoice(gateway, session.principal, params.invoiceId ?? '');
  const account = (await findAccount(gateway, invoice.mid)) as Account;
  try {
    await sendInvoice(gateway, session.principal, caller, account, invoice.invoiceId);
  } catch (error) {
    if (!(error instanceof Refusal) || error.error !== 'notMailed') throw error;
    return show(request, error.problems[0]?.sentence);
  }
  return { redirect: `${pathOf(invoice)}?done=1` };
}

async function voidIt({ gateway, session, caller, params }: PanelRequest): Promise<PanelAnswer> {
  return { redirect: pathOf(await voidInvoice(gateway, session.principal, caller, params.invoiceId ?? '')) };
}

const common = { scope: 'accounts' } as const;
const REASON = 'It moves no money: an invoice is paid by its payer.';

export const invoicePages: readonly PanelRoute[] = [
  { method: 'GET', path: PATH, permission: 'invoices.view', ...common, handle: showList },
  {
    method: 'GET',
    path: `${PATH}/new`,
    permission: 'invoices.manage',
    ...common,
    handle: (request) => newInvoice(request),
  },
  { method: 'POST', path: `${PATH}/new`, permission: 'invoices.manage', ...common, unconfirmed: REASON, handle: make },
  {
    method: 'GET',
    path: `${PATH}/:invoiceId`,
    permission: 'invoices.view',
    ...common,
    handle: (request) => show(request),
  },
  {
    method: 'POST',
    path: `${PATH}/:invoiceId/send`,
    permission: 'invoices.manage',
    ...common,
    unconfirmed: REASON,
    handle: send,
  },
  {
    method: 'POST',
    path: `${PATH}/:invoiceId/void`,
    permission: 'invoices.manage',
    ...common,
    unconfirmed: REASON,
    handle: voidIt,
  },
];
