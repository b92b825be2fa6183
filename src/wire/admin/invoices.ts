/** Admin calls on invoices: make, list, read, send by mail, void. */
import type { FastifyInstance } from 'fastify';
import { findAccount } from '../../core/accounts/accounts.ts';
import type { Account, Gateway, PaidInvoice } from '../../core/context.ts';
import {
  invoiceUrl,
  listInvoices,
  makeInvoice,
  requireInvoice,
  sendInvoice,
  voidInvoice,
} from '../../core/invoices/invoices.ts';
import { INVOICE_MEMBERS } from '../../core/invoices/read.ts';
import { invoiceState } from '../../core/invoices/state.ts';
import { amountText } from '../../lib/money/money.ts';
import { wireDate, wireDateOrNull } from '../../lib/time/clock.ts';
import { exponentOf } from '../../rules/currencies.ts';
import { INVOICE_STATES, invoiceNumber } from '../../rules/invoices.ts';
import { LIMITS } from '../../rules/limits.ts';
import { needs } from '../bearer.ts';
import { objectBody, oneOf, page, pageSize, readQuery, refuseUnknown, uuidText } from './input.ts';
import { accountOfBody } from './links.ts';
import { listFile } from './list-file.ts';

interface InvoiceParams {
  Params: { invoiceId: string };
}

const INVOICE_COLUMNS = [
  ...['invoice_id', 'mid', 'number', 'url', 'state', 'currency', 'total', 'tax', 'payer_name', 'payer_email'],
  ...['due_on', 'note', 'sent_count', 'sent_at', 'created_at'],
];

export function invoiceRoutes(app: FastifyInstance, gateway: Gateway): void {
  const view = (invoice: PaidInvoice) => invoiceView(gateway, invoice);

  app.post('/invoices', needs('invoices.manage', 'accounts'), async (request, reply) => {
    const { mid, ...body } = objectBody(request.body);
    const rest = Object.entries(body).filter(([name]) => !INVOICE_MEMBERS.some((known) => known === name));
    refuseUnknown(Object.fromEntries(rest), ['mid', ...INVOICE_MEMBERS]);
    const account = await accountOfBody(gateway, request, mid);
    const invoice = await makeInvoice(gateway, account, request.caller, body);
    reply.code(201);
    return view(invoice);
  });

  app.get('/invoices', needs('invoices.view', 'accounts'), async (request) => {
    const readers = { mid: uuidText, state: oneOf(INVOICE_STATES), limit: pageSize, cursor: uuidText };
    const { mid, state, limit: size = LIMITS.adminPageSize, cursor: before } = readQuery(request.query, readers);
    const invoices = await listInvoices(gateway, request.principal, { mid, state, before, limit: size + 1 });
    return page(invoices, size, ({ invoiceId }) => invoiceId, view);
  });

  listFile<PaidInvoice>(app, gateway, '/invoices', {
    guard: ['invoices.view', 'accounts'],
    name: 'invoices',
    columns: INVOICE_COLUMNS,
    read({ principal, query }, limit, last) {
      const filter = readQuery(query, { mid: uuidText, state: oneOf(INVOICE_STATES) });
      return listInvoices(gateway, principal, { ...filter, before: last?.invoiceId, limit });
    },
    cells: (invoice) => ({ ...view(invoice), payer_name: invoice.payer.name, payer_email: invoice.payer.email }),
  });

  app.get<InvoiceParams>('/invoices/:invoiceId', needs('invoices.view', 'accounts'), async ({ principal, params }) =>
    view(await requireInvoice(gateway, principal, params.invoiceId.toLowerCase())),
  );

  app.post<InvoiceParams>('/invoices/:invoiceId/void', needs('invoices.manage', 'accounts'), async (request) =>
    view(await voidInvoice(gateway, request.principal, request.caller, request.params.invoiceId.toLowerCase())),
  );

  app.post<InvoiceParams>('/invoices/:invoiceId/send', needs('invoices.manage', 'accounts'), async (request) => {
    const { principal, caller, params } = request;
    const { mid, invoiceId } = await requireInvoice(gateway, principal, params.invoiceId.toLowerCase());
    const account = (await findAccount(gateway, mid)) as Account;
    return view(await sendInvoice(gateway, principal, caller, account, invoiceId));
  });
}

function invoiceView(gateway: Gateway, invoice: PaidInvoice) {
  const wire = (units: bigint | string): string => amountText(BigInt(units), exponentOf(invoice.currency));
  return {
    invoice_id: invoice.invoiceId,
    mid: invoice.mid,
    number: invoiceNumber(invoice.sequence),
    url: invoiceUrl(gateway, invoice),
    state: invoiceState(invoice, gateway.clock.now(invoice.mid)),
    currency: invoice.currency,
    total: wire(invoice.total),
    tax: wire(invoice.tax),
    lines: invoice.lines.map(({ description, quantity, unitAmount, taxPercent, net, tax }) => ({
      description,
      quantity,
      unit_amount: wire(unitAmount),
      tax_percent: taxPercent,
      amount: wire(net),
      tax: wire(tax),
    })),
    payer: invoice.payer,
    due_on: invoice.dueOn,
    note: invoice.note,
    sent_count: invoice.sentCount,
    sent_at: wireDateOrNull(invoice.sentAt),
    created_at: wireDate(invoice.createdAt),
  };
}
