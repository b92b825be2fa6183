/** `turnpike listen` as a developer and a CI run it: a program of its own that brings callbacks to a local server. */
import { join } from 'node:path';
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test, vi } from 'vitest';
import { idOf, isSigned, type MerchantWithSecret } from '../support/delivery-shop.ts';
import {
  ADMIN_TOKEN,
  type Answer,
  type Fields,
  saleFields,
  startTestGateway,
  type TestGateway,
} from '../support/gateway.ts';
import {
  clearAway,
  eventually,
  NO_SIMULATOR,
  newDatabase,
  newDataDir,
  type Program,
  ROOT,
  run,
  runCommand,
  startGateway,
} from '../support/process.ts';
import { answers, inTurn, startReceiver, type TestReceiver } from '../support/receivers.ts';

// Each test starts processes, which takes long on a busy machine.
vi.setConfig({ testTimeout: 180_000 });

type Json = Answer['body'];

let shop: TestGateway;
let local: TestReceiver;
let merchant: MerchantWithSecret;
beforeAll(async () => {
  shop = await startTestGateway();
  shop.gateway.deliverer.start();
});
afterAll(() => shop.close());
beforeEach(async () => {
  local = await startReceiver();
  merchant = (await shop.newMerchant()) as MerchantWithSecret;
});
afterEach(async () => {
  await clearAway();
  await local.close();
});

/** Starts it with these options after the usual ones. */
const listen = (args: string[] = [], variables: Fields = {}): Program =>
  runCommand(
    { PUBLIC_URL: shop.url, TURNPIKE_ADMIN_TOKEN: ADMIN_TOKEN, ...variables },
    ...['listen', '--forward', local.url, '--mid', merchant.mid, ...args],
  );

async function isReady(program: Program): Promise<void> {
  await eventually(() => expect(program.output() + program.complaints()).toContain('Ready: '));
}

const callbackUrl = async (): Promise<string> =>
  (await shop.admin('GET', `/accounts/${merchant.mid}`)).body.settings.callback_url;
const sale = async (fields: Fields = {}): Promise<Json> => (await shop.post(saleFields(merchant, fields))).body;
const ending = async (program: Program): Promise<[number | null, string]> => [
  (await program.ended).code,
  program.complaints(),
];

describe('in CI', () => {
  test('ends with code 0 when so many arrived and were taken: the same bytes, the same headers', async () => {
    const program = listen(['--count', '2']);
    await isReady(program);
    const { trans_id, order_id } = await sale({ order_description: 'Grüße + ☕', 'custom_data[x]': 'a/b 🙂' });
    await eventually(() => expect(local.received).toHaveLength(1));
    await sale({ identifier: 'decline@example.com' });
    expect(await ending(program)).toEqual([0, '']);
    expect(local.received).toHaveLength(2);
    const [first] = local.received;
    const [{ id }] = (await shop.admin('GET', `/payments/${trans_id}`)).body.callbacks;
    const { body } = (await shop.admin('GET', `/callbacks/${id}`)).body;
    expect(String(first?.body)).toBe(body);
    expect(first?.headers).toMatchObject({
      'content-type': 'application/x-www-form-urlencoded',
      'user-agent': 'Turnpike',
      'webhook-id': id,
      'turnpike-sequence': id.split('-').at(-1),
    });
    expect(isSigned(first as never, merchant.callback_secret)).toBe(true);
    const lines = program.output().split('\n');
    const line = lines.find((one) => one.includes(order_id)) ?? '';
    expect(line).toMatch(/^\d\d:\d\d:\d\d {2}SALE SUCCESS .* SETTLED {2}signature ok, hash ok → 200 in \d+ ms$/);
    expect(program.output()).toMatch(/SALE DECLINED .* DECLINED {2}signature ok, hash ok → 200/);
    expect(program.output()).not.toContain(ADMIN_TOKEN);
  });

  test('prints one JSON line per callback with --json, and messages apart from them', async () => {
    const program = listen(['--once', '--json']);
    await isReady(program);
    const { order_id } = await sale();
    expect((await program.ended).code).toBe(0);
    const lines = program.output().trim().split('\n');
    expect(lines.map((line) => JSON.parse(line))).toMatchObject([
      { status: 200, hash_is_valid: true, signature_is_valid: true, fields: { order_id } },
    ]);
  });

  test('ends with code 1 as soon as the server does not take one', async () => {
    local.behaviour = inTurn(answers(200), answers(500));
    const program = listen(['--count', '3']);
    await isReady(program);
    for (let n = 0; n < 3; n++) await sale();
    expect((await ending(program))[0]).toBe(1);
    expect(local.received).toHaveLength(2);
    expect(program.output()).toMatch(/→ 500 in \d+ ms/);
    expect(await callbackUrl()).toBe('');
  });

  test('ends with code 1 when too few arrive in time', async () => {
    const program = listen(['--once', '--timeout', '1']);
    expect((await ending(program))[0]).toBe(1);
    expect(program.output()).toContain('Ended before 1 callbacks had arrived.');
    expect(await callbackUrl()).toBe('');
  });

  test('a server that is down is said to be, and tried again until it is there', async () => {
    const { port } = local;
    await local.close();
    const program = listen(['--once']);
    await isReady(program);
    await sale();
    await eventually(() => expect(program.output()).toMatch(/cannot be reached \(ECONNREFUSED\), trying again in 1 s/));
    const late = await startReceiver(answers(200), { port });
    try {
      expect(await ending(program)).toEqual([0, '']);
      expect(late.received).toHaveLength(1);
    } finally {
      await late.close();
    }
  });

  test('a server that stays down is given up', async () => {
    await local.close();
    const program = listen(['--once']);
    await isReady(program);
    await sale();
    expect((await ending(program))[0]).toBe(1);
    expect(program.output().match(/cannot be reached/g)).toHaveLength(5);
    expect(program.output()).toContain('given up');
  });
});

