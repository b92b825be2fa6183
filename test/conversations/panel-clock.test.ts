/** The panel says on every page that the sandbox clock was moved, and how far. */
import { expect, test } from 'vitest';
import { startTestGateway, type TestGateway } from '../support/gateway.ts';
import { signedIn } from '../support/operators.ts';

const DAY = 86_400;
const ALL = /The sandbox clock is ([^:]+) ahead: it is ([^.]+)\./;
const HERE = /The clock of this account is ([^:]+) ahead: it is /;

async function inShop(work: (shop: TestGateway) => Promise<void>): Promise<void> {
  const shop = await startTestGateway();
  try {
    await work(shop);
  } finally {
    await shop.close();
  }
}

test('nothing is said while the clock is right', () =>
  inShop(async (shop) => {
    const owner = await signedIn(shop, 'owner');
    await shop.advanceClock(30);
    expect((await owner.get('/admin')).text).not.toMatch(ALL);
  }));

test('every page says how far the clock of all accounts is ahead', () =>
  inShop(async (shop) => {
    const owner = await signedIn(shop, 'owner');
    await shop.advanceClock(90 * 60);
    expect(ALL.exec((await owner.get('/admin')).text)?.[1]).toBe('90 minutes');
    await shop.advanceClock(10 * DAY);
    const year = new Date(Date.now() + 10 * DAY * 1000).getUTCFullYear();
    for (const path of ['', '/payments', '/accounts', '/sandbox/controls', '/me']) {
      const [, ahead, now] = ALL.exec((await owner.get(`/admin${path}`)).text) ?? [];
      expect([path, ahead, now]).toEqual([path, '10 days', expect.stringMatching(new RegExp(`${year}.* UTC$`))]);
    }
    await owner.submit('/admin/me/language', { language: 'es' });
    expect((await owner.get('/admin')).text).toContain('El reloj del sandbox va 10 días adelantado');
  }));

test('the clock of one account is said on its payments, and on all pages of those who see only this account', () =>
  inShop(async (shop) => {
    const { mid } = shop.merchant;
    const owner = await signedIn(shop, 'owner');
    const merchant = await signedIn(shop, 'merchant', [mid]);
    const other = await signedIn(shop, 'merchant', [(await shop.newMerchant()).mid]);
    const { trans_id: id } = (await shop.sale()).body;
    await shop.advanceClock(3 * DAY, mid);
    expect((await owner.get('/admin/payments')).text).not.toMatch(ALL);
    expect(HERE.exec((await owner.get(`/admin/payments/${id}`)).text)?.[1]).toBe('3 days');
    expect(ALL.exec((await merchant.get('/admin/payments')).text)?.[1]).toBe('3 days');
    expect((await other.get('/admin/payments')).text).not.toMatch(ALL);
  }));
