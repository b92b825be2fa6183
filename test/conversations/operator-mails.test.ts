/** E-mails to operators: an invitation, and a link with which a forgotten password is replaced. */
import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest';
import { LIMITS } from '../../src/rules/limits.ts';
import { openShop, startTestGateway } from '../support/gateway.ts';
import { shortenLimits } from '../support/limits.ts';
import { headersOf, partsOf, type ReceivedMail, startMailServer, type TestMailServer } from '../support/mail.ts';
import { signedIn } from '../support/operators.ts';
import { hiddenValue, nextTotpCode, PASSWORD, type SignedUp, signedUp, Visitor } from '../support/sign-in.ts';

shortenLimits({ passwordHashKib: 1024, passwordHashPasses: 1 });
const mail = { url: '', from: 'panel@pay.example' };
let server: TestMailServer;
beforeAll(async () => {
  server = await startMailServer();
  mail.url = server.url;
});
afterAll(() => server.stop());
const shop = openShop({ mail });

beforeEach(() => {
  server.behaviour = 'accepts';
  server.mails.length = 0;
});

const FORGOTTEN = '/admin/forgotten';
const NEW_PASSWORD = 'another five unusual words here';

const only = (): ReceivedMail => {
  expect(server.mails).toHaveLength(1);
  return server.mails[0] as ReceivedMail;
};

/** The path of the link that both parts of an e-mail have. */
function pathIn(received: ReceivedMail): string {
  const parts = partsOf(received);
  const link = /^https?:\S+$/m.exec(parts.get('text/plain') ?? '')?.[0] ?? '';
  expect(parts.get('text/html')).toContain(`href="${link}"`);
  return new URL(link).pathname;
}

const actionsAbout = async (operatorId: string): Promise<string[]> =>
  (await shop.admin('GET', '/audit?limit=20')).body.items
    .filter(({ subject }: { subject: string }) => subject === operatorId)
    .map(({ action }: { action: string }) => action);

const ask = (email: string, headers = {}) => new Visitor(shop.url).post(FORGOTTEN, { email }, headers);

/** The path of the link that the operator gets. */
async function linkFor({ email }: SignedUp, headers = {}): Promise<string> {
  await ask(email, headers);
  await expect.poll(() => server.mails.length).toBe(1);
  return pathIn(only());
}

const choose = (path: string, code: string, password = NEW_PASSWORD) =>
  new Visitor(shop.url).post(path, { password, code });

const isPassword = async ({ email }: SignedUp, password: string): Promise<boolean> =>
  hiddenValue((await new Visitor(shop.url).post('/admin/sign-in', { email, password })).text, 'pending') !== '';

describe('an invitation', () => {
  const invite = async (email: string) =>
    (await signedIn(shop, 'owner')).submit('/admin/operators', { email, role: 'viewer' });

  test('is sent to the address, and its link lets the operator in', async () => {
    const { text } = await invite('grace@example.com');
    expect(text).toContain('The invitation was sent by e-mail.');
    const received = only();
    expect([received.from, received.to]).toEqual([mail.from, ['grace@example.com']]);
    expect(headersOf(received).get('subject')).toMatch(/^Your invitation to the payments of /);
    expect(partsOf(received).get('text/plain')).toContain('the owner invites you');
    const page = await new Visitor(shop.url).get(pathIn(received));
    expect([page.status, page.text]).toEqual([200, expect.stringContaining('grace@example.com')]);
  });

  test('is shown as a link if the e-mail is refused, with the reason', async () => {
    server.behaviour = 'rejects recipient';
    const { status, text } = await invite('nobody@example.com');
    expect(status).toBe(200);
    expect(text).toMatch(/The e-mail could not be sent: .*No such user here/);
    const path = /\/admin\/invitation\/[\w-]+/.exec(text)?.[0] ?? '';
    expect((await new Visitor(shop.url).get(path)).status).toBe(200);
  });
});

