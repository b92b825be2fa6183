/** The docs agree with the code: generated pages are up to date, examples are correct, links work. */
import { existsSync, readdirSync } from 'node:fs';
import { readFile } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { CURE } from '../docs/pages/errors.ts';
import { documents } from '../docs/write.ts';
import { BRANDS as SANDBOX } from '../simulator/brands.ts';
import { wireHash } from '../src/lib/crypto/hash.ts';
import { TOKEN_RULES } from '../src/lib/wallets/opened.ts';
import { callsOf, type OpenApi } from '../src/pages/docs/openapi.ts';
import { EXAMPLES, IDENTIFICATIONS } from '../src/rules/brand-examples.ts';
import { BRANDS } from '../src/rules/brands.ts';
import { ERRORS, type ErrorName } from '../src/rules/errors.ts';
import { IDENTIFICATION_TYPES, identification } from '../src/rules/formats.ts';

const ROOT = join(import.meta.dirname, '..');
const read = (name: string): Promise<string> => readFile(join(ROOT, name), 'utf8').catch(() => '');

describe('generated pages', () => {
  test.each(Object.entries(documents()))('docs/%s is up to date', async (name, text) => {
    expect(await read(`docs/${name}`), `docs/${name} is not up to date: run \`npm run docs\`.`).toBe(text);
  });
});

test('the example hash of the merchant guide is correct', async () => {
  const values = ['success@example.com', 'order-1001', '19.99', 'USD'];
  expect(await read('docs/merchant/sign-requests.md')).toContain(wireHash(values, '9d2a6f0c4b7e81355af0c6d2e8b41790'));
});

test('every brand has an example, and all except the test brand have a simulated provider', () => {
  expect(Object.keys(EXAMPLES)).toEqual(Object.keys(BRANDS));
  expect(['vcard', ...Object.keys(SANDBOX)].toSorted()).toEqual(Object.keys(BRANDS).toSorted());
});

test('every identification type of a payee is documented with a valid example', () => {
  expect(Object.keys(IDENTIFICATIONS)).toEqual(IDENTIFICATION_TYPES);
  for (const [type, { example }] of Object.entries(IDENTIFICATIONS)) {
    const values: Record<string, string> = { type, 'parameters[payee_country]': 'GB' };
    const context = { value: (name: string) => values[name] ?? '', positions: () => [], setting: () => '' };
    expect(identification.check(example, { ...context, allowsHttp: true }), type).toBeUndefined();
  }
});

test('every rule for wallet tokens is documented', async () => {
  const page = await read('docs/wallets.md');
  for (const rule of Object.keys(TOKEN_RULES)) expect(page).toContain(`| \`${rule}\``);
});

test('every error of a call of merchants has a cure', async () => {
  const calls = callsOf(JSON.parse(await read('docs/openapi.json')) as OpenApi);
  const names = calls
    .filter(({ operation }) => ['merchants', 'checkout'].includes(operation.tags[0] as string))
    .flatMap(({ operation }) => Object.values(operation.responses))
    .flatMap(({ content }) => Object.keys(content?.['application/json']?.examples ?? {}));
  expect(names).toContain('wrongHash');
  for (const name of new Set(names)) {
    expect(Object.keys(ERRORS)).toContain(name);
    expect(CURE, `docs/pages/errors.ts has no cure for ${name}`).toHaveProperty(name as ErrorName);
  }
});

const PAGES = [
  'README.md',
  'CONTRIBUTING.md',
  'vectors/README.md',
  'client/README.md',
  'examples/README.md',
  'vectors/wallets/README.md',
  'src/lib/wallets/roots/README.md',
  ...readdirSync(join(ROOT, 'docs'), { recursive: true, encoding: 'utf8' }).map((name) => `docs/${name}`),
];

/** The anchor of a heading. */
const anchor = (heading: string): string =>
  heading
    .toLowerCase()
    .replace(/[^\p{L}\d\s_-]/gu, '')
    .replaceAll(' ', '-');

test('no page starts the program with npx, which would run the package of another project', async () => {
  for (const name of PAGES) expect(await read(name), name).not.toMatch(/npx (-\S+ )*turnpike/);
});

test.each(PAGES.filter((name) => name.endsWith('.md')))('every link of %s has a target', async (name) => {
  const text = (await read(name)).replace(/^```.*?^```/gms, '');
  for (const [, target = ''] of text.matchAll(/\]\(([^)\s]+)\)/g)) {
    if (/^https?:/.test(target)) continue;
    const [path = '', place] = target.split('#');
    const file = path === '' ? name : join(dirname(name), path);
    expect(existsSync(join(ROOT, file)), `${name} links to ${target}`).toBe(true);
    if (place === undefined) continue;
    const headings = [...(await read(file)).matchAll(/^#+ (.+)$/gm)].map(([, heading]) => anchor(heading as string));
    expect(headings, `${name} links to ${target}`).toContain(place);
  }
});

/** Paths of the code in a text; those with a placeholder are not meant literally. */
const pathsIn = (text: string): string[] =>
  [
    ...text.matchAll(/`((?:src|test|docs|simulator|client|bench|live|examples|plugins|vectors|bin)\/[^`\s]*)`/g),
  ].flatMap(([, path = '']) => (/[<>{}*…:#]|\b0042_/.test(path) ? [] : [path]));

test.each(PAGES.filter((name) => name.endsWith('.md')))('every path that %s names exists', async (name) => {
  // A package names its own files, and one folder is written by the browser tests.
  const places = (path: string): string[] => [join(ROOT, path), join(ROOT, dirname(name), path)];
  const missing = pathsIn(await read(name)).filter((path) => !places(path).some((place) => existsSync(place)));
  expect(missing.filter((path) => path !== 'test/browser/screenshots/')).toEqual([]);
});
