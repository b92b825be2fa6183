/** Owners of some accounts manage tokens and operators of these accounts, and learn nothing of the others. */
import { beforeAll, describe, expect, test } from 'vitest';
import { ADMIN_TOKEN, type Answer, type Merchant, openShop } from '../support/gateway.ts';
import { signedIn, type TestOperator } from '../support/operators.ts';
import { hiddenValue, invited, PASSWORD, totpCode, Visitor } from '../support/sign-in.ts';

const shop = openShop();
const RANDOM_ID = '01234567-89ab-7def-8123-456789abcdef';

let own: Merchant;
let other: Merchant;
beforeAll(async () => {
  [own, other] = [await shop.newMerchant(), await shop.newMerchant()];
});

const newToken = async (body: object, token = ADMIN_TOKEN) => {
  const created = await shop.admin('POST', '/tokens', { name: 'A token', role: 'owner', ...body }, token);
  expect(created.status, JSON.stringify(created.body)).toBe(201);
  return created.body as { token: string; token_id: string };
};
const idsOf = (name: 'token_id' | 'operator_id', { body }: Answer): string[] =>
  body.items.map((one: Record<string, string>) => one[name]);
const countOf = async (table: string) => (await shop.rows(`select count(*) from ${table}`))[0];

describe('a token of an owner of one account', () => {
  let token: string;
  let tokenId: string;
  beforeAll(async () => {
    ({ token, token_id: tokenId } = await newToken({ mids: [own.mid] }));
  });

  test.each<[string, () => object]>([
    ['of all accounts', () => ({})],
    ['of another account', () => ({ mids: [other.mid] })],
    ['of its account and another one', () => ({ mids: [own.mid, other.mid] })],
    ['of an account that does not exist', () => ({ mids: [RANDOM_ID] })],
  ])('creates no token %s', async (_, more) => {
    const before = await countOf('api_tokens');
    for (const role of ['owner', 'viewer']) {
      const refused = await shop.admin('POST', '/tokens', { name: 'Wider', role, ...more() }, token);
      expect([refused.status, refused.body.error_message]).toEqual([403, 'Your role does not allow this.']);
      expect(refused.body.errors).toMatchObject([
        { param: 'mids', error_message: 'mids: This value should allow nothing that you may not do yourself.' },
      ]);
    }
    expect(await countOf('api_tokens')).toEqual(before);
  });

  test('creates, lists and revokes those of its account', async () => {
    const unrestricted = await newToken({});
    const foreign = await newToken({ role: 'viewer', mids: [other.mid] });
    const shared = await newToken({ role: 'viewer', mids: [own.mid, other.mid] });
    const created = await newToken({ role: 'merchant', mids: [own.mid.toUpperCase()] }, token);
    const listed = idsOf('token_id', await shop.admin('GET', '/tokens', undefined, token));
    expect(listed).toEqual([created.token_id, tokenId]);
    const unknown = await shop.admin('DELETE', `/tokens/${RANDOM_ID}`, undefined, token);
    expect(unknown.status).toBe(404);
    for (const { token_id } of [unrestricted, foreign, shared]) {
      const refused = await shop.admin('DELETE', `/tokens/${token_id}`, undefined, token);
      expect([refused.status, refused.body]).toEqual([404, unknown.body]);
    }
    expect((await shop.admin('GET', '/me', undefined, unrestricted.token)).status).toBe(200);
    expect((await shop.admin('DELETE', `/tokens/${created.token_id}`, undefined, token)).status).toBe(200);
    expect((await shop.admin('GET', '/me', undefined, created.token)).status).toBe(401);
  });

  test('lists the operators of its account', async () => {
    await signedIn(shop, 'owner');
    await signedIn(shop, 'viewer', [other.mid]);
    await signedIn(shop, 'viewer', [own.mid, other.mid]);
    const mine = await signedIn(shop, 'support', [own.mid]);
    const listed = idsOf('operator_id', await shop.admin('GET', '/operators', undefined, token));
    expect(listed).toEqual([mine.operatorId]);
  });
});

