/** The script of the payment pages is small and uses no dangerous browser API. */
import { runInNewContext } from 'node:vm';
import { expect, test } from 'vitest';
import { SCRIPT } from '../../src/pages/script.ts';

test('is smaller than 8.5 KB, and valid without its comments', () => {
  expect(Buffer.byteLength(SCRIPT)).toBeLessThan(8.5 * 1024);
  expect(() => runInNewContext(`() => {${SCRIPT}}`)).not.toThrow();
  expect(SCRIPT).not.toMatch(/^\s*\/\//m);
});

test('writes no HTML, stores nothing, and contacts no other server', () => {
  expect(SCRIPT).not.toMatch(/innerHTML|outerHTML|insertAdjacent|document\.write|eval\(|new Function|import\(/);
  expect(SCRIPT).not.toMatch(
    /cookie|localStorage|sessionStorage|indexedDB|sendBeacon|XMLHttpRequest|WebSocket|postMessage/,
  );
  expect(SCRIPT).not.toMatch(/https?:|<\/script/);
  expect(SCRIPT.match(/fetch\(/g)).toHaveLength(1);
});
