/** Databases of a given size for the benchmarks of a large one: generated once, and kept in a folder to be used again. */
import { mkdir, readFile, rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import type { Gateway } from '../src/core/context.ts';
import { auditEntry, commandCaller } from '../src/core/operators/principal.ts';
import { startSession } from '../src/core/operators/sessions.ts';
import { newId } from '../src/lib/crypto/id.ts';
import { newMasterKey } from '../src/lib/crypto/seal.ts';
import { migrateAt } from '../src/store/database/migrate.ts';
import { type EmbeddedDatabase, startEmbedded } from '../src/store/embedded/embedded.ts';
import { generate, type Size } from './generate.ts';
import { progress } from './harness.ts';

interface Description extends Size {
  masterKey: string;
}

/** For loading only: nothing is durable, and indexes are built without WAL. */
const LOADING = {
  fsync: 'off',
  full_page_writes: 'off',
  wal_level: 'minimal',
  max_wal_senders: '0',
  max_wal_size: '4GB',
  checkpoint_timeout: '1h',
  shared_buffers: '1GB',
  autovacuum: 'off',
};

export const clusterIn = (folder: string): string => join(folder, 'postgres');

/** A running database of the wanted size; an existing one is used again, after the migrations that it has not run yet. */
export async function prepareDatabase(
  folder: string,
  size: Size,
  settings: Record<string, string>,
): Promise<{ database: EmbeddedDatabase; masterKey: string }> {
  const description = join(folder, 'description.json');
  const known = await readFile(description, 'utf8').then(
    (text): Description => JSON.parse(text),
    () => undefined,
  );
  const isFitting = known && (Object.keys(size) as (keyof Size)[]).every((name) => known[name] === size[name]);
  if (!isFitting) {
    await rm(folder, { recursive: true, force: true });
    await mkdir(folder, { recursive: true });
    progress(`generating ${size.payments.toLocaleString('en')} payments in ${folder}`);
    const loading = await startEmbedded({ folder: clusterIn(folder), settings: LOADING });
    await migrateAt(loading.connection);
    await generate(loading.connection, size, progress);
    await loading.stop();
    await writeFile(description, JSON.stringify({ ...size, masterKey: newMasterKey() } satisfies Description));
  }
  const { masterKey } = JSON.parse(await readFile(description, 'utf8')) as Description;
  const database = await startEmbedded({ folder: clusterIn(folder), settings });
  await migrateAt(database.connection);
  return { database, masterKey };
}

/** The cookie of an owner. */
export async function signIn(gateway: Gateway): Promise<string> {
  const operatorId = newId();
  await gateway.operators.insert(
    {
      operatorId,
      name: 'Bench',
      email: `${operatorId}@example.com`,
      role: 'owner',
      mids: null,
      refundLimit: null,
      state: 'active',
      createdAt: Date.now(),
      lastSignedInAt: null,
    },
    auditEntry(gateway, commandCaller('bench'), 'operators.invite', { subject: operatorId }),
  );
  return startSession(gateway, { operatorId }, '127.0.0.1', 'bench');
}
