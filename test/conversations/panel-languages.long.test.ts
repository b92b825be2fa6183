/** The pages of the panel in each language: nothing stays in English, neither texts of the panel nor words beside them. */
import { beforeAll, describe, expect, test } from 'vitest';
import { PANEL_LANGUAGES, PANEL_TAGS, type PanelLanguage } from '../../src/pages/panel/locales/index.ts';
import { openShop } from '../support/gateway.ts';
import { COOKIE, signedIn, type TestOperator } from '../support/operators.ts';
import { panelPaths } from '../support/panel-paths.ts';

const shop = openShop({ simulator: true });
let owner: TestOperator;
let paths: string[];
beforeAll(async () => {
  owner = await signedIn(shop, 'owner');
  paths = await panelPaths(shop, owner);
});

const OTHERS = PANEL_TAGS.filter((tag) => tag !== 'en');
/** Shorter texts may be the same in two languages, or a part of another word. */
const LONG = 12;

const leaves = (node: unknown): string[] =>
  typeof node === 'string' ? [node] : typeof node === 'object' && node ? Object.values(node).flatMap(leaves) : [];

/** The long pieces of the texts of a language between what is filled in. */
const piecesOf = (tag: PanelLanguage): Set<string> =>
  new Set(
    leaves(PANEL_LANGUAGES[tag])
      .flatMap((text) => text.split(/\{\w+\}/))
      .map((piece) => piece.trim())
      .filter((piece) => piece.length > LONG),
  );

const ENTITIES: Record<string, string> = { amp: '&', lt: '<', gt: '>', quot: '"', '#39': "'" };

/** A page without scripts, styles and what was typed; texts in attributes stay. */
const plain = (page: string): string =>
  page
    .replace(/<(script|style|code|pre|textarea)\b.*?<\/\1>/gs, '<>')
    .replace(/&(amp|lt|gt|quot|#39);/g, (_, name: string) => ENTITIES[name] ?? '');

/** The texts between the tags of a page that have more than one word. */
const sentencesOf = (page: string): Set<string> =>
  new Set(
    [...plain(page).matchAll(/>([^<>]+)</g)]
      .map(([, text = '']) => text.trim())
      .filter((text) => text.length > LONG && /\p{L} \p{L}/u.test(text)),
  );

async function pageIn(language: string, path: string): Promise<string> {
  const headers = { cookie: `${COOKIE}=${owner.cookie}`, 'accept-language': language };
  const response = await fetch(`${shop.url}/admin${path}`, { headers });
  expect([path, response.status]).toEqual([path, 200]);
  return response.text();
}

/** What is the same in every language: data, names, and words of the API and of providers. */
const SAME: readonly RegExp[] = [
  /Test Shop · Turnpike$|^turnpike test$/,
  // The reason of a refund is kept as its operator read it.
  /^Paid twice\. Twice$/,
  /^American Express$|^Côte d’Ivoire$/,
  // Credentials and names of providers.
  /^Stripe, hosted page$|^Provider API\b/,
  /^Merchant account$|^HMAC key of the webhook( of tokens)?$|^Former HMAC key\b/,
  /^Address of the provider$|^Key of our calls$|^Secret that signs notifications/,
  // Why a route was taken, as payments and the admin API have it.
  /^The account has no routes: own provider$/,
];
/** The sandbox console has the rules of the fields as the API reference has them. */
const API_RULES = '/sandbox';

describe.each(OTHERS)('%s', (language) => {
  test('no page has a text of the panel in English', async () => {
    const translated = [...piecesOf(language)];
    const english = [...piecesOf('en')].filter((piece) => !translated.some((text) => text.includes(piece)));
    const found: string[] = [];
    for (const path of paths) {
      const page = plain(await pageIn(language, path));
      expect(page).toContain(`<html lang="${language}">`);
      found.push(...english.filter((piece) => page.includes(piece)).map((piece) => `${path}: ${piece}`));
    }
    expect(found).toEqual([]);
  });

  test('no page has a sentence that it has in English, too', async () => {
    const translated = [...piecesOf(language)];
    const found = new Set<string>();
    for (const path of paths.filter((one) => one !== API_RULES)) {
      const english = sentencesOf(await pageIn('en', path));
      const same = [...sentencesOf(await pageIn(language, path))].filter((text) => english.has(text));
      const isKnown = (text: string): boolean => translated.includes(text) || SAME.some((known) => known.test(text));
      for (const text of same) if (!isKnown(text)) found.add(`${path}: ${text}`);
    }
    expect([...found]).toEqual([]);
  });

  test('the sign-in page is in the language of the browser', async () => {
    const response = await fetch(`${shop.url}/admin/sign-in`, {
      headers: { 'accept-language': `${language}, en;q=0.5` },
    });
    expect(await response.text()).toContain(PANEL_LANGUAGES[language].signIn.withPasskey);
  });

  test('an operator keeps the language that it chose', async () => {
    const chosen = await signedIn(shop, 'viewer');
    expect((await chosen.submit('/admin/me/language', { language })).status).toBe(303);
    expect((await chosen.get('/admin/payments')).text).toContain(
      `<h1>${PANEL_LANGUAGES[language].sections.payments}</h1>`,
    );
  });
});
