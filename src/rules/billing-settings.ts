/** The account settings of billing: who the merchant is on fee invoices, and what it is told of money that moves. */
import { choice, emailAddress, flag, isTexts, kind, row, text } from './setting-kinds.ts';

export const addressLines = kind(
  'a list of at most 8 lines of 100 characters or less',
  (value) => isTexts(value, (line) => line.trim() !== '' && line.length <= 100) && (value as string[]).length <= 8,
  'list',
);

export const BILLING_SETTINGS = {
  chargeback_reversal_callbacks: row(
    false,
    flag,
    'Whether a callback with type chargeback and status fail is sent when the provider returns the money of a chargeback.',
  ),
  settlement_callbacks: row(
    false,
    flag,
    'Whether a callback with type settlement tells of each state of a settlement.',
  ),
  payout_callbacks: row(
    false,
    flag,
    'Whether a callback with type payout tells of each state of a transfer to the merchant’s bank account.',
  ),
  'billing.name': row('', text(100), 'The name of the merchant on fee invoices; empty means the account name.'),
  'billing.address': row<string[]>([], addressLines, 'The address of the merchant on fee invoices, line by line.'),
  'billing.tax_number': row('', text(40), 'The tax number of the merchant on fee invoices.'),
  'billing.email': row(
    '',
    emailAddress,
    'Where e-mails about payouts and changes of the bank account go; empty means nowhere. Needs TURNPIKE_SMTP_URL.',
  ),
  fee_invoices: row(
    'manual',
    choice('manual', 'monthly'),
    'Whether fee invoices are made by hand, or at the beginning of each month for the settlements before.',
  ),
} as const;
