/** The texts of the panel in English. */
import { accounts } from './en/accounts.ts';
import { audit } from './en/audit.ts';
import { callbacks } from './en/callbacks.ts';
import { connections } from './en/connections.ts';
import { hashDebugger } from './en/hash-debugger.ts';
import { operators } from './en/operators.ts';
import { overview } from './en/overview.ts';
import { payments } from './en/payments.ts';
import { reports } from './en/reports.ts';
import { schedules } from './en/schedules.ts';
import { signIn } from './en/sign-in.ts';
import { start } from './en/start.ts';
import { tokens } from './en/tokens.ts';

export const en = {
  navigation: 'Sections',
  skip: 'Skip to content',
  sandbox: 'Sandbox',
  search: 'Search payments',
  signOut: 'Sign out',
  refused: 'Not possible',
  staleForm: 'This form is out of date. Go back, reload the page and try again.',
  backToOverview: 'Back to the overview',
  firstPage: 'First page',
  nextPage: 'Next page',
  downloadCsv: 'Download CSV',
  sections: {
    overview: 'Overview',
    reports: 'Reports',
    payments: 'Payments',
    accounts: 'Accounts',
    connections: 'Connections',
    callbacks: 'Callbacks',
    schedules: 'Schedules',
    debugger: 'Hash debugger',
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
  payments,
  accounts,
  connections,
  callbacks,
  schedules,
  operators,
  debugger: hashDebugger,
  tokens,
  audit,
};
