/** The scripts of the embedded page: small, unchanged once published, and careful with messages. */
import { readFileSync } from 'node:fs';
import { runInNewContext } from 'node:vm';
import { expect, test } from 'vitest';
import { EMBED_SCRIPTS, FRAME_SCRIPT, NEWEST_EMBED_SCRIPT } from '../../src/pages/embed/scripts.ts';
import { LANGUAGES } from '../../src/pages/locales/index.ts';

/** Shops have these values in their pages: a changed file would not run there any more. */
const PUBLISHED: Readonly<Record<string, string>> = {
  1: 'sha384-fY3qJn/MWK3IPB5QkM72D1/7ftteQsEzS06odlZD2E8cOR6jpiUlNe33+2csi8qs',
};

test('a published version never changes', () => {
  expect(Object.fromEntries(EMBED_SCRIPTS.map(({ version, integrity }) => [version, integrity]))).toEqual(PUBLISHED);
});

test('the guide has the newest version with its integrity', () => {
  const guide = readFileSync(new URL('../../docs/merchant/embedded-page.md', import.meta.url), 'utf8');
  const { version, integrity } = NEWEST_EMBED_SCRIPT;
  expect(guide).toContain(`/embed/${version}.js"\n  integrity="${integrity}"\n  crossorigin="anonymous"`);
});

test.each(EMBED_SCRIPTS)(
  'version $version is smaller than 8 KB, and knows every language of the pages',
  ({ source }) => {
    expect(Buffer.byteLength(source)).toBeLessThan(8 * 1024);
    expect(() => runInNewContext(`() => {${source}}`)).not.toThrow();
    for (const language of Object.keys(LANGUAGES)) expect(source).toMatch(new RegExp(`^    ${language}: '`, 'm'));
  },
);

test.each([...EMBED_SCRIPTS.map(({ source }) => source), FRAME_SCRIPT])(
  'writes no HTML, stores nothing, and contacts no server',
  (script) => {
    expect(script).not.toMatch(/innerHTML|outerHTML|insertAdjacent|document\.write|eval\(|new Function|import\(/);
    expect(script).not.toMatch(/cookie|Storage|indexedDB|sendBeacon|XMLHttpRequest|WebSocket|fetch\(/);
  },
);

test('a page speaks to the origin of the shop only, reads no message and no input, and its script is smaller than 2 KB', () => {
  expect(Buffer.byteLength(FRAME_SCRIPT)).toBeLessThan(2 * 1024);
  expect(FRAME_SCRIPT.match(/postMessage\([^)]*\)/g)).toEqual(['postMessage({ turnpike: type, ...values }, shop)']);
  expect(FRAME_SCRIPT).not.toMatch(/'message'|\.value\b|input/);
});
