/** Resolving the brand of a sale: a label or an alias, if the account and the environment offer it. */
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
  test('resolves to the brand', () => {
    expect(brandLabel('vcard', ANY, inSandbox)).toBe('vcard');
  });

  test.each(['', 'VCARD', 'vcard ', 'nothing', '__proto__', 'constructor', 'toString', 'hasOwnProperty'])(
    '%j is no brand',
    (name) => {
      expect(brandLabel(name, ANY, inSandbox)).toBeUndefined();
    },
  );

  test('resolves from an alias of the account only', () => {
    const account = { brands: [], brand_aliases: { 'visa-test': 'vcard' } };
    expect(brandLabel('visa-test', account, inSandbox)).toBe('vcard');
    expect(brandLabel('vcard', account, inSandbox)).toBe('vcard');
    expect(brandLabel('visa-test', ANY, inSandbox)).toBeUndefined();
    expect(brandLabel('toString', account, inSandbox)).toBeUndefined();
  });

  test('an alias of an unknown brand is not a brand', () => {
    expect(brandLabel('old', { brands: [], brand_aliases: { old: 'gone' } }, inSandbox)).toBeUndefined();
    expect(brandLabel('odd', { brands: [], brand_aliases: { odd: '__proto__' } }, inSandbox)).toBeUndefined();
  });

  test('an alias hides a brand of the same name', () => {
    expect(brandLabel('vcard', { brands: [], brand_aliases: { vcard: 'gone' } }, inSandbox)).toBeUndefined();
  });

  test('must be on the account’s list, if there is one, also for an alias', () => {
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

test('the test brand accepts these identifiers by default', () => {
  expect(SETTINGS['vcard.success'].default).toEqual(['success@example.com', 'success@gmail.com']);
  expect(SETTINGS['vcard.decline'].default).toEqual(['decline@example.com', 'fail@gmail.com']);
});

test.each(Object.entries(BRANDS))('brand %s has a connector that exists', (_, brand) => {
  expect(inSandbox(brand)).toBe(true);
});

test('without a provider the sandbox offers only the test brand, and production offers none', () => {
  const left = (isSandbox: boolean) =>
    Object.entries(BRANDS).filter(([, brand]) => offeredBy(createConnectors(isSandbox, undefined).byName)(brand));
  expect(left(true).map(([label]) => label)).toEqual(['vcard']);
  expect(left(false)).toEqual([]);
});
