/** Signing in to the panel without JavaScript: invitations, passwords, codes, lockouts, and forms of other sites. */
import { randomBytes } from 'node:crypto';
import { describe, expect, test } from 'vitest';
import { rotateKeys } from '../../src/core/installation/rotation.ts';
import { inviteFirstOwner } from '../../src/core/operators/invitations.ts';
import { commandCaller } from '../../src/core/operators/principal.ts';
import { findSession } from '../../src/core/operators/sessions.ts';
import { inTurn } from '../../src/core/operators/strangers.ts';
import { openTotpSeed } from '../../src/core/operators/totp.ts';
import { createSeal, newMasterKey } from '../../src/lib/crypto/seal.ts';
import { LIMITS } from '../../src/rules/limits.ts';
import { openRotationStore } from '../../src/store/installation/rotation.ts';
import { openShop } from '../support/gateway.ts';
import { lengthenLimits, shortenLimits } from '../support/limits.ts';
import { policyOf, readable } from '../support/pages.ts';
import { hiddenValue, invited, nextTotpCode, PASSWORD, signedUp, totpCode, Visitor } from '../support/sign-in.ts';

const masterKey = newMasterKey();
// A hash of the usual cost takes a third of a second.
shortenLimits({ passwordHashKib: 1024, passwordHashPasses: 1 });
// Those that wait may wait as long as a test holds them.
lengthenLimits({ passwordHashWaitMs: 60_000 });
const shop = openShop({ trustedProxies: ['127.0.0.1'], masterKey });

/** An address that no other test uses. */
let hosts = 0;
const from = () => ({ 'x-forwarded-for': `198.51.100.${++hosts}` });

const auditOf = async (operatorId: string): Promise<Record<string, unknown>[]> =>
  shop.rows(`select action, before, after, address from audit_log where subject = '${operatorId}' order by seq`);

const sessionOf = ({ cookie }: Visitor) => findSession(shop.gateway, cookie.split('=')[1] ?? '');

/** Enters the password, and returns the page that asks for the code. */
const enterPassword = (visitor: Visitor, email: string, password = PASSWORD, headers = {}) =>
  visitor.post('/admin/sign-in', { email, password, next: '/admin/payments?status=SETTLED' }, headers);

const enterCode = (visitor: Visitor, page: string, code: string, headers = {}) =>
  visitor.post(
    '/admin/sign-in/code',
    { pending: hiddenValue(page, 'pending'), next: hiddenValue(page, 'next').replaceAll('&amp;', '&'), code },
    headers,
  );

describe('the first owner', () => {
  test('is created by a one-time link, once', async () => {
    const links = [];
    for (let count = 0; count < 3; count++) {
      const secret = await inviteFirstOwner(shop.gateway, commandCaller('test'));
      links.push(`/admin/invitation/${secret?.reveal()}`);
    }
    const [first = '', second = ''] = links;
    const visitor = new Visitor(shop.url);
    const page = await visitor.get(first);
    expect(readable(page.text)).toContain('Create the first owner');

    const bad = await visitor.post(first, { name: ' ', email: 'nonsense', password: PASSWORD });
    expect(bad.status).toBe(422);
    expect(bad.text).toMatch(/id="email"[^>]* autofocus aria-invalid="true" aria-describedby="email-error"/);
    expect(bad.text).toMatch(/id="name"[^>]* aria-invalid="true" aria-describedby="name-error name-hint"/);

    const profile = { name: 'Grace  Hopper', email: 'Grace@Example.com', password: PASSWORD };
    const setup = await visitor.post(first, profile);
    const seed = /<code class="mono">([A-Z2-7 ]+)<\/code>/.exec(setup.text)?.[1] ?? '';
    const sealed = hiddenValue(setup.text, 'setup');
    const otherSetup = hiddenValue((await visitor.post(second, profile)).text, 'setup');
    // The setup of one link does not fit another.
    expect((await visitor.post(`${first}/code`, { setup: otherSetup, code: totpCode(seed) })).status).toBe(422);
    const wrong = await visitor.post(`${first}/code`, { setup: sealed, code: '000000' });
    expect(wrong.status).toBe(422);
    expect(wrong.text).toContain('aria-describedby="code-error"');
    expect(visitor.cookie).toBe('');

    const done = await visitor.post(`${first}/code`, { setup: sealed, code: totpCode(seed) });
    expect(readable(done.text)).toContain('Keep your recovery codes');
    const { operator } = (await sessionOf(visitor)) ?? {};
    expect(operator).toMatchObject({
      name: 'Grace Hopper',
      email: 'grace@example.com',
      role: 'owner',
      state: 'active',
    });

    for (const link of links) expect((await visitor.get(link)).status).toBe(404);
    expect((await visitor.post(second, profile)).status).toBe(404);
    expect(await inviteFirstOwner(shop.gateway, commandCaller('test'))).toBeUndefined();
    const stored = await shop.rows('select * from operator_passwords');
    expect(stored[0]?.password_hash).toMatch(/^\$argon2id\$v=19\$m=1024,t=1,p=1\$/);
  });
});

