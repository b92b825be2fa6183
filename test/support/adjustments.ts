/** Adjustments that were posted to a balance in the past, which no operation makes. */
import { newId } from '../../src/lib/crypto/id.ts';
import { composeEntry } from '../../src/rules/ledger.ts';
import { LIMITS } from '../../src/rules/limits.ts';
import { withClient } from '../../src/store/database/bounded-client.ts';
import { addEntries } from '../../src/store/ledger/entries.ts';
import type { Merchant, TestGateway } from './gateway.ts';

/** One of this amount in dollars, in minor units, for each of the numbers of days. */
export async function postAdjustments(
  { connection, gateway }: TestGateway,
  { mid }: Pick<Merchant, 'mid'>,
  daysAgo: readonly number[],
  amount: bigint,
): Promise<void> {
  const source = { category: 'adjustment', mid, currency: 'USD' } as const;
  const now = gateway.clock.now(mid);
  const entries = daysAgo.map((days) =>
    composeEntry({ ...source, sourceId: newId(), postedAt: now - days * LIMITS.dayMs }, { amount }),
  );
  await withClient(connection, (client) => addEntries(client, entries));
}
