/** The layers of the code: imports point downwards without cycles, every file opens with one sentence, and samples have long tests. */
import { readdirSync, readFileSync } from 'node:fs';
import { dirname, join, relative } from 'node:path';
import { expect, test } from 'vitest';

const ROOT = join(import.meta.dirname, '..');
const files = ['src', 'simulator', 'bench', 'live', 'docs', 'test', 'client', 'examples', 'plugins'].flatMap((folder) =>
  readdirSync(join(ROOT, folder), { recursive: true, encoding: 'utf8' })
    .filter((name) => name.endsWith('.ts') && !/^(dist|node_modules)\//.test(name))
    .map((name) => join(folder, name)),
);
const source = new Map(files.map((file) => [file, readFileSync(join(ROOT, file), 'utf8')]));

/** Every relative import of a file, type imports included, as paths from the root. */
function importsOf(file: string): string[] {
  const text = source.get(file) as string;
  return [...text.matchAll(/(?:from|import) '(\.[^']+)'/g)].map(([, path]) =>
    relative(ROOT, join(ROOT, dirname(file), path as string)),
  );
}

/** Each layer may import from itself and from the layers named here. */
const MAY_USE: Record<string, readonly string[]> = {
  lib: [],
  rules: ['lib'],
  connectors: ['rules', 'lib'],
  store: ['rules', 'lib'],
  core: ['store', 'connectors', 'rules', 'lib'],
  wire: ['core', 'rules', 'lib'],
  pages: ['core', 'rules', 'lib'],
  work: ['core', 'rules', 'lib'],
  server: ['wire', 'pages', 'work', 'core', 'store', 'connectors', 'rules', 'lib'],
  cli: ['server', 'core', 'store', 'rules', 'lib'],
};

const layerOf = (file: string): string | undefined => /^src\/([a-z]+)\//.exec(file)?.[1];
const inSrc = files.filter((file) => file.startsWith('src/'));

test.each(inSrc)('%s imports only from the layers below it', (file) => {
  const layer = layerOf(file) as string;
  const allowed = [layer, ...(MAY_USE[layer] ?? [])];
  expect(MAY_USE).toHaveProperty(layer);
  for (const used of importsOf(file)) expect(allowed, `${file} imports ${used}`).toContain(layerOf(used) ?? used);
});

