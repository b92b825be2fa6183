/** The texts of the page on a restored backup in English. */
import type { AtProvider } from '../../../../rules/restores.ts';

const atProvider: Record<AtProvider, string> = {
  settled: 'Paid already: it will not be charged again',
  authorised: 'Authorised already: it will not be charged again',
  accepted: 'Accepted already: it will not be charged again',
  redirected: 'Begun already: it will not be charged again',
  declined: 'Declined already: it counts as declined',
  chargedBack: 'Paid and charged back: it will not be charged again',
  wrongAmount: 'There with another amount: a person has to look at it',
  notFound: 'Unknown there: it will be charged',
  notAnswered: 'No answer: it will be asked again before anything is charged',
  cannotBeAsked: 'This provider cannot be asked: compare with its statement',
};

export const restore = {
  title: 'Restored backup',
  banner: 'This installation was restored from a backup. Automatic charges and voids wait until it is released.',
  bannerLink: 'What to check',
  none: 'No backup was restored',
  noneHint: 'After a restore, this page shows what may differ from your providers.',
  held: 'Waiting for release',
  released: 'Released',
  leadHeld:
    'What happened between the backup and the restore is not in this database, but your providers have it. So that nobody is charged twice, scheduled charges wait, and so do voids of expired authorisations. Merchants can take payments and make refunds as usual.',
  leadReleased: 'Scheduled charges and voids are made again.',
  restoredAt: 'Restored',
  backupAt: 'Backup of',
  releasedAt: 'Released',
  releasedBy: 'Released by',
  state: 'State',
  charges: 'Scheduled charges that wait',
  chargesHint:
    'After the release, your providers are asked about each of these charges. What they have already is booked here and not charged again; the others are charged once.',
  chargesShown: (shown: number, due: number): string => `The first ${shown} of ${due} charges.`,
  noCharges: 'No charge is due',
  noChargesHint: 'Nothing will be charged at once when you release.',
  order: 'Order',
  amount: 'Amount',
  planned: 'Planned for',
  atProviderLabel: 'At the provider',
  atProvider,
  statements: 'Statements of your providers',
  statementsHint:
    'Upload the statements of the time since the backup: payments that are only in the statement were made after the backup and are not in this database.',
  statement: 'Statement',
  from: 'From',
  to: 'To',
  missingHere: 'Missing here',
  upload: 'Compare a statement',
  noStatements: 'No statement about this time was compared yet',
  payouts: 'Payouts to merchants',
  payoutsHint:
    'Payouts that were made since the backup are open again. Compare them with the statement of your bank before you approve one or write a file.',
  payoutsLink: 'Show the payouts',
  access: 'What is back',
  accessHint:
    'Everything is as it was at the moment of the backup. What was revoked, suspended or removed since then works again, and the list of used wallet tokens lacks those that were used since. The database cannot tell which these are: look through the lists and repeat what you did.',
  tokens: 'API tokens that work',
  operators: 'Operators who can sign in',
  cards: 'Saved cards',
  release: 'Release',
  releaseHint: 'Charges and voids that are due are made at once.',
  note: 'What you have checked',
  noteHint: 'For the audit log, such as: compared with the statement of 16 November, revoked two tokens again.',
};
