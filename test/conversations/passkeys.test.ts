/** Passkeys over HTTP with a software authenticator: genuine ceremonies are accepted, and forged ones are not. */
import { randomBytes } from 'node:crypto';
import { describe, expect, test } from 'vitest';
import { LIMITS } from '../../src/rules/limits.ts';
import { type Alterations, Authenticator, FLAGS, newKey } from '../support/authenticator.ts';
import { openShop } from '../support/gateway.ts';
import { shortenLimits } from '../support/limits.ts';
import { hiddenValue, invited, PASSWORD, Visitor } from '../support/sign-in.ts';

// A hash of the usual cost takes a third of a second.
shortenLimits({ passwordHashKib: 1024, passwordHashPasses: 1 });
const shop = openShop();

const origin = (): string => shop.url.replace('127.0.0.1', 'localhost');

interface Ceremony {
  options: { challenge: string; user?: { id: string } };
  state: string;
}

const ceremony = async (visitor: Visitor, path: string): Promise<Ceremony> =>
  JSON.parse((await visitor.get(path)).text);

/** Submits a new passkey to an invitation. */
async function accept(path: string, altered: Alterations = {}, authenticator = new Authenticator(origin())) {
  const visitor = new Visitor(shop.url);
  const { options, state } = await ceremony(visitor, `${path}/passkey`);
  const credential = authenticator.create(options, altered);
  const answer = await visitor.post(`${path}/passkey`, { name: 'Ada Byron', state, credential });
  return { visitor, authenticator, answer, state, credential };
}

/** An operator with a passkey, who is signed in. */
async function withPasskey() {
  const { path, email, operatorId } = await invited(shop);
  const { visitor, authenticator, answer } = await accept(path);
  expect(answer).toMatchObject({ status: 303, location: '/admin' });
  return { email, operatorId, visitor, authenticator };
}

/** Signs in with the options of this moment, or with others. */
async function signIn(authenticator: Authenticator, altered: Alterations = {}, begun?: Ceremony) {
  const visitor = new Visitor(shop.url);
  const { options, state } = begun ?? (await ceremony(visitor, '/admin/sign-in/passkey'));
  const credential = authenticator.get(options, altered);
  const answer = await visitor.post('/admin/sign-in/passkey', { state, credential });
  expect(visitor.cookie !== '').toBe(answer.status === 303);
  return { visitor, answer, state, credential };
}

const challenge = (): string => randomBytes(32).toString('base64url');

/** Each alteration alone makes a proof invalid. */
const FORGED_PROOFS: Record<string, (own: { other: Authenticator }) => Alterations> = {
  'another challenge': () => ({ challenge: challenge() }),
  'another origin': () => ({ origin: 'https://evil.example' }),
  'another port of the host': () => ({ origin: 'http://localhost:1' }),
  'another relying party': () => ({ rpId: 'evil.example' }),
  'the type of a creation': () => ({ type: 'webauthn.create' }),
  'no user present': () => ({ flags: FLAGS.uv }),
  'no user verified': () => ({ flags: FLAGS.up }),
  'no flags': () => ({ flags: 0 }),
  'a flag set after signing': () => ({
    flags: FLAGS.up,
    afterwards: (data) => Buffer.concat([data.subarray(0, 32), Buffer.from([FLAGS.up | FLAGS.uv]), data.subarray(33)]),
  }),
  'a counter raised after signing': () => ({
    afterwards: (data) => Buffer.concat([data.subarray(0, 33), Buffer.from([0, 0, 1, 0])]),
  }),
  'data cut off': () => ({ afterwards: (data) => data.subarray(0, 36) }),
  'data appended': () => ({ afterwards: (data) => Buffer.concat([data, Buffer.alloc(8)]) }),
  'a counter that goes back': () => ({ counter: 1 }),
  'a counter of zero after it counted': () => ({ counter: 0 }),
  'the signature of another key': () => ({ signer: newKey().privateKey }),
  'a signature with another digest': () => ({ digest: 'sha384' }),
  'a signature of another curve': () => ({ signer: newKey('P-384').privateKey, digest: 'sha384' }),
  'the id of the passkey of another operator': ({ other }) => ({
    id: other.credentialId,
    userHandle: other.userHandle,
  }),
  'the name of another operator': ({ other }) => ({ userHandle: other.userHandle }),
  'no name of an operator': () => ({ userHandle: '' }),
  'an unknown id': () => ({ id: randomBytes(16) }),
};