test('the provider simulator shares only src/lib with the gateway', () => {
  for (const file of files.filter((name) => name.startsWith('simulator/'))) {
    for (const used of importsOf(file)) expect(used, file).toMatch(/^(simulator|src\/lib)\//);
  }
  for (const file of inSrc) for (const used of importsOf(file)) expect(used, file).not.toMatch(/^simulator\//);
});

test('the client, the examples and the plugins share no code with the gateway', () => {
  for (const file of files) {
    const packages = [...(source.get(file) as string).matchAll(/from '([^.'][^']*)'/g)].map(([, name]) => name);
    if (file.startsWith('client/src/')) {
      for (const used of importsOf(file)) expect(used, file).toMatch(/^client\/src\//);
      for (const name of packages) expect(name, file).toMatch(/^node:/);
    } else if (file.startsWith('examples/')) {
      for (const used of importsOf(file)) expect(used, file).toMatch(/^examples\//);
      for (const name of packages) expect(name, file).toMatch(/^(node:|qr$|@turnpike-pay\/client$)/);
    } else if (file.startsWith('plugins/')) {
      for (const used of importsOf(file)) expect(used, file).toMatch(/^(plugins|src\/lib)\//);
    } else if (/^(src|simulator)\//.test(file)) {
      for (const used of importsOf(file)) expect(used, file).not.toMatch(/^(client|examples|plugins)\//);
    }
  }
});

test('adapters do not import each other', () => {
  const ADAPTERS = ['s2s', 'admin', 'checkout', 'inbound', 'sandbox'];
  for (const file of inSrc) {
    const adapter = /^src\/wire\/(\w+)\//.exec(file)?.[1];
    if (!adapter) continue;
    for (const used of importsOf(file)) {
      const other = /^src\/wire\/(\w+)\//.exec(used)?.[1];
      if (other && ADAPTERS.includes(other)) expect(other, `${file} imports ${used}`).toBe(adapter);
    }
  }
});

/** Folders of the store that every subject of the core may use. */
const SHARED_STORES: Readonly<Record<string, string>> = {
  database: 'The mechanics of the database belong to no subject.',
  payments: 'A payment is what the other subjects are about; only `advance.ts` writes its transitions.',
  audit: 'Every change that a person makes is written together with its entry.',
};

/** Files of the core that use the store of another subject, and why. */
const FOREIGN_STORES: Readonly<Record<string, Readonly<Record<string, string>>>> = {
  'src/core/accounts/accounts.ts': { connections: 'An account has routes, which name connections.' },
  'src/core/cards/vault.ts': { installation: 'Key rotation seals cards again, row by row.' },
  'src/core/payments/credit.ts': { cards: 'A credit pays to a saved card.' },
  'src/core/payments/derived-ids.ts': { schedules: 'The ids of recurring payments follow from their subscription.' },
  'src/core/payments/open.ts': { schedules: 'A payment may start a subscription, which is written with it.' },
  'src/core/payments/payer.ts': { schedules: 'The page tells the payer which charges follow.' },
  'src/core/payments/record.ts': { wallets: 'The token of a wallet is used up with the payment that it pays.' },
  'src/core/payments/repeat.ts': { schedules: 'A repeated payment may belong to a subscription.' },
  'src/core/schedules/occurrences.ts': {
    installation: 'After a restore, charges wait until an operator releases them.',
  },
  'src/core/schedules/schedules.ts': {
    erasure: 'The data of an erased payer cannot be charged again.',
    installation: 'After a restore, charges wait until an operator releases them.',
  },
  'src/core/wallets/pretend-wallet.ts': { accounts: 'The settings of a wallet are settings of the account.' },
};

const subjectIn = (layer: 'core' | 'store', file: string): string | undefined =>
  new RegExp(`^src/${layer}/([a-z-]+)/`).exec(file)?.[1];
const ofSubjects = inSrc.filter((file) => subjectIn('core', file) !== undefined);

test.each(ofSubjects)('%s uses the store of its own subject, or a shared one', (file) => {
  const allowed = [subjectIn('core', file), ...Object.keys({ ...SHARED_STORES, ...FOREIGN_STORES[file] })];
  const stores = importsOf(file).flatMap((used) => subjectIn('store', used) ?? []);
  for (const store of stores) expect(allowed, `${file} uses src/store/${store}`).toContain(store);
});

test.each(Object.keys(FOREIGN_STORES))('%s still needs its exceptions', (file) => {
  const stores = importsOf(file).map((used) => subjectIn('store', used));
  expect(stores).toEqual(expect.arrayContaining(Object.keys(FOREIGN_STORES[file] as object)));
});

test('imports have no cycles', () => {
  const done = new Set<string>();
  const walk = (file: string, path: string[]): void => {
    expect(path, `${[...path, file].join(' → ')}`).not.toContain(file);
    if (done.has(file)) return;
    for (const used of importsOf(file)) if (source.has(used)) walk(used, [...path, file]);
    done.add(file);
  };
  for (const file of files) walk(file, []);
});

test('only the store contains SQL, and only advance writes transitions of a payment', () => {
  for (const file of inSrc) {
    const text = source.get(file) as string;
    if (!file.startsWith('src/store/')) {
      expect(/\b(select|insert into|update|delete from)\b[^'`]*\b(from|values|set|where)\b.*`/is.test(text), file).toBe(
        false,
      );
    }
    if (/payments\.transition\(/.test(text)) expect(file).toBe('src/core/payments/advance.ts');
  }
});

test('rules import no file system, network or database', () => {
  for (const file of inSrc.filter((name) => name.startsWith('src/rules/'))) {
    expect(source.get(file), file).not.toMatch(/from '(node:fs|node:http|pg|fastify)/);
  }
});

test.each(files)('%s opens with one sentence', (file) => {
  expect(source.get(file)).toMatch(/^\/\*\* [A-Z`“][^\n]*[.:] \*\/\n/);
});

const GENERATED = 'src/store/schema.ts';
test.each(inSrc.filter((file) => file !== GENERATED))('%s stays small', (file) => {
  expect((source.get(file) as string).split('\n').length, 'Ask what is misplaced.').toBeLessThan(480);
});

const SIZED = files.filter((file) => file.endsWith('.test.ts') && importsOf(file).includes('test/support/size.ts'));

test.each(SIZED)('%s, of which npm test runs a sample, is imported by a long test', (file) => {
  const long = file.replace('.test.ts', '.long.test.ts');
  expect(source.has(long) ? importsOf(long) : []).toContain(file);
});
