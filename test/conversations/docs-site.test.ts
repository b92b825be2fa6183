/** The docs site: every page and link, the search, the keys of the reader, the Postman collection. */
import { createHash } from 'node:crypto';
import { readdirSync } from 'node:fs';
import { join } from 'node:path';
import { runInNewContext } from 'node:vm';
import { describe, expect, test } from 'vitest';
import { AUDIENCES } from '../../src/pages/docs/chapters.ts';
import { docsLibrary } from '../../src/pages/docs/index.ts';
import { REQUESTS_FILE } from '../../src/pages/docs/library.ts';
import { findSections } from '../../src/pages/docs/search.ts';
import { SYNONYMS } from '../../src/pages/docs/synonyms.ts';
import { type Merchant, openShop, startTestGateway } from '../support/gateway.ts';
import { signedIn } from '../support/operators.ts';
import { ROOT } from '../support/process.ts';

const shop = openShop();

const get = async (path: string, headers: Record<string, string> = {}, url = shop.url) => {
  const response = await fetch(url + path, { headers, redirect: 'manual' });
  return { status: response.status, headers: response.headers, text: await response.text() };
};

test('every Markdown file of docs is a chapter, once', () => {
  const listed = AUDIENCES.flatMap(({ chapters }) => chapters.map(({ file }) => file));
  const files = readdirSync(join(ROOT, 'docs'), { recursive: true, encoding: 'utf8' })
    .filter((name) => name.endsWith('.md'))
    .map((name) => `docs/${name}`);
  expect([...listed.filter((name) => name.startsWith('docs/')), REQUESTS_FILE].toSorted()).toEqual(files.toSorted());
  expect(new Set(listed).size).toBe(listed.length);
});

