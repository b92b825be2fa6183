/** What a verification checked, as commands print it. */
import type { Verification } from '../store/installation/verify.ts';

type Counted = Pick<Verification, 'payments' | 'historyRows' | 'ledgerEntries'>;

export const verifiedCounts = ({ payments, historyRows, ledgerEntries }: Counted) => ({
  payments: Number(payments),
  history_rows: Number(historyRows),
  ledger_entries: Number(ledgerEntries),
});

export const verifiedLine = ({ payments, historyRows, ledgerEntries }: Counted): string =>
  `All checks passed: ${payments} payments, ${historyRows} history rows, ${ledgerEntries} ledger entries.`;