describe('callback_url', () => {
  test('is pointed to the receiver, and put back at Ctrl-C', async () => {
    const before = 'https://shop.example/callbacks?key=4711';
    await shop.admin('PATCH', `/accounts/${merchant.mid}`, { callback_url: before });
    const program = listen();
    await isReady(program);
    expect(await callbackUrl()).toBe(`${shop.url}/sandbox/callbacks/${merchant.mid}`);
    expect(program.output()).toContain('while this command runs; it was https://shop.example/callbacks before.');
    expect(program.output()).not.toContain('4711');
    await sale();
    await eventually(() => expect(local.received).toHaveLength(1));
    program.signal('SIGINT');
    expect(await ending(program)).toEqual([0, '']);
    expect(await callbackUrl()).toBe(before);
  });

  test('is left alone when it points there already, and when somebody else has changed it', async () => {
    const receiver = `${shop.url}/sandbox/callbacks/${merchant.mid}`;
    await shop.admin('PATCH', `/accounts/${merchant.mid}`, { callback_url: receiver });
    const first = listen(['--timeout', '1']);
    expect((await ending(first))[0]).toBe(0);
    expect(await callbackUrl()).toBe(receiver);
    await shop.admin('PATCH', `/accounts/${merchant.mid}`, { callback_url: '' });
    const second = listen();
    await isReady(second);
    await shop.admin('PATCH', `/accounts/${merchant.mid}`, { callback_url: local.url });
    second.signal('SIGTERM');
    await second.ended;
    expect(await callbackUrl()).toBe(local.url);
  });
});

test('a gateway that is gone for good: what could not be put back is said', async () => {
  const gone = await startTestGateway();
  const program = runCommand(
    { TURNPIKE_ADMIN_TOKEN: ADMIN_TOKEN },
    ...['listen', '--forward', local.url, '--url', gone.url],
  );
  await isReady(program);
  await gone.close();
  program.signal('SIGINT');
  const [code, complaints] = await ending(program);
  expect(code).toBe(3);
  expect(complaints).toMatch(
    /callback_url is still http:.*, and was empty before. The gateway at .* cannot be reached/,
  );
});

test('what arrived before is not forwarded; what is sent again is', async () => {
  await shop.admin('PATCH', `/accounts/${merchant.mid}`, {
    callback_url: `${shop.url}/sandbox/callbacks/${merchant.mid}`,
  });
  const { trans_id } = await sale();
  const arrived = async () => (await shop.sandbox('GET', `/callbacks/${merchant.mid}`)).body.items;
  await eventually(async () => expect(await arrived()).toHaveLength(1));
  const program = listen(['--once']);
  await isReady(program);
  expect(local.received).toHaveLength(0);
  await shop.admin('POST', '/callbacks/resend', { payment_id: trans_id });
  expect(await ending(program)).toEqual([0, '']);
  expect(local.received.map(idOf)).toEqual([(await arrived())[0].webhook_id]);
});

