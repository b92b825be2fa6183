/** The page on which operators change how they sign in themselves, over HTTP: what works, what is refused, what ends. */
import { randomBytes } from 'node:crypto';
import { describe, expect, test } from 'vitest';
import { auditEntry, commandCaller } from '../../src/core/operators/principal.ts';
import type { Passkey } from '../../src/store/operators/credentials.ts';
import type { ListedSession } from '../../src/store/operators/own-credentials.ts';
import { openShop } from '../support/gateway.ts';
import { shortenLimits } from '../support/limits.ts';
import { hiddenValue, nextTotpCode, PASSWORD, type SignedUp, signedUp, totpCode, Visitor } from '../support/sign-in.ts';

shortenLimits({ passwordHashKib: 1024, passwordHashPasses: 1 });
const shop = openShop();
const PATH = '/admin/me';

const submit = async ({ visitor }: Pick<SignedUp, 'visitor'>, path: string, fields: Record<string, string> = {}) => {
  const form_token = hiddenValue((await visitor.get(PATH)).text, 'form_token');
  return visitor.post(PATH + path, { ...fields, form_token });
};

/** Signs in with a password and a code; returns the visitor if that worked. */
async function signIn(email: string, password: string, code: string): Promise<Visitor | undefined> {
  const visitor = new Visitor(shop.url);
  const first = await visitor.post('/admin/sign-in', { email, password });
  const pending = hiddenValue(first.text, 'pending');
  const second = await visitor.post('/admin/sign-in/code', { pending, code });
  return second.status === 303 || visitor.cookie !== '' ? visitor : undefined;
}

const actionsOf = async ({ operatorId }: SignedUp): Promise<string[]> =>
  (await shop.admin('GET', `/audit?actor=${operatorId}`)).body.items.map(({ action }: { action: string }) => action);

const entry = (action: string) => auditEntry(shop.gateway, commandCaller('test'), `operators.${action}`);

const passkeyOf = ({ operatorId }: SignedUp, name: string): Passkey => ({
  credentialId: randomBytes(16),
  operatorId,
  publicKey: randomBytes(32),
  counter: 0n,
  transports: [],
  name,
  createdAt: Date.now(),
  lastUsedAt: null,
});

/** The digest of the operator's only session. */
const sessionOf = async ({ operatorId }: SignedUp): Promise<Buffer> =>
  ((await shop.gateway.ownCredentials.listSessions(operatorId, 0, 0))[0] as ListedSession).digest;

async function givePasskey(operator: SignedUp, name: string): Promise<string> {
  const passkey = passkeyOf(operator, name);
  await shop.gateway.ownCredentials.insertPasskey(passkey, await sessionOf(operator), entry('add_passkey'));
  return passkey.credentialId.toString('base64url');
}

test('a session that was ended while its request was under way changes no way to sign in', async () => {
  const { ownCredentials } = shop.gateway;
  const operator = await signedUp(shop, 'viewer');
  const kept = await givePasskey(operator, 'Laptop');
  const session = await sessionOf(operator);
  await ownCredentials.deleteSessions(operator.operatorId, [session], entry('end_sessions'));
  const change = { passwordHash: 'of an attacker', changedAt: Date.now() };
  expect(await ownCredentials.setPassword(operator.operatorId, change, session, [])).toBe(false);
  expect(await ownCredentials.insertPasskey(passkeyOf(operator, 'Another'), session, entry('add_passkey'))).toBe(false);
  expect(await ownCredentials.replaceRecoveryCodes(operator.operatorId, ['x'], session, entry('renew'))).toBe(false);
  const id = Buffer.from(kept, 'base64url');
  expect(await ownCredentials.deletePasskey(operator.operatorId, id, session, entry('remove_passkey'))).toBe('unknown');
  const visitor = await signIn(operator.email, PASSWORD, nextTotpCode(operator.seed));
  const page = (await visitor?.get(PATH))?.text;
  expect(page).toContain('Laptop');
  expect(page).not.toContain('Another');
});

describe('the password', () => {
  test('is changed, the old one stops working, and other sessions end', async () => {
    const operator = await signedUp(shop, 'viewer');
    const elsewhere = await signIn(operator.email, PASSWORD, nextTotpCode(operator.seed));
    expect((await elsewhere?.get(PATH))?.status).toBe(200);
    const changed = await submit(operator, '/password', { password: 'another five unusual words here' });
    expect([changed.status, changed.location]).toEqual([303, `${PATH}?done=1`]);
    expect((await elsewhere?.get(PATH))?.status).toBe(303);
    expect((await operator.visitor.get(PATH)).status).toBe(200);
    const typed = { email: operator.email, password: PASSWORD };
    expect((await new Visitor(shop.url).post('/admin/sign-in', typed)).status).toBe(422);
    const password = 'another five unusual words here';
    expect((await new Visitor(shop.url).post('/admin/sign-in', { ...typed, password })).status).toBe(200);
    expect(await actionsOf(operator)).toContain('operators.change_password');
  });

  test.each([
    ['short', 'Use 12 characters or more.'],
    ['passwordpassword', 'most common'],
    ['', 'Use 12 characters or more.'],
  ])('%j is refused beside its field', async (password, message) => {
    const operator = await signedUp(shop, 'viewer');
    const { status, text } = await submit(operator, '/password', { password });
    expect(status).toBe(400);
    expect(text).toMatch(/name="password" aria-invalid="true"/);
    expect(text).toContain(message);
    expect(await actionsOf(operator)).not.toContain('operators.change_password');
  });
});

