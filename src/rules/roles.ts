/** Who may do what: the roles of operators and API tokens, and the permissions of each. */

export const ROLES = ['owner', 'operator', 'support', 'viewer', 'merchant'] as const;
export type Role = (typeof ROLES)[number];

/** The roles of invitations from the command line; a merchant sees certain accounts only, which the panel asks for. */
export const INVITABLE_ROLES = ROLES.filter((role) => role !== 'merchant');

const STAFF = ['owner', 'operator', 'support', 'viewer'] as const;

/** Each call of the admin API, and each page and action of the panel, names the permission that it needs. */
export const PERMISSIONS = {
  'accounts.view': ROLES,
  'accounts.create': ['owner', 'operator'],
  'accounts.change': ['owner', 'operator'],
  'accounts.rotate_secrets': ['owner', 'operator'],
  'connections.view': STAFF,
  'connections.manage': ['owner', 'operator'],
  'payments.view': ROLES,
  'payments.operate': ['owner', 'operator', 'merchant'],
  'payments.erase': ['owner', 'operator'],
  'cards.remove': ['owner', 'operator', 'merchant'],
  'payments.resolve_attention': ['owner', 'operator'],
  'chargebacks.view': ROLES,
  'chargebacks.change': ['owner', 'operator', 'merchant'],
  'callbacks.view': ROLES,
  'callbacks.resend': ['owner', 'operator', 'support', 'merchant'],
  'schedules.view': ROLES,
  'schedules.stop': ['owner', 'operator', 'merchant'],
  'notifications.view': STAFF,
  'reports.view': ROLES,
  'reports.reconcile': ['owner', 'operator'],
  'requests.view': ROLES,
  'requests.explain': ['owner', 'operator', 'support', 'merchant'],
  'tokens.manage': ['owner'],
  'operators.manage': ['owner'],
  'audit.view': ['owner', 'operator'],
  'sandbox.use': ['owner', 'operator', 'support', 'merchant'],
} as const satisfies Record<string, readonly Role[]>;

export type Permission = keyof typeof PERMISSIONS;

export const isAllowed = (role: Role, permission: Permission): boolean =>
  (PERMISSIONS[permission] as readonly Role[]).includes(role);
