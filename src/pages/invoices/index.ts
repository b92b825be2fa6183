/** The routes of invoice pages: the page, and the button that begins the payment. Opening an invoice writes nothing. */
import type { FastifyInstance, FastifyRequest } from 'fastify';
import type { Gateway } from '../../core/context.ts';
import { beginFromInvoice, findInvoice } from '../../core/invoices/invoices.ts';
import { invoiceState } from '../../core/invoices/state.ts';
import { codePages } from '../links/code-pages.ts';
import { invoicePage } from './page.ts';

export function invoicePages(
  app: FastifyInstance,
  gateway: Gateway,
  addressOf: (request: FastifyRequest) => string,
): void {
  const pages = codePages(app, gateway, {
    addressOf,
    prefix: '/i',
    action: 'invoice',
    find: (code) => findInvoice(gateway, code),
  });

  pages.get(async (reply, { found, account, context, path }) => {
    const state = invoiceState(found, gateway.clock.now(found.mid));
    return pages.show(reply, context, invoicePage(found, state, account, context.locale, path));
  });

  pages.begin(async ({ found, account }) => beginFromInvoice(gateway, account, found));
}
