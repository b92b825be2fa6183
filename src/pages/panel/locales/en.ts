/** The texts of the panel in English. */
export const en = {
  navigation: 'Sections',
  skip: 'Skip to content',
  sandbox: 'Sandbox',
  search: 'Search payments',
  signOut: 'Sign out',
  sections: {
    overview: 'Overview',
    payments: 'Payments',
    accounts: 'Accounts',
    callbacks: 'Callbacks',
    schedules: 'Schedules',
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
};
