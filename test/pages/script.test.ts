/** The scripts of the payment pages are small and use no dangerous browser API. */
import { runInNewContext } from 'node:vm';
import { expect, test } from 'vitest';
import { CHALLENGE_SCRIPT, SCRIPT, SHARE_SCRIPT } from '../../src/pages/script.ts';

test('is smaller than 11 KB, and valid without its comments', () => {
  expect(Buffer.byteLength(SCRIPT)).toBeLessThan(11 * 1024);
  expect(() => runInNewContext(`() => {${SCRIPT}}`)).not.toThrow();
  expect(SCRIPT).not.toMatch(/^\s*\/\//m);
});

test('writes no HTML, stores nothing, and contacts no other server', () => {
  expect(SCRIPT).not.toMatch(/innerHTML|outerHTML|insertAdjacent|document\.write|eval\(|new Function|import\(/);
  expect(SCRIPT).not.toMatch(
    /cookie|localStorage|sessionStorage|indexedDB|sendBeacon|XMLHttpRequest|WebSocket|postMessage/,
  );
  expect(SCRIPT).not.toMatch(/https?:|<\/script/);
  // The form, and the state of the payment.
  expect(SCRIPT.match(/fetch\((\S+?),/g)).toEqual(['fetch(status,', 'fetch(form.action,']);
});

test.each([
  ['the challenge', CHALLENGE_SCRIPT],
  ['a code', SHARE_SCRIPT],
])('the script of %s is smaller than 2 KB, reads no message of another page, and contacts no server', (_, script) => {
  expect(Buffer.byteLength(script)).toBeLessThan(2 * 1024);
  expect(() => runInNewContext(`() => {${script}}`)).not.toThrow();
  expect(script).not.toMatch(/innerHTML|outerHTML|insertAdjacent|document\.write|eval\(|new Function|import\(/);
  expect(script).not.toMatch(
    /cookie|Storage|indexedDB|sendBeacon|XMLHttpRequest|WebSocket|ostMessage|'message'|fetch\(/,
  );
  expect(script).not.toMatch(/https?:|<\/script/);
});
