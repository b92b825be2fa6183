/** Which brand a sale means: its label or an alias, if the account and the environment offer it. */
import { describe, expect, test } from 'vitest';
import { createConnectors } from '../../src/connectors/index.ts';
import { BRANDS, type Brand, brandLabel } from '../../src/rules/brands.ts';
import { SETTINGS } from '../../src/rules/settings.ts';

const PROVIDER = { url: 'http://127.0.0.1:9', key: 'key', notificationSecret: 'c2VjcmV0' };
const offeredBy =
  (connectors: object) =>
  ({ connector }: Brand): boolean =>
    Object.hasOwn(connectors, connector);
const inSandbox = offeredBy(createConnectors(true, PROVIDER).byName);
const inProduction = offeredBy(createConnectors(false, PROVIDER).byName);

const ANY = { brands: [], brand_aliases: {} };

describe('the label of a brand', () => {
  test('is the brand itself', () => {
    expect(brandLabel('vcard', ANY, inSandbox)).toBe('vcard');
  });

  test.each(['', 'VCARD', 'vcard ', 'nothing', '__proto__', 'constructor', 'toString', 'hasOwnProperty'])(
    '%j is no brand',
    (name) => {
      expect(brandLabel(name, ANY, inSandbox)).toBeUndefined();
    },
  );

  test('may be called by an alias of the account, and by no other', () => {
    const account = { brands: [], brand_aliases: { 'visa-test': 'vcard' } };
    expect(brandLabel('visa-test', account, inSandbox)).toBe('vcard');
    expect(brandLabel('vcard', account, inSandbox)).toBe('vcard');
    expect(brandLabel('visa-test', ANY, inSandbox)).toBeUndefined();
    expect(brandLabel('toString', account, inSandbox)).toBeUndefined();
  });

  test('an alias that leads nowhere is no brand', () => {
    expect(brandLabel('old', { brands: [], brand_aliases: { old: 'gone' } }, inSandbox)).toBeUndefined();
    expect(brandLabel('odd', { brands: [], brand_aliases: { odd: '__proto__' } }, inSandbox)).toBeUndefined();
  });

  test('an alias hides a brand of the same name', () => {
    expect(brandLabel('vcard', { brands: [], brand_aliases: { vcard: 'gone' } }, inSandbox)).toBeUndefined();
  });

  test('has to be on the account’s list, when there is one, also behind an alias', () => {
    const listed = { brands: ['vcard'], brand_aliases: { 'visa-test': 'vcard' } };
    const others = { brands: ['other'], brand_aliases: { 'visa-test': 'vcard' } };
    expect(brandLabel('vcard', listed, inSandbox)).toBe('vcard');
    expect(brandLabel('visa-test', listed, inSandbox)).toBe('vcard');
    expect(brandLabel('vcard', others, inSandbox)).toBeUndefined();
    expect(brandLabel('visa-test', others, inSandbox)).toBeUndefined();
  });

  test('of the test brand does not exist in production', () => {
    expect(brandLabel('vcard', ANY, inProduction)).toBeUndefined();
    expect(brandLabel('a', { brands: ['vcard'], brand_aliases: { a: 'vcard' } }, inProduction)).toBeUndefined();
  });
});

test('the test brand needs an identifier from one of its two lists', () => {
  const field = BRANDS.vcard?.fields.find(({ name }) => name === 'identifier');
  const lists: Record<string, string[]> = { 'vcard.success': ['yes@example.com'], 'vcard.decline': ['no@example.com'] };
  const context = {
    value: () => '',
    positions: () => [],
    setting: (setting: string) => lists[setting] ?? [],
    allowsHttp: true,
  };
  expect(field?.need).toBe('must');
  expect(field?.check('yes@example.com', context)).toBeUndefined();
  expect(field?.check('no@example.com', context)).toBeUndefined();
  expect(field?.check('maybe@example.com', context)).toBe('The value you selected is not a valid choice.');
  expect(field?.check('YES@example.com', context)).toBe('The value you selected is not a valid choice.');
});

test('the test brand knows these identifiers unless the account says otherwise', () => {
  expect(SETTINGS['vcard.success'].default).toEqual(['success@example.com', 'success@gmail.com']);
  expect(SETTINGS['vcard.decline'].default).toEqual(['decline@example.com', 'fail@gmail.com']);
});

test.each(Object.entries(BRANDS))('brand %s has a connector that exists', (_, brand) => {
  expect(inSandbox(brand)).toBe(true);
});

test('without a provider there is the test brand alone, and in production none at all', () => {
  const left = (isSandbox: boolean) =>
    Object.entries(BRANDS).filter(([, brand]) => offeredBy(createConnectors(isSandbox, undefined).byName)(brand));
  expect(left(true).map(([label]) => label)).toEqual(['vcard']);
  expect(left(false)).toEqual([]);
});
