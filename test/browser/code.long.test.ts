/** A code to scan: on a phone, which cannot scan its own screen, and on a desktop; new codes and other methods. */
import { readFile } from 'node:fs/promises';
import { afterEach, expect, test } from 'vitest';
import type { Connector, Outcome } from '../../src/connectors/connector.ts';
import { en } from '../../src/pages/locales/en.ts';
import type { Page, PayerOptions } from '../support/browser.ts';
import type { Session } from '../support/checkout.ts';
import type { Merchant } from '../support/gateway.ts';
import { cardForm, isAtShop, ONCE, payByCard, reads, setStage } from './stage.ts';

const stage = setStage();
const PHONE: PayerOptions = { viewport: { width: 390, height: 844 }, hasTouch: true, isMobile: true };
const UPI = 'upi://pay?pa=shop@bank&am=10.00&cu=INR';
const IPS = { methods: ['ips', 'card'], order: { currency: 'RSD' } };

let restore: (() => void) | undefined;
afterEach(() => restore?.());
/** The provider answers with this code instead of its own. */
function answerWithCode(code: string): void {
  const { gateway } = stage.shop;
  const upstream = gateway.connectors.upstream as Connector;
  const replaced = (outcome: Outcome): Outcome => (outcome.kind === 'accepted' ? { ...outcome, code } : outcome);
  restore = () => {
    gateway.connectors = { ...gateway.connectors, upstream };
  };
  gateway.connectors = {
    ...gateway.connectors,
    upstream: {
      ...upstream,
      submit: async (submission, deadline) => replaced(await upstream.submit(submission, deadline)),
    },
  };
}

async function scanning(page: Page, merchant?: Merchant): Promise<Session> {
  const session = await stage.open(IPS, merchant);
  await page.goto(`${session.url}?method=ips`);
  await page.getByRole('button', { name: en.next }).click();
  await reads(page, en.scanToPay);
  return session;
}
const widthOf = async (page: Page) => (await page.getByRole('img', { name: en.codeAlt }).boundingBox())?.width ?? 0;
const save = (page: Page) => page.getByRole('link', { name: en.scan.save });
const openApp = (page: Page) => page.getByRole('link', { name: en.scan.openApp });
const expire = (page: Page, { mid }: Merchant) => stage.shop.advanceClock(61, mid).then(() => page.reload());

test('on a desktop the code is large, with steps; there is nothing to save or open', async () => {
  answerWithCode(UPI);
  const page = await stage.payer();
  await scanning(page);
  expect(await widthOf(page)).toBeGreaterThanOrEqual(300);
  await page.getByRole('listitem').getByText(en.scanHow).waitFor();
  expect([await save(page).isVisible(), await openApp(page).isVisible()]).toEqual([false, false]);
});

test('on a phone the code is small; its image is saved and shared, and apps are opened if it is an address', async () => {
  const page = await stage.payer(PHONE);
  await page.addInitScript(`navigator.canShare = ({ files }) => files.length === 1;
    navigator.share = async ({ files: [{ name, type, size }] }) => { window.shared = [name, type, size]; }`);
  await scanning(page);
  expect(await widthOf(page)).toBeLessThan(200);
  const [download] = await Promise.all([page.waitForEvent('download'), save(page).click()]);
  const picture = await readFile(await download.path());
  expect([download.suggestedFilename(), picture.subarray(1, 4).toString()]).toEqual([
    expect.stringMatching(/^order-.+\.png$/),
    'PNG',
  ]);
  await page.getByRole('button', { name: en.scan.share }).click();
  const shared = [download.suggestedFilename(), 'image/png', picture.length];
  await expect.poll(() => page.evaluate('globalThis.shared')).toEqual(shared);
  expect(await openApp(page).count()).toBe(0);
  answerWithCode(UPI);
  await scanning(page);
  expect(await openApp(page).getAttribute('href')).toBe(UPI);
  await page.getByText(UPI).waitFor();
});

test('the page gets a new code by itself after the last one has expired, and a phone that cannot share', async () => {
  const merchant = await stage.shop.newMerchant();
  const page = await stage.payer(PHONE);
  const session = await scanning(page, merchant);
  expect(await page.getByRole('button', { name: en.scan.share }).isVisible()).toBe(false);
  await expire(page, merchant);
  await reads(page, en.scanToPay);
  await stage.shop.sandbox('POST', `/payments/${session.id}`, { bank_callback: 'ACSC' });
  await reads(page, en.paid);
  expect(await stage.paidTimes(session, merchant)).toEqual(ONCE);
});

test.each([true, false])('another method, with scripts: %s', async (javaScriptEnabled) => {
  const merchant = await stage.shop.newMerchant();
  const page = await stage.payer({ javaScriptEnabled });
  const session = await scanning(page, merchant);
  await expire(page, merchant);
  if (!javaScriptEnabled) await page.getByRole('button', { name: en.scan.again }).click();
  await reads(page, en.scanToPay);
  await page.getByRole('button', { name: en.otherWays }).click();
  await page.getByRole('status').getByText(en.challenge.left).waitFor();
  await page.goto(`${session.url}?method=card`);
  await cardForm(page).number.waitFor();
  await payByCard(page);
  await isAtShop(page, stage, 'thanks');
  expect(await stage.paidTimes(session, merchant)).toEqual(ONCE);
});
