/** The texts of the panel in English. */
import { accountChoice } from './en/account-choice.ts';
import { accounts } from './en/accounts.ts';
import { attention } from './en/attention.ts';
import { audit } from './en/audit.ts';
import { callbacks } from './en/callbacks.ts';
import { chargebacks } from './en/chargebacks.ts';
import { connections } from './en/connections.ts';
import { erasure } from './en/erasure.ts';
import { feeInvoices } from './en/fee-invoices.ts';
import { hashDebugger } from './en/hash-debugger.ts';
import { heldForm } from './en/held-form.ts';
import { installation } from './en/installation.ts';
import { invoices } from './en/invoices.ts';
import { ledger } from './en/ledger.ts';
import { links } from './en/links.ts';
import { mails } from './en/mails.ts';
import { me } from './en/me.ts';
import { operators } from './en/operators.ts';
import { overview } from './en/overview.ts';
import { payment } from './en/payment.ts';
import { paymentOrder } from './en/payment-order.ts';
import { payments } from './en/payments.ts';
import { payouts } from './en/payouts.ts';
import { prices } from './en/prices.ts';
import { reconciliations } from './en/reconciliations.ts';
import { refundRequests } from './en/refund-requests.ts';
import { reports } from './en/reports.ts';
import { requests } from './en/requests.ts';
import { restore } from './en/restore.ts';
import { risk } from './en/risk.ts';
import { sandboxConsole } from './en/sandbox.ts';
import { schedules } from './en/schedules.ts';
import { settings } from './en/settings.ts';
import { settlements } from './en/settlements.ts';
import { signIn } from './en/sign-in.ts';
import { start } from './en/start.ts';
import { statements } from './en/statements.ts';
import { telephoneOrders } from './en/telephone-orders.ts';
import { threeWay } from './en/three-way.ts';
import { tokens } from './en/tokens.ts';

export const en = {
  navigation: 'Sections',
  skip: 'Skip to content',
  menu: 'Menu',
  closeMenu: 'Close the menu',
  clockAhead:
    'The sandbox clock is {ahead} ahead: it is {now}. Payments, callbacks and schedules follow it; API calls, the audit log and sessions show the real time.',
  clockAheadHere: 'The clock of this account is {ahead} ahead: it is {now}.',
  sandbox: 'Sandbox',
  search: 'Search payments',
  docs: 'Docs',
  signOut: 'Sign out',
  refused: 'Not possible',
  unusableForm: 'This form contains a character that cannot be stored. Go back and remove it.',
  staleForm: 'This form is out of date. Go back, reload the page and try again.',
  backToOverview: 'Back to the overview',
  firstPage: 'First page',
  nextPage: 'Next page',
  downloadCsv: 'Download CSV',
  notChosenYet: 'Not chosen yet',
  copy: 'Copy',
  /** The script fills the numbers in. */
  exported: '{rows} rows, {size}',
  exportedOf: '{rows} of about {total} rows, {size}',
  exportDone: 'Saved: {rows} rows, {size}',
  exportBrokeOff: 'The download broke off. Try again.',
  copyLink: 'Copy link',
  copied: 'Copied',
  sections: {
    overview: 'Overview',
    reports: 'Reports',
    payments: 'Payments',
    attention: 'Needs attention',
    links: 'Links',
    invoices: 'Invoices',
    telephoneOrders: 'Telephone order',
    chargebacks: 'Chargebacks',
    risk: 'Risk',
    ledger: 'Ledger',
    accounts: 'Accounts',
    connections: 'Connections',
    prices: 'Prices',
    callbacks: 'Callbacks',
    schedules: 'Schedules',
    requests: 'API calls',
    debugger: 'Hash debugger',
    sandbox: 'Sandbox console',
    operators: 'Operators',
    tokens: 'API tokens',
    audit: 'Audit log',
    installation: 'Installation',
  },
  roles: {
    owner: 'Owner',
    operator: 'Operator',
    support: 'Support',
    viewer: 'Viewer',
    accountant: 'Accountant',
    merchant: 'Merchant',
    merchant_accountant: 'Merchant’s accountant',
    merchant_support: 'Merchant’s support',
    merchant_cashier: 'Merchant’s cashier',
  },
  signIn,
  start,
  overview,
  reports,
  reconciliations,
  refundRequests,
  links,
  installation,
  invoices,
  telephoneOrders,
  paymentOrder,
  payments,
  payment,
  attention,
  chargebacks,
  risk,
  ledger,
  feeInvoices,
  settlements,
  payouts,
  statements,
  threeWay,
  erasure,
  accounts,
  settings,
  accountChoice,
  connections,
  prices,
  callbacks,
  schedules,
  operators,
  heldForm,
  mails,
  me,
  requests,
  restore,
  debugger: hashDebugger,
  sandboxConsole,
  tokens,
  audit,
};
