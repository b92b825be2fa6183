/** The texts of the panel in English. */
import { accountChoice } from './en/account-choice.ts';
import { accounts } from './en/accounts.ts';
import { attention } from './en/attention.ts';
import { audit } from './en/audit.ts';
import { callbacks } from './en/callbacks.ts';
import { chargebacks } from './en/chargebacks.ts';
import { connections } from './en/connections.ts';
import { erasure } from './en/erasure.ts';
import { hashDebugger } from './en/hash-debugger.ts';
import { me } from './en/me.ts';
import { operators } from './en/operators.ts';
import { overview } from './en/overview.ts';
import { paymentOrder } from './en/payment-order.ts';
import { payments } from './en/payments.ts';
import { reconciliations } from './en/reconciliations.ts';
import { reports } from './en/reports.ts';
import { requests } from './en/requests.ts';
import { sandboxConsole } from './en/sandbox.ts';
import { schedules } from './en/schedules.ts';
import { signIn } from './en/sign-in.ts';
import { start } from './en/start.ts';
import { tokens } from './en/tokens.ts';

export const en = {
  navigation: 'Sections',
  skip: 'Skip to content',
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
    chargebacks: 'Chargebacks',
    accounts: 'Accounts',
    connections: 'Connections',
    callbacks: 'Callbacks',
    schedules: 'Schedules',
    requests: 'API calls',
    debugger: 'Hash debugger',
    sandbox: 'Sandbox console',
    operators: 'Operators',
    tokens: 'API tokens',
    audit: 'Audit log',
  },
  roles: {
    owner: 'Owner',
    operator: 'Operator',
    support: 'Support',
    viewer: 'Viewer',
    merchant: 'Merchant',
  },
  signIn,
  start,
  overview,
  reports,
  reconciliations,
  paymentOrder,
  payments,
  attention,
  chargebacks,
  erasure,
  accounts,
  accountChoice,
  connections,
  callbacks,
  schedules,
  operators,
  me,
  requests,
  debugger: hashDebugger,
  sandboxConsole,
  tokens,
  audit,
};
