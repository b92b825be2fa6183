/** Checks that projections contain what is derived from the logs. */
import { folded, type ProgressRow, progressOf } from './portions.ts';
import type { Client, Projection } from './projection.ts';

/** What is wrong with these projections, in the snapshot of the client; a projection that was never folded is left out. */
export async function verifyProjections(client: Client, projections: readonly Projection[]): Promise<string[]> {
  const violations: string[] = [];
  for (const { name, check, verify } of projections) {
    const { rows } = await client.query<ProgressRow>('select * from projections where name = $1', [name]);
    for (const row of rows) {
      const contained = folded(progressOf(row));
      const found = await client.query<{ violation: string }>(check(contained));
      violations.push(...found.rows.map(({ violation }) => violation), ...((await verify?.(client, contained)) ?? []));
    }
  }
  return violations;
}
