/** The texts of the telephone orders in English. */

export const telephoneOrders = {
  hint: 'Enter what the caller orders. The next page asks for the card. Do not write the card number down.',
  account: 'Account',
  amount: 'Amount',
  currency: 'Currency',
  description: 'What is ordered',
  order: 'Order number',
  orderHint: 'Leave it empty for a new one.',
  make: 'Continue to the card',
  notAllowed:
    'No account takes telephone orders. The operator of the gateway allows them in the settings of an account.',
  taken: 'Orders that you have taken',
  takenAt: 'Taken',
  status: 'Status',
};
