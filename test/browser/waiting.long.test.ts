/** The waiting pages: QR code, transfer, approval in an app, and expiry. */
import { expect, test } from 'vitest';
import { en } from '../../src/pages/locales/en.ts';
import type { Page } from '../support/browser.ts';
import type { Body, Session } from '../support/checkout.ts';
import type { Merchant } from '../support/gateway.ts';
import { field, isAtShop, ONCE, passTime, payByCard, reads, readsLater, setStage, stopTime } from './stage.ts';

const stage = setStage();

/** Opens the page of one brand; the clock of the browser is controlled by the test. */
async function waits(fields: Body, merchant?: Merchant): Promise<{ page: Page; session: Session }> {
  const page = await stage.payer();
  await stopTime(page);
  return { page, session: await stage.visit(page, fields, merchant) };
}
const IPS = { methods: ['ips'], order: { currency: 'RSD' } };
const next = (page: Page): Promise<void> => page.getByRole('button', { name: en.next }).click();
const reportBankStatus = (id: string, bank_callback: string) =>
  stage.shop.sandbox('POST', `/payments/${id}`, { bank_callback });
const secondsOf = async (page: Page): Promise<number> => {
  const [minutes = 0, seconds = 0] = ((await page.getByRole('timer').last().textContent()) ?? '')
    .split(':')
    .map(Number);
  return minutes * 60 + seconds;
};

test('a QR code is paid: the page shows the result and returns to the shop by itself', async () => {
  const { page, session } = await waits(IPS);
  await next(page);
  await reads(page, en.scanToPay);
  const code = page.getByRole('img', { name: en.codeAlt });
  expect((await code.boundingBox())?.width).toBeGreaterThan(200);
  const before = await secondsOf(page);
  await passTime(page, 5000);
  await expect.poll(() => secondsOf(page)).toBeLessThanOrEqual(before - 5);
  await reportBankStatus(session.id, 'ACSC');
  await readsLater(page, en.paid);
  await passTime(page, 6000);
  await isAtShop(page, stage, 'thanks');
  expect(await stage.paidTimes(session)).toEqual(ONCE);
});

test('a QR code that the bank rejects returns to the payment methods', async () => {
  const { page, session } = await waits({ ...IPS, methods: ['ips', 'card'] });
  await page.goto(`${session.url}?method=ips`);
  await next(page);
  await reads(page, en.scanToPay);
  await reportBankStatus(session.id, 'RJCT');
  await readsLater(page, en.howToPay);
  await page.getByRole('alert').getByText(en.reasons.bankRejected).waitFor();
  await page.goto(`${session.url}?method=card`);
  await payByCard(page);
  await isAtShop(page, stage, 'thanks');
  expect(await stage.paidTimes(session)).toEqual(ONCE);
});

test('an expired QR code is hidden, and a payment that was made in time still counts', async () => {
  const merchant = await stage.shop.newMerchant();
  const { page, session } = await waits(IPS, merchant);
  await next(page);
  await reads(page, en.scanToPay);
  await stage.shop.advanceClock(61, merchant.mid);
  await passTime(page, 61_000);
  await reads(page, en.codeOver);
  expect(await page.getByRole('img').count()).toBe(0);
  await reportBankStatus(session.id, 'ACSC');
  await readsLater(page, en.paid);
});

test('a transfer shows its instructions, and the result when it has arrived', async () => {
  const { page, session } = await waits({ methods: ['transfer-a'], order: { currency: 'ARS' } });
  await field(page, 'bank_cuil').fill('20123456786');
  await next(page);
  await reads(page, en.transfer);
  for (const term of ['account_number', 'account_holder', 'reference'] as const) {
    await page.getByRole('term').filter({ hasText: en.instructions[term] }).waitFor();
  }
  await page.context().grantPermissions(['clipboard-read', 'clipboard-write']);
  const account = await page.getByRole('definition').first().textContent();
  const said = page.locator('#said');
  const copy = (name: string) => page.getByRole('button', { name: `${en.copy}: ${name}`, exact: true });
  const copied = (name: string) => page.getByRole('button', { name: `${en.copied}: ${name}`, exact: true });
  const { account_number, account_holder } = en.instructions;
  await copy(account_holder).click();
  await said.getByText(`${en.copied}: ${account_holder}`, { exact: true }).waitFor();
  await copy(account_number).click();
  await said.getByText(`${en.copied}: ${account_number}`, { exact: true }).waitFor();
  expect(await page.evaluate('navigator.clipboard.readText()')).toBe(account);
  expect(await copied(account_number).textContent()).toBe(en.copied);
  expect(await copy(account_holder).textContent(), 'only the last one is in the clipboard').toBe(en.copy);
  // A second click on the same button is announced again.
  await page.evaluate(`globalThis.heard = [];
    new MutationObserver(() => heard.push(said.textContent)).observe(said, { childList: true })`);
  await copied(account_number).click();
  await expect.poll(() => page.evaluate('heard')).toEqual(['', `${en.copied}: ${account_number}`]);
  await stage.shop.sandbox('POST', `/payments/${session.id}`, { provider_status: 'executed' });
  await readsLater(page, en.paid);
  expect(await stage.paidTimes(session)).toEqual(ONCE);
});

test('a payer approves in an app, and the page shows the result', async () => {
  const { page, session } = await waits({ methods: ['upi-a'] });
  await field(page, 'parameters[personal_id]').fill('ada@bank');
  await next(page);
  await reads(page, en.waiting);
  const app = await stage.payer();
  await app.goto((await stage.checkout.atProvider(session.id)).payer_page);
  await app.getByRole('button', { name: 'Approve' }).click();
  await expect.poll(() => stage.checkout.stateOf(session.id)).toBe('settled');
  await readsLater(page, en.paid);
  expect(await stage.paidTimes(session)).toEqual(ONCE);
});

test('the last minute is announced, and the page shows the expiry by itself', async () => {
  const merchant = await stage.shop.newMerchant();
  const { page, session } = await waits({ methods: ['card'], session_expiry: 2 }, merchant);
  const said = page.locator('#said');
  expect(await said.textContent()).toBe('');
  await passTime(page, 70_000);
  await expect.poll(() => said.textContent()).toBe(en.lastMinute);
  await stage.shop.advanceClock(121, merchant.mid);
  await passTime(page, 51_000);
  await reads(page, en.expired);
  expect(await stage.checkout.stateOf(session.id, merchant)).toBe('decline');
  await page.getByRole('link', { name: en.backTo.replace('{merchant}', '') }).click();
  await isAtShop(page, stage, 'expired');
});

test('a missing answer of the provider keeps the page waiting, without a second way to pay', async () => {
  const merchant = await stage.shop.newMerchant();
  const { page, session } = await waits({ methods: ['card'] }, merchant);
  await payByCard(page, '01/39');
  await reads(page, en.checking);
  expect(await page.getByRole('button').count()).toBe(0);
  await stage.shop.advanceClock(60, merchant.mid);
  await expect.poll(() => stage.checkout.stateOf(session.id, merchant)).toBe('settled');
  await readsLater(page, en.paid);
  expect(await stage.paidTimes(session, merchant)).toEqual(ONCE);
});
