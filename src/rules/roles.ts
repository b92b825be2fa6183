/** Who may do what: the roles of operators and API tokens, and the permissions of each. */

/** The roles of a merchant's own users, who see certain accounts only. */
export const MERCHANT_ROLES = ['merchant', 'merchant_accountant', 'merchant_support', 'merchant_cashier'] as const;

const STAFF = ['owner', 'operator', 'support', 'viewer'] as const;

/** Those who work with the books of all accounts, or see them. */
const BOOKS = [...STAFF, 'accountant'] as const;

export const ROLES = [...BOOKS, ...MERCHANT_ROLES] as const;
export type Role = (typeof ROLES)[number];

/** Whether a role belongs to a merchant: its users and tokens have a list of accounts. */
export const isMerchantRole = (role: Role): boolean => (MERCHANT_ROLES as readonly Role[]).includes(role);

/** Those who work with the payments of an account, besides its owner. */
const CLERKS = ['merchant_accountant', 'merchant_support'] as const;

/** Each call of the admin API, and each page and action of the panel, names the permission that it needs. */
export const PERMISSIONS = {
  'accounts.view': [...BOOKS, 'merchant'],
  'accounts.create': ['owner', 'operator'],
  'accounts.change': ['owner', 'operator'],
  'accounts.change_own': ['owner', 'operator', 'merchant'],
  'accounts.rotate_secrets': ['owner', 'operator', 'merchant'],
  'connections.view': STAFF,
  'connections.manage': ['owner', 'operator'],
  'prices.view': [...BOOKS, 'merchant', 'merchant_accountant'],
  'prices.manage': ['owner', 'operator'],
  'payments.view': [...BOOKS, 'merchant', ...CLERKS],
  'payments.operate': ['owner', 'operator', 'merchant'],
  'payments.refund': ['owner', 'operator', 'merchant', 'merchant_support'],
  'payments.erase': ['owner', 'operator'],
  'cards.remove': ['owner', 'operator', 'merchant'],
  'payments.resolve_attention': ['owner', 'operator'],
  'chargebacks.view': [...BOOKS, 'merchant', ...CLERKS],
  'chargebacks.change': ['owner', 'operator', 'merchant'],
  'risk.view': [...STAFF, 'merchant'],
  'risk.manage': ['owner', 'operator', 'merchant'],
  'risk.review': ['owner', 'operator', 'merchant'],
  'risk.import': ['owner', 'operator'],
  'callbacks.view': [...STAFF, 'merchant', 'merchant_support'],
  'callbacks.resend': ['owner', 'operator', 'support', 'merchant', 'merchant_support'],
  'schedules.view': [...STAFF, 'merchant'],
  'schedules.stop': ['owner', 'operator', 'merchant'],
  'links.view': [...STAFF, 'merchant', 'merchant_cashier'],
  'links.manage': ['owner', 'operator', 'merchant', 'merchant_cashier'],
  'invoices.view': [...STAFF, 'merchant', 'merchant_accountant'],
  'invoices.manage': ['owner', 'operator', 'merchant'],
  'telephone_orders.take': ['owner', 'merchant', 'merchant_cashier'],
  'notifications.view': STAFF,
  'reports.view': [...BOOKS, 'merchant', 'merchant_accountant'],
  'ledger.view': [...BOOKS, 'merchant', 'merchant_accountant'],
  'adjustments.view': BOOKS,
  'adjustments.manage': ['owner', 'operator', 'accountant'],
  'settlements.view': [...BOOKS, 'merchant', 'merchant_accountant'],
  'settlements.manage': ['owner', 'operator', 'accountant'],
  'settlements.set_terms': ['owner', 'operator'],
  'reports.reconcile': ['owner', 'operator'],
  'requests.view': [...STAFF, 'merchant'],
  'requests.explain': ['owner', 'operator', 'support', 'merchant'],
  'tokens.manage': ['owner'],
  'operators.manage': ['owner', 'merchant'],
  'audit.view': ['owner', 'operator'],
  'installation.view': ['owner', 'operator'],
  'restore.view': STAFF,
  'restore.release': ['owner', 'operator'],
  'sandbox.use': ['owner', 'operator', 'support', 'merchant'],
} as const satisfies Record<string, readonly Role[]>;

export type Permission = keyof typeof PERMISSIONS;

export const isAllowed = (role: Role, permission: Permission): boolean =>
  (PERMISSIONS[permission] as readonly Role[]).includes(role);

/** Whether a role allows nothing that the other one does not allow. */
export const isWithin = (role: Role, other: Role): boolean =>
  (Object.keys(PERMISSIONS) as Permission[]).every(
    (permission) => !isAllowed(role, permission) || isAllowed(other, permission),
  );

/**
 * What a call or a page concerns, for callers that are restricted to some accounts. `accounts`: what belongs to accounts,
 * of which they get their own. `installation`: the whole installation; they are refused. `installation without mid`: the
 * account that the member `mid` of the body names, and the whole installation without it.
 */
export const SCOPES = ['accounts', 'installation', 'installation without mid'] as const;
export type Scope = (typeof SCOPES)[number];