describe('an invitation', () => {
  test('works once, and not after it has expired', async () => {
    const { path, operatorId } = await invited(shop, 'support');
    const visitor = new Visitor(shop.url);
    expect(readable((await visitor.get(path)).text)).toContain('(Support)');
    await shop.rows(`update operator_invitations set expires_at = now() where operator_id = '${operatorId}'`);
    for (const answer of [
      await visitor.get(path),
      await visitor.post(path, { name: 'Ada', password: PASSWORD }),
      await visitor.get(`${path}/passkey`),
      await visitor.get(`/admin/invitation/${randomBytes(32).toString('hex')}`),
    ]) {
      expect(answer.status).toBe(404);
    }
    await signedUp(shop);
    expect(await shop.rows('select * from operator_invitations')).toHaveLength(1);
  });

  test.each([
    ['too short', 'elevenchars', 'Use 12 characters or more.'],
    ['too long', 'word '.repeat(52), 'Use 256 characters or less.'],
    ['common', 'Password-1234', 'This is one of the most common passwords.'],
    ['a repetition', 'abcabcabcabcabc', 'This is one of the most common passwords.'],
    ['the name of the operator', 'Augusta.Ada.King1', 'The password is mostly your name'],
  ])('refuses a password that is %s', async (_what, password, sentence) => {
    const { path } = await invited(shop);
    const answer = await new Visitor(shop.url).post(path, { name: 'Augusta Ada King', password });
    expect(answer.status).toBe(422);
    expect(readable(answer.text)).toContain(sentence);
    expect(answer.text).toMatch(/id="password"[^>]* autofocus aria-invalid="true"/);
    expect(answer.text).not.toContain(password);
  });
});

