/** The pages of the panel speak to people: no names of settings, no labels of brands, no codes outside of code. */
import { beforeAll, expect, test } from 'vitest';
import { BRANDS } from '../../src/rules/brands.ts';
import { openShop } from '../support/gateway.ts';
import { signedIn, type TestOperator } from '../support/operators.ts';
import { panelPaths } from '../support/panel-paths.ts';

const shop = openShop({ simulator: true });
let owner: TestOperator;
let merchant: TestOperator;
let paths: string[];

beforeAll(async () => {
  owner = await signedIn(shop, 'owner');
  merchant = await signedIn(shop, 'merchant', [shop.merchant.mid]);
  paths = await panelPaths(shop, owner);
});

/** What people read of a page: neither code nor scripts, and no ids or addresses. */
const textOf = (page: string): string =>
  page
    .replace(/<(script|style|code|pre|textarea|datalist)\b.*?<\/\1>/gs, ' ')
    .replace(/<[^>]*class="[^"]*\bmono\b[^"]*"[^>]*>[^<]*</g, '<')
    .replace(/<[^>]+>/g, ' ')
    .replace(/&[#\w]+;/g, ' ')
    .replace(/\S+@\S+|https?:\S+|[\da-f]{8}-[\da-f-]{27,}/g, ' ');

const SNAKE_CASE = /(?<![\w./-])[a-z]+\d*(?:_[a-z\d]+)+(?![\w/])/g;
const LABELS = Object.keys(BRANDS).filter((label) => label.includes('-') || label === 'vcard');

test('no page shows the name of a setting, a label or another code', async () => {
  const found: string[] = [];
  for (const operator of [owner, merchant]) {
    for (const path of paths) {
      const { status, text } = await operator.get(`/admin${path}`);
      if (operator === owner) expect([path, status]).toEqual([path, 200]);
      const words = textOf(text);
      const codes = [...words.matchAll(SNAKE_CASE)].map(([word]) => word);
      const labels = LABELS.filter((label) => new RegExp(`(?<![\\w-])${label}(?![\\w-])`).test(words));
      found.push(...new Set([...codes, ...labels].map((word) => `${path}: ${word}`)));
    }
  }
  expect([...new Set(found)]).toEqual([]);
});
