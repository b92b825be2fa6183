/** Device wallets on the payment page: the wallets of the vendors, as far as a script can stand in for them, and the looks. */
import { beforeAll, expect, test } from 'vitest';
import { findAccount } from '../../src/core/accounts/accounts.ts';
import type { Account } from '../../src/core/context.ts';
import { sealPretendToken } from '../../src/core/wallets/pretend-wallet.ts';
import { en } from '../../src/pages/locales/en.ts';
import { WALLET_NAMES } from '../../src/rules/method-kinds.ts';
import type { Page } from '../support/browser.ts';
import type { Merchant } from '../support/gateway.ts';
import { walletSettings } from '../support/wallets.ts';
import { ALL_LANGUAGES, expectGoodLooks, onlooker } from './looks.ts';
import { isAtShop, ONCE, reads, setStage } from './stage.ts';

const stage = setStage();
let pretend: Merchant;
let vendor: Merchant;
beforeAll(async () => {
  pretend = await stage.shop.newMerchant(walletSettings());
  vendor = await stage.shop.newMerchant({ ...walletSettings(), 'wallets.pretend': false });
});

const BOTH = ['wallet-a', 'wallet-b'];
const NAMES: Readonly<Record<string, string>> = {
  'wallet-a': WALLET_NAMES.deviceWallet,
  'wallet-b': WALLET_NAMES.onlineWallet,
};
const payWith = (wallet: string): string => en.payWith.replace('{method}', NAMES[wallet] ?? wallet);
const button = (page: Page, wallet: string) => page.getByRole('button', { name: payWith(wallet), exact: true });

const VENDOR_SCRIPT = 'https://pay.google.com/gp/p/js/pay.js';
/** The browser may ask for the vendor's script, and the gateway may refuse a token. */
const vendorPayer = (): Promise<Page> =>
  stage.payer({ complains: /^asked for https:\/\/pay\.google\.com\/gp\/p\/js\/pay\.js$|^422 for .*\/wallet$/ });

/** A script in place of the vendor's; it records what it is called with, and returns this token. */
const answerScript = (page: Page, token: unknown): Promise<unknown> =>
  page.route(VENDOR_SCRIPT, (route) =>
    route.fulfill({
      contentType: 'text/javascript',
      body: `window.calls = []; window.google = { payments: { api: { PaymentsClient: class {
        constructor(options) { calls.push(options) }
        async isReadyToPay(request) { calls.push(Object.keys(request)); return { result: true } }
        async loadPaymentData(request) { calls.push(Object.keys(request)); return ${JSON.stringify(token)} }
      } } } };`,
    }),
  );

test('wallet-b: the script of the vendor is loaded, and its token pays', async () => {
  const account = (await findAccount(stage.shop.gateway, vendor.mid)) as Account;
  const payment = { wallet: 'wallet-b', card: 'succeeds', amount: '10.00', currency: 'USD' } as const;
  const page = await vendorPayer();
  await answerScript(page, await sealPretendToken(stage.shop.gateway, account, payment));
  const session = await stage.visit(page, { methods: ['card', 'wallet-b'] }, vendor);
  await button(page, 'wallet-b').waitFor();
  expect(await page.evaluate('calls')).toEqual([
    { environment: 'TEST', nonce: expect.stringMatching(/^\w{32}$/) },
    ['apiVersion', 'apiVersionMinor', 'allowedPaymentMethods'],
  ]);
  await button(page, 'wallet-b').click();
  await isAtShop(page, stage, 'thanks');
  expect(await stage.paidTimes(session, vendor)).toEqual(ONCE);
});

