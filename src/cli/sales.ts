/** The commands `link …`, `invoice …` and `telephone-order …`, over the admin API. */
import { isObject } from '../lib/text/json.ts';
import { type AdminClient, connectAdmin } from './admin-client.ts';
import { onlyAccount } from './choose-account.ts';
import { type Call, UsageError } from './command.ts';
import { readJson } from './connection.ts';
import { columns, members } from './output.ts';

interface Page<Item> {
  items: Item[];
  next_cursor: string | null;
}

interface Link {
  link_id: string;
  url: string;
  title: string;
  state: string;
  currency: string;
  amount: string | null;
  min_amount: string | null;
  max_amount: string | null;
}

interface Invoice {
  invoice_id: string;
  number: string;
  url: string;
  state: string;
  total: string;
  currency: string;
  due_on: string;
}

interface TelephoneOrder {
  payment_id: string;
  order_id: string;
  description: string;
  amount: string;
  currency: string;
  status: string;
}

const LINKS = '/admin/api/links';
const INVOICES = '/admin/api/invoices';
const TELEPHONE_ORDERS = '/admin/api/telephone-orders';

/** The account of the option `--mid`, or the only one. */
const midOf = async (call: Call, admin: AdminClient): Promise<string> =>
  call.option('mid') ?? (await onlyAccount(admin, '--mid')).mid;

/** Prints what was made, found or changed. */
const print = (call: Call, found: object): undefined => call.output.result(found, () => members(found)) as undefined;

async function list<Item>(call: Call, path: string, none: string, row: (item: Item) => unknown[]): Promise<undefined> {
  const admin = await connectAdmin(call);
  const query = new URLSearchParams();
  for (const name of ['mid', 'state', 'limit', 'cursor']) {
    const value = call.option(name);
    if (value !== undefined) query.set(name, value);
  }
  const page = await admin.request<Page<Item>>('GET', `${path}?${query}`);
  call.output.result(page, () => (page.items.length === 0 ? none : columns(page.items.map(row))));
  if (page.next_cursor !== null && !call.output.isJson) call.output.note(`More with --cursor ${page.next_cursor}`);
}

/** The texts and lists of a link, by their options. */
const LINK_TEXTS = [
  ...(['currency', 'amount', 'min-amount', 'max-amount', 'description'] as const),
  ...(['valid-until', 'locale', 'success-url', 'order-prefix'] as const),
];
const LINK_LISTS = ['methods', 'ask'];

const ANY_NUMBER = 'any';

function usesOf(call: Call): number | null | undefined {
  const uses = call.option('uses');
  if (uses === undefined) return undefined;
  if (uses === ANY_NUMBER) return null;
  if (!/^[1-9]\d{0,8}$/.test(uses)) throw new UsageError(`--uses should be a number from 1 on, or ${ANY_NUMBER}.`);
  return Number(uses);
}

export async function createLink(call: Call): Promise<undefined> {
  const member = (name: string): string => name.replaceAll('-', '_');
  const texts = LINK_TEXTS.map((name) => [member(name), call.option(name)]);
  const lists = LINK_LISTS.map((name) => [name, call.option(name)?.split(',')]);
  const uses = usesOf(call);
  const admin = await connectAdmin(call);
  const link = await admin.request<Link>('POST', LINKS, {
    mid: await midOf(call, admin),
    title: call.arg('title'),
    ...Object.fromEntries([...texts, ...lists].filter(([, value]) => value !== undefined)),
    ...(uses !== undefined && { uses }),
    ...(call.flag('authorise') && { authorise: true }),
  });
  return print(call, link);
}

const amountOf = ({ amount, min_amount, max_amount, currency }: Link): string =>
  `${amount ?? `${min_amount} to ${max_amount}`} ${currency}`;

export const listLinks = (call: Call): Promise<undefined> =>
  list<Link>(call, LINKS, 'There are no such links.', (link) => [
    link.link_id,
    link.state,
    amountOf(link),
    link.title,
    link.url,
  ]);

const linkPath = (call: Call): string => `${LINKS}/${encodeURIComponent(call.arg('link_id'))}`;

export const showLink = async (call: Call): Promise<undefined> =>
  print(call, await (await connectAdmin(call)).request<Link>('GET', linkPath(call)));

export const deactivateLink = async (call: Call): Promise<undefined> =>
  print(call, await (await connectAdmin(call)).request<Link>('PATCH', linkPath(call), { state: 'inactive' }));

export async function createInvoice(call: Call): Promise<undefined> {
  const sent = await readJson(call.input);
  if (!isObject(sent)) throw new UsageError('Standard input should be a JSON object.');
  const admin = await connectAdmin(call);
  const mid = call.option('mid') ?? sent.mid ?? (await midOf(call, admin));
  return print(call, await admin.request<Invoice>('POST', INVOICES, { ...sent, mid }));
}

export const listInvoices = (call: Call): Promise<undefined> =>
  list<Invoice>(call, INVOICES, 'There are no such invoices.', (invoice) => [
    invoice.invoice_id,
    invoice.number,
    invoice.state,
    `${invoice.total} ${invoice.currency}`,
    invoice.due_on,
    invoice.url,
  ]);

const onInvoice =
  (method: 'GET' | 'POST', action = '') =>
  async (call: Call): Promise<undefined> => {
    const path = `${INVOICES}/${encodeURIComponent(call.arg('invoice_id'))}${action}`;
    return print(call, await (await connectAdmin(call)).request<Invoice>(method, path));
  };

export const showInvoice = onInvoice('GET');
export const sendInvoice = onInvoice('POST', '/send');
export const voidInvoice = onInvoice('POST', '/void');

export async function createTelephoneOrder(call: Call): Promise<undefined> {
  const admin = await connectAdmin(call);
  const orderId = call.option('order-id');
  const order = {
    mid: await midOf(call, admin),
    description: call.arg('description'),
    amount: call.option('amount'),
    currency: call.option('currency'),
    ...(orderId !== undefined && { order_id: orderId }),
  };
  return print(call, await admin.request<object>('POST', TELEPHONE_ORDERS, order));
}

export const listTelephoneOrders = (call: Call): Promise<undefined> =>
  list<TelephoneOrder>(call, TELEPHONE_ORDERS, 'There are no such orders.', (order) => [
    order.payment_id,
    order.status,
    `${order.amount} ${order.currency}`,
    order.order_id,
    order.description,
  ]);