describe('a sign-in with a password', () => {
  test('needs a code, which works once, and starts a new session', async () => {
    const { email, seed, usedCode, operatorId, visitor: first } = await signedUp(shop);
    const visitor = new Visitor(shop.url);
    visitor.cookie = `__Host-turnpike_session=${randomBytes(32).toString('hex')}`;
    const planted = visitor.cookie;
    const page = await enterPassword(visitor, email.toUpperCase());
    expect(page.status).toBe(200);
    expect(page.headers.get('set-cookie')).toBeNull();

    // The code that confirmed the setup was used, although its step may not be over.
    expect((await enterCode(visitor, page.text, usedCode)).status).toBe(422);
    const fresh = nextTotpCode(seed);
    const done = await enterCode(visitor, page.text, fresh);
    expect(done).toMatchObject({ status: 303, location: '/admin/payments?status=SETTLED' });
    const [session = '', browser = ''] = done.headers.getSetCookie();
    expect(session).toMatch(
      /^__Host-turnpike_session=[0-9a-f]{64}; Path=\/; Secure; HttpOnly; SameSite=Lax; Max-Age=43200$/,
    );
    expect(browser).toMatch(
      /^__Host-turnpike_browser=\d+\.[0-9a-f]{32}\.[\w-]{22}; Path=\/; Secure; HttpOnly; SameSite=Lax; Max-Age=15552000$/,
    );
    expect(visitor.cookie).not.toBe(planted);
    expect((await sessionOf(visitor))?.operator.email).toBe(email);

    // Neither the code nor the step between is accepted again.
    const other = new Visitor(shop.url);
    expect((await enterCode(other, page.text, fresh)).status).toBe(422);
    const again = await enterPassword(other, email);
    expect((await enterCode(other, again.text, fresh)).status).toBe(422);
    expect(other.cookie).toBe('');

    expect((await auditOf(operatorId)).map(({ action }) => action)).toEqual([
      'operators.create',
      'operators.invite',
      'operators.accept_invitation',
      'operators.sign_in',
      'operators.sign_in',
    ]);
    expect(await sessionOf(first)).toBeDefined();
  });

  test('accepts each recovery code once, and says how many are left', async () => {
    const { email, recoveryCodes } = await signedUp(shop);
    expect(recoveryCodes).toHaveLength(10);
    const [code = ''] = recoveryCodes;
    const visitor = new Visitor(shop.url);
    const page = await enterPassword(visitor, email);
    const done = await enterCode(visitor, page.text, code.toLowerCase().replaceAll('-', ' '));
    expect(readable(done.text)).toContain('Codes left: 9');
    expect(await sessionOf(visitor)).toBeDefined();
    const other = new Visitor(shop.url);
    expect((await enterCode(other, (await enterPassword(other, email)).text, code)).status).toBe(422);
    // A recovery code does not make the step between usable again.
    const replayed = await enterCode(other, page.text, recoveryCodes[1] as string);
    expect(readable(replayed.text)).toContain('The sign-in took too long.');
    expect(other.cookie).toBe('');
  });

  test('answers alike whether or not there is such an operator, and locks both out after ten failures', async () => {
    const { email, seed, operatorId } = await signedUp(shop);
    const answers: string[][] = [];
    for (const address of [email, 'unknown@example.com']) {
      const visitor = new Visitor(shop.url);
      const headers = from();
      const texts: string[] = [];
      for (let count = 0; count < 11; count++) {
        const { status, text } = await enterPassword(visitor, address, 'a wrong password', headers);
        expect(status).toBe(count < 10 ? 422 : 429);
        texts.push(text.replaceAll(address, 'ADDRESS'));
      }
      answers.push(texts);
    }
    expect(answers[0]).toEqual(answers[1]);
    expect(answers[0]?.[0]).toContain('The e-mail address or the password is wrong.');
    expect(answers[0]?.[0]).not.toContain('a wrong password');

    // The right password does not help, from another address neither; later it does.
    const visitor = new Visitor(shop.url);
    const locked = await enterPassword(visitor, email, PASSWORD, from());
    expect(locked.status).toBe(429);
    expect(locked.headers.get('retry-after')).toBe('1800');
    expect((await auditOf(operatorId)).at(-1)).toMatchObject({
      action: 'operators.lockout',
      after: { failures: 10, of: 'operator', guess: 'password' },
    });
    const lockouts = await shop.rows(`select * from audit_log where action = 'operators.lockout'`);
    expect(lockouts).toHaveLength(1);
    await shop.rows(`update operator_sign_in_failures set since = since - interval '30 minutes'`);
    const page = await enterPassword(visitor, email, PASSWORD, from());
    expect((await enterCode(visitor, page.text, nextTotpCode(seed))).status).toBe(303);
  });

  test('concurrent guesses do not exceed the limit: twenty codes in a day, once the password is known', async () => {
    const { email, seed, operatorId } = await signedUp(shop);
    const visitor = new Visitor(shop.url);
    const { text } = await enterPassword(visitor, email);
    const guesses = await Promise.all(
      Array.from({ length: 35 }, () => enterCode(new Visitor(shop.url), text, '000000')),
    );
    expect(guesses.filter(({ status }) => status === 422)).toHaveLength(20);
    expect(guesses.filter(({ status }) => status === 429)).toHaveLength(15);
    const locked = await enterCode(visitor, text, nextTotpCode(seed));
    expect(locked.status).toBe(429);
    expect(locked.headers.get('retry-after')).toBe('86400');
    expect(readable(locked.text)).toContain('There were too many wrong codes. Try again tomorrow.');
    expect((await auditOf(operatorId)).at(-1)).toMatchObject({
      action: 'operators.lockout',
      after: { failures: 20, of: 'operator', guess: 'code' },
    });
    // Passwords are counted on their own: the password is still right, and does not help.
    const again = await enterPassword(visitor, email);
    expect(again.status).toBe(200);
    expect((await enterCode(visitor, again.text, nextTotpCode(seed))).status).toBe(429);
    await shop.rows(`update operator_sign_in_failures set since = since - interval '24 hours'`);
    expect((await enterCode(visitor, again.text, nextTotpCode(seed))).status).toBe(303);
  });

  test('is not refused because of what others behind the same address guess', async () => {
    const { email, seed, recoveryCodes, visitor: signedIn } = await signedUp(shop);
    const shared = from();
    for (let count = 0; count < 60; count++) {
      const { status } = await enterPassword(
        new Visitor(shop.url),
        `stranger${count}@example.com`,
        'a wrong password',
        shared,
      );
      expect(status).toBe(422);
    }
    const visitor = new Visitor(shop.url);
    const page = await enterPassword(visitor, email, PASSWORD, shared);
    expect((await enterCode(visitor, page.text, nextTotpCode(seed), shared)).status).toBe(303);
    expect(await sessionOf(visitor)).toBeDefined();
    const { formToken = '' } = (await sessionOf(signedIn)) ?? {};
    const proof = { form_token: formToken, password: PASSWORD, code: recoveryCodes[0] as string };
    expect((await signedIn.post('/admin/confirm', proof, shared)).status).toBe(303);
  });

  test('works in a browser in which the operator signed in before, while its e-mail address is attacked', async () => {
    const attacked = await signedUp(shop);
    const { email, seed, recoveryCodes, visitor } = attacked;
    const { formToken = '' } = (await sessionOf(visitor)) ?? {};
    for (let count = 0; count < 12; count++) await enterPassword(new Visitor(shop.url), email, 'a wrong password');
    const fresh = await enterPassword(new Visitor(shop.url), email);
    expect(fresh.status).toBe(429);
    expect(readable(fresh.text)).toContain('A password works in a browser in which you signed in before.');

    // A session that is open can confirm who its operator is.
    const proof = { form_token: formToken, password: PASSWORD, code: recoveryCodes[0] as string };
    expect((await visitor.post('/admin/confirm', proof)).status).toBe(303);

    // The known browser has ten wrong passwords of its own, and the text does not send the operator back to it.
    await visitor.post('/admin/sign-out', { form_token: formToken });
    expect(visitor.cookie).toBe('');
    const known = visitor.browser;
    const page = await enterPassword(visitor, email);
    expect((await enterCode(visitor, page.text, nextTotpCode(seed))).status).toBe(303);
    expect(visitor.browser).not.toBe(known);
    visitor.cookie = '';
    for (let count = 0; count < 10; count++) {
      expect((await enterPassword(visitor, email, 'a wrong password')).status).toBe(422);
    }
    const locked = await enterPassword(visitor, email);
    expect(locked.status).toBe(429);
    expect(readable(locked.text)).not.toContain('in which you signed in before');
  });

  test.each([
    ['of another operator', (_own: string, other: string) => other],
    ['with another time', (own: string) => own.replace(/=\d/, '=9')],
    ['with another id', (own: string) => own.replace(/\.[0-9a-f]{32}\./, `.${'0'.repeat(32)}.`)],
    ['with another tag', (own: string) => own.replace(/[\w-]{22}$/, 'A'.repeat(22))],
  ])('a browser cookie %s does not make the browser known', async (_what, forge) => {
    const { email, visitor } = await signedUp(shop);
    const other = await signedUp(shop);
    for (let count = 0; count < 10; count++) await enterPassword(new Visitor(shop.url), email, 'a wrong password');
    const forger = new Visitor(shop.url);
    forger.browser = forge(visitor.browser, other.visitor.browser);
    expect((await enterPassword(forger, email)).status).toBe(429);
    forger.browser = visitor.browser;
    expect((await enterPassword(forger, email)).status).toBe(200);
  });

  test('a browser is known for 180 days', async () => {
    const { email, visitor } = await signedUp(shop);
    for (let count = 0; count < 10; count++) await enterPassword(new Visitor(shop.url), email, 'a wrong password');
    const age = async (days: number): Promise<number> => {
      const issuedAt = String(Math.floor(Date.now() / 1000) - days * 86_400);
      const id = 'a'.repeat(32);
      const tag = shop.gateway.fingerprints.tag(`${issuedAt} ${id} ${email}`, 'operator browser');
      visitor.browser = `__Host-turnpike_browser=${issuedAt}.${id}.${tag}`;
      return (await enterPassword(visitor, email)).status;
    };
    expect([await age(179), await age(181)]).toEqual([200, 429]);
  });

  test('is refused as busy when many sign-ins of one address wait; these are not counted', async () => {
    const { email, visitor } = await signedUp(shop);
    const [shared, elsewhere] = [from(), from()];
    /** Forty sign-ins while another one has the turn; those that wait go on when it is passed on. */
    const flood = async () => {
      const turn = Promise.withResolvers<void>();
      const held = inTurn('192.0.2.1', () => turn.promise);
      const busy: Awaited<ReturnType<typeof enterPassword>>[] = [];
      const others = Array.from({ length: 40 }, async (_, index) => {
        const visitor = new Visitor(shop.url);
        const answer = await enterPassword(visitor, `flood${index}@example.com`, 'a wrong password', shared);
        if (answer.status === 503) busy.push(answer);
        return answer.status;
      });
      await expect.poll(() => busy.length).toBe(40 - LIMITS.strangersPerAddress);
      const pass = async (): Promise<number[]> => {
        turn.resolve();
        await held;
        return (await Promise.all(others)).filter((status) => status !== 503);
      };
      return { busy, pass };
    };
    const counted = async () => (await shop.rows('select * from operator_sign_in_failures')).length;
    const before = await counted();
    const { busy, pass } = await flood();
    expect(await pass()).toEqual(Array(LIMITS.strangersPerAddress).fill(422));
    expect(await counted()).toBe(before + LIMITS.strangersPerAddress);
    expect(busy[0]?.headers.get('retry-after')).toMatch(/^\d+$/);
    expect(readable(busy[0]?.text ?? '')).toContain('Wait a few seconds and try again.');
    // A browser that is known does not wait behind them, nor does another address.
    const second = await flood();
    expect((await enterPassword(visitor, email, PASSWORD, shared)).status).toBe(200);
    const other = enterPassword(new Visitor(shop.url), email, PASSWORD, elsewhere);
    await second.pass();
    expect((await other).status).toBe(200);
  });

  test('is refused to a suspended operator, whose sessions end', async () => {
    const { email, operatorId, visitor } = await signedUp(shop);
    await shop.rows(`update operators set state = 'suspended' where operator_id = '${operatorId}'`);
    expect(await sessionOf(visitor)).toBeUndefined();
    expect((await enterPassword(new Visitor(shop.url), email, PASSWORD, from())).status).toBe(422);
  });
});

