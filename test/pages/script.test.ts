/** The one script: small, whole, and asking for nothing that a payment page should not have. */
import { runInNewContext } from 'node:vm';
import { expect, test } from 'vitest';
import { SCRIPT } from '../../src/pages/script.ts';

test('it is less than 7 KB, and without its comments still a script', () => {
  expect(Buffer.byteLength(SCRIPT)).toBeLessThan(7 * 1024);
  expect(() => runInNewContext(`() => {${SCRIPT}}`)).not.toThrow();
  expect(SCRIPT).not.toMatch(/^\s*\/\//m);
});

test('it makes no page out of text, keeps nothing, and knows no other address', () => {
  expect(SCRIPT).not.toMatch(/innerHTML|outerHTML|insertAdjacent|document\.write|eval\(|new Function|import\(/);
  expect(SCRIPT).not.toMatch(
    /cookie|localStorage|sessionStorage|indexedDB|sendBeacon|XMLHttpRequest|WebSocket|postMessage/,
  );
  expect(SCRIPT).not.toMatch(/https?:|<\/script/);
  expect(SCRIPT.match(/fetch\(/g)).toHaveLength(1);
});
