/** A real browser for one test file: each test has payers of its own, who reach nothing but this machine. */
import {
  type Browser,
  type BrowserContextOptions,
  type ConsoleMessage,
  chromium,
  type Page,
  type Response,
} from 'playwright-core';
import { afterAll, afterEach, beforeAll, beforeEach, expect, inject, vi } from 'vitest';
import { browserTestMode, NO_BROWSER } from './chromium.ts';

export type { FrameLocator, Page, Request, Route } from 'playwright-core';

/**
 * Chromium loads the popups of the address bar for every window, which costs more than the pages of a test. The others
 * are those of Playwright's own list that matter here, because the last `--disable-features` replaces it.
 */
const DISABLED_FEATURES = [
  'WebUIOmniboxPopup',
  'WebUIOmniboxAimPopup',
  'AimEnabled',
  'AvoidCorsURLLoaderRestartOnRedirect',
  'HttpsFirstBalancedModeAutoEnable',
  'HttpsUpgrades',
  'LensOverlay',
  'MediaRouter',
  'NetworkTimeServiceQuerying',
  'OptimizationHints',
  'PaintHolding',
  'PreconnectToSearch',
  'ThirdPartyStoragePartitioning',
];

const FLAGS = [
  `--disable-features=${DISABLED_FEATURES.join(',')}`,
  '--disable-gpu',
  '--disable-quic',
  '--no-first-run',
  '--disable-background-networking',
  '--disable-component-update',
  '--disable-sync',
];

/** Generous, because a busy machine is slow; a test that succeeds does not wait. */
const TEST_MS = 180_000;
const STEP_MS = 60_000;
const ENGLISH = { 'accept-language': 'en' };
/** A browser takes the locale of the machine, which may be one that is no language, such as `C`. */
const LOCALE = { LANG: 'en_US.UTF-8', LC_ALL: 'en_US.UTF-8', LANGUAGE: 'en_US' };

/** How a browser keeps a page that was left, even one that asks not to be kept, and shows it again as it was. */
const KEEPING = {
  ignoreDefaultArgs: ['--disable-back-forward-cache'],
  args: [...FLAGS, '--enable-features=CacheControlNoStoreEnterBackForwardCache'],
};

/** Whether there is a browser that can do what a test needs; in CI there has to be one. */
function hasBrowser({ keepsPages = false }: BrowserTraits): boolean {
  const found = inject('chromium');
  const mode = browserTestMode(found !== undefined && (found.keepsPages || !keepsPages), process.env);
  if (mode === 'fail') throw new Error(`CI runs the browser tests. ${NO_BROWSER}`);
  return mode === 'run';
}

async function launch({ keepsPages }: BrowserTraits): Promise<Browser | undefined> {
  const found = inject('chromium');
  if (!found) return undefined;
  const { path, env, hasSandbox } = found;
  return chromium.launch({
    executablePath: path,
    headless: true,
    chromiumSandbox: hasSandbox,
    args: FLAGS,
    ...(keepsPages && KEEPING),
    env: { ...process.env, ...LOCALE, ...env },
  });
}

const isHere = ({ protocol, hostname }: URL): boolean =>
  protocol === 'data:' || protocol === 'blob:' || hostname === '127.0.0.1' || hostname === 'localhost';

/** A page that refuses what was filled in says so with its status, which the browser calls a failed load. */
const isAboutStatus = (message: ConsoleMessage): boolean => message.text().startsWith('Failed to load resource');

/** A form of the page that is refused says so with its status, too. */
const isAboutForm = (response: Response): boolean =>
  response.request().method() === 'POST' && [422, 429].includes(response.status());

export interface BrowserTraits {
  /** Whether the back button brings a page back as it was left. */
  keepsPages?: boolean;
}

export interface PayerOptions extends BrowserContextOptions {
  /** What the browser is expected to complain about. */
  complains?: RegExp;
}

/** How payers come to a test of this file, each with a browser that has never been here before. */
export function payersOfFile(traits: BrowserTraits = {}): (options?: PayerOptions) => Promise<Page> {
  vi.setConfig({ testTimeout: TEST_MS });
  const isThere = hasBrowser(traits);
  let browser: Browser | undefined;
  const complaints: string[] = [];
  const closes: (() => Promise<void>)[] = [];

  beforeAll(async () => {
    browser = await launch(traits);
  });
  beforeEach(({ skip }) => skip(!isThere, 'There is no browser that can do this.'));
  afterEach(async () => {
    await Promise.all(closes.splice(0).map((close) => close()));
    expect(complaints.splice(0), 'what the browser complained about').toEqual([]);
  });
  afterAll(async () => {
    await browser?.close();
  });

  return async ({ complains, ...options } = {}) => {
    const context = await (browser as Browser).newContext({ extraHTTPHeaders: ENGLISH, ...options });
    closes.push(() => context.close());
    context.setDefaultTimeout(STEP_MS);
    const complain = (text: string): void => {
      if (!complains?.test(text)) complaints.push(text);
    };
    await context.route(
      (url) => !isHere(url),
      (route) => route.abort(),
    );
    context.on('request', (request) => {
      if (!isHere(new URL(request.url()))) complain(`asked for ${request.url()}`);
    });
    context.on('response', (response) => {
      if (response.status() >= 400 && !response.request().isNavigationRequest() && !isAboutForm(response)) {
        complain(`${response.status()} for ${response.url()}`);
      }
    });
    context.on('console', (message) => {
      if (message.type() === 'error' && !isAboutStatus(message)) complain(message.text());
    });
    context.on('weberror', (error) => complain(String(error.error())));
    return context.newPage();
  };
}