describe('what goes wrong is said plainly', () => {
  const refused = async (program: Program, expected = 1): Promise<string> => {
    const [code, complaints] = await ending(program);
    expect(code, program.output()).toBe(expected);
    expect(complaints).toMatch(/^turnpike: /);
    expect(complaints).not.toMatch(/\n {4}at /);
    return complaints;
  };

  test('a gateway that is not there', async () => {
    const { port } = local;
    await local.close();
    const program = listen(['--url', `http://127.0.0.1:${port}`]);
    expect(await refused(program, 3)).toMatch(
      /The gateway at http:\/\/127.0.0.1:\d+ cannot be reached \(ECONNREFUSED\): is it running/,
    );
  });

  test('a wrong token, which is not shown', async () => {
    const complaints = await refused(listen([], { TURNPIKE_ADMIN_TOKEN: 'not-the-token-of-this-gateway' }), 4);
    expect(complaints).toMatch(/The admin token is wrong: .*Set TURNPIKE_ADMIN_TOKEN/);
    expect(complaints).not.toContain('not-the-token');
  });

  test('several accounts, which are listed', async () => {
    const program = runCommand(
      { PUBLIC_URL: shop.url, TURNPIKE_ADMIN_TOKEN: ADMIN_TOKEN },
      ...['listen', '--forward', local.url],
    );
    const complaints = await refused(program, 2);
    expect(complaints).toMatch(/several accounts: name one with --mid/);
    expect(complaints).toContain(`  ${merchant.mid}  Test Shop`);
  });

  test('something else that answers there', async () => {
    local.behaviour = answers(200, { 'content-type': 'text/html' }, '<h1>Hello</h1>');
    const program = listen(['--url', local.url]);
    expect(await refused(program)).toMatch(/is not Turnpike/);
  });

  test('an account that does not exist', async () => {
    merchant = { ...merchant, mid: '01a1dd06-691f-7000-87fc-b0749d0543ed' };
    expect(await refused(listen())).toMatch(/Account does not exist/);
  });

  test('a gateway that is no sandbox', async () => {
    const production = await startTestGateway({ environment: 'production' });
    try {
      const program = runCommand(
        { TURNPIKE_ADMIN_TOKEN: ADMIN_TOKEN },
        ...['listen', '--forward', local.url, '--url', production.url],
      );
      expect(await refused(program)).toMatch(/This gateway is not a sandbox/);
    } finally {
      await production.close();
    }
  });
});

test('needs nothing of an installation: settings that no gateway would start with are not its business', async () => {
  const program = listen(['--timeout', '1'], { TURNPIKE_ENV: 'production', PORT: 'x', DATA_DIR: '/dev/null/x' });
  expect(await ending(program)).toEqual([0, '']);
});

test('goes on after the gateway was started again, as bin/turnpike runs it, with the only account there is', async () => {
  const database = await newDatabase();
  const variables = {
    DATABASE_URL: database.url,
    DATA_DIR: await newDataDir(),
    TURNPIKE_ADMIN_TOKEN: ADMIN_TOKEN,
    ...NO_SIMULATOR,
  };
  const gateway = await startGateway(variables);
  const { port } = new URL(gateway.url);
  const program = run(
    { PUBLIC_URL: gateway.url, TURNPIKE_ADMIN_TOKEN: ADMIN_TOKEN },
    {
      command: join(ROOT, 'bin/turnpike'),
      args: ['listen', '--forward', local.url, '--count', '2', '--timeout', '100'],
    },
  );
  await isReady(program);
  expect(program.output()).toContain(`callbacks of Demo Shop (${gateway.merchant.mid})`);
  await gateway.sale();
  await eventually(() => expect(local.received).toHaveLength(1));
  await gateway.stop();
  await eventually(() => expect(program.output()).toContain('The gateway does not answer'));
  const again = await startGateway({ ...variables, PORT: port });
  await again.sale();
  expect((await program.ended).code).toBe(0);
  expect(program.output()).toContain('The gateway is back.');
  expect(local.received).toHaveLength(2);
  const { settings } = (await again.admin('GET', `/accounts/${again.merchant.mid}`)).body;
  expect(settings.callback_url).toBe('');
  await again.stop();
});
