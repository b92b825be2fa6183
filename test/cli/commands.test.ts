/** The commands over the admin API, on the gateway of a shop; help, mistakes and exit codes. */
import * as fs from 'node:fs/promises';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { COMMANDS } from '../../src/cli/commands.ts';
import { writeAdminToken } from '../../src/server/admin-token-file.ts';
import { ADMIN_TOKEN, type Fields, openShop, sign } from '../support/gateway.ts';
import { turnpike } from './turnpike.ts';

const shop = openShop({ simulator: true });
let folder: string;
beforeAll(async () => {
  folder = await fs.mkdtemp(join(tmpdir(), 'turnpike-commands-'));
});
afterAll(() => fs.rm(folder, { recursive: true, force: true }));

const surroundings = (): Fields => ({ PUBLIC_URL: shop.url, TURNPIKE_ADMIN_TOKEN: ADMIN_TOKEN });
const command = (...words: string[]) => turnpike(surroundings(), words);
const json = async (...words: string[]) => {
  const { code, json, messages } = await command(...words, '--json');
  expect(code, messages).toBe(0);
  return json();
};

describe('help', () => {
  test('of the program lists all commands, exit codes and variables, also as `help` and `-h`', async () => {
    const { code, output } = await turnpike({ PORT: 'abc' }, ['--help']);
    expect(code).toBe(0);
    for (const { name } of COMMANDS) expect(output).toContain(`\n  ${name} `);
    for (const text of ['\n  3  ', '\n  TURNPIKE_ENV ']) expect(output).toContain(text);
    for (const word of ['help', '-h']) expect((await turnpike({}, [word])).output).toBe(output);
  });

  test.each(COMMANDS.map(({ name }) => name))('of `%s` is the same with `help` and with --help', async (name) => {
    const words = name.split(' ');
    const { code, output } = await turnpike({}, ['help', ...words]);
    expect(code).toBe(0);
    expect(output).toMatch(new RegExp(`^turnpike ${name}`));
    expect(output).toContain('\nExamples\n');
    expect((await turnpike({}, [...words, '--help'])).output).toBe(output);
  });

  test('of a group lists its commands', async () => {
    const { output } = await turnpike({}, ['payment', '--help']);
    for (const verb of ['list', 'show', 'capture', 'void', 'refund']) expect(output).toContain(`\n  payment ${verb} `);
    expect((await turnpike({}, ['help', 'payment'])).output).toBe(output);
  });
});

test.each<[string, RegExp]>([
  ['dance', /There is no command dance\. `turnpike help`/],
  ['serv', /Did you mean `serve`\?/],
  ['payment', /one of these is expected: list, show/],
  ['payment erase', /Name either a payment or --email\./],
  ['payment erase --email ada@example.com', /--email and --mid belong together\./],
  ['payment refnd', /Did you mean `payment refund`\?/],
  ['help acount', /Did you mean `account`\?/],
  ['payment list --statu X', /has no option --statu\. Did you mean --status\?/],
  ['payment list --status settled', /--status should be one of .* Did you mean SETTLED\?/],
  ['payment list --status', /--status needs a value/],
  ['payment list --json=1', /--json takes no value/],
  ['payment show', /<payment_id> is missing/],
  ['payment show x', /<payment_id> should be an id/],
  ['serve 8080', /After serve nothing more is expected/],
  ['account create', /<name> is missing/],
  ['listen', /--forward is required/],
  ['listen --forward localhost', /--forward should be an http or https address/],
  ['listen --forward http://localhost:1 --count all', /--count should be a whole number/],
  ['trigger clock soon', /<duration> should be a duration/],
  ['account list --token 4711', /The admin token is not an option/],
  ['account list --url http://gateway.example', /not sent over plain http to another machine \(gateway\.example\)/],
  ['account list --url http://user:pass@127.0.0.1', /no user, password or query/],
  ['account set 01a1dd06-691f-7000-87fc-b0749d0543ed', /Say what to set/],
  ['account set 01a1dd06-691f-7000-87fc-b0749d0543ed calback_url=x', /Did you mean callback_url\?/],
  ['account set 01a1dd06-691f-7000-87fc-b0749d0543ed wallets.wallet-a.private_key=x', /is a secret.*--input/],
])('`%s` is a mistake with code 2', async (line, message) => {
  const { code, output, messages } = await command(...line.split(' '));
  expect([code, output]).toEqual([2, '']);
  expect(messages).toMatch(/^turnpike: .*[.?]\n$/);
  expect(messages).toMatch(message);
  for (const typed of ['4711', 'user:pass']) expect(messages).not.toContain(typed);
});

