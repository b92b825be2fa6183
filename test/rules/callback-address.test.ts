/** Which addresses are accepted for callbacks when they are saved, and the error message for each other one. */
import { describe, expect, test } from 'vitest';
import { callbackAddress, callbackReach, mayCall, readCallbackAddress } from '../../src/rules/callback-address.ts';
import type { FieldContext } from '../../src/rules/fields.ts';

const SANDBOX = callbackReach(true, []);
const PRODUCTION = callbackReach(false, []);

/** The error message for an address. */
const problem = (address: string, reach = PRODUCTION): string | undefined =>
  callbackAddress.check(address, { ...reach, value: () => '', positions: () => [], setting: () => '' } as FieldContext);

const PRIVATE = 'This value should be a public address, callbacks do not go to private ones.';
const bad = (scheme: string): string =>
  `This value should be an ${scheme} address of 2048 characters or less, without a user name, a password or a fragment.`;

describe('in every environment', () => {
  test.each([
    'https://shop.example',
    'https://shop.example/',
    'https://shop.example?a=b',
    'HTTPS://Shop.Example:8443/a/@b?c=d@e&f=%23',
    'https://čigra.example/ž?x=ž',
    'https://8.8.8.8/',
    'https://[2606:4700::1111]:8443/',
    'https://[64:ff9b::8.8.8.8]/',
    'https://shop/',
    'https://shop.internal/',
    'https://notlocalhost/',
    'https://localhost.example/',
    'https://127.0.0.1.example/',
    `https://shop.example/${'x'.repeat(2027)}`,
  ])('%s is accepted', (address) => {
    expect(problem(address)).toBeUndefined();
    expect(problem(address, SANDBOX)).toBeUndefined();
  });

  test.each([
    '',
    'shop.example',
    '/callback',
    '//shop.example/',
    'https:shop.example',
    'https:///shop.example/',
    'https://',
    'https://?a',
    'https://#',
    'ftp://shop.example/',
    'javascript:alert(1)',
    'https://user@shop.example/',
    'https://user:password@shop.example/',
    'https://@shop.example/',
    'https://shop.example/#fragment',
    'https://shop.example#',
    'https://shop.example/a b',
    'https://shop.example/ ',
    ' https://shop.example/',
    'https://shop.example\\@10.0.0.1/',
    'https://shop.example/a\nb',
    'https://shop\t.example/',
    'https://shop.example/\0',
    'https://shop.example:99999/',
    'https://[::1%25lo]/',
    'https://1.2.3.4.5/',
    `https://shop.example/${'x'.repeat(2028)}`,
  ])('%j is refused', (address) => {
    expect(problem(address)).toBe(bad('https'));
    expect(problem(address, SANDBOX)).toBe(bad('http or https'));
  });

  test.each(['https://10.0.0.1/', 'https://169.254.169.254/', 'https://[fd00::1]/', 'https://0xa.1/', 'https://0/'])(
    '%s is private',
    (address) => {
      expect(problem(address)).toBe(PRIVATE);
      expect(problem(address, SANDBOX)).toBe(PRIVATE);
    },
  );
});

describe('loopback', () => {
  test.each([
    'https://localhost/',
    'https://LOCALHOST:3000/',
    'https://localhost./',
    'https://shop.localhost/',
    'https://127.0.0.1/',
    'https://2130706433/',
    'https://１２７.0.0.1/',
    'https://127.9.9.9/',
    'https://[::1]/',
    'https://[::ffff:127.0.0.1]/',
  ])('%s is accepted in the sandbox only', (address) => {
    expect(problem(address)).toBe(PRIVATE);
    expect(problem(address, SANDBOX)).toBeUndefined();
  });

  test('is refused in the sandbox, too, when other ranges are configured; localhost needs one of its two addresses', () => {
    expect(problem('http://localhost/', callbackReach(true, ['10.0.0.0/8']))).toBe(PRIVATE);
    expect(problem('http://localhost/', callbackReach(true, ['::1']))).toBeUndefined();
  });
});

test('plain http is accepted in the sandbox only', () => {
  expect(problem('http://shop.example/')).toBe(bad('https'));
  expect(problem('http://shop.example/', SANDBOX)).toBeUndefined();
});

test('the operator can allow private ranges in production, and only these are accepted', () => {
  const reach = callbackReach(false, ['10.0.0.0/8', 'fd00::/8']);
  expect(problem('https://10.1.2.3/', reach)).toBeUndefined();
  expect(problem('https://[fd00::1]/', reach)).toBeUndefined();
  expect(problem('https://[::ffff:10.1.2.3]/', reach)).toBeUndefined();
  expect(problem('https://192.168.0.1/', reach)).toBe(PRIVATE);
  expect(problem('https://localhost/', reach)).toBe(PRIVATE);
  expect(problem('http://10.1.2.3/', reach)).toBe(bad('https'));
  expect(mayCall('10.1.2.3', reach)).toBe(true);
  expect(mayCall('64:ff9b::10.1.2.3', reach)).toBe(false);
});

test('without configuration no private address is accepted', () => {
  expect(readCallbackAddress('https://127.0.0.1/', { allowsHttp: true })).toBe('privateAddress');
});

test('returns the parsed address', () => {
  expect(String(readCallbackAddress('HTTP://127.1:80/a?b', SANDBOX))).toBe('http://127.0.0.1/a?b');
});
