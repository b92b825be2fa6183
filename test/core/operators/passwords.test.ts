/** Passwords of operators, and the addresses of the panel: what is accepted, and what is refused. */
import { describe, expect, test } from 'vitest';
import { invitationLink, panelOrigins, relyingPartyId } from '../../../src/core/operators/panel-address.ts';
import { hashPassword, isPassword, passwordProblem } from '../../../src/core/operators/passwords.ts';
import { Secret } from '../../../src/lib/crypto/secret.ts';

const ADA = { email: 'ada.byron@example.com', name: 'Ada Byron' };
const problem = (text: string) => passwordProblem(new Secret(text), ADA);

test.each([
  ['eleven char', 'tooShort'],
  ['é'.repeat(11), 'tooShort'],
  [`${'x y z '.repeat(43)}`, 'tooLong'],
  ['aaaaaaaaaaaaaaaa', 'common'],
  ['1212121212121', 'common'],
  ['Correct horse battery staple', 'common'],
  ['PassWord_1234', 'common'],
  ['ada.byron@example.com', 'personal'],
  ['AdaByron2026!', 'personal'],
  ['Byron? Ada Byron', 'personal'],
])('refuses the password %s', (text, expected) => expect(problem(text)).toBe(expected));

test.each([
  'twelve chars',
  'four unusual words together',
  'Ada Byron writes programs at night',
  '密码是十二个字符以上的句子呀',
  'x9'.repeat(4) + '!'.repeat(4),
])('accepts the password %s', (text) => expect(problem(text)).toBeUndefined());

test('a hash has its parameters and a salt, and fits its password only', async () => {
  const password = new Secret('four unusual words together');
  const [first, second] = [await hashPassword(password), await hashPassword(password)];
  expect(first).toMatch(/^\$argon2id\$v=19\$m=65536,t=3,p=1\$[A-Za-z0-9+/]{22}\$[A-Za-z0-9+/]{43}$/);
  expect(first).not.toBe(second);
  expect(await isPassword(password, first)).toBe(true);
  expect(await isPassword(new Secret('four unusual words Together'), first)).toBe(false);
  expect(await isPassword(password)).toBe(false);
  // The same text in another encoding of its accents.
  const accented = await hashPassword(new Secret('cr\u00e8me br\u00fbl\u00e9e maison'));
  expect(await isPassword(new Secret('cre\u0300me bru\u0302le\u0301e maison'), accented)).toBe(true);
});

describe('the address of the panel', () => {
  test.each([
    ['https://pay.example.com', 'pay.example.com'],
    ['http://127.0.0.1:8080', 'localhost'],
    ['http://[::1]:8080', 'localhost'],
    ['http://localhost:8080', 'localhost'],
    ['http://192.0.2.1:8080', undefined],
    ['https://192.0.2.1', undefined],
    ['http://pay.example.com', undefined],
    ['https://[2001:db8::1]', undefined],
  ])('%s has passkeys for %s', (url, expected) => expect(relyingPartyId(url)).toBe(expected));

  test('is a host name on this machine, and both names are its origins', () => {
    expect(invitationLink('http://127.0.0.1:8080', 'x')).toBe('http://localhost:8080/admin/invitation/x');
    expect(panelOrigins('http://127.0.0.1:8080')).toEqual(['http://localhost:8080', 'http://127.0.0.1:8080']);
    expect(panelOrigins('https://127.0.0.1.example.com')).toEqual(['https://127.0.0.1.example.com']);
  });
});
