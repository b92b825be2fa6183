/** The texts of the API tokens in English. */

export const tokens = {
  name: 'Name',
  nameHint: 'What uses it, such as Monitoring.',
  nameProblem: 'Enter a name of 100 characters or less.',
  role: 'Role',
  accounts: 'Accounts',
  created: 'Created',
  expires: 'Expires',
  never: 'Never',
  days: 'days',
  lastUsed: 'Last used',
  revoke: 'Revoke',
  create: 'Create token',
  createdTitle: 'Token created',
  token: 'Token',
  none: 'No API tokens',
  noneHint: 'Create one for each program that calls the admin API.',
};
