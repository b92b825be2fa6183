/** Which codes are addresses that an app opens. */
import { expect, test } from 'vitest';
import { appLinkOf } from '../../src/pages/pay/code.ts';

test.each(['upi://pay?pa=shop@bank&am=1', 'https://pay.example.com/c/1', 'bankapp+pay://x'])('%s is opened', (text) => {
  expect(appLinkOf(text)).toBe(text);
});

test.each([
  'K:EK|V:01|C:1|R:84',
  '00020101021226',
  'http://pay.example.com/',
  'javascript://%0aalert(1)',
  'JavaScript://x',
  'data://text/html,x',
  'file:///etc/passwd',
  'upi://a b',
  ' upi://a',
  '',
])('%j is not', (text) => {
  expect(appLinkOf(text)).toBeUndefined();
});