describe('a form', () => {
  test.each([
    ['another site', { 'sec-fetch-site': 'cross-site' }],
    ['another host of the same domain', { 'sec-fetch-site': 'same-site' }],
    ['another origin', { origin: 'https://evil.example' }],
    ['a frame without an origin', { origin: 'null' }],
  ])('of %s is refused', async (_what, headers) => {
    const { path } = await invited(shop);
    const { email, visitor } = await signedUp(shop);
    const page = await visitor.get('/admin/sign-in');
    expect(page).toMatchObject({ status: 303, location: '/admin' });
    const { formToken = '' } = (await sessionOf(visitor)) ?? {};
    for (const answer of [
      await new Visitor(shop.url).post('/admin/sign-in', { email, password: PASSWORD }, headers),
      await new Visitor(shop.url).post('/admin/sign-in/code', { pending: 'x', code: '1' }, headers),
      await new Visitor(shop.url).post('/admin/sign-in/passkey', { state: 'x', credential: '{}' }, headers),
      await new Visitor(shop.url).post(path, { name: 'Ada', password: PASSWORD }, headers),
      await visitor.post('/admin/sign-out', { form_token: formToken }, headers),
      await visitor.post('/admin/confirm', { form_token: formToken, password: PASSWORD, code: '1' }, headers),
    ]) {
      expect(answer.status).toBe(403);
      expect(readable(answer.text)).toContain('The form was not accepted');
      expect(answer.headers.get('set-cookie')).toBeNull();
    }
    expect(await sessionOf(visitor)).toBeDefined();
  });

  test('of a session needs its token; signing out ends the session and removes the cookie', async () => {
    const { visitor, operatorId } = await signedUp(shop);
    const { formToken = '' } = (await sessionOf(visitor)) ?? {};
    const { cookie } = visitor;
    for (const token of ['', `${formToken}0`, formToken.replace(/.$/, (last) => (last === '0' ? '1' : '0'))]) {
      expect((await visitor.post('/admin/sign-out', { form_token: token })).status).toBe(403);
      expect((await visitor.post('/admin/confirm', { form_token: token, password: PASSWORD, code: '1' })).status).toBe(
        403,
      );
    }
    const done = await visitor.post('/admin/sign-out', { form_token: formToken }, { 'sec-fetch-site': 'same-origin' });
    expect(done).toMatchObject({ status: 303, location: '/admin/sign-in?signed_out=1' });
    expect(visitor.cookie).toBe('');
    visitor.cookie = cookie;
    expect(await sessionOf(visitor)).toBeUndefined();
    expect((await auditOf(operatorId)).at(-1)).toMatchObject({ action: 'operators.sign_out' });
  });
});