describe('a sign-in', () => {
  test('with a genuine proof is accepted, again and again', async () => {
    const { authenticator } = await withPasskey();
    for (let count = 0; count < 3; count++) expect((await signIn(authenticator)).answer.status).toBe(303);
  });

  test.each(Object.entries(FORGED_PROOFS))('with %s is refused', async (_what, forge) => {
    const { authenticator } = await withPasskey();
    const { authenticator: other } = await withPasskey();
    await signIn(authenticator);
    expect((await signIn(authenticator, forge({ other }))).answer.status).toBe(422);
    expect((await signIn(authenticator)).answer.status).toBe(303);
  });

  test('with a proof that was used is refused, with its challenge or with a new one', async () => {
    const { authenticator } = await withPasskey();
    const { state, credential } = await signIn(authenticator);
    const visitor = new Visitor(shop.url);
    expect((await visitor.post('/admin/sign-in/passkey', { state, credential })).status).toBe(422);
    const fresh = await ceremony(visitor, '/admin/sign-in/passkey');
    expect((await visitor.post('/admin/sign-in/passkey', { state: fresh.state, credential })).status).toBe(422);
    expect(visitor.cookie).toBe('');
  });

  test('sent twice at the same time starts one session', async () => {
    const { authenticator } = await withPasskey();
    const { options, state } = await ceremony(new Visitor(shop.url), '/admin/sign-in/passkey');
    const credential = authenticator.get(options);
    const answers = await Promise.all(
      Array.from({ length: 8 }, () => new Visitor(shop.url).post('/admin/sign-in/passkey', { state, credential })),
    );
    expect(answers.filter(({ status }) => status === 303)).toHaveLength(1);
  });

  test('with a challenge that has expired, was altered, or is for a new passkey is refused', async () => {
    const { authenticator, visitor } = await withPasskey();
    const usual = LIMITS.operatorStepMs;
    Object.assign(LIMITS, { operatorStepMs: 0 });
    const expired = await ceremony(visitor, '/admin/me/passkeys/options');
    const late = await ceremony(new Visitor(shop.url), '/admin/sign-in/passkey');
    Object.assign(LIMITS, { operatorStepMs: usual });
    expect((await signIn(authenticator, {}, late)).answer.status).toBe(422);
    const genuine = await ceremony(new Visitor(shop.url), '/admin/sign-in/passkey');
    const altered = genuine.state.replace(/.$/, (last) => (last === 'A' ? 'Q' : 'A'));
    expect((await signIn(authenticator, {}, { ...genuine, state: altered })).answer.status).toBe(422);
    for (const begun of [await ceremony(visitor, '/admin/me/passkeys/options'), expired]) {
      expect((await signIn(authenticator, {}, begun)).answer.status).toBe(422);
    }
  });

  test('is not affected by wrong passwords for the same operator, or from the same address', async () => {
    const { authenticator, email } = await withPasskey();
    for (let count = 0; count < 60; count++) {
      const typed = { email: count < 12 ? email : `stranger${count}@example.com`, password: 'a wrong password' };
      await new Visitor(shop.url).post('/admin/sign-in', typed);
    }
    expect((await new Visitor(shop.url).post('/admin/sign-in', { email, password: PASSWORD })).status).toBe(429);
    for (let count = 0; count < 12; count++) await signIn(authenticator, { challenge: challenge() });
    expect((await signIn(authenticator)).answer.status).toBe(303);
  });

  test('is refused to a suspended operator', async () => {
    const { authenticator, operatorId } = await withPasskey();
    await shop.rows(`update operators set state = 'suspended' where operator_id = '${operatorId}'`);
    expect((await signIn(authenticator)).answer.status).toBe(422);
  });
});