describe('the authenticator app', () => {
  const seedOf = (text: string): string => /<code class="mono">([A-Z2-7 ]+)<\/code>/.exec(text)?.[1] ?? '';

  test('is set up again: a wrong code changes nothing, the new app works, and the old one does not', async () => {
    const operator = await signedUp(shop, 'viewer');
    const page = await submit(operator, '/setup');
    const [seed, setup] = [seedOf(page.text), hiddenValue(page.text, 'setup')];
    const wrong = await submit(operator, '/setup/code', { setup, code: '000000' });
    expect([wrong.status, seedOf(wrong.text)]).toEqual([400, seed]);
    const done = await submit(operator, '/setup/code', { setup, code: totpCode(seed) });
    expect(done.text).toContain('id="recovery-codes"');
    expect(done.text).not.toContain(operator.recoveryCodes[0]);
    expect((await submit(operator, '/setup/code', { setup, code: nextTotpCode(seed) })).status).toBe(400);
    expect(await signIn(operator.email, PASSWORD, nextTotpCode(operator.seed))).toBeUndefined();
    expect(await signIn(operator.email, PASSWORD, operator.recoveryCodes[0] as string)).toBeUndefined();
    expect(await signIn(operator.email, PASSWORD, nextTotpCode(seed))).toBeDefined();
    expect(await actionsOf(operator)).toContain('operators.change_totp');
  });

  test('and the recovery codes are replaced together, or not at all', async () => {
    const operator = await signedUp(shop, 'viewer');
    const page = await submit(operator, '/setup');
    const setup = hiddenValue(page.text, 'setup');
    const code = totpCode(seedOf(page.text));
    await shop.rows(`create function refuse() returns trigger language plpgsql as $$begin raise 'no codes today'; end$$;
      create trigger refuse before insert on operator_recovery_codes for each row execute function refuse()`);
    const failed = await submit(operator, '/setup/code', { setup, code });
    await shop.rows('drop trigger refuse on operator_recovery_codes; drop function refuse');
    expect(failed.status).toBe(500);
    // The earlier app and the earlier codes still work.
    expect(await signIn(operator.email, PASSWORD, nextTotpCode(operator.seed))).toBeDefined();
    expect(await signIn(operator.email, PASSWORD, operator.recoveryCodes[0] as string)).toBeDefined();
    expect(await actionsOf(operator)).not.toContain('operators.change_totp');
  });

  test('the setup of another operator is not accepted', async () => {
    const [operator, other] = [await signedUp(shop, 'viewer'), await signedUp(shop, 'viewer')];
    const page = await submit(other, '/setup');
    const code = totpCode(seedOf(page.text));
    const { status, text } = await submit(operator, '/setup/code', { setup: hiddenValue(page.text, 'setup'), code });
    expect([status, text.includes('The setup took too long.')]).toEqual([400, true]);
  });

  test('an operator with a passkey only adds a password with it', async () => {
    const operator = await signedUp(shop, 'viewer');
    await givePasskey(operator, 'Laptop');
    await shop.rows(`delete from operator_passwords where operator_id = '${operator.operatorId}'`);
    expect((await submit(operator, '/password', { password: PASSWORD })).status).toBe(400);
    expect((await submit(operator, '/recovery-codes')).status).toBe(400);
    expect((await submit(operator, '/setup', { password: 'short' })).status).toBe(400);
    const page = await submit(operator, '/setup', { password: PASSWORD });
    const seed = seedOf(page.text);
    await submit(operator, '/setup/code', { setup: hiddenValue(page.text, 'setup'), code: totpCode(seed) });
    expect(await signIn(operator.email, PASSWORD, nextTotpCode(seed))).toBeDefined();
    expect(await actionsOf(operator)).toContain('operators.add_password');
  });
});

test('new recovery codes replace the earlier ones', async () => {
  const operator = await signedUp(shop, 'viewer');
  const { text } = await submit(operator, '/recovery-codes');
  const [code = ''] = /<pre id="recovery-codes">([^<]+)</.exec(text)?.[1]?.split('\n') ?? [];
  expect(await signIn(operator.email, PASSWORD, operator.recoveryCodes[0] as string)).toBeUndefined();
  expect(await signIn(operator.email, PASSWORD, code)).toBeDefined();
  expect((await operator.visitor.get(PATH)).text).toContain('<strong>9</strong>');
});

