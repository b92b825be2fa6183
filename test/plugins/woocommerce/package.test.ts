/** The package of the plugin for WooCommerce: generated files, the client, translations, and the rules of the directory. */
import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { crc32, inflateRawSync } from 'node:zlib';
import { expect, test } from 'vitest';
import { compile, messagesOf, template, translations } from '../../../plugins/woocommerce/build/catalogue.ts';
import { generated, packaged, version } from '../../../plugins/woocommerce/build/files.ts';
import { zip } from '../../../plugins/woocommerce/build/zip.ts';

const ROOT = join(import.meta.dirname, '../../..');
const PLUGIN = join(ROOT, 'plugins/woocommerce');
const read = (path: string): string => readFileSync(join(PLUGIN, path), 'utf8');
const files = packaged();
const inPackage = (path: string): string => String(files.get(`turnpike-gateway/${path}`));
const php = [...files.keys()].filter((path) => path.endsWith('.php'));

test.each([...generated()])('%s is up to date', (path, text) => {
  expect(read(path), 'run `npm run plugin`').toBe(text);
});

test('the package has the client of this version, and nothing that a shop does not need', () => {
  expect(inPackage('lib/Turnpike.php')).toBe(readFileSync(join(ROOT, 'client/php/Turnpike.php'), 'utf8'));
  expect(inPackage('LICENSE')).toBe(readFileSync(join(ROOT, 'LICENSE'), 'utf8'));
  for (const path of files.keys())
    expect(path).toMatch(/^turnpike-gateway\/[\w./-]+\.(php|js|txt|pot|po|mo)$|\/LICENSE$/);
  for (const name of ['Gateway', 'Blocks', 'Callbacks']) expect(php).toContain(`turnpike-gateway/includes/${name}.php`);
});

test('the main file loads every file of the plugin', () => {
  const names = readdirSync(join(PLUGIN, 'includes')).map((name) => name.replace('.php', ''));
  const loaded = (name: string): boolean =>
    inPackage('turnpike-gateway.php').match(new RegExp(`\\b${name}\\b`)) !== null;
  expect(names.filter((name) => name !== 'currencies' && !loaded(name))).toEqual([]);
});

/** Reads an archive by its directory, as a program that unpacks it does. */
function unzip(archive: Buffer): Map<string, Buffer> {
  const end = archive.length - 22;
  expect(archive.readUInt32LE(end)).toBe(0x06054b50);
  const found = new Map<string, Buffer>();
  let at = archive.readUInt32LE(end + 16);
  for (let n = 0; n < archive.readUInt16LE(end + 10); n++) {
    expect(archive.readUInt32LE(at)).toBe(0x02014b50);
    const [sum, size, nameSize] = [
      archive.readUInt32LE(at + 16),
      archive.readUInt32LE(at + 20),
      archive.readUInt16LE(at + 28),
    ];
    const name = archive.toString('utf8', at + 46, at + 46 + nameSize);
    const start = archive.readUInt32LE(at + 42);
    const body = start + 30 + archive.readUInt16LE(start + 26) + archive.readUInt16LE(start + 28);
    const content = inflateRawSync(archive.subarray(body, body + size));
    expect(crc32(content), name).toBe(sum);
    found.set(name, content);
    at += 46 + nameSize;
  }
  return found;
}

test('the archive contains the files, and the same bytes every time', () => {
  expect(unzip(zip(files))).toEqual(files);
  expect(zip(packaged()).equals(zip(files))).toBe(true);
});

test('no file runs when it is opened directly, and every one begins with what it is for', () => {
  for (const path of php.filter((name) => !name.includes('/lib/'))) {
    const text = String(files.get(path));
    expect(text, path).toMatch(/^defined\('(ABSPATH|WP_UNINSTALL_PLUGIN)'\) \|\| exit;$/m);
    expect(text, path).toMatch(/^<\?php\n\n\/\*\*\n? /);
  }
});

