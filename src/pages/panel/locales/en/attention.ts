/** The texts of the attention list in English. */
import type { Resolution } from '../../../../rules/attention.ts';

export const attention = {
  lead: 'Payments whose state here and money at the provider may differ, and refunds that need a second person.',
  marks: 'Reasons',
  actions: 'Decide',
  none: 'Nothing needs your attention',
  noneHint: 'When a provider reports something that does not fit a payment, the payment appears here.',
  noneOfMark: 'No payment has this mark',
  noneOfMarkHint: 'Choose another reason above, or another account.',
  note: 'Note',
  noteHint: 'Why. The history of the payment and the audit log keep it.',
  reported: 'Reported by the provider',
  reserved: 'reserved only',
  inProgress: 'A refund is in progress. The mark goes away when the provider has done it.',
  resolutions: { accept: 'Accept', refund: 'Refund', dismiss: 'Dismiss' } satisfies Record<Resolution, string>,
  titles: {
    accept: 'Accept the late success',
    refund: 'Send the money back',
    dismiss: 'Dismiss the mark',
  } satisfies Record<Resolution, string>,
  confirm: {
    accept:
      'The money counts: the payment counts as paid, and the shop gets the callback of a success. This cannot be undone, but the payment can be refunded later.',
    refund:
      'The provider sends the money back to the payer. The payment stays as it is, and the shop gets no callback. This cannot be undone.',
    dismiss: 'Only the mark is removed. Nothing changes at the provider, and the payment stays as it is.',
  } satisfies Record<Resolution, string>,
};
