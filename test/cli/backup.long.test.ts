/** `migrate`, `verify` and `backup` on databases of their own: a restored gateway goes on where the backup was made. */
import * as fs from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { gunzipSync, gzipSync } from 'node:zlib';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { keepCard, openCard } from '../../src/core/cards/vault.ts';
import { newMasterKey } from '../../src/lib/crypto/seal.ts';
import { Secret } from '../../src/lib/crypto/secret.ts';
import { query } from '../support/database.ts';
import { openShop, saleFields, sign } from '../support/gateway.ts';
import { clearAway, databaseUrl, NO_SIMULATOR, newDatabase, newDataDir, startGateway } from '../support/process.ts';
import { turnpike } from './turnpike.ts';

const masterKey = newMasterKey();
const shop = openShop({ masterKey });
let folder: string;
let file: string;
/** An authorised payment, which is captured after the restore. */
let transId: string;
/** A card in the vault. */
let cardId: string;
const CARD_NUMBER = '4111111111111111';

const inDatabase = (url: string, ...words: string[]) =>
  turnpike({ DATABASE_URL: url, TURNPIKE_MASTER_KEY: masterKey }, words);
const original = () => databaseUrl(shop.connection as Parameters<typeof databaseUrl>[0]);
const restore = (url: string, from = file) => inDatabase(url, 'backup', '--restore', from);

beforeAll(async () => {
  folder = await fs.mkdtemp(join(tmpdir(), 'turnpike-backup-'));
  file = join(folder, 'turnpike.backup');
  await shop.sale({ order_description: 'Tab\there, back\\slash, Čaj' });
  await shop.sale({ identifier: 'decline@example.com' });
  transId = (await shop.sale({ auth: 'Y' })).body.trans_id;
  const card = { number: new Secret(CARD_NUMBER), month: '01', year: '2038', holder: 'Ada Byron' };
  const { mid } = shop.merchant;
  cardId = (await keepCard(shop.gateway, { mid, paymentId: transId }, card, true)).id;
});
afterAll(async () => {
  await clearAway();
  await fs.rm(folder, { recursive: true, force: true });
});

test('migrate says what it did, and a dry run changes nothing', async () => {
  const { url } = await newDatabase();
  const dry = (await inDatabase(url, 'migrate', '--dry-run', '--json')).json();
  expect(dry.migrations.length).toBeGreaterThan(20);
  const ran = await inDatabase(url, 'migrate', '--json');
  expect(ran.json()).toEqual({ ...dry, dry_run: false });
  expect((await inDatabase(url, 'migrate')).output).toBe(
    'Nothing to do: the database of DATABASE_URL is up to date.\n',
  );
});

test('a dry run does not create a database folder', async () => {
  const dataDir = await newDataDir();
  const { code, output } = await turnpike({ DATA_DIR: dataDir }, ['migrate', '--dry-run']);
  expect([code, output]).toEqual([0, expect.stringMatching(/^\d+ migrations would run in .* does not exist yet:\n/)]);
  await expect(fs.stat(dataDir)).rejects.toThrow('ENOENT');
});

test('a database that is not there is unreachable: code 3', async () => {
  const { code, messages } = await inDatabase('postgres://u:geheim@127.0.0.1:1/turnpike', 'verify');
  expect([code, messages]).toEqual([3, expect.stringMatching(/cannot be reached \(ECONNREFUSED\)/)]);
  expect(messages).not.toContain('geheim');
});

