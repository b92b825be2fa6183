/** The texts of the reports in English. */
import type { ReportGroup } from '../../../../rules/reports.ts';

export const reports = {
  from: 'From (UTC)',
  to: 'To (UTC)',
  account: 'Account',
  allAccounts: 'All accounts',
  groupBy: 'Group by',
  groups: { day: 'Day', mid: 'Account', brand: 'Brand', currency: 'Currency', connection: 'Provider' },
  show: 'Show report',
  notADay: 'Enter a date such as 2026-07-31.',
  fromAfterTo: 'The first day should not be after the last one.',
  unknownAccount: 'Choose an account of the list.',
  rows: 'Report',
  totals: 'Totals',
  payments: 'Payments',
  settled: 'Settled',
  declined: 'Declined',
  captured: 'Captured',
  refunded: 'Refunded',
  chargedBack: 'Charged back',
  paidOut: 'Paid out',
  net: 'Net',
  tooLong: 'This report is too long for a page. Download it as CSV, shorten the range or group by less.',
  none: 'Nothing happened in this time',
  noneHint: 'Choose other days or another account.',
} satisfies Record<string, string | Record<ReportGroup, string>>;