test('wallet-b: a token that is refused, and a script that cannot be loaded', async () => {
  const page = await vendorPayer();
  await answerScript(page, {});
  const session = await stage.visit(page, { methods: ['card', 'wallet-b'] }, vendor);
  const refused = page.waitForResponse((response) => response.url().endsWith('/wallet'));
  await button(page, 'wallet-b').click();
  expect((await refused).status()).toBe(422);
  await page.getByRole('alert').getByText(en.walletFailed).waitFor();
  expect(await button(page, 'wallet-b').isEnabled()).toBe(true);
  expect(await stage.checkout.events(session.id)).toEqual(['opened']);
  await page.unroute(VENDOR_SCRIPT);
  await stage.visit(page, { methods: ['wallet-b'] }, vendor);
  await page.getByText(en.walletMissing).waitFor();
  expect(await page.getByRole('button').count()).toBe(0);
});

test('wallet-a: a session that is not validated ends, and nothing is paid', async () => {
  const page = await stage.payer({ complains: /^422 / });
  await page.addInitScript(`window.ApplePaySession = class {
    static canMakePayments() { return true }
    begin() { this.onvalidatemerchant({ validationURL: 'https://evil.example/paymentservices/startSession' }) }
    abort() { window.isAborted = true }
  }`);
  const session = await stage.visit(page, { methods: ['card', 'wallet-a'] }, vendor);
  await button(page, 'wallet-a').click();
  await page.getByRole('alert').getByText(en.walletFailed).waitFor();
  expect(await page.evaluate('isAborted')).toBe(true);
  expect(await stage.checkout.events(session.id)).toEqual(['opened']);
});

test('the sheet of the pretend wallet works with the keyboard, and Escape cancels', async () => {
  const page = await stage.payer();
  await stage.visit(page, { methods: ['wallet-b'] }, pretend);
  await button(page, 'wallet-b').focus();
  await page.keyboard.press('Enter');
  await page.getByRole('dialog').waitFor();
  await page.keyboard.press('Escape');
  await page.getByRole('dialog').waitFor({ state: 'detached' });
  await page.keyboard.press('Enter');
  await page.getByRole('dialog').getByRole('radio').first().focus();
  await page.keyboard.press('ArrowDown');
  await page.keyboard.press('ArrowDown');
  await page.keyboard.press('Enter');
  await reads(page, en.declined);
});

test('in a frame of the shop', async () => {
  const merchant = await stage.shop.newMerchant({ ...walletSettings(), frame_ancestors: [stage.origin] });
  const page = await stage.payer();
  const session = await stage.open({ methods: ['wallet-a'] }, merchant);
  await page.goto(`${stage.origin}/basket?frame=${session.url}`);
  const frame = page.frameLocator('iframe');
  await frame.getByRole('button').click();
  await frame.getByRole('dialog').getByRole('button', { name: /^Pay / }).click();
  await frame.getByRole('heading', { name: 'thanks' }).waitFor();
  expect(await stage.paidTimes(session, merchant)).toEqual(ONCE);
});

test('the buttons above the card form and the choice, in every language', async () => {
  const page = await onlooker(stage);
  const card = await stage.open({ methods: ['card', ...BOTH] }, pretend);
  await expectGoodLooks(page, 'wallets-card', { url: card.url });
  const choice = await stage.open({ methods: ['card', 'doc-a', ...BOTH] }, pretend);
  await expectGoodLooks(page, 'wallets-choice', { url: choice.url }, ALL_LANGUAGES);
});

test('the page of wallets alone, with and without one, and the sheet', async () => {
  const page = await onlooker(stage);
  const alone = await stage.open({ methods: BOTH }, pretend);
  await expectGoodLooks(page, 'wallets', { url: alone.url });
  const missing = await stage.open({ methods: ['wallet-a'] }, vendor);
  await expectGoodLooks(page, 'wallets-missing', { url: missing.url }, ALL_LANGUAGES);
  const openSheet = async (): Promise<void> => {
    await page.locator('[data-wallet=wallet-b]').click();
    await page.getByRole('dialog').waitFor();
  };
  await expectGoodLooks(page, 'wallets-sheet', { url: alone.url, prepare: openSheet });
});
