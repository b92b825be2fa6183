/** The part of the table of commands about payment links, invoices and telephone orders. */
import { INVOICE_STATES } from '../rules/invoices.ts';
import { LINK_STATES } from '../rules/links.ts';
import { GATEWAY_OPTIONS } from './admin-client.ts';
import { type Argument, type Command, flag, text } from './command.ts';
import { ID } from './installation-commands.ts';
import { MID_OPTION, REMOTE } from './options.ts';

const LINK: Argument = { name: 'link_id', about: 'the link', kind: 'uuid' };
const INVOICE: Argument = { name: 'invoice_id', about: 'the invoice', kind: 'uuid' };

const pageOptions = (kind: string, states?: readonly string[]) => [
  text('mid', '<mid>', `only ${kind} of this account`, { kind: 'uuid' }),
  ...(states ? [text('state', '<state>', `only ${kind} in this state`, { choices: states })] : []),
  text('limit', '<number>', 'how many', { kind: 'number' }),
  text('cursor', '<cursor>', 'the next page: the cursor that the page before ended with'),
  ...GATEWAY_OPTIONS,
];
const common = { json: 'document', variables: REMOTE } as const;

export const SALES_COMMANDS: readonly Command[] = [
  {
    name: 'link create',
    summary: 'Makes a payment link and prints its address',
    args: [{ name: 'title', about: 'what is paid, in quotes' }],
    options: [
      MID_OPTION,
      text('currency', '<currency>', 'such as EUR', { isRequired: true }),
      text('amount', '<amount>', 'the amount; or instead of it --min-amount and --max-amount'),
      text('min-amount', '<amount>', 'the least that the payer may choose'),
      text('max-amount', '<amount>', 'the most that the payer may choose'),
      text('description', '<text>', 'more about it'),
      text('uses', '<number>', 'how often it can be paid, or any; without it, once'),
      text('valid-until', '<date>', 'when it ends, such as 2026-11-30'),
      text('methods', '<list>', 'the methods that are offered, with commas'),
      text('ask', '<list>', 'what the payer is asked for, with commas: name, email, phone, reference'),
      text('locale', '<language>', 'the language of its page'),
      text('success-url', '<address>', 'where the payer goes afterwards', { kind: 'address' }),
      text('order-prefix', '<text>', 'the beginning of the order numbers'),
      flag('authorise', 'only reserves the amount'),
      ...GATEWAY_OPTIONS,
    ],
    ...common,
    examples: [
      'link create "Two teapots" --amount 19.99 --currency EUR',
      'link create Donation --min-amount 5.00 --max-amount 500.00 --currency EUR --uses any',
    ],
    run: async (call) => (await import('./sales.ts')).createLink(call),
  },
  {
    name: 'link list',
    summary: 'Lists payment links, the newest first',
    options: pageOptions('links', LINK_STATES),
    ...common,
    examples: ['link list --state active'],
    run: async (call) => (await import('./sales.ts')).listLinks(call),
  },
  {
    name: 'link show',
    summary: 'Shows a payment link with its payments and what they captured',
    args: [LINK],
    options: [...GATEWAY_OPTIONS],
    ...common,
    examples: [`link show ${ID}`],
    run: async (call) => (await import('./sales.ts')).showLink(call),
  },
  {
    name: 'link deactivate',
    summary: 'Switches a payment link off, and ends its open sessions',
    args: [LINK],
    options: [...GATEWAY_OPTIONS],
    ...common,
    examples: [`link deactivate ${ID}`],
    run: async (call) => (await import('./sales.ts')).deactivateLink(call),
  },
  {
    name: 'invoice create',
    summary: 'Makes an invoice from a JSON object on standard input, and prints its number and address',
    details: 'docs/merchant/invoices.md lists the members of the object.',
    options: [MID_OPTION, ...GATEWAY_OPTIONS],
    ...common,
    examples: ['invoice create < invoice.json'],
    run: async (call) => (await import('./sales.ts')).createInvoice(call),
  },
  {
    name: 'invoice list',
    summary: 'Lists invoices, the newest first',
    options: pageOptions('invoices', INVOICE_STATES),
    ...common,
    examples: ['invoice list --state overdue'],
    run: async (call) => (await import('./sales.ts')).listInvoices(call),
  },
  {
    name: 'invoice show',
    summary: 'Shows an invoice',
    args: [INVOICE],
    options: [...GATEWAY_OPTIONS],
    ...common,
    examples: [`invoice show ${ID}`],
    run: async (call) => (await import('./sales.ts')).showInvoice(call),
  },
  {
    name: 'invoice send',
    summary: 'Sends an invoice to its payer by e-mail',
    args: [INVOICE],
    options: [...GATEWAY_OPTIONS],
    ...common,
    examples: [`invoice send ${ID}`],
    run: async (call) => (await import('./sales.ts')).sendInvoice(call),
  },
  {
    name: 'invoice void',
    summary: 'Voids an invoice that is not paid, and ends its open sessions',
    args: [INVOICE],
    options: [...GATEWAY_OPTIONS],
    ...common,
    examples: [`invoice void ${ID}`],
    run: async (call) => (await import('./sales.ts')).voidInvoice(call),
  },
  {
    name: 'telephone-order create',
    summary: 'Opens the page for the card of a caller, and prints its address',
    args: [{ name: 'description', about: 'what is ordered, in quotes' }],
    options: [
      MID_OPTION,
      text('amount', '<amount>', 'such as 25.00', { isRequired: true }),
      text('currency', '<currency>', 'such as EUR', { isRequired: true }),
      text('order-id', '<order_id>', 'the order number; without it, a new one'),
      ...GATEWAY_OPTIONS,
    ],
    ...common,
    examples: ['telephone-order create "A teapot" --amount 25.00 --currency EUR'],
    run: async (call) => (await import('./sales.ts')).createTelephoneOrder(call),
  },
  {
    name: 'telephone-order list',
    summary: 'Lists the telephone orders that were taken with this token, the newest first',
    options: pageOptions('orders'),
    ...common,
    examples: ['telephone-order list'],
    run: async (call) => (await import('./sales.ts')).listTelephoneOrders(call),
  },
];
