/** The texts of the choice of accounts in English. */

export const accountChoice = {
  title: 'Accounts',
  all: 'All',
  hint: 'It sees the chosen accounts only. None chosen means all accounts. The role Merchant needs at least one.',
  restrictedHint: 'It sees the chosen accounts only. Choose at least one of yours.',
  more: 'Further account ids, one per line',
  problem: 'There is no account with one of these ids.',
  restricted: 'Choose at least one account.',
  missing: 'A merchant needs at least one account.',
};