describe('pages', () => {
  /** Every page by its address: its links and its anchors. */
  const seen = new Map<string, { links: string[]; ids: Set<string> }>();

  test('render with a strict policy, one first-level heading, and no inline handler or style', async () => {
    const { pages, files } = await docsLibrary();
    for (const path of ['/docs', '/docs/search?q=hash', ...pages.keys(), ...files.keys()]) {
      const { status, headers, text } = await get(path);
      expect(status, path).toBe(200);
      expect(headers.get('content-security-policy'), path).toMatch(
        /^default-src 'none'; script-src 'sha256-[\w+/=]+'; style-src 'sha256-[\w+/=]+'; .*frame-ancestors 'none'/,
      );
      expect(text, path).not.toMatch(/[\uE000\uE001]/);
      const tags = text.replace(/<(script|style)>.*?<\/\1>/gs, '').match(/<[a-z][^>]*>/g) ?? [];
      expect(
        tags.filter((tag) => / (?:on\w+|style)=/.test(tag.replace(/"[^"]*"/g, '""'))),
        path,
      ).toEqual([]);
      expect(tags.filter((tag) => tag.startsWith('<h1')).length, path).toBe(1);
      const ids = [...text.matchAll(/ id="([^"]+)"/g)].map(([, id]) => id as string);
      expect(new Set(ids).size, `${path} has an id twice`).toBe(ids.length);
      const links = [...text.matchAll(/ href="([^"]+)"/g)].map(([, href]) => href as string);
      seen.set(path, { links, ids: new Set(ids) });
    }
  });

  test('link only to pages and anchors that exist', async () => {
    const others = new Map<string, number>();
    for (const [page, { links }] of seen) {
      for (const link of links.filter((href) => !/^(https?|data):/.test(href))) {
        const [path = '', anchor] = link.split('#');
        const target = seen.get(path === '' ? page : path);
        if (target && anchor) expect(target.ids, `${page} links to ${link}`).toContain(anchor);
        if (target || path === '') continue;
        if (!others.has(path)) others.set(path, (await get(path)).status);
        expect(others.get(path), `${page} links to ${link}`).toBeLessThan(400);
      }
    }
    const outside = [...others.keys()].filter((path) => !path.startsWith('/admin/sandbox'));
    expect(outside.toSorted()).toEqual(['/admin', '/docs/postman.json', '/openapi.json']);
  });

  test('that do not exist are answered with a search', async () => {
    for (const path of ['/docs/nowhere', '/docs/files/package.json', '/docs/files/../package.json', '/docs/%2e%2e/x']) {
      const { status, text } = await get(path);
      expect(status, path).toBe(404);
      if (path.startsWith('/docs/n')) expect(text).toContain('action="/docs/search"');
    }
  });

  test('have neighbours, a table of contents, and chapters of their own where a file is long', async () => {
    const { text } = await get('/docs/merchant/sign-requests');
    expect(text).toMatch(/rel="prev"><span>Previous<\/span>Samples<.*rel="next"><span>Next<\/span>Checkout</s);
    expect(text).toContain('<a href="#compute-the-hash">Compute the hash</a>');
    expect((await get('/docs/brands/ips')).text).toMatch(/<h1 id="ips">ips<\/h1>/);
    expect((await get('/docs/merchant/wallets')).text).toContain('href="/docs/brands/wallet-a"');
    expect((await get('/docs/')).status).toBe(200);
  });

  test('embed the samples in every language', async () => {
    const { text } = await get('/docs/merchant/samples');
    expect(text.match(/<input type="radio"/g)?.length).toBe(28);
    for (const word of ['java.net.http', 'net/http', 'urllib.request', 'JsonObject', 'checkout.session']) {
      expect(text).toContain(word);
    }
  });

  test('are linked from the start page and from the panel', async () => {
    expect((await get('/')).text).toContain('href="/docs"');
    const { get: inPanel } = await signedIn(shop, 'viewer');
    expect((await inPanel('/admin')).text).toContain('href="/docs"');
  });
});

describe('the search', () => {
  const best = async (query: string): Promise<string[]> =>
    findSections((await docsLibrary()).index, query, 5, SYNONYMS).map(({ path }) => path);

  test.each([
    ['compute the hash', '/docs/merchant/sign-requests#compute-the-hash'],
    ['ips', '/docs/brands/ips'],
    ['Hash is not valid', '/docs/merchant/sign-requests#hash-errors'],
    ['TURNPIKE_MASTER_KEY', '/docs/configuration'],
    ['checkoutSession', '/docs/reference/checkout#checkoutSession'],
    ['order_description', '/docs/reference/merchants#sale'],
    ['webhook', '/docs/merchant/callbacks'],
    ['iframe', '/docs/merchant/payment-page#frames'],
    ['cents', '/docs/merchant/sign-requests#amounts'],
    ['sca', '/docs/three-ds'],
    ['Apple Pay', '/docs/merchant/wallets'],
    ['google pay', '/docs/merchant/wallets'],
    ['subscription', '/docs/merchant/schedules#create-a-schedule'],
    ['payment link', '/docs/reference/checkout#checkoutSession'],
    ['refund of a zebra', '/docs/merchant/operations#refund-and-reversal'],
  ])('finds %s', async (query, path) => expect(await best(query)).toContain(path));

  test('has the same results on the page and in the browser', async () => {
    const index = JSON.parse((await get('/docs/search.json')).text);
    const expected = findSections(index, 'refund callback', 30, SYNONYMS).map(({ path }) => path);
    const { text } = await get('/docs/search?q=refund+callback');
    const list = /<ul class="results">(.*?)<\/ul>/s.exec(text)?.[1] ?? '';
    expect([...list.matchAll(/href="([^"]+)"/g)].map(([, path]) => path)).toEqual(expected);
    expect(expected.length).toBeGreaterThan(5);
  });

  test('says when there is nothing, and escapes what was typed', async () => {
    const { text } = await get(`/docs/search?q=${encodeURIComponent('"><script>zzz')}`);
    expect(text).toContain('Nothing was found');
    expect(text).toContain('value="&quot;&gt;&lt;script&gt;zzz"');
    expect((await get('/docs/search?q=a&q=b')).status).toBe(200);
  });
});

describe('the code on the pages', () => {
  const PAGE = '/docs/merchant/quick-start';
  const keysOf = (text: string) => ({
    client: /\bCLIENT_KEY=(test_\S+)/.exec(text)?.[1],
    merchant: /\bMERCHANT_KEY=(test_\S+)/.exec(text)?.[1],
  });

  test('has the keys of an account that the operator may see, and never a password', async () => {
    const own = await shop.newMerchant({ name: 'Tea & Sons' });
    const { get: read } = await signedIn(shop, 'merchant', [own.mid]);
    const { text } = await read(PAGE);
    expect(keysOf(text)).toEqual({ client: own.client_key, merchant: own.merchant_key });
    expect(text).toContain('the keys of Tea &amp; Sons');
    expect(text).toContain(`URL=${shop.url}`);
    for (const { password } of [own, shop.merchant]) expect(text).not.toContain(password);
    expect(text).not.toContain(shop.merchant.client_key);
  });

  test('has the keys of the demo account without a session in the sandbox', async () => {
    const { text } = await get(PAGE);
    const demo = /<dt>client_key.*?(test_\w+).*?(test_\w+)/s.exec((await get('/')).text);
    expect(keysOf(text)).toEqual({ client: demo?.[1], merchant: demo?.[2] });
    expect(text).toContain('PASSWORD=…');
  });

  test('links each signed call to its form in the sandbox console', async () => {
    const merchants = (await get('/docs/reference/merchants')).text;
    for (const address of ['/admin/sandbox?protocol=s2s', '/admin/sandbox/requests?call=CAPTURE']) {
      expect(merchants).toContain(`href="${address}"`);
    }
    const checkout = (await get('/docs/reference/checkout')).text;
    for (const address of ['/admin/sandbox?protocol=checkout', '/admin/sandbox/requests?call=payment%2Frefund']) {
      expect(checkout).toContain(`href="${address}"`);
    }
  });

  test('has placeholders in production, where the site is served, too', async () => {
    const production = await startTestGateway({ environment: 'production' });
    try {
      const { status, text } = await get(PAGE, {}, production.url);
      expect(status).toBe(200);
      expect(keysOf(text)).toEqual({ client: 'test_…', merchant: 'test_…' });
      expect(text).not.toContain('live_');
      expect((await get('/docs/reference/merchants', {}, production.url)).text).not.toContain('/admin/sandbox');
    } finally {
      await production.close();
    }
  });
});

describe('the Postman collection', () => {
  interface Item {
    name: string;
    item?: Item[];
    event?: { listen: string; script: { exec: string[] } }[];
    request: {
      url: string;
      body: { mode: string; raw?: string; urlencoded?: { key: string; value: string }[] };
    };
  }

  const hex = (algorithm: string) => (text: string) => createHash(algorithm).update(text).digest('hex');

  /** Sends an item as Postman does: the variables, the script before the request, the request, the script after it. */
  async function send({ event = [], request }: Item, variables: Map<string, string>) {
    const replaceIn = (text: string): string =>
      text.replace(/\{\{(\w+)\}\}/g, (_mark, name) => variables.get(name) ?? '');
    const { mode, raw, urlencoded = [] } = request.body;
    const toObject = () => Object.fromEntries(urlencoded.map(({ key, value }) => [key, value]));
    const set = (name: string, value: string) => void variables.set(name, value);
    const pm = {
      variables: { get: (name: string) => variables.get(name), set, replaceIn },
      collectionVariables: { set },
      request: { body: { mode, raw, urlencoded: { toObject } } },
      response: undefined as unknown,
    };
    const runEvents = (moment: string): void => {
      for (const { script } of event.filter(({ listen }) => listen === moment)) {
        runInNewContext(`(() => {${script.exec.join('\n')}})()`, {
          pm,
          CryptoJS: { MD5: hex('md5'), SHA1: hex('sha1') },
        });
      }
    };
    runEvents('prerequest');
    const fields = Object.entries(toObject()).map(([key, value]): [string, string] => [key, replaceIn(value)]);
    const response = await fetch(replaceIn(request.url), {
      method: 'POST',
      ...(mode === 'raw'
        ? { body: replaceIn(raw ?? ''), headers: { 'content-type': 'application/json' } }
        : { body: new URLSearchParams(fields) }),
    });
    const body = (await response.json()) as Record<string, unknown>;
    pm.response = { json: () => body };
    runEvents('test');
    return body;
  }

  test('signs its requests, which pay, query and refund', async () => {
    const { headers, text } = await get('/docs/postman.json');
    expect(headers.get('content-disposition')).toContain('attachment');
    const collection = JSON.parse(text) as { item: Item[]; variable: { key: string; value: string }[] };
    const { client_key, merchant_key, password }: Merchant = shop.merchant;
    const variables = new Map([
      ...collection.variable.map(({ key, value }): [string, string] => [key, value]),
      ...Object.entries({ client_key, merchant_key, password }),
    ]);
    expect(variables.get('url')).toBe(shop.url);
    const items = collection.item.flatMap(({ item = [] }) => item);
    const call = (name: string) => send(items.find((one) => one.name.startsWith(name)) as Item, variables);
    expect(await call('SALE')).toMatchObject({ status: 'SETTLED' });
    expect(await call('GET_TRANS_STATUS_BY_ORDER')).toMatchObject({ status: 'SETTLED' });
    expect(await call('CREDITVOID')).toMatchObject({ result: 'ACCEPTED' });
    expect(await call('Opens a session')).toHaveProperty('redirect_url');
    expect(await call('Returns the status of a payment')).toMatchObject({ status: 'prepare' });
    expect(await call('CREATE_SCHEDULE')).toMatchObject({ result: 'SUCCESS' });
  });
});
