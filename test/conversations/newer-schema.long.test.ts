/** This version serves with the schema of a later one: migrated while it runs, and before it starts. */
import { afterAll, expect, test, vi } from 'vitest';
import { newMasterKey } from '../../src/lib/crypto/seal.ts';
import { SECTIONS } from '../../src/pages/panel/frame/layout.ts';
import { migrateAt } from '../../src/store/database/migrate.ts';
import { readMigration, readMigrations } from '../../src/store/database/migration-files.ts';
import { verifyAt } from '../../src/store/installation/verify.ts';
import { turnpike } from '../cli/turnpike.ts';
import { type CheckoutState, checkoutOf } from '../support/checkout.ts';
import { openShop } from '../support/gateway.ts';
import { signedIn } from '../support/operators.ts';
import { clearAway, databaseUrl, NO_SIMULATOR, newDataDir, type Socket, startGateway } from '../support/process.ts';

vi.setConfig({ testTimeout: 180_000 });
const masterKey = newMasterKey();
const shop = openShop({ simulator: true, masterKey });
afterAll(clearAway);

const STATES: CheckoutState[] = [
  ...(['prepare', 'redirect', 'pending', 'settled', 'decline'] as const),
  ...(['void', 'refund', 'reversal', 'expired', 'chargeback'] as const),
];
const LISTS = [
  ...['/payments', '/payments?q=example', '/payments?status=SETTLED', '/callbacks', '/schedules', '/notifications'],
  ...['/accounts', '/connections', '/chargebacks', '/reports', '/overview', '/audit', '/tokens', '/me'],
];

/** Uses every kind of statement: payments in all states, lists, and the pages of the panel. */
async function useEverything() {
  const checkout = checkoutOf(shop);
  const states = await Promise.all(
    STATES.map(async (state) => {
      const merchant = await shop.newMerchant();
      return checkout.stateOf(await checkout.inState(state, merchant), merchant);
    }),
  );
  const card = await checkout.paidByCard();
  const lists = await Promise.all(LISTS.map(async (path) => [path, (await shop.admin('GET', path)).status]));
  const operator = await signedIn(shop, 'owner');
  const pages = await Promise.all(SECTIONS.map(async ({ path }) => [path, (await operator.get(path)).status]));
  await shop.advanceClock(60);
  return { states, card: card.state, failed: [...lists, ...pages].filter(([, status]) => status !== 200) };
}

const EXPECTED = { states: STATES, card: 'settled', failed: [] };
const FUTURE = '9998_future.sql';

test('a later version migrates while this one serves', async () => {
  expect(await useEverything()).toEqual(EXPECTED);
  const tables = await shop.rows(
    `select relname as name from pg_class where relkind in ('r', 'p') and not relispartition
       and relnamespace = 'public'::regnamespace`,
  );
  const columns = tables.map(({ name }) => `alter table ${name} add column if not exists from_the_future text;`);
  const sql = `-- outside a transaction
    ${columns.join('\n')}
    alter table payments add column if not exists rank integer not null default 1;
    create table if not exists futures (mid uuid primary key, note text);
    create index concurrently if not exists payments_by_rank on payments (rank, payment_id);`;
  const files = [...(await readMigrations()), readMigration(FUTURE, sql)];
  expect(await migrateAt(shop.connection, { files })).toEqual([FUTURE]);
  expect(await useEverything()).toEqual(EXPECTED);
  expect((await verifyAt(shop.connection)).violations).toEqual([]);
});

test('a process that starts says that the schema is newer, and serves', async () => {
  const url = databaseUrl(shop.connection as Socket);
  const variables = { DATABASE_URL: url, DATA_DIR: await newDataDir(), TURNPIKE_MASTER_KEY: masterKey };
  const gateway = await startGateway({ ...variables, ...NO_SIMULATOR });
  expect(gateway.output()).toMatch(`"migrations":["${FUTURE}"],"msg":"the database was migrated by a newer version"`);
  expect((await gateway.sale()).body.status).toBe('SETTLED');
  await gateway.stop();
  const { code, output } = await turnpike({ ...variables }, ['migrate']);
  expect([code, output]).toEqual([0, 'Nothing to do: the database of DATABASE_URL is up to date.\n']);
});

test('a schema that this version cannot use is refused, and so is an older one that may not be migrated', async () => {
  const variables = { DATABASE_URL: databaseUrl(shop.connection as Socket), PORT: '0', TURNPIKE_MASTER_KEY: masterKey };
  const files = [...(await readMigrations()), readMigration('9999_contract.sql', '-- needs 9998\nselect 1')];
  await migrateAt(shop.connection, { files });
  expect(await turnpike(variables, ['serve'])).toMatchObject({
    code: 1,
    messages: expect.stringContaining(
      'The database was migrated by a newer Turnpike, and 9999_contract.sql needs a version with migration 9998 or later: start that version.',
    ),
  });
  const [newest] = (await readMigrations()).slice(-1);
  await shop.rows(`delete from migrations where name >= '${newest?.name}'`);
  expect(await turnpike({ ...variables, TURNPIKE_MIGRATE: 'off' }, ['serve'])).toMatchObject({
    code: 1,
    messages: expect.stringContaining(
      `The schema of the database is older than this version needs (it lacks ${newest?.name}): run \`turnpike migrate\` first, or set TURNPIKE_MIGRATE=on.`,
    ),
  });
});
