/** Signing in to the panel in a real browser: passkeys with a virtual authenticator, passwords with codes, and looks. */
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { inviteFirstOwner } from '../../src/core/operators/invitations.ts';
import { commandCaller } from '../../src/core/operators/principal.ts';
import { en as panel } from '../../src/pages/panel/locales/en.ts';
import { type Page, payersOfFile } from '../support/browser.ts';
import { openShop } from '../support/gateway.ts';
import { shortenLimits } from '../support/limits.ts';
import { invited, nextTotpCode, PASSWORD, signedUp, totpCode } from '../support/sign-in.ts';
import { isLong, sized } from '../support/size.ts';

const { signIn: en } = panel;
shortenLimits({ passwordHashKib: 1024, passwordHashPasses: 1 });
const shop = openShop();
const visitor = payersOfFile();

/** The panel by its host name: passkeys do not work with an IP address. */
const at = (path: string): string => shop.url.replace('127.0.0.1', 'localhost') + path;

/**
 * Gives the browser an authenticator that verifies its user at once. It would answer the request of the e-mail field's
 * list as soon as a page loads, so only pages with `list` in their query have that list.
 */
async function addAuthenticator(page: Page): Promise<void> {
  await page.addInitScript(
    `if (!location.search.includes('list')) PublicKeyCredential.isConditionalMediationAvailable = async () => false;`,
  );
  const session = await page.context().newCDPSession(page);
  await session.send('WebAuthn.enable');
  await session.send('WebAuthn.addVirtualAuthenticator', {
    options: {
      protocol: 'ctap2',
      transport: 'internal',
      hasResidentKey: true,
      hasUserVerification: true,
      isUserVerified: true,
      automaticPresenceSimulation: true,
    },
  });
}

const hasSession = async (page: Page): Promise<boolean> =>
  (await page.context().cookies(at('/'))).some(({ name }) => name === '__Host-turnpike_session');

const isAt = (page: Page, path: string): Promise<void> => page.waitForURL(at(path));

/** Signs out with the form that every page of the panel has. */
async function signOut(page: Page): Promise<void> {
  await age();
  await page.goto(at('/admin/confirm'));
  await page.locator('.who summary').click();
  await page.getByRole('button', { name: panel.signOut }).click();
  await page.getByText(en.signedOut).waitFor();
  expect(await hasSession(page)).toBe(false);
}

/** The last proof of every session is old. */
const age = () => shop.rows(`update operator_sessions set confirmed_at = now() - interval '11 minutes'`);

const button = (page: Page, name: string) => page.getByRole('button', { name, exact: true });

test('the first owner creates a passkey, signs out, signs in with it again, and confirms with it', async () => {
  const secret = (await inviteFirstOwner(shop.gateway, commandCaller('test')))?.reveal();
  const page = await visitor();
  await addAuthenticator(page);
  await page.goto(at(`/admin/invitation/${secret}`));
  await page.getByLabel(en.email).fill('grace@example.com');
  // The browser itself asks for the name.
  await button(page, en.createPasskey).click();
  await expect.poll(() => page.evaluate('document.activeElement.name')).toBe('name');
  await page.getByLabel(en.name).fill('Grace Hopper');
  await button(page, en.createPasskey).click();
  await isAt(page, '/admin');
  expect(await hasSession(page)).toBe(true);
  await signOut(page);

  await button(page, en.withPasskey).click();
  await isAt(page, '/admin');
  expect(await hasSession(page)).toBe(true);
  await age();
  await page.goto(at('/admin/confirm?next=/admin/tokens'));
  await button(page, en.confirmPasskey).click();
  await isAt(page, '/admin/tokens');
  const [passkey] = await shop.rows('select counter, last_used_at from operator_passkeys');
  expect(Number(passkey?.counter)).toBeGreaterThan(0);
  expect(passkey?.last_used_at).not.toBeNull();

  await page.context().clearCookies();
  await page.goto(at('/admin/sign-in?list=1&next=/admin/audit'));
  await isAt(page, '/admin/audit');
  expect(await hasSession(page)).toBe(true);
});

if (isLong) {
  test('a passkey that the gateway does not know is refused, and its result cannot be sent again', async () => {
    const { path, operatorId } = await invited(shop);
    const page = await visitor();
    await addAuthenticator(page);
    await page.goto(at(path));
    await page.getByLabel(en.name).fill('Ada Byron');
    await button(page, en.createPasskey).click();
    await isAt(page, '/admin');
    await signOut(page);

    // The form of a sign-in is kept and sent a second time, without the session that it started.
    const sent = page.waitForRequest((request) => request.method() === 'POST');
    await button(page, en.withPasskey).click();
    const body = (await sent).postData() ?? '';
    await isAt(page, '/admin');
    await page.context().clearCookies();
    const again = await page.request.post(at('/admin/sign-in/passkey'), {
      data: body,
      headers: { 'content-type': 'application/x-www-form-urlencoded' },
    });
    expect(again.status()).toBe(422);
    expect(await hasSession(page)).toBe(false);

    await shop.rows(`delete from operator_passkeys where operator_id = '${operatorId}'`);
    await page.goto(at('/admin/sign-in'));
    await button(page, en.withPasskey).click();
    await page.getByText(en.passkeyWrong).waitFor();
    expect(await hasSession(page)).toBe(false);
  });
}

