/** The test callback, from the admin API and from the panel: what is sent, what is shown, and who may send it. */
import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest';
import { findAccount } from '../../src/core/accounts/accounts.ts';
import { signedId } from '../../src/lib/crypto/signature.ts';
import type { Role } from '../../src/rules/roles.ts';
import { type Merchant, openShop } from '../support/gateway.ts';
import { holdRates } from '../support/hold-rates.ts';
import { shortenLimits } from '../support/limits.ts';
import { signedIn } from '../support/operators.ts';
import {
  answers,
  closesBeforeAnswer,
  floods,
  hangs,
  redirectsTo,
  startReceiver,
  type TestReceiver,
} from '../support/receivers.ts';

shortenLimits({ callbackTimeoutMs: 5000 });
const shop = openShop();
let receiver: TestReceiver;
beforeAll(async () => {
  receiver = await startReceiver();
});
afterAll(() => receiver.close());
beforeEach(() => {
  receiver.received = [];
  receiver.behaviour = answers(200, {}, 'ok');
});

const newMerchant = (settings: Record<string, unknown> = {}): Promise<Merchant> =>
  shop.newMerchant({ callback_url: receiver.url, ...settings });

const send = ({ mid }: Merchant, token?: string) =>
  shop.admin('POST', `/accounts/${mid}/test-callback`, undefined, token);

const tokenOf = async (role: Role, mids?: string[]): Promise<string> =>
  (await shop.admin('POST', '/tokens', { name: role, role, ...(mids && { mids }) })).body.token;

describe.each(['form', 'json'])('in the format %s', (format) => {
  test('it is signed, says that it is a test, and belongs to no payment', async () => {
    const merchant = await newMerchant({ callback_format: format });
    const { status, body } = await send(merchant);
    expect(status).toBe(200);
    expect(body).toEqual({
      mid: merchant.mid,
      id: expect.stringMatching(/^test-[0-9a-f-]{36}$/),
      accepted: true,
      status: 200,
      problem: null,
      answer: 'ok',
      took_ms: expect.any(Number),
    });
    const [request] = receiver.received;
    const { headers, body: bytes } = request as (typeof receiver.received)[number];
    const secrets = (await findAccount(shop.gateway, merchant.mid))?.callbackSecrets() ?? [];
    expect(signedId(headers, bytes, secrets, Date.now(), 300_000)).toBe(body.id);
    const fields =
      format === 'json' ? JSON.parse(String(bytes)) : Object.fromEntries(new URLSearchParams(String(bytes)));
    expect(fields).toEqual({
      type: 'test',
      mid: merchant.mid,
      date: expect.any(String),
      message: 'This is a test. It belongs to no payment.',
    });
    expect(headers['turnpike-sequence']).toBeUndefined();
    expect((await shop.admin('GET', `/callbacks?mid=${merchant.mid}`)).body.items).toEqual([]);
    const [entry] = (await shop.admin('GET', `/audit?action=callbacks.test`)).body.items;
    expect(entry).toMatchObject({ action: 'callbacks.test', subject: body.id, after: { status: 200, problem: null } });
  });
});

test.each([
  ['refuses', answers(403, {}, '<b>no</b>'), 403, 'The server refused the test with status 403.', '<b>no</b>'],
  ['redirects', redirectsTo('http://169.254.169.254/'), 301, /does not follow redirects/, ''],
  ['closes the connection', closesBeforeAnswer, null, /closed the connection/, null],
  ['does not answer', hangs, null, 'The server did not answer in time.', null],
  ['sends control characters', answers(500, {}, 'a\0\u001b[31m\nb'), 500, /status 500/, 'a[31m\nb'],
  ['sends much', floods(2_000_000), 200, null, 'x'.repeat(500)],
])('a server that %s', async (_, behaviour, status, problem, answer) => {
  receiver.behaviour = behaviour;
  const { body } = await send(await newMerchant());
  expect([body.status, body.answer, body.accepted]).toEqual([status, answer, status === 200]);
  if (problem === null) expect(body.problem).toBeNull();
  else expect(body.problem).toMatch(problem);
  expect(receiver.received).toHaveLength(1);
});

test('a server that is not there', async () => {
  const gone = await startReceiver();
  await gone.close();
  const { body } = await send(await newMerchant({ callback_url: gone.url }));
  expect(body).toMatchObject({ accepted: false, problem: 'The server refused the connection.', answer: null });
});

test('without an address nothing is sent', async () => {
  const { status, body } = await send(await newMerchant({ callback_url: '' }));
  expect([status, body.errors?.[0].error_message]).toEqual([400, 'callback_url: No callback_url is set.']);
});

test('it needs the permission to resend callbacks, and an account that the caller sees', async () => {
  const merchant = await newMerchant();
  const other = await newMerchant();
  const own = await tokenOf('merchant', [merchant.mid]);
  expect((await send(merchant, own)).status).toBe(200);
  expect((await send(other, own)).body).toEqual((await send({ ...other, mid: crypto.randomUUID() }, own)).body);
  expect((await send(other, own)).status).toBe(404);
  expect((await send(merchant, await tokenOf('viewer'))).status).toBe(403);
  expect(receiver.received).toHaveLength(1);
});

test('an account has six in a minute', async () => {
  const merchant = await newMerchant();
  holdRates();
  for (let sent = 0; sent < 6; sent++) expect((await send(merchant)).status).toBe(200);
  const refused = await send(merchant);
  expect([refused.status, refused.headers.get('retry-after')]).toEqual([429, '60']);
  expect((await send(await newMerchant())).status).toBe(200);
  expect(receiver.received).toHaveLength(7);
});

test('the panel shows the outcome, and nothing of the answer as markup', async () => {
  const merchant = await newMerchant();
  const operator = await signedIn(shop, 'merchant', [merchant.mid]);
  receiver.behaviour = answers(418, {}, '<script>alert(1)</script>');
  const { status, text } = await operator.submit(`/admin/accounts/${merchant.mid}/test-callback`);
  expect(status).toBe(200);
  expect(text).toContain('The server refused the test with status 418.');
  expect(text).toContain('&lt;script&gt;alert(1)&lt;/script&gt;');
  expect(text).not.toContain('<script>alert');
  const [entry] = (await shop.admin('GET', `/audit?action=callbacks.test`)).body.items;
  expect(entry).toMatchObject({ action: 'callbacks.test', mid: merchant.mid, actor: { id: operator.operatorId } });
  const viewer = await signedIn(shop, 'viewer');
  expect((await viewer.get(`/admin/accounts/${merchant.mid}?tab=notifications`)).text).not.toContain(
    'Send test callback',
  );
});

test('the inbox of the sandbox receives it with a valid signature and without a valid hash', async () => {
  const merchant = await shop.newMerchant();
  await shop.admin('PATCH', `/accounts/${merchant.mid}`, {
    callback_url: `${shop.url}/sandbox/callbacks/${merchant.mid}`,
  });
  expect((await send(merchant)).body).toMatchObject({ accepted: true });
  const { items } = (await shop.sandbox('GET', `/callbacks/${merchant.mid}`)).body;
  expect(items).toMatchObject([{ signature_is_valid: true, hash_is_valid: false, fields: { type: 'test' } }]);
});