describe('a new passkey', () => {
  const FORGED: Record<string, () => Alterations> = {
    'another challenge': () => ({ challenge: challenge() }),
    'another origin': () => ({ origin: 'https://evil.example' }),
    'another relying party': () => ({ rpId: 'evil.example' }),
    'the type of a proof': () => ({ type: 'webauthn.get' }),
    'no user present': () => ({ flags: FLAGS.uv | FLAGS.at }),
    'no user verified': () => ({ flags: FLAGS.up | FLAGS.at }),
    'no key': () => ({ flags: FLAGS.up | FLAGS.uv }),
    'an algorithm that is not offered (ES384)': () => ({ algorithm: -35, curve: 2 }),
    'a symmetric algorithm': () => ({ algorithm: 5 }),
    'an attestation of another key': () => ({ isAttested: true, signer: newKey().privateKey }),
    'an attestation that was changed': () => ({
      isAttested: true,
      afterwards: (data) => Buffer.concat([data.subarray(0, 36), Buffer.from([9]), data.subarray(37)]),
    }),
    'data cut off': () => ({ afterwards: (data) => data.subarray(0, 60) }),
    'an empty id': () => ({ id: Buffer.alloc(0) }),
  };

  test.each(Object.entries(FORGED))('with %s is refused, and the invitation still works', async (_what, forge) => {
    const { path } = await invited(shop);
    const { answer, visitor } = await accept(path, forge());
    expect([answer.status, visitor.cookie]).toEqual([422, '']);
    expect((await accept(path)).answer.status).toBe(303);
  });

  test('with a self-attestation of its own key is accepted', async () => {
    const { path } = await invited(shop);
    expect((await accept(path, { isAttested: true })).answer.status).toBe(303);
  });

  test('cannot take the id of the passkey of another operator', async () => {
    const victim = await withPasskey();
    const { path } = await invited(shop);
    const { answer } = await accept(path, { id: victim.authenticator.credentialId });
    expect(answer.status).toBe(422);
    const attacker = await withPasskey();
    const { options, state } = await ceremony(attacker.visitor, '/admin/me/passkeys/options');
    const credential = new Authenticator(origin()).create(options, { id: victim.authenticator.credentialId });
    const form_token = hiddenValue((await attacker.visitor.get('/admin/me')).text, 'form_token');
    const added = await attacker.visitor.post('/admin/me/passkeys', { form_token, state, credential });
    expect(added.status).toBe(400);
    expect((await signIn(victim.authenticator)).answer.status).toBe(303);
  });

  test('with the challenge of a sign-in, of another invitation or of another session is refused', async () => {
    const [first, second] = [await invited(shop), await invited(shop)];
    const begun = await ceremony(new Visitor(shop.url), `${first.path}/passkey`);
    const proof = await ceremony(new Visitor(shop.url), '/admin/sign-in/passkey');
    const submit = ({ options, state }: Ceremony, path: string) =>
      new Visitor(shop.url).post(`${path}/passkey`, {
        name: 'Ada Byron',
        state,
        credential: new Authenticator(origin()).create(options),
      });
    expect((await submit(begun, second.path)).status).toBe(422);
    expect((await submit(proof, second.path)).status).toBe(422);
    expect((await submit(begun, first.path)).status).toBe(303);

    const { authenticator, visitor } = await withPasskey();
    const { visitor: elsewhere } = await signIn(authenticator);
    const { options, state } = await ceremony(elsewhere, '/admin/me/passkeys/options');
    const form_token = hiddenValue((await visitor.get('/admin/me')).text, 'form_token');
    const credential = new Authenticator(origin()).create(options);
    expect((await visitor.post('/admin/me/passkeys', { form_token, state, credential })).status).toBe(400);
  });
});

describe('a confirmation', () => {
  const age = (operatorId: string) =>
    shop.rows(
      `update operator_sessions set confirmed_at = now() - interval '11 minutes' where operator_id = '${operatorId}'`,
    );

  const confirm = async (visitor: Visitor, authenticator: Authenticator, begun: Ceremony, altered?: Alterations) => {
    const form_token = hiddenValue((await visitor.get('/admin/confirm?next=/admin/tokens')).text, 'form_token');
    const credential = authenticator.get(begun.options, altered);
    const { status } = await visitor.post('/admin/confirm/passkey', { form_token, state: begun.state, credential });
    return status;
  };

  test('needs a proof of the operator of the session, for this session', async () => {
    const { authenticator, operatorId, visitor } = await withPasskey();
    const { authenticator: other, visitor: otherVisitor, operatorId: otherId } = await withPasskey();
    const { visitor: elsewhere } = await signIn(authenticator);
    for (const id of [operatorId, otherId]) await age(id);
    const begun = () => ceremony(visitor, '/admin/confirm/passkey');
    // The passkey of another operator, with its own challenge or with this one.
    expect(await confirm(visitor, other, await begun())).toBe(422);
    expect(await confirm(visitor, other, await ceremony(otherVisitor, '/admin/confirm/passkey'))).toBe(422);
    // The challenge of another session of the same operator, and that of a sign-in.
    expect(await confirm(visitor, authenticator, await ceremony(elsewhere, '/admin/confirm/passkey'))).toBe(422);
    expect(await confirm(visitor, authenticator, await ceremony(new Visitor(shop.url), '/admin/sign-in/passkey'))).toBe(
      422,
    );
    expect(await confirm(visitor, authenticator, await begun(), { flags: FLAGS.up })).toBe(422);
    // A challenge of this session is no sign-in.
    expect((await signIn(authenticator, {}, await begun())).answer.status).toBe(422);
    expect(await confirm(visitor, authenticator, await begun())).toBe(303);
  });
});
