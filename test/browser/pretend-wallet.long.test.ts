/** Device wallets on the payment page, with the pretend wallet of the sandbox. */
import { afterAll, beforeAll, expect, test } from 'vitest';
import { en } from '../../src/pages/locales/en.ts';
import { WALLET_NAMES } from '../../src/rules/method-kinds.ts';
import { PRETEND_CARDS } from '../../src/rules/pretend-wallet.ts';
import { API_KEY, type MollieDouble, startMollie } from '../doubles/mollie.ts';
import type { Page } from '../support/browser.ts';
import type { Merchant } from '../support/gateway.ts';
import { connect, route } from '../support/providers.ts';
import { openWallets, walletSettings } from '../support/wallets.ts';
import { bankOf, cardForm, confirmAtBank, isAtShop, ONCE, payByCard, reads, setStage, way } from './stage.ts';

const stage = setStage();
const wallets = openWallets();
let merchant: Merchant;
let mollie: MollieDouble;
beforeAll(async () => {
  merchant = await stage.shop.newMerchant(walletSettings());
  mollie = await startMollie();
});
afterAll(async () => {
  expect(mollie.violations).toEqual([]);
  await mollie.close();
});

const NAMES: Readonly<Record<string, string>> = {
  'wallet-a': WALLET_NAMES.deviceWallet,
  'wallet-b': WALLET_NAMES.onlineWallet,
};
const payWith = (wallet: string): string => en.payWith.replace('{method}', NAMES[wallet] ?? wallet);
const button = (page: Page, wallet: string) => page.getByRole('button', { name: payWith(wallet), exact: true });
const sheet = (page: Page) => page.getByRole('dialog');

/** Opens the sheet of a wallet, and chooses a test card. */
async function choose(page: Page, wallet: string, card: string): Promise<void> {
  await button(page, wallet).click();
  await sheet(page)
    .getByLabel(PRETEND_CARDS[card]?.name as string)
    .check();
}

async function pay(page: Page, wallet: string, card = 'succeeds'): Promise<void> {
  await choose(page, wallet, card);
  await sheet(page).getByRole('button', { name: 'Pay USD 10.00' }).click();
}

test.each(['wallet-a', 'wallet-b'])('%s: a card of the device pays, above the card form', async (wallet) => {
  const page = await stage.payer();
  const session = await stage.visit(page, { methods: ['card', wallet] }, merchant);
  await cardForm(page).number.waitFor();
  await pay(page, wallet);
  await isAtShop(page, stage, 'thanks');
  expect(await stage.paidTimes(session, merchant)).toEqual(ONCE);
});

test('wallet-b: a card number pays after 3-D Secure', async () => {
  const page = await stage.payer();
  const session = await stage.visit(page, { methods: ['card', 'doc-a', 'wallet-b'] }, merchant);
  await pay(page, 'wallet-b', 'challenge');
  await confirmAtBank(bankOf(page));
  await isAtShop(page, stage, 'thanks');
  expect(await stage.paidTimes(session, merchant)).toEqual(ONCE);
});

test('a sheet that is cancelled pays nothing; after a decline a card pays', async () => {
  const page = await stage.payer();
  const session = await stage.visit(page, { methods: ['card', 'wallet-a', 'wallet-b'] }, merchant);
  for (const wallet of ['wallet-a', 'wallet-b']) {
    await choose(page, wallet, 'succeeds');
    await sheet(page).getByRole('button', { name: 'Cancel' }).click();
    await sheet(page).waitFor({ state: 'detached' });
    expect(await button(page, wallet).isEnabled()).toBe(true);
  }
  expect(await stage.checkout.events(session.id)).toEqual(['opened']);
  await pay(page, 'wallet-a', 'declines');
  await page.getByRole('alert').getByText(en.noMoney).waitFor();
  await payByCard(page);
  await isAtShop(page, stage, 'thanks');
  expect(await stage.paidTimes(session, merchant)).toEqual(ONCE);
});

test('without scripts there is no button, and the rest of the page works', async () => {
  const page = await stage.payer({ javaScriptEnabled: false });
  await stage.visit(page, { methods: ['card', 'doc-a', 'wallet-a', 'wallet-b'] }, merchant);
  expect(await page.locator('#wallets').getByRole('button').count()).toBe(0);
  await way(page, en.card).click();
  await payByCard(page);
  await isAtShop(page, stage, 'thanks');
});

test('a browser without the wallet: the page says so if there is no other way to pay', async () => {
  const other = await stage.shop.newMerchant({ ...walletSettings(), 'wallets.pretend': false });
  const page = await stage.payer();
  await stage.visit(page, { methods: ['wallet-a'] }, other);
  await page.getByText(en.walletMissing).waitFor();
  expect(await page.getByRole('button').count()).toBe(0);
  await stage.visit(page, { methods: ['wallet-a', 'card'] }, other);
  await cardForm(page).number.waitFor();
  expect(await page.getByText(en.walletMissing).count()).toBe(0);
  expect(await page.getByRole('button').count()).toBe(1);
  await stage.visit(page, { methods: ['wallet-a'] }, merchant);
  await reads(page, payWith('wallet-a'));
  await pay(page, 'wallet-a');
  await isAtShop(page, stage, 'thanks');
});

/** A script in place of the vendor's part of the browser: it validates the merchant, and returns this token. */
const vendorA = (token: string): string => `window.ApplePaySession = class {
  static STATUS_SUCCESS = 0;
  static canMakePayments() { return true }
  begin() {
    const validationURL = 'https://apple-pay-gateway.apple.com/paymentservices/startSession';
    this.onvalidatemerchant({ validationURL });
  }
  completeMerchantValidation({ domainName }) {
    if (domainName === location.hostname) this.onpaymentauthorized({ payment: { token: ${token} } });
  }
  completePayment() {}
  abort() { window.isAborted = true }
}`;

test('wallet-a: Mollie makes the session and opens the token of a merchant without certificates', async () => {
  const { shop } = stage;
  const other = await shop.newMerchant({ wallets: { pretend: false, 'wallet-a': { country: 'NL' } } });
  const settings = { api_base: mollie.url };
  const id = await connect(shop, { credentials: { api_key: API_KEY } }, { connector: 'mollie', settings });
  await route(shop, other.mid, [{ connection_id: id }]);
  const page = await stage.payer({ complains: /^422 for .*\/wallet-session$/ });
  const token = wallets.tokenA();
  await page.addInitScript(vendorA(token));
  const session = await stage.visit(page, { methods: ['wallet-a'] }, other);
  // Mollie does not know the domain.
  await button(page, 'wallet-a').click();
  await page.getByRole('alert').getByText(en.walletFailed).waitFor();
  expect(await page.evaluate('isAborted')).toBe(true);
  expect(await stage.checkout.events(session.id)).toEqual(['opened']);
  mollie.domains.push(new URL(session.url).hostname);
  await button(page, 'wallet-a').click();
  await isAtShop(page, stage, 'thanks');
  expect(mollie.find(session.id)?.payment).toMatchObject({ method: 'applepay', applePayPaymentToken: token });
  expect(mollie.balance(session.id)).toBe(1000n);
});
