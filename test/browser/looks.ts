/** Looks at a page as very different payers see it: languages, sizes, light and dark, and with what axe knows of barriers. */
import { join } from 'node:path';
import { expect } from 'vitest';
import { LANGUAGES } from '../../src/pages/locales/index.ts';
import type { Page, Request } from '../support/browser.ts';
import { expectNoBarriers, SCHEMES } from './barriers.ts';
import type { Stage } from './stage.ts';

/** A kind of page: where it is, and what has to be done there to see it. */
export interface Kind {
  url: string;
  prepare?(page: Page): Promise<void>;
  /** What the page asks for besides itself. */
  others?: readonly string[];
}

const SCREENSHOTS = join(import.meta.dirname, 'screenshots');

/** The smallest phone, a usual one and a desktop; and half a desktop, which is what one shows at 200 %. */
const WIDTHS = [320, 390, 640, 1280];
const DEVICES = { phone: { width: 390, height: 844 }, desktop: { width: 1280, height: 800 } };
const BYTES_MOST = 60 * 1024;

/**
 * A payer whose pages do not lead on by themselves and whose remaining time stands still, so that there is time to look
 * at them; `submitForm` sends a form.
 */
export async function onlooker(stage: Stage): Promise<Page> {
  const page = await stage.payer();
  await page.addInitScript(
    `const now = Date.now();
    Date.now = () => now;
    Object.assign(window, { submitForm: Function.prototype.call.bind(HTMLFormElement.prototype.submit) });
    HTMLFormElement.prototype.requestSubmit = HTMLFormElement.prototype.submit = HTMLElement.prototype.click = () => {}`,
  );
  return page;
}

/** What stands out of the window, or has something in it that stands out of it; an input can be scrolled. */
export const OVERFLOW = `[...(document.documentElement.scrollWidth > document.documentElement.clientWidth ? ['page'] : []),
  ...[...document.querySelectorAll('body *:not(.hush)')].filter((element) => {
    const { left, right, width } = element.getBoundingClientRect();
    const { scrollWidth, clientWidth, localName } = element;
    const isTooSmall = clientWidth > 0 && scrollWidth > clientWidth + 1 && !['input', 'select'].includes(localName);
    return width > 0 && (left < -1 || right > innerWidth + 1 || isTooSmall);
  }).map(({ localName, className }) => localName + '.' + className)]`;

/** One document and nothing else, so that nothing can keep it from being painted. */
async function visit(page: Page, { url, prepare, others = [] }: Kind, language: string): Promise<void> {
  const asked: string[] = [];
  const note = (request: Request): void => void asked.push(request.url());
  await page.setExtraHTTPHeaders({ 'accept-language': language });
  page.on('request', note);
  const response = await page.goto(url);
  page.off('request', note);
  const shown = response?.url() ?? '';
  // A page that waits looks after the payment; on a slow machine while it still loads.
  const status = `${new URL(shown).pathname}/status`;
  expect(asked.filter((address) => new URL(address).pathname !== status)).toEqual([shown, ...others]);
  expect((await response?.body())?.length).toBeLessThan(BYTES_MOST);
  const loaded = 'script, link:not([rel=icon][href^="data:"])';
  expect(await page.evaluate(`document.head.querySelectorAll('${loaded}').length`)).toBe(0);
  await prepare?.(page);
}

/** The languages in which the light, the screenshots and all that axe knows are looked at, too. */
const CLOSELY = ['en', 'ar'];
export const ALL_LANGUAGES = Object.keys(LANGUAGES);

export async function expectGoodLooks(
  page: Page,
  name: string,
  kind: Kind,
  languages: readonly string[] = CLOSELY,
): Promise<void> {
  // A page of another kind asks for nothing any more.
  await page.goto('about:blank');
  for (const language of languages) {
    await visit(page, kind, language);
    const spoken = await page.evaluate('(({ lang, dir }) => [lang.split("-")[0], dir])(document.documentElement)');
    expect(spoken).toEqual([language, language === 'ar' ? 'rtl' : 'ltr']);
    for (const width of WIDTHS) {
      await page.setViewportSize({ width, height: 800 });
      expect(await page.evaluate(OVERFLOW), `${name}, ${language} at ${width}`).toEqual([]);
    }
    if (CLOSELY.includes(language)) await lookClosely(page, name, language);
  }
}

async function lookClosely(page: Page, name: string, language: string): Promise<void> {
  await expectNoBarriers(page, `${name}, ${language}`, SCHEMES, async (scheme) => {
    for (const [device, size] of Object.entries(DEVICES)) {
      if (language === 'ar' && device === 'desktop') continue;
      await page.setViewportSize(size);
      const path = join(SCREENSHOTS, `${name}-${device}-${scheme}-${language}.png`);
      await page.screenshot({ path, fullPage: true });
    }
  });
  await page.emulateMedia({ colorScheme: 'light' });
}
