/** The docs say what the code does: generated pages are up to date, worked examples come out as written. */
import { readFile } from 'node:fs/promises';
import { describe, expect, test } from 'vitest';
import { documents } from '../docs/write.ts';
import { wireHash } from '../src/lib/hash.ts';

const read = (name: string): Promise<string> =>
  readFile(new URL(`../docs/${name}`, import.meta.url), 'utf8').catch(() => '');

describe('generated pages', () => {
  test.each(Object.entries(documents()))('docs/%s is what the tables say', async (name, text) => {
    expect(await read(name), `docs/${name} is not up to date: run \`npm run docs\`.`).toBe(text);
  });
});

test('the hash of the merchant guide comes out as written', async () => {
  const values = ['success@example.com', 'order-1001', '19.99', 'USD'];
  expect(await read('merchant-guide.md')).toContain(wireHash(values, '9d2a6f0c4b7e81355af0c6d2e8b41790'));
});
