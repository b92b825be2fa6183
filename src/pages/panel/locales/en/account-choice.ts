/** The texts of the choice of accounts in English. */

export const accountChoice = {
  title: 'Accounts',
  all: 'All',
  hint: 'It sees the chosen accounts only. None chosen means all accounts. The role Merchant needs at least one.',
  more: 'Further account ids, one per line',
  problem: 'There is no account with one of these ids.',
  missing: 'A merchant needs at least one account.',
};