describe('the admin token', () => {
  test('is read from the data folder of a sandbox on this machine', async () => {
    const dataDir = join(folder, 'data');
    await writeAdminToken(dataDir, ADMIN_TOKEN);
    expect((await fs.stat(join(dataDir, 'admin.token'))).mode & 0o777).toBe(0o600);
    const { code, messages } = await turnpike({ PUBLIC_URL: shop.url, DATA_DIR: dataDir }, ['account', 'list']);
    expect([code, messages]).toEqual([0, '']);
  });

  test('of the data folder is not sent to another machine', async () => {
    const variables = { PUBLIC_URL: 'https://gateway.example', DATA_DIR: join(folder, 'data') };
    const { code, messages } = await turnpike(variables, ['account', 'list']);
    expect([code, messages]).toEqual([
      4,
      expect.stringMatching(/The admin token is missing: set TURNPIKE_ADMIN_TOKEN/),
    ]);
  });

  test.each([
    ['is wrong', 'x'.repeat(40), 4, /The admin token is wrong/],
    ['cannot be one', 'half a-token', 2, /no spaces or line breaks/],
  ])('that %s is not shown', async (_, token, expected, message) => {
    const variables = { ...surroundings(), TURNPIKE_ADMIN_TOKEN: token };
    const { code, messages } = await turnpike(variables, ['account', 'list']);
    expect([code, messages]).toEqual([expected, expect.stringMatching(message)]);
    expect(messages).not.toContain(token);
  });

  test('does not follow a redirect', async () => {
    const seen: unknown[] = [];
    const elsewhere = createServer((request, response) => {
      seen.push(request.headers.authorization);
      response.writeHead(request.url === '/stolen' ? 200 : 302, { location: '/stolen' }).end('{}');
    }).listen(0, '127.0.0.1');
    await new Promise((resolve) => elsewhere.once('listening', resolve));
    const { port } = elsewhere.address() as AddressInfo;
    const { code, messages } = await command('account', 'list', '--url', `http://127.0.0.1:${port}`);
    expect([code, messages]).toEqual([1, expect.stringMatching(/is not Turnpike/)]);
    expect(seen).toHaveLength(1);
    await new Promise((resolve) => elsewhere.close(resolve));
  });

  test('is never printed', async () => {
    const { output, messages } = await command('account', 'list', '--json');
    expect(output + messages).not.toContain(ADMIN_TOKEN);
  });
});

test('a gateway that is not there is unreachable: code 3', async () => {
  const { code, messages } = await command('account', 'list', '--url', 'http://127.0.0.1:1');
  expect([code, messages]).toEqual([3, expect.stringMatching(/cannot be reached/)]);
});

test('an account is created, listed, changed, and gets a new password', async () => {
  const created = await json('account', 'create', 'Tea House', 'callback_format=json');
  expect(created).toMatchObject({ name: 'Tea House', password: expect.stringMatching(/^[0-9a-f]{32}$/) });
  expect((await command('account', 'list')).output).toContain(`${created.mid}  Tea House`);
  const words = ['account', 'set', created.mid, 'brands=card,vcard', 'refunds_allowed=false', 'authorisation_days=5'];
  expect(await json(...words, 'suspended=true')).toMatchObject({
    suspended: true,
    settings: { callback_format: 'json', brands: ['card', 'vcard'], refunds_allowed: false, authorisation_days: 5 },
  });
  const input = await turnpike(
    surroundings(),
    ['account', 'set', created.mid, '--input', '--json'],
    '{"suspended": false}',
  );
  expect(input.json()).toMatchObject({ suspended: false });
  const shown = await command('account', 'show', created.mid);
  expect(shown.output).toMatch(/^brands +\["card","vcard"\]$/m);
  expect(shown.output).not.toContain(created.password);
  const rotated = await json('account', 'rotate-password', created.mid);
  expect(rotated.password).not.toBe(created.password);
  const refused = await command('account', 'set', created.mid, 'callback_format=xml');
  expect([refused.code, refused.messages]).toEqual([1, expect.stringMatching(/callback_format: .*one of form, json/)]);
});

test('a test payment is made, shown, refunded and charged back', async () => {
  const { mid } = shop.merchant;
  const sale = await json('trigger', 'sale', '--mid', mid, '--amount', '12.00', '--currency', 'EUR');
  expect(sale).toMatchObject({ status: 'SETTLED', amount: '12.00', currency: 'EUR' });
  expect(await json('trigger', 'sale', '--mid', mid, '--decline')).toMatchObject({ status: 'DECLINED' });
  const { items } = await json('payment', 'list', '--status', 'SETTLED', '--order-id', sale.order_id);
  expect(items).toMatchObject([{ payment_id: sale.trans_id, order_id: sale.order_id }]);
  const operation = ['--amount', '5.00', '--operation-id', '01a1dd06-691f-7000-87fc-b0749d0543ed'];
  for (let n = 0; n < 2; n++) await json('payment', 'refund', sale.trans_id, ...operation);
  expect(await json('payment', 'show', sale.trans_id)).toMatchObject({ refunded: '5.00', status: 'SETTLED' });
  const { output } = await command('payment', 'show', sale.trans_id);
  expect(output).toMatch(/\n {2}01a1dd06-691f-7000-87fc-b0749d0543ed {2}refund {2}5.00 {2}done\n/);
  await json('trigger', 'chargeback', sale.trans_id);
  await expect.poll(() => json('payment', 'show', sale.trans_id)).toMatchObject({ status: 'CHARGEBACK' });
  const refused = await command('payment', 'capture', sale.trans_id);
  expect([refused.code, refused.messages]).toEqual([1, expect.stringMatching(/not in pending status/)]);
});