describe('a forgotten password', () => {
  test('the sign-in page leads to the form', async () => {
    expect((await new Visitor(shop.url).get('/admin/sign-in')).text).toContain(`href="${FORGOTTEN}"`);
    const form = await new Visitor(shop.url).get(FORGOTTEN);
    expect([form.status, form.text]).toEqual([200, expect.stringContaining('name="email"')]);
  });

  test('is replaced with the link and a code; all sessions end, and the audit log says it', async () => {
    const operator = await signedUp(shop, 'viewer');
    const path = await linkFor(operator);
    expect(only().to).toEqual([operator.email]);
    expect((await new Visitor(shop.url).get(path)).text).toContain('name="password"');
    const done = await choose(path, nextTotpCode(operator.seed));
    expect([done.status, done.text]).toEqual([200, expect.stringContaining('Your new password is saved')]);
    expect((await operator.visitor.get('/admin/me')).status).toBe(303);
    expect([await isPassword(operator, PASSWORD), await isPassword(operator, NEW_PASSWORD)]).toEqual([false, true]);
    expect(await actionsAbout(operator.operatorId)).toEqual(
      expect.arrayContaining(['operators.request_reset', 'operators.reset_password']),
    );
  });

  test('the answer is the same for an address that nobody has, and no e-mail is sent', async () => {
    const operator = await signedUp(shop, 'viewer');
    const withoutPassword = await signedIn(shop, 'viewer');
    const suspended = await signedUp(shop, 'viewer');
    const owner = await signedIn(shop, 'owner');
    expect((await owner.submit(`/admin/operators/${suspended.operatorId}/suspend`, { suspended: 'true' })).status).toBe(
      303,
    );
    const addresses = [
      'nobody@example.com',
      'no address',
      `${withoutPassword.operatorId}@example.com`,
      suspended.email,
    ];
    const others = await Promise.all(addresses.map((email) => ask(email)));
    const known = await ask(operator.email);
    for (const { status, text, headers } of others) {
      expect([status, text]).toEqual([known.status, known.text]);
      expect([...headers.keys()]).toEqual([...known.headers.keys()]);
    }
    await expect.poll(() => server.mails.map(({ to }) => to)).toEqual([[operator.email]]);
  });

  test('an empty address is refused beside its field', async () => {
    const { status, text } = await ask(' ');
    expect([status, text]).toEqual([422, expect.stringContaining('Fill in this field.')]);
  });

  test('the link works once, and other links of before stop with it', async () => {
    const operator = await signedUp(shop, 'viewer');
    const path = await linkFor(operator);
    server.mails.length = 0;
    const earlier = await linkFor(operator);
    const [code = '', next = '', last = ''] = operator.recoveryCodes;
    expect((await choose(path, code)).status).toBe(200);
    for (const [used, unused] of [
      [path, next],
      [earlier, last],
    ] as const) {
      expect((await new Visitor(shop.url).get(used)).status).toBe(404);
      const again = await choose(used, unused, 'six more words that nobody knows');
      expect([again.status, again.text]).toEqual([404, expect.stringContaining('The link has expired or was used.')]);
    }
    expect(await isPassword(operator, NEW_PASSWORD)).toBe(true);
  });

  test('the link expires after an hour', async () => {
    const operator = await signedUp(shop, 'viewer');
    const path = await linkFor(operator);
    const { clock } = shop.gateway;
    const { real } = clock;
    clock.real = () => real() + LIMITS.operatorResetMs;
    try {
      expect((await new Visitor(shop.url).get(path)).status).toBe(404);
      expect((await choose(path, operator.recoveryCodes[0] ?? '')).status).toBe(404);
    } finally {
      clock.real = real;
    }
    expect(await isPassword(operator, PASSWORD)).toBe(true);
  });

  test.each([
    ['no code', '', NEW_PASSWORD, 'code', 'This code is wrong or was used before.'],
    ['a wrong code', '000000', NEW_PASSWORD, 'code', 'This code is wrong or was used before.'],
    ['a short password', '000000', 'short', 'password', 'Use 12 characters or more.'],
  ])('%s changes nothing, and the link still works', async (_, code, password, name, message) => {
    const operator = await signedUp(shop, 'viewer');
    const path = await linkFor(operator);
    const refused = await choose(path, code, password);
    expect([refused.status, refused.text]).toEqual([422, expect.stringContaining(message)]);
    expect(refused.text).toMatch(new RegExp(`name="${name}"[^>]* aria-invalid="true"`));
    expect(refused.text).not.toContain(NEW_PASSWORD);
    expect(await isPassword(operator, PASSWORD)).toBe(true);
    expect((await choose(path, nextTotpCode(operator.seed))).status).toBe(200);
  });

  test('a link that was changed opens nothing', async () => {
    const path = await linkFor(await signedUp(shop, 'viewer'));
    for (const other of [`${FORGOTTEN}/x`, path.replace(/.{4}$/, 'AAAA')]) {
      expect((await new Visitor(shop.url).get(other)).status).toBe(404);
    }
  });

  test('an operator gets a few links at most, and the answer does not tell', async () => {
    const operator = await signedUp(shop, 'viewer');
    const texts: string[] = [];
    for (let count = 0; count < LIMITS.operatorResetsMost + 2; count++) texts.push((await ask(operator.email)).text);
    expect(new Set(texts).size).toBe(1);
    await expect.poll(() => server.mails.length).toBe(LIMITS.operatorResetsMost);
  });

  test('the e-mail is in the language of the operator, else of the browser', async () => {
    const operator = await signedUp(shop, 'viewer');
    const form_token = hiddenValue((await operator.visitor.get('/admin/me')).text, 'form_token');
    await linkFor(operator, { 'accept-language': 'es' });
    expect(headersOf(only()).get('subject')).toMatch(/^Una contraseña nueva para /);
    await operator.visitor.post('/admin/me/language', { language: 'de', form_token });
    server.mails.length = 0;
    await linkFor(operator, { 'accept-language': 'es' });
    expect(headersOf(only()).get('subject')).toMatch(/^Ein neues Passwort für /);
  });

  test('no link, password or code is in the log', async () => {
    const operator = await signedUp(shop, 'viewer');
    const path = await linkFor(operator);
    const [code = ''] = operator.recoveryCodes;
    await choose(path, code);
    const log = shop.logs.join('');
    for (const secret of [path.slice(FORGOTTEN.length + 1), NEW_PASSWORD, code]) expect(log).not.toContain(secret);
  });
});

test('without a mail server there is no such page, and the sign-in page says whom to ask', async () => {
  const other = await startTestGateway();
  try {
    await signedIn(other, 'owner');
    const visitor = new Visitor(other.url);
    const { text } = await visitor.get('/admin/sign-in');
    expect(text).toContain('ask an owner for a new invitation');
    expect(text).not.toContain(FORGOTTEN);
    expect((await visitor.get(FORGOTTEN)).status).toBe(404);
  } finally {
    await other.close();
  }
});
