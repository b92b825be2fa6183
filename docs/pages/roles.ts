/** Generates docs/roles.md: what each role may do. */
import { PERMISSIONS, type Permission, ROLES } from '../../src/rules/roles.ts';
import { code, page, table } from './markdown.ts';

/** What a permission allows. */
const ALLOWS: Record<Permission, string> = {
  'accounts.view': 'see accounts and their settings',
  'accounts.create': 'create accounts',
  'accounts.change': 'change settings, suspend accounts',
  'accounts.rotate_secrets': 'replace passwords and callback secrets',
  'connections.view': 'see connections to providers, and the routes of accounts',
  'connections.manage': 'create, change, check and delete connections, change routes',
  'payments.view': 'see, search and export payments',
  'payments.operate': 'capture, void and refund payments',
  'payments.erase': 'erase the personal data of payers',
  'cards.remove': 'remove saved cards',
  'payments.resolve_attention': 'decide about payments on the attention list',
  'chargebacks.view': 'list chargebacks and read their evidence',
  'chargebacks.change': 'change the note and the state of chargebacks, add and delete evidence',
  'callbacks.view': 'see callbacks and their attempts',
  'callbacks.resend': 'resend callbacks, send test callbacks',
  'schedules.view': 'see schedules',
  'schedules.stop': 'stop schedules and single subscriptions',
  'notifications.view': 'see provider notifications',
  'reports.view': 'see the overview, reports and reconciliations',
  'reports.reconcile': 'upload, compare and delete statements of providers',
  'requests.view': 'see recent API calls',
  'requests.explain': 'use the hash debugger',
  'tokens.manage': 'create and revoke API tokens',
  'operators.manage': 'invite and suspend operators, change their roles',
  'audit.view': 'see the audit log',
  'sandbox.use': 'use the sandbox API and the clock',
};

export const roles = (): string =>
  page(
    'Roles',
    'src/rules/roles.ts',
    'What the roles of [operators](operator/panel.md) and [API tokens](operator/access.md) allow. A `merchant`, and every operator or token that is restricted to some accounts, sees those accounts only. A call about any other account is answered as if the account did not exist.',
    table(
      ['Permission', 'Allows to', ...ROLES.map(code)],
      (Object.keys(PERMISSIONS) as Permission[]).map((permission) => [
        code(permission),
        ALLOWS[permission],
        ...ROLES.map((role) => ((PERMISSIONS[permission] as readonly string[]).includes(role) ? 'yes' : '')),
      ]),
    ),
  );