test('the personal data of a payment, and of a payer, is erased', async () => {
  const { mid } = shop.merchant;
  const fields = { payer_email: 'erased@example.com' };
  const { trans_id } = (await shop.sale(fields)).body;
  expect(await json('payment', 'erase', trans_id)).toMatchObject({ payment_id: trans_id, erased: [trans_id] });
  const { trans_id: settled } = (await shop.sale(fields)).body;
  const { trans_id: open } = (await shop.sale({ ...fields, auth: 'Y' })).body;
  const { code, json: result } = await command(
    'payment',
    'erase',
    '--email',
    fields.payer_email,
    '--mid',
    mid,
    '--json',
  );
  expect([code, result()]).toMatchObject([1, { erased: [settled], refused: [{ payment_id: open }] }]);
  const { output } = await command('payment', 'erase', '--email', fields.payer_email, '--mid', mid);
  expect(output).toMatch(/^Erased payments: 0\nThese keep their data:\n {2}\S+ +The payment is open/);
});

test('an authorised payment is captured or voided', async () => {
  const authorise = async () => {
    const fields = { auth: 'Y' };
    return (await shop.sale(fields)).body.trans_id as string;
  };
  expect(await json('payment', 'capture', await authorise())).toMatchObject({ status: 'SETTLED' });
  expect(await json('payment', 'void', await authorise())).toMatchObject({ status: 'VOID' });
});

test('the simulated bank and provider answer as they are told, and the clock advances', async () => {
  const { trans_id } = (await shop.sale({ brand: 'ips', identifier: '', order_currency: 'RSD' })).body;
  expect(await json('payment', 'show', trans_id)).toMatchObject({ status: 'PENDING' });
  await json('trigger', 'provider_status', trans_id, 'executed');
  await json('trigger', 'bank_callback', trans_id, 'ACSC');
  await expect.poll(() => json('payment', 'show', trans_id)).toMatchObject({ status: 'SETTLED' });
  const { faults } = await json('trigger', 'fault', 'timeout_after', '--brand', 'bank-a', '--count', '2');
  expect(faults).toMatchObject([{ brand: 'bank-a', mode: 'timeout_after' }]);
  expect(Object.values(faults[0])).toContain(2);
  expect((await command('trigger', 'fault', 'none')).output).toBe('The faults are removed.\n');
  const { offset_seconds } = await json('trigger', 'clock', '2h', '--mid', shop.merchant.mid);
  expect(offset_seconds).toBe(7200);
});

describe('sign and explain', () => {
  const form = () => `action=SALE&client_key=${shop.merchant.client_key}&identifier=a%2Bb&order_id=1&order_amount=1.00`;

  test('a form gets its hash, which the gateway finds valid', async () => {
    const { mid, password } = shop.merchant;
    const body = `${form()}&order_currency=USD&hash=wrong\n`;
    const signed = await turnpike({ TURNPIKE_PASSWORD: password }, ['sign'], body);
    const hash = sign(password, 'a+b', '1', '1.00', 'USD');
    expect(signed.output).toBe(`${form()}&order_currency=USD&hash=${hash}\n`);
    const explain = (text: string) => turnpike(surroundings(), ['explain', '--mid', mid, '--json'], text);
    const right = await explain(signed.output);
    expect([right.code, right.json().matches]).toEqual([0, true]);
    const wrong = await explain(body);
    expect([wrong.code, wrong.json().mistakes]).toEqual([1, ['hash_format']]);
  });

  test('a Checkout request from a file gets its hash', async () => {
    const file = join(folder, 'session.json');
    const order = { number: '1', amount: '10.00', currency: 'USD', description: 'Čaj' };
    await fs.writeFile(file, JSON.stringify({ merchant_key: 'k', operation: 'purchase', order, hash: 'x' }));
    const { json, output } = await turnpike({ TURNPIKE_PASSWORD: 'pass' }, ['sign', file, '--json']);
    expect(json()).toMatchObject({ action: 'session', hash: sign('pass', '1', '10.00', 'USD', 'Čaj') });
    expect(JSON.parse(json().body)).toMatchObject({ order, hash: json().hash });
    expect(output).not.toContain('pass"');
  });

  test.each<[string, Fields, number, RegExp]>([
    ['a=b', { TURNPIKE_PASSWORD: 'p' }, 1, /The form has no action/],
    ['{"payment_id":"x","amount":"1.00"}', { TURNPIKE_PASSWORD: 'p' }, 2, /fits several requests .* --path/],
    ['action=VOID&trans_id=1', {}, 2, /The password is missing: set TURNPIKE_PASSWORD/],
  ])('%s cannot be signed', async (body, variables, expected, message) => {
    const { code, messages } = await turnpike(variables, ['sign'], body);
    expect([code, messages]).toEqual([expected, expect.stringMatching(message)]);
  });
});
