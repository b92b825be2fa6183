/** How the page looks to payers with large letters, long descriptions or wishes of their own. */
import { expect, test } from 'vitest';
import { ar } from '../../src/pages/locales/ar.ts';
import { en } from '../../src/pages/locales/en.ts';
import { fill } from '../support/checkout.ts';
import { OVERFLOW } from './looks.ts';
import { payByCard, reads, setStage } from './stage.ts';

const stage = setStage();
const CARD = { methods: ['card'] };

test('shows the colour and the logo of the merchant, with readable text', async () => {
  const branding = { name: 'Tea & Sons', logo: `${stage.origin}/logo.svg`, colour: '#ffe600' };
  const merchant = await stage.shop.newMerchant({ branding });
  const page = await stage.payer();
  await stage.visit(page, CARD, merchant);
  await page.getByRole('img', { name: branding.name }).waitFor();
  expect(await page.evaluate("document.querySelector('.logo').naturalWidth")).toBeGreaterThan(0);
  const button =
    "(({ backgroundColor, color }) => [backgroundColor, color])(getComputedStyle(document.querySelector('button')))";
  expect(await page.evaluate(button)).toEqual(['rgb(255, 230, 0)', 'rgb(0, 0, 0)']);
});

test('respects reduced motion', async () => {
  const page = await stage.payer({ reducedMotion: 'reduce' });
  await stage.visit(page, CARD);
  await payByCard(page, '01/39');
  await reads(page, en.checking);
  const moving = "document.getAnimations({ subtree: true }).filter(({ playState }) => playState === 'running').length";
  expect(await page.evaluate(moving)).toBe(0);
  await page.emulateMedia({ reducedMotion: 'no-preference' });
  await expect.poll(() => page.evaluate(moving)).toBeGreaterThan(0);
});

test('a QR code stays black on white with forced colours', async () => {
  const page = await stage.payer({ forcedColors: 'active', colorScheme: 'dark' });
  await stage.visit(page, { methods: ['ips'], order: { currency: 'RSD' } });
  await page.getByRole('img', { name: en.codeAlt }).waitFor();
  const ground = "getComputedStyle(document.querySelector('.code')).backgroundColor";
  expect(await page.evaluate(ground)).toBe('rgb(255, 255, 255)');
});

test('a large amount stays on one line; a long description is collapsed and can be expanded', async () => {
  const page = await stage.payer();
  const order = { amount: '123456789012.345', currency: 'KWD', description: 'Tea, and more tea. '.repeat(50) };
  const { url } = await stage.open({ ...CARD, order });
  const amount = page.locator('.amount bdi');
  const description = page.locator('.what');
  for (const width of [320, 390, 1280]) {
    await page.setViewportSize({ width, height: 800 });
    await page.goto(url);
    expect(await amount.evaluate((written) => written.getClientRects().length), `at ${width}`).toBe(1);
    const height = async (): Promise<number> => (await description.boundingBox())?.height ?? 0;
    const short = await height();
    await page.getByText(en.wholeText).click();
    expect(await height()).toBeGreaterThan(short * 3);
  }
});

test('text of twice the size fits the layout on the smallest phone', async () => {
  const page = await stage.payer({ viewport: { width: 320, height: 640 } });
  const transfer = await stage.open({ methods: ['transfer-a'], order: { currency: 'ARS' } });
  expect((await fill(transfer.url, { bank_cuil: '20123456786' })).status).toBe(303);
  const sessions = [await stage.open(), await stage.open(CARD), await stage.open({ methods: ['bank-a'] }), transfer];
  for (const language of ['en', 'de', 'vi', 'ar']) {
    await page.setExtraHTTPHeaders({ 'accept-language': language });
    for (const { url } of sessions) {
      await page.goto(url);
      await page.evaluate("document.documentElement.style.fontSize = '200%'");
      await page.locator('form button, .choices, .copy').first().click({ trial: true });
      expect(await page.evaluate(OVERFLOW), `${language} ${url}`).toEqual([]);
    }
  }
});

test('a short description has no control to expand it', async () => {
  const page = await stage.payer({ viewport: { width: 480, height: 800 } });
  const description = `${'Tea, and more tea. '.repeat(10)}And a cup too.`;
  await stage.visit(page, { ...CARD, order: { description } });
  await page.getByText(description, { exact: true }).waitFor();
  expect(await page.getByText(en.wholeText).count()).toBe(0);
});

test('truncates the end of a left-to-right description, also on a right-to-left page', async () => {
  const page = await stage.payer({ extraHTTPHeaders: { 'accept-language': 'ar' } });
  const traits =
    "(({ direction, textAlign }) => [direction, textAlign])(getComputedStyle(document.querySelector('.what')))";
  await stage.visit(page, { ...CARD, order: { description: 'Tea' } });
  expect(await page.evaluate(traits), 'below the amount').toEqual(['ltr', 'right']);
  await stage.visit(page, { ...CARD, order: { description: 'Tea, and more tea. '.repeat(50) } });
  await page.getByText(ar.wholeText).waitFor();
  expect(await page.evaluate(traits)).toEqual(['ltr', 'start']);
  expect(await page.evaluate(OVERFLOW), 'the sign that there is more is seen').toEqual([]);
});
