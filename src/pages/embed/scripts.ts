/** The scripts of the embedded page: the versions that shops include, and the one of the pages in their frames. */
import { createHash } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { readScript } from '../script.ts';

export interface EmbedScript {
  version: string;
  source: string;
  /** For the attribute `integrity` of a shop's page. */
  integrity: string;
}

/** A file that shops include never changes: a change is a new version, and the old ones stay. */
const VERSIONS = ['1'];

/** Oldest first. */
export const EMBED_SCRIPTS: readonly EmbedScript[] = VERSIONS.map((version) => {
  const source = readFileSync(new URL(`./${version}.js`, import.meta.url), 'utf8');
  return { version, source, integrity: `sha384-${createHash('sha384').update(source).digest('base64')}` };
});

export const NEWEST_EMBED_SCRIPT = EMBED_SCRIPTS.at(-1) as EmbedScript;

export const FRAME_SCRIPT = readScript(new URL('./frame.js', import.meta.url));
