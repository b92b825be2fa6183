/** Failovers of a real cluster: nothing that was acknowledged is lost, and no gateway process restarts. */
import { chmod, mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { checkDatabase, openDatabase } from '../../src/store/database/database.ts';
import { missingPackages, startCluster } from './cluster.ts';
import { runFailover } from './run.ts';

const missing = missingPackages();

describe.skipIf(missing)(`a PostgreSQL cluster${missing ? ` (skipped: ${missing})` : ''}`, { timeout: 900_000 }, () => {
  test.each([
    { seed: 0, rounds: 3, isDirect: false },
    { seed: 1, rounds: 1, isDirect: true },
  ])('fails over under load: %o', async (options) => {
    const report = await runFailover(options);
    expect(report.violations, report.folder).toEqual([]);
    expect(report.rounds).toHaveLength(options.rounds);
    expect(report.movements).toBeGreaterThan(5);
  });

  test('its standby is refused at the start', async () => {
    const folder = await mkdtemp(join(tmpdir(), 'turnpike-failover-'));
    // PostgreSQL does not run as root, and has to enter it.
    await chmod(folder, 0o755);
    const cluster = await startCluster(folder);
    const primary = await cluster.primary();
    const standby = cluster.nodes.find((node) => node !== primary);
    const database = openDatabase({ ...cluster.connection, port: standby?.port as number }, () => undefined);
    try {
      await expect(checkDatabase(database)).rejects.toThrow(
        'The database is read-only: connect Turnpike to the primary.',
      );
    } finally {
      await database.close();
      await cluster.stop();
      await rm(folder, { recursive: true });
    }
  });
});