describe('a confirmation', () => {
  const age = ({ operatorId }: { operatorId: string }) =>
    shop.rows(
      `update operator_sessions set confirmed_at = now() - interval '11 minutes' where operator_id = '${operatorId}'`,
    );

  test('is needed again after ten minutes; it needs the password and a code', async () => {
    const operator = await signedUp(shop);
    const { visitor, seed, operatorId } = operator;
    expect(await visitor.get('/admin/confirm?next=/admin/tokens')).toMatchObject({
      status: 303,
      location: '/admin/tokens',
    });
    await age(operator);
    expect((await sessionOf(visitor))?.isConfirmed).toBe(false);
    const page = await visitor.get('/admin/confirm?next=/admin/tokens');
    const form = { form_token: hiddenValue(page.text, 'form_token'), next: hiddenValue(page.text, 'next') };
    const code = nextTotpCode(seed);
    expect((await visitor.post('/admin/confirm', { ...form, password: 'a wrong password', code })).status).toBe(422);
    expect((await visitor.post('/admin/confirm', { ...form, password: PASSWORD, code: '000000' })).status).toBe(422);
    expect((await sessionOf(visitor))?.isConfirmed).toBe(false);
    expect(await visitor.post('/admin/confirm', { ...form, password: PASSWORD, code })).toMatchObject({
      status: 303,
      location: '/admin/tokens',
    });
    expect((await sessionOf(visitor))?.isConfirmed).toBe(true);
    expect((await auditOf(operatorId)).at(-1)).toMatchObject({
      action: 'operators.confirm',
      after: { method: 'totp' },
    });
  });

  test('without a session leads to the sign-in page', async () => {
    const visitor = new Visitor(shop.url);
    expect(await visitor.get('/admin/confirm?next=/admin/tokens')).toMatchObject({
      status: 303,
      location: '/admin/sign-in?next=%2Fadmin%2Ftokens',
    });
    expect((await visitor.get('/admin/confirm/passkey')).status).toBe(404);
  });

  let signedUpOnce: ReturnType<typeof signedUp> | undefined;
  test.each([
    'https://evil.example/admin',
    '//evil.example/admin',
    '/\\evil.example',
    '/admin/../../evil',
    '/administrator',
    '/admin/api/accounts',
    '/admin/sign-out',
    'javascript:alert(1)',
    '/admin\\..\\x',
  ])('does not lead to %s', async (next) => {
    signedUpOnce ??= signedUp(shop);
    const { visitor } = await signedUpOnce;
    for (const path of ['/admin/confirm', '/admin/sign-in']) {
      const { location } = await visitor.get(`${path}?next=${encodeURIComponent(next)}`);
      expect(location).toBe('/admin');
    }
  });
});

