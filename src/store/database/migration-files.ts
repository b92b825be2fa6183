/** The migration files: their statements, how they run, and which programs can use the schema that they make. */
import { hash } from 'node:crypto';
import { readdir, readFile } from 'node:fs/promises';

export interface Migration {
  name: string;
  sql: string;
  digest: string;
  /** Whether the file runs as one transaction; otherwise its statements run one by one. */
  isTransaction: boolean;
  /** The number of the migration that a program has to know to use the schema; undefined if all earlier ones can. */
  needs: string | undefined;
}

export interface Statement {
  text: string;
  /** Whether it is one batch of a backfill, which runs again until it changes no row. */
  isBatch: boolean;
}

const FOLDER = new URL('../migrations/', import.meta.url);
/** Lines of comments with a meaning. */
const OUTSIDE_TRANSACTION = /^-- outside a transaction$/m;
const NEEDS = /^-- needs (\d{4})$/m;
const BATCH = /^-- in batches$/;

/**
 * Files that were changed before a release, so that they no longer block writes: the former digest and the present one.
 * Both texts make the same schema.
 */
export const REPLACED: ReadonlyMap<string, string> = new Map([
  // 0020_attention.sql
  [
    'a9e2290ca278ee90ff370500faf38680ba45e9290fea42a9c60000a87a8e3180',
    'a5b5cee817d8257a803b591b72069a79a53e5672fc30b7834d85817bd37c6518',
  ],
  // 0021_reconciliations.sql
  [
    '7036d533ca21fb31235ec80f0cfba24f3f02c04083f9629a01342286a271c4f0',
    'cacee595f579d0240a89b193e134efc479db2fb8d7ad2b222dc9c0cdb3a3e8cf',
  ],
  // 0025_provider_contract.sql
  [
    '44d84b32275cfddce636b319020b85d7bf52e7985e28e9adcf6062571bd7731c',
    '1d476dbfdaf2c5173fb82aaee4d99a1ab28627e046606c1e396ed3976295a855',
  ],
  // 0032_erasure.sql
  [
    '71058c2034a0c666747958ce32875a2bba73606253ecd97974d080136005f6c0',
    '8c878cc6c9190db1f15eba98a8e71a313451424680910b0b0ad65159d8049052',
  ],
]);

/** The digest of the present text of a file whose former text has this digest. */
export const presentDigest = (digest: string): string => REPLACED.get(digest) ?? digest;

export function readMigration(name: string, sql: string): Migration {
  return {
    name,
    sql,
    digest: hash('sha256', sql),
    isTransaction: !OUTSIDE_TRANSACTION.test(sql),
    needs: NEEDS.exec(sql)?.[1],
  };
}

/** All files, in their order. */
export async function readMigrations(folder: URL = FOLDER): Promise<Migration[]> {
  const names = (await readdir(folder)).filter((name) => name.endsWith('.sql')).sort();
  return Promise.all(names.map(async (name) => readMigration(name, await readFile(new URL(name, folder), 'utf8'))));
}

/** Comments, quoted texts, ends of statements, and everything else. */
const TOKENS = /--[^\n]*|\/\*[\s\S]*?\*\/|'(?:[^']|'')*'|"[^"]*"|(\$\w*\$)[\s\S]*?\1|;|[^-/'"$;]+|[\s\S]/g;

/** The statements of a file, without comments. */
export function statementsOf(sql: string): Statement[] {
  const statements: Statement[] = [];
  let text = '';
  let isBatch = false;
  for (const [token] of `${sql};`.matchAll(TOKENS)) {
    if (token.startsWith('--') || token.startsWith('/*')) isBatch ||= BATCH.test(token);
    else if (token !== ';') text += token;
    else {
      if (text.trim() !== '') statements.push({ text: text.trim(), isBatch });
      text = '';
      isBatch = false;
    }
  }
  return statements;
}
