/** Generates docs/roles.md: what each role may do. */
import { PERMISSIONS, type Permission, ROLES } from '../../src/rules/roles.ts';
import { code, page, table } from './markdown.ts';

/** What a permission allows. */
const ALLOWS: Record<Permission, string> = {
  'accounts.view': 'see accounts and their settings',
  'accounts.create': 'create accounts',
  'accounts.change': 'change all settings and the name, suspend accounts',
  'accounts.change_own': 'change the look and the texts of the page, the callback address and receipts',
  'accounts.rotate_secrets': 'replace passwords and callback secrets',
  'connections.view': 'see connections to providers, and the routes of accounts',
  'connections.manage': 'create, change, check and delete connections, change routes',
  'prices.view': 'see price plans and quote prices; of restricted callers, the sell plans of their accounts only',
  'prices.manage': 'create price plans and versions, assign plans to accounts and connections',
  'payments.view': 'see, search and export payments',
  'payments.operate': 'capture and void payments',
  'payments.refund': 'refund payments, up to the limit of the operator or token',
  'payments.erase': 'erase the personal data of payers',
  'cards.remove': 'remove saved cards',
  'payments.resolve_attention': 'decide about payments on the attention list',
  'chargebacks.view': 'list chargebacks and read their evidence',
  'chargebacks.change': 'change the note and the state of chargebacks, add and delete evidence',
  'risk.view': 'see risk lists, rules, back-tests and reviews, and try the rules',
  'risk.manage': 'change risk lists and rules, and start back-tests',
  'risk.review': 'approve or refuse payments in the review queue',
  'risk.import': 'see and import card ranges and countries of IP networks',
  'callbacks.view': 'see callbacks and their attempts',
  'callbacks.resend': 'resend callbacks, send test callbacks',
  'schedules.view': 'see schedules',
  'schedules.stop': 'stop schedules and single subscriptions',
  'links.view': 'see payment links; a cashier sees those that it made',
  'links.manage': 'make and switch off payment links',
  'invoices.view': 'see invoices',
  'invoices.manage': 'make, send and void invoices',
  'telephone_orders.take': 'take telephone orders, for accounts whose setting allows them',
  'notifications.view': 'see provider notifications',
  'reports.view': 'see the overview, reports and reconciliations',
  'ledger.view': 'see balances, ledger entries and the trial balance',
  'adjustments.view': 'see adjustments of balances',
  'adjustments.manage': 'propose adjustments of balances, approve or refuse those of others',
  'settlements.view':
    'see settlement terms, bank accounts (masked), settlements and their entries; payouts of the whole installation',
  'settlements.manage':
    'cut, approve and void settlements, make, approve and record payouts, record payments of providers',
  'settlements.set_terms': 'change settlement terms and bank accounts',
  'reports.reconcile': 'upload, compare and delete statements of providers',
  'requests.view': 'see recent API calls',
  'requests.explain': 'use the hash debugger',
  'tokens.manage': 'create and revoke API tokens',
  'operators.manage': 'invite, change, suspend and delete operators',
  'audit.view': 'see the audit log',
  'installation.view': 'see version, database, configuration and background work of the installation',
  'restore.view': 'see what may differ after a backup was restored',
  'restore.release': 'release the charges and voids that wait after a restore',
  'sandbox.use': 'use the sandbox API and the clock',
};

export const roles = (): string =>
  page(
    'Roles',
    'src/rules/roles.ts',
    'What the roles of [operators](operator/panel.md) and [API tokens](operator/access.md) allow. The roles that begin with `merchant` are those of a merchant’s own users. They, and every operator or token that is restricted to some accounts, see those accounts only. A call about any other account is answered as if the account did not exist. What concerns the whole installation is refused with 403: creating accounts, provider notifications, reconciliations, the trial balance, the ledger of the sandbox, and faults and the clock of the sandbox without an account. Shared connections, audit entries that belong to no account, and API calls with an unknown key are not shown. [Who manages whom](operator/access.md#who-manages-whom) says which tokens and operators an owner or a merchant can manage.',
    table(
      ['Permission', 'Allows to', ...ROLES.map(code)],
      (Object.keys(PERMISSIONS) as Permission[]).map((permission) => [
        code(permission),
        ALLOWS[permission],
        ...ROLES.map((role) => ((PERMISSIONS[permission] as readonly string[]).includes(role) ? 'yes' : '')),
      ]),
    ),
  );
