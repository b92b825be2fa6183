/** The fields of every kind of brand: first submitted empty, then with valid values. */
import { expect, test } from 'vitest';
import { en } from '../../src/pages/locales/en.ts';
import { BRAND_EXPECTATIONS } from '../support/brand-expectations.ts';
import type { Page } from '../support/browser.ts';
import type { Body } from '../support/checkout.ts';
import { field, focused, isAtShop, marked, reads, setStage } from './stage.ts';

const stage = setStage();
const next = (page: Page): Promise<void> => page.getByRole('button', { name: en.next }).click();
const from = (country: string): Body => ({ billing_address: { country } });

const KINDS: Readonly<
  Record<string, { brands: [brand: string, session?: Body][]; arrives(page: Page): Promise<void> }>
> = {
  'pays at once': {
    brands: [['vcard'], ['pin-a']],
    arrives: (page) => isAtShop(page, stage, 'thanks'),
  },
  'is redirected to a bank or provider': {
    brands: [
      ['bank-a'],
      ['doc-a'],
      ['local-a', from('CL')],
      ['local-b', from('PE')],
      ['hosted-b'],
      ['crypto-a'],
      ['crypto-b'],
      ['trading-a', { parameters: { 'trading-a': { paymentGatewayName: 'Cards' } } }],
    ],
    arrives: (page) => page.getByRole('button', { name: 'Leave without paying' }).waitFor(),
  },
  'is redirected to an aggregator': {
    brands: [
      ['agg-a', from('TR')],
      ['agg-e', from('VN')],
    ],
    arrives: (page) => page.getByRole('button', { name: 'Leave without paying' }).waitFor(),
  },
  'waits for an app': { brands: [['upi-a'], ['upi-b']], arrives: (page) => reads(page, en.waiting) },
  'waits for a transfer': {
    brands: [
      ['transfer-a', { order: { currency: 'ARS' } }],
      ['transfer-b', { order: { currency: 'MXN' } }],
    ],
    arrives: (page) => reads(page, en.transfer),
  },
};

test.each(Object.entries(KINDS))('a payer who fills in the missing fields %s', async (_, { brands, arrives }) => {
  const page = await stage.payer();
  for (const [brand, fields] of brands) {
    const right = { identifier: 'success@example.com', ...BRAND_EXPECTATIONS[brand]?.complete };
    await stage.visit(page, { ...fields, methods: [brand] });
    const inputs = await page.locator('main input:not([type=hidden]), main select').all();
    const names = await Promise.all(inputs.map(async (input) => String(await input.getAttribute('name'))));
    expect(names.length, brand).toBeGreaterThan(0);
    await next(page);
    expect(await marked(page), brand).toEqual(Object.fromEntries(names.map((name) => [name, en.fillIn])));
    await expect.poll(() => focused(page)).toBe(names[0]);
    for (const name of names) {
      const input = field(page, name);
      const value = String(right[name as keyof typeof right]);
      const hasChoices = (await input.locator('option').count()) > 0;
      await (hasChoices ? input.selectOption(value) : input.fill(value));
    }
    expect(await marked(page), `${brand} is valid`).toEqual({});
    await next(page);
    await arrives(page);
  }
});

test('shows errors that only the server detects, and keeps the entered values', async () => {
  const page = await stage.payer();
  const { id } = await stage.visit(page, { methods: ['bank-a'] });
  await field(page, 'payer_first_name').fill('Ada');
  await field(page, 'payer_last_name').fill('Byron');
  await field(page, 'parameters[bank_code]').fill('nonsense!');
  await field(page, 'parameters[bank_account_number]').fill('17');
  await next(page);
  await page.getByRole('alert').waitFor();
  await expect
    .poll(() => Promise.all([marked(page), focused(page)]))
    .toEqual([{ 'parameters[bank_code]': en.looksWrong }, 'parameters[bank_code]']);
  expect(await field(page, 'payer_first_name').inputValue()).toBe('Ada');
  expect(await stage.checkout.events(id)).toEqual(['opened']);
});
