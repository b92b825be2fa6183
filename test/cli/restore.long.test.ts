/** A backup is made under load and restored after a disaster, while the provider keeps its ledger: nobody pays twice. */
import * as fs from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as pause } from 'node:timers/promises';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { startSimulator } from '../../simulator/server.ts';
import { newMasterKey } from '../../src/lib/crypto/seal.ts';
import { checkoutOf } from '../support/checkout.ts';
import {
  ADMIN_TOKEN,
  type Answer,
  type Fields,
  type Merchant,
  saleFields,
  sign,
  type TestGateway,
} from '../support/gateway.ts';
import {
  clearAway,
  eventually,
  newDatabase,
  newDataDir,
  type RunningGateway,
  startGateway,
} from '../support/process.ts';
import { turnpike } from './turnpike.ts';

const SHOPS = 4;
/** The charges that each payer has agreed to. */
const PAYMENTS = 6;
const DAY = 86_400;
const SALE_PAUSE_MS = 20;

const access = { key: 'the key of the provider', notificationSecret: Buffer.alloc(32, 5).toString('base64') };
let simulator: Awaited<ReturnType<typeof startSimulator>>;
let variables: Fields;
beforeAll(async () => {
  simulator = await startSimulator({ host: '127.0.0.1', port: 0, ...access });
  variables = {
    TURNPIKE_MASTER_KEY: newMasterKey(),
    TURNPIKE_ADMIN_TOKEN: ADMIN_TOKEN,
    TURNPIKE_PROVIDER_URL: simulator.url,
    TURNPIKE_PROVIDER_KEY: access.key,
    TURNPIKE_PROVIDER_NOTIFICATION_SECRET: access.notificationSecret,
  };
});
afterAll(async () => {
  await clearAway();
  await simulator.close();
});

/** An installation with its database, on which commands and a gateway can run. */
async function newInstallation() {
  const { url } = await newDatabase();
  const own = { ...variables, DATABASE_URL: url, DATA_DIR: await newDataDir() };
  const command = async (...words: string[]) => {
    const { code, output, messages } = await turnpike(own, words);
    expect(code, output + messages).toBe(0);
    return output + messages;
  };
  return { command, start: () => startGateway(own) };
}

const ok = ({ status, body }: Answer): Answer['body'] => {
  expect([200, 201], JSON.stringify(body)).toContain(status);
  return body;
};

const advance = async (gateway: RunningGateway, { mid }: Merchant, seconds: number): Promise<void> => {
  ok(await gateway.admin('POST', '/clock', { mid, advance_seconds: seconds }));
};

/** A shop with a payer who pays every day, by card. */
async function subscribed(gateway: RunningGateway): Promise<Merchant> {
  const merchant: Merchant = ok(await gateway.admin('POST', '/accounts', { name: 'Shop' }));
  const { client_key, password } = merchant;
  const terms = { name: 'Plan', interval_length: '1', interval_unit: 'day', payments_count: String(PAYMENTS) };
  const create = { action: 'CREATE_SCHEDULE', client_key, ...terms, hash: sign(password) };
  const { schedule_id } = ok(await gateway.post(create));
  const { state } = await checkoutOf(gateway as unknown as TestGateway).paidByCard(
    { recurring_init: true, schedule_id },
    merchant,
  );
  expect(state).toBe('settled');
  return merchant;
}

interface Movement {
  reference: string;
  mid: string;
  amount: string;
}
const movementsOf = async ({ mid }: Merchant): Promise<Movement[]> => {
  const headers = { authorization: `Bearer ${access.key}` };
  const { items } = (await (await fetch(`${simulator.url}/control/ledger`, { headers })).json()) as {
    items: Movement[];
  };
  return items.filter((movement) => movement.mid === mid);
};
const paymentsOf = async (gateway: RunningGateway, { mid }: Merchant): Promise<Answer['body'][]> =>
  ok(await gateway.admin('GET', `/payments?mid=${mid}&brand=card&limit=500`)).items;

test('each payer is charged as often as agreed, and the books of the restored gateway agree with the ledger', async () => {
  const first = await newInstallation();
  const before = await first.start();
  const shops = await Promise.all(Array.from({ length: SHOPS }, () => subscribed(before)));
  const everyShop = (work: (merchant: Merchant, index: number) => Promise<unknown>) => Promise.all(shops.map(work));
  await everyShop((merchant) => advance(before, merchant, DAY + 60));

  // Sales and scheduled charges go on while the backup is made.
  const file = join(await fs.mkdtemp(join(tmpdir(), 'turnpike-restore-')), 'turnpike.backup');
  let isOver = false;
  const sales = everyShop(async (merchant) => {
    for (; !isOver; await pause(SALE_PAUSE_MS)) {
      // A gateway with more work than it can do refuses new payments.
      expect([200, 503]).toContain((await before.post(saleFields(merchant))).status);
    }
  });
  const charges = everyShop((merchant, index) => advance(before, merchant, (1 + (index % 2)) * DAY));
  await first.command('backup', file);
  await charges;
  isOver = true;
  await sales;
  // More charges after the backup; then the installation is lost.
  await everyShop((merchant, index) => advance(before, merchant, (index % 3) * DAY));
  await before.stop('SIGKILL');
  const lost = new Map(await Promise.all(shops.map(async (one) => [one.mid, await movementsOf(one)] as const)));
  expect([...lost.values()].every((movements) => movements.length >= 2)).toBe(true);

  const second = await newInstallation();
  expect(await second.command('backup', '--restore', file)).toContain('until this restore is released');
  await fs.rm(join(file, '..'), { recursive: true });
  const after = await second.start();
  await eventually(() => expect(after.output()).toContain('restored from a backup'));
  await everyShop((merchant) => advance(after, merchant, 2 * DAY));
  await everyShop(async (merchant) => expect(await movementsOf(merchant)).toEqual(lost.get(merchant.mid)));
  const report = ok(await after.admin('GET', '/restore'));
  expect(report).toMatchObject({ held: true, charges: { due: SHOPS } });
  expect(report.charges.checked.some((one: { at_provider: string }) => one.at_provider === 'settled')).toBe(true);

  await second.command('backup', '--release', '--note', 'Compared with the ledger of the provider.');
  await everyShop((merchant) => advance(after, merchant, 10 * PAYMENTS * DAY));
  await everyShop(async (merchant) => {
    const references = (await movementsOf(merchant)).map(({ reference }) => reference).sort();
    expect(new Set(references).size).toBe(references.length);
    const settled = (await paymentsOf(after, merchant)).filter(({ status }) => status === 'SETTLED');
    expect(settled.map((payment) => payment.payment_id).sort()).toEqual(references);
    expect(new Set(settled.map((payment) => payment.order_id)).size).toBe(settled.length);
    // On a busy machine a charge may not have been sent in time.
    const [schedule] = ok(await after.admin('GET', `/schedules?mid=${merchant.mid}`)).items;
    const [{ state, failed }] = schedule.subscriptions;
    expect([state, settled.length + failed]).toEqual(['finished', 1 + PAYMENTS]);
  });
  await after.stop();
  await second.command('verify');
}, 180_000);