describe('passkeys', () => {
  test('are renamed and removed, but never the last way to sign in', async () => {
    const operator = await signedUp(shop, 'viewer');
    const [first, second] = [await givePasskey(operator, 'Laptop'), await givePasskey(operator, 'Key')];
    await submit(operator, `/passkeys/${first}/rename`, { new_name: ' <i>Desk</i>  computer ' });
    expect((await operator.visitor.get(PATH)).text).toContain('value="&lt;i&gt;Desk&lt;/i&gt; computer"');
    for (const new_name of ['', 'x'.repeat(61), 'a\0b']) {
      expect((await submit(operator, `/passkeys/${first}/rename`, { new_name })).status).toBe(400);
    }
    await shop.rows(`delete from operator_passwords where operator_id = '${operator.operatorId}'`);
    expect((await submit(operator, `/passkeys/${first}/remove`)).status).toBe(303);
    const last = await submit(operator, `/passkeys/${second}/remove`);
    expect([last.status, last.text.includes('This is your only way to sign in.')]).toEqual([400, true]);
    expect((await operator.visitor.get(PATH)).text).toContain('value="Key"');
    expect(await actionsOf(operator)).toEqual(
      expect.arrayContaining(['operators.rename_passkey', 'operators.remove_passkey']),
    );
  });

  test('of another operator are out of reach', async () => {
    const [operator, other] = [await signedUp(shop, 'owner'), await signedUp(shop, 'viewer')];
    const id = await givePasskey(other, 'Laptop');
    await submit(operator, `/passkeys/${id}/rename`, { new_name: 'Mine' });
    await submit(operator, `/passkeys/${id}/remove`);
    expect((await other.visitor.get(PATH)).text).toContain('value="Laptop"');
  });

  test('a result that no authenticator made is refused', async () => {
    const operator = await signedUp(shop, 'viewer');
    for (const credential of ['', '{}', 'nonsense']) {
      const { state } = JSON.parse((await operator.visitor.get(`${PATH}/passkeys/options`)).text);
      const { status, text } = await submit(operator, '/passkeys', { passkey_name: 'x', state, credential });
      expect([status, text.includes('The passkey was not accepted.')]).toEqual([400, true]);
    }
  });
});

describe('sessions', () => {
  test('one is ended by its id, and all others at once; the current one goes on', async () => {
    const operator = await signedUp(shop, 'viewer');
    const others = [nextTotpCode(operator.seed), ...operator.recoveryCodes.slice(0, 2)];
    const visitors: Visitor[] = [];
    for (const code of others) visitors.push((await signIn(operator.email, PASSWORD, code)) as Visitor);
    const ids = [...(await operator.visitor.get(PATH)).text.matchAll(/sessions\/([0-9a-f]{32})\/end/g)];
    expect(ids).toHaveLength(3);
    const isSignedIn = async (visitor: Visitor) => (await visitor.get(PATH)).status === 200;
    await submit(operator, `/sessions/${ids[0]?.[1]}/end`);
    const left = await Promise.all(visitors.map(isSignedIn));
    expect(left.filter(Boolean)).toHaveLength(2);
    await submit(operator, '/sessions/end');
    expect(await Promise.all([operator.visitor, ...visitors].map(isSignedIn))).toEqual([true, false, false, false]);
    expect((await actionsOf(operator)).filter((action) => action === 'operators.end_sessions')).toHaveLength(2);
  });

  test('of another operator are out of reach', async () => {
    const [operator, other] = [await signedUp(shop, 'owner'), await signedUp(shop, 'viewer')];
    await signIn(other.email, PASSWORD, nextTotpCode(other.seed));
    const [, id] = /sessions\/([0-9a-f]{32})\/end/.exec((await other.visitor.get(PATH)).text) ?? [];
    await submit(operator, `/sessions/${id}/end`);
    expect((await other.visitor.get(PATH)).text).toContain(`sessions/${id}/end`);
  });
});

test('without a recent proof the forms are disabled, and the page leads to the confirmation', async () => {
  const operator = await signedUp(shop, 'viewer');
  expect((await operator.visitor.get(PATH)).text).not.toContain('<fieldset class="bare" disabled>');
  await shop.rows(
    `update operator_sessions set confirmed_at = now() - interval '11 minutes' where operator_id = '${operator.operatorId}'`,
  );
  const { text } = await operator.visitor.get(PATH);
  expect(text).toContain('<fieldset class="bare" disabled>');
  expect(text).toContain('/admin/confirm?next=%2Fadmin%2Fme');
});
