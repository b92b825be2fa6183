/** The page on telephone orders: what the caller orders, before the payment page asks for the card; and those taken. */

import { findAccount } from '../../../core/accounts/accounts.ts';
import type { TakenOrder } from '../../../core/context.ts';
import { sees } from '../../../core/operators/principal.ts';
import { linkOf } from '../../../core/payments/links.ts';
import { listTelephoneOrders, takeTelephoneOrder } from '../../../core/telephone-orders/telephone-orders.ts';
import { isUuid } from '../../../lib/crypto/id.ts';
import { keysetPage } from '../../../lib/http/keyset-page.ts';
import { typedAmount } from '../../../lib/money/typed-amount.ts';
import { html } from '../../../lib/text/html.ts';
import { exponentOf } from '../../../rules/currencies.ts';
import { type Problem, Refusal } from '../../../rules/errors.ts';
import { accountNames } from '../frame/filters.ts';
import { formToken } from '../frame/layout.ts';
import { type Column, empty, field, idCursor, pager, table, time } from '../frame/parts.ts';
import type { PanelAnswer, PanelRequest, PanelRoute } from '../frame/route.ts';
import { accountField } from '../links/links.ts';
import { panelTexts } from '../locales/index.ts';
import { statusBadge } from '../payments/status.ts';

const PATH = '/admin/telephone-orders';
const PAGE_SIZE = 25;
const text = panelTexts.telephoneOrders;

const COLUMNS: Column<TakenOrder>[] = [
  { label: text.takenAt, cell: ({ createdAt }) => time(createdAt) },
  { label: text.order, cell: ({ orderId }) => html`<bdi>${orderId}</bdi>` },
  { label: text.description, cell: ({ description }) => html`<bdi>${description}</bdi>` },
  { label: text.status, cell: statusBadge },
  { label: text.amount, isNumber: true, cell: ({ amountText, currency }) => `${amountText} ${currency}` },
];

/** The orders that the user has taken; nothing before the first one. */
async function takenOrders({ gateway, session, query }: PanelRequest) {
  const before = idCursor(query);
  const rows = await listTelephoneOrders(gateway, session.principal, { before, limit: PAGE_SIZE + 1 });
  const { items, last } = keysetPage(rows, PAGE_SIZE);
  return (
    items.length > 0 &&
    html`<section><h2>${text.taken}</h2><div class="card flush">${table(text.taken, COLUMNS, items)}${pager(PATH, query, last?.paymentId)}</div></section>`
  );
}

/** The accounts that take telephone orders. */
async function takingAccounts(request: PanelRequest): Promise<Map<string, string>> {
  const accounts = await accountNames(request);
  for (const mid of accounts.keys()) {
    const account = await findAccount(request.gateway, mid);
    if (!account?.settings.telephone_orders) accounts.delete(mid);
  }
  return accounts;
}

async function showForm(request: PanelRequest, problems: readonly Problem[] = []): Promise<PanelAnswer> {
  const { session, form } = request;
  const accounts = await takingAccounts(request);
  const errorOf = (name: string): string | undefined => problems.find((problem) => problem.field === name)?.sentence;
  const input = (name: string, label: string, attributes = html`autocomplete="off"`, hint?: string, value = '') =>
    field({ name, label, value: form.get(name) ?? value, hint, error: errorOf(name), attributes });
  const title = panelTexts.sections.telephoneOrders;
  return {
    title,
    status: problems.length > 0 ? 400 : 200,
    body:
      accounts.size === 0
        ? html`<div class="head"><h1>${title}</h1></div><div class="card">${empty(title, text.notAllowed)}</div>`
        : html`<div class="card narrow"><h1>${title}</h1><p class="soft">${text.hint}</p>${errorOf('mid') !== undefined && html`<p class="error" role="alert">${errorOf('mid')}</p>`}
<form method="post" action="${PATH}">${formToken(session)}${accountField(accounts, form.get('mid'), text.account)}${input(
            'amount',
            text.amount,
            html`required inputmode="decimal" autocomplete="off"`,
          )}${input('currency', text.currency, html`required maxlength="3" autocomplete="off"`, undefined, 'EUR')}${input(
            'description',
            text.description,
            html`required autocomplete="off"`,
          )}${input('order_id', text.order, undefined, text.orderHint)}<div class="actions"><button>${text.make}</button></div></form></div>${await takenOrders(request)}`,
  };
}

async function take(request: PanelRequest): Promise<PanelAnswer> {
  const { gateway, session, caller, form } = request;
  const mid = form.get('mid') ?? '';
  const account = isUuid(mid) && sees(session.principal, mid) ? await findAccount(gateway, mid) : undefined;
  if (!account) throw new Refusal('noSuchAccount');
  const currency = (form.get('currency') ?? '').trim().toUpperCase();
  try {
    const { paymentId } = await takeTelephoneOrder(gateway, account, caller, {
      amount: typedAmount(form.get('amount') ?? '', exponentOf(currency)),
      currency,
      description: form.get('description'),
      order_id: form.get('order_id')?.trim(),
    });
    return { redirect: `/pay/${linkOf(gateway, paymentId)}` };
  } catch (error) {
    if (!(error instanceof Refusal) || error.error !== 'invalidData') throw error;
    return showForm(request, error.problems);
  }
}

const common = { path: PATH, permission: 'telephone_orders.take', scope: 'accounts' } as const;

export const telephoneOrderPages: readonly PanelRoute[] = [
  { method: 'GET', ...common, handle: (request) => showForm(request) },
  { method: 'POST', ...common, unconfirmed: 'It brings money to the account of the merchant only.', handle: take },
];
