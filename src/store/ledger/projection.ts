/** The projection of the ledger: adds the entries of payments, which are derived from their history, and their sums. */
import { LIMITS } from '../../rules/limits.ts';
import { keepPrices } from '../prices/assignments.ts';
import type { Projection } from '../projections/projection.ts';
import { keepSlices } from '../settlements/reserve.ts';
import { deriveEntries, ledgerPayments } from './derive.ts';
import { addEntries, addSums } from './entries.ts';
import { LEDGER_VIOLATIONS, verifyEntries } from './verify.ts';

export const ledger: Projection = {
  name: 'ledger',
  logs: ['history'],
  everyMs: LIMITS.ledgerEveryMs,
  portion: { rows: LIMITS.ledgerPortion, payments: LIMITS.ledgerBackfillPortion },
  // Entries of newer rows of these payments may be added with them: their own portion then finds them there.
  async fold(client, { history }) {
    await keepPrices(client);
    const entries = await deriveEntries(client, ledgerPayments(history));
    await addEntries(client, entries);
    await keepSlices(client, entries);
  },
  // What does not come from the history stays, and so do its sums.
  async reset(client) {
    await client.query('delete from ledger_entries where source_id = payment_id');
    // Whoever adds other entries has committed them now, or waits: the sums below contain each of them once.
    await client.query('lock table ledger_sums in share row exclusive mode');
    await client.query('delete from ledger_sums');
    await client.query('delete from ledger_margins');
    await client.query(`with ${addSums('ledger_entries')} select`);
  },
  check: () => LEDGER_VIOLATIONS,
  verify: verifyEntries,
};
