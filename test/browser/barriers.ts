/** What axe knows of barriers, in both colour schemes of a page that is loaded once. */
import { readFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { expect } from 'vitest';
import type { Page } from '../support/browser.ts';

const AXE = readFileSync(createRequire(import.meta.url).resolve('axe-core/axe.min.js'), 'utf8');
const TAGS = ['wcag2a', 'wcag2aa', 'wcag21a', 'wcag21aa', 'wcag22a', 'wcag22aa'];

export type Scheme = 'light' | 'dark';
export const SCHEMES: readonly Scheme[] = ['light', 'dark'];

/** The rules that run in each scheme: a scheme changes nothing but colours, so the others need not run twice. */
const RULES: Readonly<Record<Scheme, unknown>> = {
  light: TAGS,
  dark: { type: 'rule', values: ['color-contrast', 'link-in-text-block'] },
};

/** Expects that axe finds no fault in any of the schemes; `look` is called while the page has one of them. */
export async function expectNoBarriers(
  page: Page,
  name: string,
  schemes: readonly Scheme[] = SCHEMES,
  look?: (scheme: Scheme) => Promise<void>,
): Promise<void> {
  await page.evaluate(AXE);
  for (const colorScheme of schemes) {
    await page.emulateMedia({ colorScheme });
    const options = { runOnly: RULES[colorScheme], resultTypes: ['violations'], selectors: false };
    const found = await page.evaluate(`axe.run(${JSON.stringify(options)})
      .then(({ violations }) => violations.flatMap(({ id, nodes }) => nodes.map(({ html }) => id + ': ' + html)))`);
    expect(found, `${name}, ${colorScheme}`).toEqual([]);
    await look?.(colorScheme);
  }
}
