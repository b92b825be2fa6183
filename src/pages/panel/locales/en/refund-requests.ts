/** The texts of refunds that need a second person in English. */

export const refundRequests = {
  title: 'Refunds to approve',
  hint: 'Another person who may refund decides. The payment is checked again before the refund is sent.',
  waits: 'A refund waits for a second person',
  asked: '{name} requested a refund of {amount}.',
  own: 'You requested this refund: another person has to decide.',
  approve: 'Approve and refund',
  refuse: 'Refuse',
  requestedBy: 'Requested by',
  note: 'Note',
  none: 'No refund waits',
  noneHint: 'Refunds above the amount in the settings of an account appear here until a second person decides.',
  requested: 'Refund of {amount} requested; a second person has to approve it',
  approved: 'Refund of {amount} approved',
  refused: 'Refund of {amount} refused',
  notSent: 'The refund was not sent',
  notSentHint:
    'The payment has changed since the refund was requested. Refuse this refund, and request another one if it is still needed.',
  toPayment: 'Go to the payment',
};