describe('a backup', () => {
  /** Stays empty until the backup is restored. */
  let target: Awaited<ReturnType<typeof newDatabase>>;
  beforeAll(async () => {
    target = await newDatabase();
  });

  test('is written beside a running gateway, for its owner only, and overwrites nothing', async () => {
    const { code, json, messages } = await inDatabase(original(), 'backup', file, '--json');
    expect(code, messages).toBe(0);
    const { size, mode } = await fs.stat(file);
    expect(json()).toMatchObject({ file, bytes: size, tables: expect.any(Number), rows: expect.any(Number) });
    expect(mode & 0o777).toBe(0o600);
    expect(messages).toContain('The master key is not in the backup.');
    expect(gunzipSync(await fs.readFile(file)).includes(Buffer.from(masterKey, 'base64'))).toBe(false);
    expect(gunzipSync(await fs.readFile(file)).includes(masterKey)).toBe(false);
    for (const secret of [shop.merchant.password, CARD_NUMBER]) {
      expect(gunzipSync(await fs.readFile(file)).includes(secret)).toBe(false);
    }
    const again = await inDatabase(original(), 'backup', file);
    expect([again.code, again.messages]).toEqual([1, expect.stringMatching(/exists already/)]);
    expect(await fs.readdir(folder)).toEqual(['turnpike.backup']);
  });

  test.each<[string, (whole: Buffer) => Buffer]>([
    ['truncated', (whole) => whole.subarray(0, whole.length - 40)],
    ['without its last part', (whole) => gzipSync(gunzipSync(whole).subarray(0, -77))],
    [
      'altered',
      (whole) =>
        gzipSync(Buffer.from(gunzipSync(whole).toString('latin1').replace('Test Shop', 'Best Shop'), 'latin1')),
    ],
    ['something else', () => Buffer.from('dear diary')],
    ['something else, compressed', () => gzipSync('dear diary')],
    [
      'of another format',
      (whole) =>
        gzipSync(Buffer.from(gunzipSync(whole).toString('latin1').replace('"format":1', '"format":9'), 'latin1')),
    ],
    [
      'of another schema',
      (whole) =>
        gzipSync(
          Buffer.from(
            gunzipSync(whole).toString('latin1').replace('"digest":"', '"digest":"x').replace('","', '"," '),
            'latin1',
          ),
        ),
    ],
  ])('that is %s is refused, and changes nothing', async (name, alter) => {
    const other = join(folder, `${name}.backup`);
    await fs.writeFile(other, alter(await fs.readFile(file)));
    const { url, connection } = target;
    const { code, messages } = await restore(url, other);
    expect(code).toBe(1);
    expect(messages).toMatch(
      /(nothing was restored|use the version that wrote it|version of Turnpike that wrote it)[^\n]*\.\n$/,
    );
    expect(messages).not.toMatch(/\n {4}at /);
    for (const table of ['accounts', 'installation', 'payments']) {
      expect((await query(connection, `select from ${table}`)).rowCount).toBe(0);
    }
  });

  test.each([
    [[], /<file> is missing/],
    [['--restore'], /<file> is missing/],
    [['--release'], /--release needs --note/],
    [['--release', 'x.backup'], /--release takes no file/],
    [['--restore', '--release', 'x.backup'], /exclude each other/],
    [['x.backup', '--note', 'x'], /--note belongs to --release/],
    [['--restored-from', 'yesterday'], /should be a time in the past/],
    [['--restored-from', '2999-01-01'], /should be a time in the past/],
  ])('and the command line %j is refused', async (words, message) => {
    const { code, messages } = await inDatabase(target.url, 'backup', ...words);
    expect([code, messages]).toEqual([2, expect.stringMatching(message)]);
  });

  test('that does not exist is said', async () => {
    const { code, messages } = await restore(target.url, join(folder, 'none'));
    expect([code, messages]).toEqual([1, expect.stringMatching(/There is no file/)]);
  });

  test('is restored into an empty database: all rows are the same, verify passes, payments go on', async () => {
    const { url, connection } = target;
    const { code, output, messages } = await restore(url);
    expect(code, messages).toBe(0);
    expect(output).toMatch(
      /All checks passed: 3 payments, \d+ history rows, \d+ ledger entries\.\nThe key of the audit log was not checked: /,
    );
    expect(messages).toMatch(/Nothing is charged or voided automatically until this restore is released/);
    const marks = (await query(connection, 'select * from restores')).rows;
    expect(marks).toMatchObject([{ released_at: null, backup_at: expect.any(Date) }]);
    expect(output).toContain(marks[0].backup_at.toISOString());
    const tables = await query(
      connection,
      `select relname from pg_class
       where relkind = 'r' and relnamespace = 'public'::regnamespace and relname <> 'migrations'`,
    );
    // A restored database says so itself, and skips numbers that were given since.
    const changed = ['restores', 'invoice_numbers'];
    const numbers = await query(
      connection,
      'select count(*)::int as accounts, min(last) as least from invoice_numbers',
    );
    expect(numbers.rows[0].accounts).toBe((await query(connection, 'select from accounts')).rowCount);
    expect(numbers.rows[0].least).toBeGreaterThan(0);
    for (const { relname } of tables.rows.filter((table) => !changed.includes(table.relname))) {
      const rows = `select coalesce(jsonb_agg(to_jsonb(t) order by to_jsonb(t)), '[]') as all from "${relname}" t`;
      const [copy, source] = [await query(connection, rows), await query(shop.connection as typeof connection, rows)];
      expect(copy.rows[0].all, relname).toEqual(source.rows[0].all);
    }
    const verified = await inDatabase(url, 'verify', '--json');
    expect(verified.json()).toMatchObject({ ok: true, payments: 3 });

    const restored = await shop.anotherGateway(connection);
    expect((await openCard(restored, shop.merchant.mid, cardId))?.number.reveal()).toBe(CARD_NUMBER);

    const variables = { DATABASE_URL: url, DATA_DIR: await newDataDir(), TURNPIKE_MASTER_KEY: masterKey };
    const gateway = await startGateway({ ...variables, ...NO_SIMULATOR });
    const { client_key, password } = shop.merchant;
    const capture = { action: 'CAPTURE', client_key, trans_id: transId, hash: sign(password, transId) };
    expect((await gateway.post(capture)).body).toMatchObject({ status: 'SETTLED' });
    expect((await gateway.post(saleFields(shop.merchant))).body).toMatchObject({ status: 'SETTLED' });
    await gateway.stop();
    expect((await inDatabase(url, 'verify')).code).toBe(0);

    const note = ['--note', 'Compared with the ledger.'];
    const blank = await inDatabase(url, 'backup', '--release', '--note', ' ');
    expect([blank.code, blank.messages]).toEqual([1, expect.stringMatching(/note: This value should not be blank/)]);
    const again = ['--restored-from', '2026-11-16T09:41:00Z'];
    const held = await inDatabase(url, 'backup', ...again);
    expect([held.code, held.messages]).toEqual([1, expect.stringMatching(/is held already/)]);
    const released = await inDatabase(url, 'backup', '--release', ...note, '--json');
    expect(released.json()).toMatchObject({ released_at: expect.any(String), note: 'Compared with the ledger.' });
    const twice = await inDatabase(url, 'backup', '--release', ...note);
    expect([twice.code, twice.messages]).toEqual([1, expect.stringMatching(/Nothing is held/)]);
    // For databases that other tools restored.
    expect((await inDatabase(url, 'backup', ...again)).output).toMatch(/restored from 2026-11-16T09:41:00\.000Z/);
    expect((await query(connection, 'select from restores where released_at is null')).rowCount).toBe(1);

    const used = await restore(url);
    expect([used.code, used.messages]).toEqual([1, expect.stringMatching(/The database is not empty/)]);
  }, 240_000);
});