test('every text has the domain of the plugin, and the template has every text', () => {
  for (const path of php.filter((name) => !name.includes('/lib/'))) {
    const text = String(files.get(path));
    const calls = text.match(/\b(esc_html|esc_attr)?_[_enx]\(/g) ?? [];
    expect(
      messagesOf(new Map([[path, text]])).flatMap(({ places }) => places),
      path,
    ).toHaveLength(calls.length);
  }
  const code = `$a = sprintf(
    /* translators: %s: a name */
    __('It\\'s %s', 'turnpike-gateway'), $b);
  esc_html__('Other', 'woocommerce');`;
  const found = messagesOf(new Map([['a.php', code]]));
  expect(found).toEqual([{ text: "It's %s", comment: 'translators: %s: a name', places: ['a.php:3'] }]);
  expect(template(found, '1')).toContain(
    '#. translators: %s: a name\n#: a.php:3\n#, php-format\nmsgid "It\'s %s"\nmsgstr ""\n',
  );
});

const LANGUAGES = ['de_DE', 'es_ES', 'fr_FR'];
test.each(LANGUAGES)('%s is complete, with the placeholders of the texts', (language) => {
  const texts = [...translations(read('languages/turnpike-gateway.pot')).keys()];
  const translated = translations(read(`languages/turnpike-gateway-${language}.po`));
  expect([...translated.keys()].sort()).toEqual(texts.sort());
  const placeholders = (text: string): string[] => (text.match(/%(\d\$)?s|whsec_|https:\/\//g) ?? []).sort();
  for (const [text, translation] of translated) {
    expect(translation, text).not.toBe('');
    if (text !== '') expect(placeholders(translation), text).toEqual(placeholders(text));
  }
});

test('a compiled translation finds each text by its table', () => {
  const mo = compile(read('languages/turnpike-gateway-de_DE.po'));
  const at = (table: number, n: number): string => {
    const place = mo.readUInt32LE(table) + 8 * n;
    const start = mo.readUInt32LE(place + 4);
    expect(mo[start + mo.readUInt32LE(place)]).toBe(0);
    return mo.toString('utf8', start, start + mo.readUInt32LE(place));
  };
  const pairs = Array.from({ length: mo.readUInt32LE(8) }, (_, n) => [at(12, n), at(16, n)] as const);
  expect(new Map(pairs)).toEqual(translations(read('languages/turnpike-gateway-de_DE.po')));
  // The table is sorted, because readers search it by halves.
  expect(pairs.map(([text]) => Buffer.from(text))).toEqual(
    pairs.map(([text]) => Buffer.from(text)).sort(Buffer.compare),
  );
  expect(files.get('turnpike-gateway/languages/turnpike-gateway-de_DE.mo')).toEqual(mo);
});

test('the readme has the format of the directory, and agrees with the plugin', () => {
  const readme = inPackage('readme.txt');
  const main = inPackage('turnpike-gateway.php');
  const product = JSON.parse(readFileSync(join(ROOT, 'package.json'), 'utf8')) as { version: string };
  const header = (name: string): string | undefined => new RegExp(`^${name}: (.+)$`, 'm').exec(readme)?.[1];
  expect(readme).toMatch(/^=== Turnpike for WooCommerce ===\n/);
  expect([version(), header('Stable tag')]).toEqual([product.version, product.version]);
  for (const name of ['Requires at least', 'Requires PHP', 'Requires Plugins', 'License', 'WC tested up to']) {
    expect(main, name).toContain(` * ${name}: ${header(name)}\n`);
  }
  expect(header('Tags')?.split(', ').length).toBeLessThanOrEqual(5);
  const [, summary = ''] = /\n\n(.+)\n\n== Description ==\n/.exec(readme) ?? [];
  expect(summary.length).toBeGreaterThan(20);
  expect(summary.length).toBeLessThanOrEqual(150);
  for (const section of ['Installation', 'Frequently Asked Questions', 'Changelog']) {
    expect(readme).toContain(`\n== ${section} ==\n`);
  }
  expect(readme).toContain(`\n= ${product.version} =\n`);
});
