/** Small pictures that an operator has placed in a folder, by their names; read once, when the gateway starts. */
import { hash } from 'node:crypto';
import { readdirSync, readFileSync } from 'node:fs';
import { join, parse } from 'node:path';

export interface Mark {
  type: string;
  bytes: Buffer;
  /** The address under which payers' browsers get it; it changes with the picture. */
  path: string;
}

const TYPES: Readonly<Record<string, string>> = { '.svg': 'image/svg+xml', '.png': 'image/png' };
const BYTES_MOST = 64 * 1024;

/** Reads `visa.svg`, `wallet-b.png` and so on; throws if the folder or one of the pictures cannot be used. */
export function readMarks(folder: string): ReadonlyMap<string, Mark> {
  const marks = new Map<string, Mark>();
  for (const file of readdirSync(folder).toSorted()) {
    const { name, ext } = parse(file);
    const type = TYPES[ext];
    if (type === undefined) continue;
    const bytes = readFileSync(join(folder, file));
    if (bytes.length > BYTES_MOST) throw new Error(`${file} is larger than ${BYTES_MOST / 1024} KiB`);
    const version = hash('sha256', bytes, 'hex').slice(0, 12);
    marks.set(name, { type, bytes, path: `/marks/${version}/${encodeURIComponent(file)}` });
  }
  return marks;
}
