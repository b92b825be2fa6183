/** Writes an archive: a compressed file that exists under its name only when it is complete and on the disk. */
import { createWriteStream } from 'node:fs';
import { mkdir, open, rename } from 'node:fs/promises';
import { dirname } from 'node:path';
import type { Readable } from 'node:stream';
import { pipeline } from 'node:stream/promises';
import { createGzip } from 'node:zlib';

async function flush(path: string): Promise<void> {
  const file = await open(path);
  await file.sync().finally(() => file.close());
}

/** `read` is called when the folder is ready. */
export async function writeArchive(path: string, read: () => Readable): Promise<void> {
  const folder = dirname(path);
  await mkdir(folder, { recursive: true, mode: 0o700 });
  const incomplete = `${path}.incomplete`;
  await pipeline(read(), createGzip(), createWriteStream(incomplete, { mode: 0o600 }));
  await flush(incomplete);
  await rename(incomplete, path);
  // Not every system can flush a folder.
  await flush(folder).catch(() => undefined);
}
