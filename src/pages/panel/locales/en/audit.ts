/** The texts of the audit log in English. */

export const audit = {
  seq: 'No.',
  at: 'At',
  actor: 'Who',
  action: 'Action',
  subject: 'What',
  change: 'Change',
  show: 'Show',
  none: 'No entries',
  noneHint: 'Every change by an operator or a token appears here.',
};