test('every page forbids frames and caching, and nothing secret is logged or in the audit log', async () => {
  const { visitor, recoveryCodes, seed, email } = await signedUp(shop);
  const { path } = await invited(shop);
  for (const answer of [
    await new Visitor(shop.url).get('/admin/sign-in'),
    await new Visitor(shop.url).get(path),
    await new Visitor(shop.url).get('/admin/invitation/unknown'),
    await enterPassword(new Visitor(shop.url), email),
    await new Visitor(shop.url).post('/admin/sign-in', {}, { 'sec-fetch-site': 'cross-site' }),
  ]) {
    expect(policyOf(answer.headers).get('frame-ancestors')).toBe("'none'");
    expect(answer.headers.get('x-frame-options')).toBe('DENY');
    expect(answer.headers.get('cache-control')).toBe('no-store');
    expect(answer.headers.get('referrer-policy')).toBe('no-referrer');
  }
  const audit = JSON.stringify(await shop.rows('select * from audit_log'));
  const secrets = [
    ...recoveryCodes,
    PASSWORD,
    seed.replaceAll(' ', ''),
    visitor.cookie.split('=')[1],
    path.split('/')[3],
  ];
  for (const secret of secrets as string[]) {
    expect(secret.length).toBeGreaterThan(10);
    expect(shop.logs.join(''), 'the log').not.toContain(secret);
    expect(audit, 'the audit log').not.toContain(secret);
  }
});

// The last test: the gateway does not have the new key.
test('a key rotation seals the seeds of authenticator apps again', async () => {
  const { seed, operatorId } = await signedUp(shop);
  const next = newMasterKey();
  const rows = openRotationStore(shop.connection);
  await rotateKeys({ seal: createSeal(`${next},${masterKey}`) }, rows, () => undefined).finally(() => rows.close());
  const stored = await shop.gateway.operatorCredentials.findPassword(operatorId);
  const opened = openTotpSeed({ seal: createSeal(next) }, operatorId, stored?.totpSeed as Buffer);
  expect(opened).toBe(seed.replaceAll(' ', ''));
});
