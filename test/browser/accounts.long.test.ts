/** The account pages and the own sign-in in a browser: the live preview, the order of brands, and a second passkey. */
import { expect, test } from 'vitest';
import type { Page } from '../support/browser.ts';
import { shortenLimits } from '../support/limits.ts';
import { COOKIE, signedIn } from '../support/operators.ts';
import { invited } from '../support/sign-in.ts';
import { setStage } from './stage.ts';

shortenLimits({ passwordHashKib: 1024, passwordHashPasses: 1 });
const stage = setStage();

async function owner(): Promise<Page> {
  const { cookie } = await signedIn(stage.shop, 'owner');
  const page = await stage.payer();
  const domain = '127.0.0.1';
  await page
    .context()
    .addCookies([{ name: COOKIE, value: cookie, domain, path: '/', secure: true, httpOnly: true, sameSite: 'Lax' }]);
  return page;
}

test('the preview follows what is typed, in both schemes and widths, and nothing is saved', async () => {
  const page = await owner();
  const { mid } = stage.shop.merchant;
  await page.goto(`${stage.shop.url}/admin/accounts/${mid}?tab=page`);
  const frame = page.frameLocator('iframe');
  await frame.getByText('€49.90', { exact: true }).waitFor();
  await page.getByLabel('Name on the page').fill('Tea for two');
  await frame.getByText('Tea for two').waitFor();
  await page.locator('[name="branding.colour"]').fill('#ffd400');
  await page.getByText('Light: text in this colour').waitFor();
  await page.getByLabel('Card form').check();
  await frame.getByLabel('Card number').waitFor();
  // The frame is loaded again after each change.
  const ground = () =>
    frame
      .locator('body')
      .evaluate('getComputedStyle(document.body).backgroundColor')
      .catch(() => '');
  await expect.poll(ground).toBe('rgb(243, 244, 246)');
  await page.getByLabel('Dark').check();
  await expect.poll(ground).toBe('rgb(15, 18, 22)');
  const width = () => frame.locator('body').evaluate('document.body.clientWidth');
  expect(await width()).toBeLessThan(420);
  await page.getByLabel('Desktop').check();
  await expect.poll(width).toBeGreaterThan(860);
  const { body } = await stage.shop.admin('GET', `/accounts/${mid}`);
  expect(body.settings.branding).toMatchObject({ name: '', logo: '', colour: '' });
});

test('a brand is moved up with a button, and saved', async () => {
  const page = await owner();
  const { mid } = await stage.shop.newMerchant({ brands: ['card', 'vcard'] });
  await page.goto(`${stage.shop.url}/admin/accounts/${mid}?tab=methods`);
  await page.getByRole('button', { name: 'Move up: Test payment' }).click();
  await page.getByRole('button', { name: 'Save settings' }).first().click();
  await page.getByText('Saved.').waitFor();
  expect((await stage.shop.admin('GET', `/accounts/${mid}`)).body.settings.brands).toEqual(['vcard', 'card']);
});

test('an operator with a passkey adds a second one, names it, and removes it', async () => {
  const at = (path: string): string => stage.shop.url.replace('127.0.0.1', 'localhost') + path;
  const page = await stage.payer();
  const session = await page.context().newCDPSession(page);
  await session.send('WebAuthn.enable');
  const addAuthenticator = async (transport: 'internal' | 'usb'): Promise<string> =>
    (
      await session.send('WebAuthn.addVirtualAuthenticator', {
        options: {
          protocol: 'ctap2',
          transport,
          hasResidentKey: true,
          hasUserVerification: true,
          isUserVerified: true,
          automaticPresenceSimulation: true,
        },
      })
    ).authenticatorId;
  const first = await addAuthenticator('internal');
  const { path } = await invited(stage.shop, 'viewer');
  await page.goto(at(path));
  await page.getByLabel('Your name').fill('Grace Hopper');
  await page.getByRole('button', { name: 'Create a passkey' }).click();
  await page.waitForURL(at('/admin'));
  // The first authenticator has a passkey of this operator already.
  await session.send('WebAuthn.removeVirtualAuthenticator', { authenticatorId: first });
  await addAuthenticator('usb');
  await page.goto(at('/admin/me'));
  await page.getByLabel('Name', { exact: true }).fill('Security key');
  await page.getByRole('button', { name: 'Add a passkey' }).click();
  await page.getByText('Saved.').waitFor();
  await page.getByRole('textbox', { name: 'Name: Security key' }).fill('Blue key');
  await page.getByRole('button', { name: 'Rename Security key' }).click();
  await page.getByRole('button', { name: 'Remove Blue key' }).click();
  await page.getByText('Saved.').waitFor();
  await expect.poll(() => page.getByRole('button', { name: /^Remove/ }).count()).toBe(1);
  await page.getByRole('button', { name: /^Remove/ }).click();
  await page.getByText('This is your only way to sign in.').waitFor();
});