test('an operator sets up a password with an app, and signs in with a code and with a recovery code', async () => {
  const { path, email } = await invited(shop, 'support');
  const withoutScript = await visitor({ javaScriptEnabled: false });
  await withoutScript.goto(at(path));
  expect(await button(withoutScript, en.usePassword).isVisible()).toBe(true);
  expect(await withoutScript.getByText(en.passkeyUnavailable).isVisible()).toBe(true);
  expect(await button(withoutScript, en.createPasskey).isVisible()).toBe(false);
  const page = await visitor();
  await page.goto(at(path));
  await page.getByLabel(en.name).fill('Ada Byron');
  await page.locator('#password').fill('too short');
  await button(page, en.usePassword).click();
  await page.getByText(en.passwordProblems.tooShort).waitFor();
  await expect.poll(() => page.evaluate('document.activeElement.name')).toBe('password');
  expect(await page.getByLabel(en.name).inputValue()).toBe('Ada Byron');
  await page.locator('#password').fill(PASSWORD);
  await button(page, en.usePassword).click();
  const seed = (await page.locator('code').textContent()) ?? '';
  await page.locator('#code').fill(totpCode(seed));
  await button(page, en.continue).click();
  const [recoveryCode = ''] = ((await page.locator('#recovery-codes').textContent()) ?? '').split('\n');
  await page.getByRole('link', { name: en.recoveryDone }).click();
  await isAt(page, '/admin');
  await signOut(page);

  const enterPassword = async (): Promise<void> => {
    await page.getByLabel(en.email).fill(email);
    await page.locator('#password').fill(PASSWORD);
    await button(page, en.submit).click();
  };
  await enterPassword();
  await page.locator('#code').fill('000 000');
  await button(page, en.continue).click();
  await page.getByText(en.codeWrong).waitFor();
  await page.locator('#code').fill(nextTotpCode(seed));
  await button(page, en.continue).click();
  await isAt(page, '/admin');
  await signOut(page);
  await enterPassword();
  await page.locator('#code').fill(recoveryCode);
  await button(page, en.continue).click();
  await page.getByText(`${en.codesLeft} 9`).waitFor();
  expect(await hasSession(page)).toBe(true);
});

if (isLong) {
  test('another site can neither show the page in a frame nor send its forms', async () => {
    const page = await visitor({ complains: /frame-ancestors|Framing/ });
    const { visitor: operator } = await signedUp(shop);
    const [name = '', value = ''] = operator.cookie.split('=');
    await page.context().addCookies([{ name, value, url: 'https://localhost/', httpOnly: true, sameSite: 'Lax' }]);
    const evil = `<form method="post" action="${at('/admin/sign-out')}"><button>Win</button></form>
      <iframe src="${at('/admin/sign-in')}"></iframe>`;
    await page.route('http://127.0.0.1:9/evil', (route) => route.fulfill({ contentType: 'text/html', body: evil }));
    await page.goto('http://127.0.0.1:9/evil');
    expect(await page.frames()[1]?.locator('form').count()).toBe(0);
    await page.getByRole('button', { name: 'Win' }).click();
    await page.getByText(en.foreignText).waitFor();
    expect(await hasSession(page)).toBe(true);
  });
}

const SCREENSHOTS = join(import.meta.dirname, 'screenshots');
const SIZES = { phone: { width: 360, height: 740 }, desktop: { width: 1280, height: 800 } };

test.each(sized([], ['light', 'dark'] as const))('every page fits a phone and a desktop, %s', async (colorScheme) => {
  const page = await visitor({ colorScheme });
  const look = async (name: string): Promise<void> => {
    for (const [size, viewport] of Object.entries(SIZES)) {
      await page.setViewportSize(viewport);
      expect(await page.evaluate('document.documentElement.scrollWidth'), name).toBeLessThanOrEqual(viewport.width);
      const path = join(SCREENSHOTS, `sign-in-${name}-${size}-${colorScheme}.png`);
      await page.screenshot({ path, fullPage: true });
    }
  };
  const { path, email } = await invited(shop);
  await page.goto(at('/admin/invitation/unknown'));
  await look('no-invitation');
  await page.goto(at(path));
  await look('invitation');
  await page.getByLabel(en.name).fill('Ada Byron');
  await page.locator('#password').fill('short');
  await button(page, en.usePassword).click();
  await look('invitation-error');
  await page.locator('#password').fill(PASSWORD);
  await button(page, en.usePassword).click();
  await look('setup');
  const seed = (await page.locator('code').textContent()) ?? '';
  await page.locator('#code').fill(totpCode(seed));
  await button(page, en.continue).click();
  await look('recovery');
  await age();
  await page.goto(at('/admin/confirm'));
  await look('confirm');
  await signOut(page);
  await look('signed-out');
  await page.getByLabel(en.email).fill(email);
  await page.locator('#password').fill('a wrong password');
  await button(page, en.submit).click();
  await look('sign-in-error');
  await page.locator('#password').fill(PASSWORD);
  await button(page, en.submit).click();
  await look('code');
});
