/** The commands over the admin API, on the gateway of a shop; help, mistakes and exit codes. */
import * as fs from 'node:fs/promises';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { COMMANDS } from '../../src/cli/commands.ts';
import { writeAdminToken } from '../../src/server/admin-token-file.ts';
import { cardSale, operationHash, reversedSaleHash } from '../support/dialect.ts';
import { freePort } from '../support/free-port.ts';
import { ADMIN_TOKEN, type Fields, openShop, sign, startTestGateway } from '../support/gateway.ts';
import { turnpike } from './turnpike.ts';

const shop = openShop({ simulator: true });
let folder: string;
beforeAll(async () => {
  folder = await fs.mkdtemp(join(tmpdir(), 'turnpike-commands-'));
});
afterAll(() => fs.rm(folder, { recursive: true, force: true }));

const surroundings = (): Fields => ({
  PUBLIC_URL: shop.url,
  TURNPIKE_ADMIN_TOKEN: ADMIN_TOKEN,
  XDG_CONFIG_HOME: folder,
});
const command = (...words: string[]) => turnpike(surroundings(), words);
const json = async (...words: string[]) => {
  const { code, json, messages } = await command(...words, '--json');
  expect(code, messages).toBe(0);
  return json();
};

describe('help', () => {
  test('of the program lists all commands and exit codes; the bare name prints it, too', async () => {
    const { code, output } = await turnpike({ PORT: 'abc' }, ['--help']);
    expect(code).toBe(0);
    for (const { name } of COMMANDS) expect(output).toContain(`\n  ${name} `);
    expect(output).toContain('\n  3  ');
    for (const words of [['help'], ['-h'], []]) {
      expect(await turnpike({ PORT: 'abc' }, words)).toMatchObject({ code: 0, output });
    }
  });

  test('of the environment lists the variables, in lines that fit a terminal', async () => {
    const { code, output } = await turnpike({}, ['help', 'environment']);
    expect(code).toBe(0);
    for (const name of ['TURNPIKE_ENV', 'TURNPIKE_PASSWORD', 'TURNPIKE_PROFILE']) {
      expect(output).toContain(`\n  ${name} `);
    }
    for (const line of output.split('\n')) expect(line.length).toBeLessThanOrEqual(110);
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
  ['payment show', /<payment> is missing/],
  ['serve 8080', /After serve nothing more is expected/],
  ['account create', /<name> is missing/],
  ['listen --forward ftp://localhost', /--forward should be an http or https address/],
  ['listen --forward not an address', /After listen nothing more is expected/],
  ['listen --forward http://localhost:1 --count all', /--count should be a whole number/],
  ['trigger clock soon', /<duration> should be a duration/],
  ['account list --token 4711', /The admin token is not an option/],
  ['account list --url http://gateway.example', /not sent over plain http to another machine \(gateway\.example\)/],
  ['account list --url gateway.example', /not sent over plain http to another machine \(gateway\.example\)/],
  ['account list --profile none', /There is no profile none: `turnpike profile add none --url <address>` makes it/],
  ['account list --profile none --url localhost:1', /with --url or with --profile, not with both/],
  ['profile remove none', /There is no profile none/],
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

  test('of another gateway is named by its source', async () => {
    const dataDir = join(folder, 'other');
    await writeAdminToken(dataDir, 'x'.repeat(40));
    const { code, messages } = await turnpike({ PUBLIC_URL: shop.url, DATA_DIR: dataDir }, ['account', 'list']);
    expect([code, messages]).toEqual([
      4,
      expect.stringContaining(`does not know the one in the data folder ${dataDir}`),
    ]);
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

test('a payment is named by its order number, unless several payments have it', async () => {
  const [order, shared] = ['named by/its order', 'of two accounts'];
  const { trans_id } = (await shop.sale({ order_id: order })).body;
  expect(await json('payment', 'show', order)).toMatchObject({ payment_id: trans_id });
  expect(await json('payment', 'refund', order, '--amount', '1.00')).toMatchObject({ refunded: '1.00' });
  for (const merchant of [shop.merchant, await shop.newMerchant()]) await shop.sale({ order_id: shared }, merchant);
  const several = await command('payment', 'refund', shared);
  expect([several.code, several.messages]).toEqual([
    2,
    expect.stringMatching(/several payments: name one by its id\.\n( {2}[\da-f-]{36} .*\n){2}$/),
  ]);
  const unknown = await command('payment', 'show', 'no-such-order');
  expect([unknown.code, unknown.messages]).toEqual([1, expect.stringMatching(/no payment with this order number/)]);
});

test('a gateway with one account needs no mid', async () => {
  const several = await command('account', 'show');
  expect([several.code, several.messages]).toEqual([2, expect.stringMatching(/several accounts: name one with <mid>/)]);
  const single = await startTestGateway();
  try {
    const variables = { PUBLIC_URL: single.url, TURNPIKE_ADMIN_TOKEN: ADMIN_TOKEN };
    const shown = await turnpike(variables, ['account', 'show', '--json']);
    expect(shown.json()).toMatchObject({ mid: single.merchant.mid });
    const explained = await turnpike(variables, ['explain', '--json'], 'action=VOID&trans_id=1&hash=x');
    expect(explained.json()).toMatchObject({ action: 'VOID', matches: false });
  } finally {
    await single.close();
  }
});

test('a profile keeps the address and the token of a gateway, for its owner only', async () => {
  const variables = { XDG_CONFIG_HOME: join(folder, 'config') };
  const address = shop.url.replace('http://', '');
  const profile = (...words: string[]) => turnpike(variables, ['profile', ...words], `${ADMIN_TOKEN}\n`);
  const wrong = await turnpike(variables, ['profile', 'add', 'test', '--url', address], 'wrong');
  expect([wrong.code, (await profile('list')).output]).toEqual([4, 'There are no profiles.\n']);
  const added = await profile('add', 'test', '--url', address);
  expect([added.code, added.output]).toEqual([0, 'The profile test is kept: use it with --profile test.\n']);
  const file = join(folder, 'config/turnpike/profiles.json');
  expect((await fs.stat(file)).mode & 0o777).toBe(0o600);
  const listed = await profile('list');
  expect([listed.output, listed.messages]).toEqual([`test  ${shop.url}\n`, '']);
  expect((await turnpike(variables, ['account', 'list', '--profile', 'test'])).code).toBe(0);
  expect((await turnpike({ ...variables, TURNPIKE_PROFILE: 'test' }, ['account', 'list'])).code).toBe(0);
  expect((await profile('remove', 'test')).code).toBe(0);
  expect((await turnpike(variables, ['account', 'list', '--profile', 'test'])).code).toBe(2);
  await fs.writeFile(file, '{"test": 1}');
  expect((await profile('list')).messages).toMatch(/file of profiles cannot be read: correct or remove/);
});

test('listen shows callbacks with their fields when it has no address to forward them to', async () => {
  const { mid } = await shop.newMerchant();
  shop.gateway.deliverer.start();
  const listening = command('listen', '--mid', mid, '--once', '--timeout', '30');
  await expect.poll(async () => (await shop.admin('GET', `/accounts/${mid}`)).body.settings.callback_url).not.toBe('');
  await json('trigger', 'sale', '--mid', mid, '--order-id', 'listened-1');
  const { code, output } = await listening;
  expect(code).toBe(0);
  expect(output).toMatch(/ are shown here\. Press Ctrl-C to stop\.\n/);
  expect(output).toMatch(/ {2}SALE SUCCESS {2}listened-1 {2}SETTLED {2}signature ok, hash ok\n/);
  expect(output).toMatch(/\n {4}order_id +listened-1\n/);
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
    // Some editors begin a file with a byte order mark.
    await fs.writeFile(file, `\ufeff${JSON.stringify({ merchant_key: 'k', operation: 'purchase', order, hash: 'x' })}`);
    const { json, output } = await turnpike({ TURNPIKE_PASSWORD: 'pass' }, ['sign', file, '--json']);
    expect(json()).toMatchObject({ action: 'session', hash: sign('pass', '1', '10.00', 'USD', 'Čaj') });
    expect(JSON.parse(json().body)).toMatchObject({ order, hash: json().hash });
    expect(output).not.toContain('pass"');
  });

  test('reversed_md5 and SHA-256, of a card sale and of an operation on it', async () => {
    const { merchant } = shop;
    const recipe = ['--recipe', 'reversed_md5', '--digest', 'sha256'];
    const signed = async (fields: Fields, ...more: string[]) =>
      (
        await turnpike(
          { TURNPIKE_PASSWORD: merchant.password },
          ['sign', ...recipe, ...more, '--json'],
          new URLSearchParams(fields).toString(),
        )
      ).json().hash;
    const sale = cardSale(merchant);
    expect(await signed(sale)).toBe(reversedSaleHash(merchant, sale, 'sha256'));
    const capture = { action: 'CAPTURE', client_key: merchant.client_key, trans_id: 't-1' };
    const payment = ['--payer-email', 'ana@example.com', '--card', '4111111111'];
    expect(await signed(capture, ...payment)).toBe(operationHash(merchant, 't-1', { digest: 'sha256' }));
  });

  test.each<[string, Fields, number, RegExp]>([
    ['', { TURNPIKE_PASSWORD: 'p' }, 2, /Standard input is empty: the body of the request is expected/],
    ['a=b', { TURNPIKE_PASSWORD: 'p' }, 1, /The form has no action/],
    ['{"payment_id":"x","amount":"1.00"}', { TURNPIKE_PASSWORD: 'p' }, 2, /fits several requests .* --path/],
    ['action=VOID&trans_id=1', {}, 2, /The password is missing: set TURNPIKE_PASSWORD/],
  ])('%j cannot be signed', async (body, variables, expected, message) => {
    const { code, messages } = await turnpike(variables, ['sign'], body);
    expect([code, messages]).toEqual([expected, expect.stringMatching(message)]);
  });

  test('a file that is not there is named', async () => {
    const { code, messages } = await turnpike({ TURNPIKE_PASSWORD: 'p' }, ['sign', 'sale']);
    expect([code, messages]).toEqual([1, expect.stringMatching(/There is no file sale: name a file with the body/)]);
  });
});

describe('check-client', () => {
  const check = async (words: string[], send: (url: string) => Promise<void>, password = shop.merchant.password) => {
    const port = await freePort();
    const variables = { PUBLIC_URL: shop.url, TURNPIKE_PASSWORD: password };
    const outcome = turnpike(variables, ['check-client', '--port', String(port), ...words, '--json']);
    const url = `http://127.0.0.1:${port}`;
    await expect
      .poll(() =>
        fetch(`${url}/health/live`).then(
          ({ ok }) => ok,
          () => false,
        ),
      )
      .toBe(true);
    await send(url);
    return outcome;
  };
  const post = (url: string, fields: Fields) =>
    fetch(`${url}/post`, { method: 'POST', body: new URLSearchParams(fields) });

  test('passes requests on, and says which settings the client needs; the record has nothing of the card', async () => {
    const merchant = await shop.newMerchant({ dialect: { card_sales: true, hash: 'reversed_md5' } });
    const file = join(folder, 'requests.jsonl');
    const { code, json, output, messages } = await check(
      ['--count', '3', '--record', file],
      async (url) => {
        const sale = cardSale(merchant, { auth: 'Y' });
        const sold = await post(url, { ...sale, hash: reversedSaleHash(merchant, sale) });
        const { status, trans_id } = (await sold.json()) as Fields;
        expect(status).toBe('PENDING');
        const capture = { action: 'CAPTURE', client_key: merchant.client_key, trans_id: trans_id ?? '' };
        const captured = await post(url, { ...capture, hash: operationHash(merchant, trans_id ?? '') });
        expect(await captured.json()).toMatchObject({ status: 'SETTLED' });
        await fetch(`${url}/api/v1/session`, {
          method: 'POST',
          headers: { 'content-type': 'application/json' },
          body: JSON.stringify({
            order: { amount: 10.5 },
            callback_url: 'https://a.example',
            success_url: 'myapp://a',
          }),
        });
      },
      merchant.password,
    );
    expect(code, messages).toBe(0);
    expect(json()).toMatchObject({
      requests: 3,
      settings: {
        'dialect.card_sales': true,
        'dialect.hash': 'reversed_md5',
        'dialect.number_amounts': true,
        'dialect.session_callback_url': true,
        return_schemes: ['myapp'],
      },
      reasons: { 'dialect.card_sales': 'a SALE with a card' },
    });
    const recorded = await fs.readFile(file, 'utf8');
    const lines = recorded
      .trim()
      .split('\n')
      .map((line) => JSON.parse(line));
    expect(lines.map(({ path, status }) => [path, status])).toEqual([
      ['/post', 200],
      ['/post', 200],
      ['/api/v1/session', 400],
    ]);
    expect(lines[1].needs).toEqual([
      { setting: 'dialect.hash', value: 'reversed_md5', because: 'the hash of CAPTURE' },
    ]);
    for (const text of [recorded, output, messages]) expect(text).not.toMatch(/411111|ana@example/);
  });

  test('a client of the specification needs no settings; live keys are refused and not passed on', async () => {
    const { json } = await check(['--count', '1'], async (url) => {
      const refused = await post(url, { action: 'SALE', client_key: `live_${'0'.repeat(16)}` });
      expect([refused.status, await refused.text()]).toEqual([
        400,
        expect.stringContaining('keys of the sandbox only'),
      ]);
      const hash = sign(shop.merchant.password, 'x');
      await post(url, { action: 'GET_TRANS_STATUS', client_key: shop.merchant.client_key, trans_id: 'x', hash });
    });
    expect(json()).toEqual({ requests: 1, settings: {}, reasons: {} });
  });

  test('a record that cannot be written is reported at the start', async () => {
    const file = join(folder, 'none', 'requests.jsonl');
    const { code, messages } = await turnpike({ PUBLIC_URL: shop.url }, ['check-client', '--record', file]);
    expect([code, messages]).toEqual([1, expect.stringContaining('cannot be written (ENOENT)')]);
  });
});

describe('links, invoices and telephone orders', () => {
  const unknown = '01a1dd06-691f-7000-87fc-b0749d0543ed';
  test('a link is made, listed, shown and switched off', async () => {
    const { mid } = await shop.newMerchant();
    const words = ['--mid', mid, '--currency', 'EUR', '--min-amount', '5.00', '--max-amount', '50.00', '--uses', 'any'];
    const made = await json('link', 'create', 'Donation', ...words, '--ask', 'name,email', '--description', 'For tea');
    expect(made).toMatchObject({
      title: 'Donation',
      state: 'active',
      uses: null,
      ask: ['name', 'email'],
      min_amount: '5.00',
    });
    expect((await json('link', 'list', '--mid', mid)).items).toEqual([made]);
    const { output } = await command('link', 'list', '--mid', mid);
    for (const part of [made.link_id, '5.00 to 50.00 EUR', made.url]) expect(output).toContain(part);
    expect((await json('link', 'deactivate', made.link_id)).state).toBe('inactive');
    expect((await json('link', 'show', made.link_id)).state).toBe('inactive');
    expect((await command('link', 'list', '--mid', mid, '--state', 'active')).output).toBe(
      'There are no such links.\n',
    );
  });

  test('an invoice is made, listed, shown and voided; without a mail server it is not sent', async () => {
    const { mid } = await shop.newMerchant();
    const input = JSON.stringify({
      currency: 'EUR',
      due_on: '2099-01-31',
      payer: { name: 'Ana Petrovic', email: 'ana@example.com' },
      lines: [{ description: 'Teapot', quantity: '2', unit_amount: '10.00', tax_percent: '19' }],
    });
    const created = await turnpike(surroundings(), ['invoice', 'create', '--mid', mid, '--json'], input);
    expect(created.code, created.messages).toBe(0);
    const made = created.json();
    expect(made).toMatchObject({ number: 'INV-00001', total: '23.80', state: 'open' });
    const { output } = await command('invoice', 'list', '--mid', mid);
    for (const part of [made.invoice_id, 'INV-00001', '23.80 EUR', '2099-01-31']) expect(output).toContain(part);
    expect((await command('invoice', 'send', made.invoice_id)).messages).toContain('no mail server');
    expect((await json('invoice', 'void', made.invoice_id)).state).toBe('void');
    expect((await json('invoice', 'show', made.invoice_id)).state).toBe('void');
  });

  test('a telephone order is opened, and listed for the token that took it', async () => {
    const { mid } = await shop.newMerchant({ telephone_orders: true });
    const role = 'merchant_cashier';
    const { token } = (await shop.admin('POST', '/tokens', { name: 'Desk', role, mids: [mid] })).body;
    const asCashier = (...words: string[]) => turnpike({ ...surroundings(), TURNPIKE_ADMIN_TOKEN: token }, words);
    const words = ['--mid', mid, '--amount', '25.00', '--currency', 'EUR', '--order-id', 'phone-7', '--json'];
    const created = await asCashier('telephone-order', 'create', 'A teapot', ...words);
    expect(created.code, created.messages).toBe(0);
    expect(created.json()).toMatchObject({ order_id: 'phone-7', url: expect.stringContaining('/pay/') });
    const { output } = await asCashier('telephone-order', 'list');
    for (const part of [created.json().payment_id, '25.00 EUR', 'phone-7', 'A teapot']) expect(output).toContain(part);
    expect((await command('telephone-order', 'list', '--mid', mid)).output).toBe('There are no such orders.\n');
  });

  test.each([
    [['link', 'create', 'Tea', '--amount', '1.00'], /--currency/],
    [['link', 'create', 'Tea', '--amount', '1.00', '--currency', 'EUR', '--uses', '0'], /--uses should be a number/],
    [['link', 'show', 'x'], /link_id/],
    [['link', 'show', unknown], /does not exist/],
    [['invoice', 'create'], /Standard input should be JSON/],
    [['invoice', 'void', unknown], /does not exist/],
    [['telephone-order', 'create', 'Tea', '--amount', '1.00'], /--currency/],
    [['telephone-order', 'create', 'Tea', '--amount', '1', '--currency', 'EUR', '--mid', unknown], /does not exist/],
  ])('%j is refused', async (words, message) => {
    const { code, messages } = await command(...words);
    expect(code).not.toBe(0);
    expect(messages).toMatch(message);
  });
});
