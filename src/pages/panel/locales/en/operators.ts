/** The texts of the operators in English. */

export const operators = {
  name: 'Name',
  email: 'E-mail address',
  role: 'Role',
  state: 'State',
  lastSignIn: 'Last sign-in',
  change: 'Change',
  save: 'Save role',
  suspend: 'Suspend',
  resume: 'End suspension',
  invite: 'Invite an operator',
  inviteButton: 'Create invitation',
  inviteAgain: 'New link',
  invited: 'Invitation created',
  inviteHint: 'Send this link to the operator. It works once, for seven days, and is not shown again.',
  link: 'Link',
  accounts: 'Accounts',
  emailProblem: 'Enter an e-mail address.',
  emailInUse: 'There is an operator with this address.',
  you: 'you',
};
