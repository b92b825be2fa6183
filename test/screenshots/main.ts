/** Takes the screenshots of the README and the docs from a running sandbox: `npm run screenshots`. */
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import * as fs from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { Secret as OtpSecret, TOTP } from 'otpauth';
import { type Browser, chromium, type Page } from 'playwright-core';
import { wireHash } from '../../src/lib/crypto/hash.ts';
import { SCREENS } from '../../src/pages/docs/images.ts';
import { findChromium, NO_BROWSER } from '../support/chromium.ts';

const ROOT = join(import.meta.dirname, '../..');
const IMAGES = join(ROOT, 'docs/images');
const WINDOW = { width: SCREENS.page.width, height: SCREENS.page.height };
const DAYS = 6;
const SALES_PER_DAY = 14;
const HOUR_SECONDS = 3600;

interface Sandbox {
  url: string;
  clientKey: string;
  password: string;
  adminToken: string;
  stop(): Promise<void>;
}

async function startSandbox(folder: string): Promise<Sandbox> {
  const env = { ...process.env, PORT: '0', DATA_DIR: folder, LOG_LEVEL: 'warn' };
  const gateway = spawn(process.execPath, ['src/cli/main.ts', 'serve'], {
    cwd: ROOT,
    env,
    stdio: ['ignore', 'pipe', 'inherit'],
  });
  let text = '';
  for await (const part of gateway.stdout.setEncoding('utf8')) {
    text += part;
    if (/^curl .*\n/m.test(text)) break;
  }
  const value = (name: string): string => new RegExp(`^ {2}${name} +(\\S+)`, 'm').exec(text)?.[1] ?? '';
  return {
    url: new URL(value('Health')).origin,
    clientKey: value('client_key'),
    password: value('password'),
    adminToken: value('Admin token'),
    async stop() {
      gateway.kill();
      await once(gateway, 'exit');
    },
  };
}

const PRODUCTS = ['Pot of green tea', 'Two teapots', 'Tea cups', 'Gift box', 'Matcha set', 'Earl Grey, 500 g'];

/** Some days of a small shop. The amounts follow from the number of the sale, so every run shows the same. */
async function tradeForDays({ url, clientKey, password, adminToken }: Sandbox): Promise<void> {
  for (let day = 0; day < DAYS; day++) {
    for (let n = 0; n < SALES_PER_DAY; n++) {
      const number = day * SALES_PER_DAY + n;
      const [amount, currency] = [`${9 + ((number * 37) % 90)}.${number % 2 === 0 ? '90' : '50'}`, 'EUR'];
      const [order, payer] = [`tea-${1001 + number}`, number % 9 === 4 ? 'decline@example.com' : 'success@example.com'];
      const fields = {
        action: 'SALE',
        client_key: clientKey,
        brand: 'vcard',
        identifier: payer,
        order_id: order,
        order_amount: amount,
        order_currency: currency,
        order_description: PRODUCTS[number % PRODUCTS.length] as string,
        payer_ip: '203.0.113.7',
        return_url: 'https://example.com/return',
        hash: wireHash([payer, order, amount, currency], password),
      };
      await fetch(`${url}/post`, { method: 'POST', body: new URLSearchParams(fields) });
    }
    if (day === DAYS - 1) break;
    await fetch(`${url}/admin/api/clock`, {
      method: 'POST',
      headers: { authorization: `Bearer ${adminToken}`, 'content-type': 'application/json' },
      body: JSON.stringify({ advance_seconds: 23 * HOUR_SECONDS }),
    });
  }
}

/** The way of a first operator: from the sign-in page to the panel. */
async function signIn(page: Page, url: string): Promise<void> {
  await page.goto(`${url}/admin/sign-in`);
  await page.getByRole('button', { name: 'Create the first owner' }).click();
  await page.locator('#email').fill('ada@example.com');
  await page.locator('#name').fill('Ada Lovelace');
  await page.locator('#password').fill('a pot of green tea for four');
  await page.getByRole('button', { name: 'Continue with a password' }).click();
  const seed = ((await page.locator('code.mono').textContent()) ?? '').replaceAll(' ', '');
  await page.locator('#code').fill(new TOTP({ secret: OtpSecret.fromBase32(seed) }).generate());
  await page.getByRole('button', { name: 'Continue' }).click();
  await page.getByText('I have stored them, continue').click();
  await page.waitForURL(/\/admin(\?|$)/);
}

/** WebP is a fraction of PNG, and the browser can write it. */
async function toWebp(browser: Browser, png: Buffer): Promise<Buffer> {
  const page = await browser.newPage();
  const address = await page.evaluate<string>(`(async () => {
    const image = new Image();
    image.src = 'data:image/png;base64,${png.toString('base64')}';
    await image.decode();
    const canvas = Object.assign(document.createElement('canvas'), { width: image.width, height: image.height });
    canvas.getContext('2d').drawImage(image, 0, 0);
    return canvas.toDataURL('image/webp', 0.85);
  })()`);
  await page.close();
  return Buffer.from(address.slice(address.indexOf(',') + 1), 'base64');
}

async function take(browser: Browser, page: Page, file: string): Promise<void> {
  const webp = await toWebp(browser, await page.screenshot({ animations: 'disabled' }));
  await fs.writeFile(join(IMAGES, file), webp);
  console.log(`docs/images/${file}: ${Math.round(webp.length / 1024)} KiB`);
}

const found = await findChromium();
if (!found) throw new Error(NO_BROWSER);
const folder = await fs.mkdtemp(join(tmpdir(), 'turnpike-screenshots-'));
const sandbox = await startSandbox(join(folder, 'data'));
const browser = await chromium.launch({
  executablePath: found.path,
  chromiumSandbox: found.hasSandbox,
  env: { ...process.env, ...found.env } as Record<string, string>,
});
try {
  await fs.mkdir(IMAGES, { recursive: true });
  const context = await browser.newContext({ viewport: WINDOW, deviceScaleFactor: 1.5, colorScheme: 'light' });
  const page = await context.newPage();
  await page.goto(sandbox.url);
  await take(browser, page, SCREENS.start.file);
  await page.getByRole('button', { name: 'Make a test payment' }).click();
  await page.waitForURL(/\/pay\//);
  await take(browser, page, SCREENS.page.file);
  await page.setViewportSize({ width: SCREENS.panel.width, height: SCREENS.panel.height });
  await signIn(page, sandbox.url);
  await tradeForDays(sandbox);
  await page.goto(`${page.url().split('/admin')[0]}/admin?days=7`);
  await page.waitForTimeout(1500);
  await take(browser, page, SCREENS.panel.file);
} finally {
  await browser.close();
  await sandbox.stop();
  await fs.rm(folder, { recursive: true, force: true });
}