describe('an operator who is an owner of one account', () => {
  let owner: TestOperator;
  beforeAll(async () => {
    owner = await signedIn(shop, 'owner', [own.mid]);
  });

  test.each([
    ['/admin/tokens', { name: 'Wider', role: 'owner', days: '30' }, 'api_tokens'],
    ['/admin/operators', { email: 'wider@example.com', role: 'owner' }, 'operators'],
  ])('%s: gives its own accounts only', async (path, fields, table) => {
    const before = await countOf(table);
    const form = await owner.get(path);
    expect([form.text.includes(`mid.${own.mid}`), form.text.includes(other.mid)]).toEqual([true, false]);
    const none = await owner.submit(path, fields);
    expect([none.status, none.text.includes('Choose at least one account.')]).toEqual([400, true]);
    const [foreign, unknown] = [
      await owner.submit(path, { ...fields, [`mid.${other.mid}`]: '1' }),
      await owner.submit(path, { ...fields, [`mid.${RANDOM_ID}`]: '1' }),
    ];
    expect([foreign.status, foreign.text]).toEqual([400, unknown.text]);
    expect(await countOf(table)).toEqual(before);
    expect((await owner.submit(path, { ...fields, [`mid.${own.mid}`]: '1' })).status).toBe(200);
  });

  test('another owner is as unknown as any id: not listed, not invited again, not changed', async () => {
    const unrestricted = await signedIn(shop, 'owner');
    const foreign = await signedIn(shop, 'viewer', [other.mid]);
    const listed = await owner.get('/admin/operators');
    for (const { operatorId } of [unrestricted, foreign]) {
      expect(listed.text).not.toContain(operatorId);
      for (const [action, fields] of [
        ['invite', {}],
        ['role', { role: 'viewer' }],
        ['suspend', { suspended: 'true' }],
      ] as const) {
        const answer = await owner.submit(`/admin/operators/${operatorId}/${action}`, fields);
        const unknown = await owner.submit(`/admin/operators/${RANDOM_ID}/${action}`, fields);
        expect([answer.status, answer.text]).toEqual([404, unknown.text]);
      }
    }
    expect((await unrestricted.get('/admin/operators')).status).toBe(200);
    expect((await foreign.get('/admin/payments')).status).toBe(200);
  });

  test('a token of another account is not listed, and not revoked', async () => {
    const { token, token_id } = await newToken({ name: 'The foreign one', mids: [other.mid] });
    expect((await owner.get('/admin/tokens')).text).not.toContain('The foreign one');
    const refused = await owner.submit(`/admin/tokens/${token_id}/revoke`);
    const unknown = await owner.submit(`/admin/tokens/${RANDOM_ID}/revoke`);
    expect([refused.status, refused.text]).toEqual([404, unknown.text]);
    expect((await shop.admin('GET', '/me', undefined, token)).status).toBe(200);
  });

  test('an operator of its account is invited again, and changed', async () => {
    const mine = await signedIn(shop, 'support', [own.mid]);
    expect((await owner.submit(`/admin/operators/${mine.operatorId}/role`, { role: 'viewer' })).status).toBe(303);
    const again = await owner.submit(`/admin/operators/${mine.operatorId}/invite`);
    expect(again.text).toMatch(/\/admin\/invitation\/[0-9a-f]{64}</);
    expect((await owner.submit(`/admin/operators/${mine.operatorId}/suspend`, { suspended: 'true' })).status).toBe(303);
  });

  test('has no page for a new account, and no button for it', async () => {
    expect((await owner.get('/admin/accounts')).text).not.toContain('/admin/accounts/new');
    const before = await countOf('accounts');
    expect((await owner.get('/admin/accounts/new')).status).toBe(403);
    expect((await owner.submit('/admin/accounts/new', { name: 'Mine' })).status).toBe(403);
    expect(await countOf('accounts')).toEqual(before);
  });
});

describe('an invitation', () => {
  const pathIn = (text: string): string => /\/admin\/invitation\/[0-9a-f]{64}/.exec(text)?.[0] ?? '';
  /** A link for another operator that an owner has made. */
  const linkOf = async (maker: TestOperator, operatorId: string): Promise<string> =>
    pathIn((await maker.submit(`/admin/operators/${operatorId}/invite`)).text);
  const sessionsOf = async ({ operatorId }: TestOperator) =>
    (await shop.rows(`select count(*) from operator_sessions where operator_id = '${operatorId}'`))[0];

  test('of an owner who was suspended or demoted meanwhile does not work', async () => {
    const admin = await signedIn(shop, 'owner');
    for (const [action, fields] of [
      ['suspend', { suspended: 'true' }],
      ['role', { role: 'operator' }],
    ] as const) {
      const [maker, target] = [await signedIn(shop, 'owner'), await signedIn(shop, 'owner')];
      const path = await linkOf(maker, target.operatorId);
      expect((await new Visitor(shop.url).get(path)).status).toBe(200);
      expect((await admin.submit(`/admin/operators/${maker.operatorId}/${action}`, fields)).status).toBe(303);
      const visitor = new Visitor(shop.url);
      const answers = [await visitor.get(path), await visitor.post(path, { name: 'Eve', password: PASSWORD })];
      for (const { text } of answers) expect(text).toContain('This link does not work');
      expect(await sessionsOf(target)).toEqual({ count: '1' });
    }
  });

  test('does not work between its steps either', async () => {
    const [admin, maker, target] = [
      await signedIn(shop, 'owner'),
      await signedIn(shop, 'owner'),
      await signedIn(shop, 'owner'),
    ];
    const path = await linkOf(maker, target.operatorId);
    const visitor = new Visitor(shop.url);
    const setup = await visitor.post(path, { name: 'Eve', password: PASSWORD });
    const seed = /<code class="mono">([A-Z2-7 ]+)<\/code>/.exec(setup.text)?.[1] ?? '';
    await admin.submit(`/admin/operators/${maker.operatorId}/suspend`, { suspended: 'true' });
    const fields = { setup: hiddenValue(setup.text, 'setup'), code: totpCode(seed) };
    expect((await visitor.post(`${path}/code`, fields)).text).toContain('This link does not work');
    expect(await sessionsOf(target)).toEqual({ count: '1' });
  });

  test('to an operator who sees more than its maker by now does not work', async () => {
    const [maker, target] = [await signedIn(shop, 'owner', [own.mid]), await signedIn(shop, 'viewer', [own.mid])];
    const path = await linkOf(maker, target.operatorId);
    await shop.rows(`update operators set mids = null where operator_id = '${target.operatorId}'`);
    expect((await new Visitor(shop.url).get(path)).text).toContain('This link does not work');
  });

  test('of a command works, whoever is suspended', async () => {
    const { path } = await invited(shop, 'support', [own.mid]);
    expect((await new Visitor(shop.url).get(path)).status).toBe(200);
  });
});
