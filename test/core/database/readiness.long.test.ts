/** Readiness fails while payments cannot be written, for whatever reason. */
import { setTimeout as pause } from 'node:timers/promises';
import { afterEach, describe, expect, test } from 'vitest';
import { LIMITS } from '../../../src/rules/limits.ts';
import { type Database, openDatabase } from '../../../src/store/database/database.ts';
import { createWriteProbe } from '../../../src/store/database/write-probe.ts';
import { openShop } from '../../support/gateway.ts';
import { lengthenLimits } from '../../support/limits.ts';

const shop = openShop();
afterEach(() => shop.rows('drop trigger if exists no_room on payments'));

const ready = async (): Promise<number> => (await fetch(`${shop.url}/health/ready`)).status;
const becomesReady = () => expect.poll(ready).toBe(200);

/** Makes inserts of payments fail as on a full disk; other writes still succeed. */
async function fillDisk(): Promise<void> {
  await shop.rows(`
    create or replace function no_room() returns trigger language plpgsql as $$
      begin raise exception 'could not extend file: No space left on device' using errcode = '53100'; end $$;
    create trigger no_room before insert on payments for each row execute function no_room()`);
}

test('is not ready on a full disk until a payment could be written, although other writes succeed', async () => {
  expect((await shop.sale()).status).toBe(200);
  await becomesReady();
  await fillDisk();
  expect((await shop.sale()).status).toBe(503);
  expect(await ready()).toBe(503);
  await pause(LIMITS.probeKeptMs);
  expect(await ready()).toBe(503);
  await shop.rows('drop trigger no_room on payments');
  await becomesReady();
  expect(await shop.rows('select count(*)::int from payments')).toEqual([{ count: 1 }]);
});

test('is ready again once a payment was written', async () => {
  await fillDisk();
  expect((await shop.sale()).status).toBe(503);
  expect(await ready()).toBe(503);
  await shop.rows('drop trigger no_room on payments');
  expect((await shop.sale()).status).toBe(200);
  await becomesReady();
});

describe('a probe', () => {
  lengthenLimits({ probeKeptMs: 60_000 });

  test('shares one write with concurrent ones of several kilobytes, and its result is cached', async () => {
    const database = openDatabase(shop.connection, () => undefined);
    const statements: string[] = [];
    const writes: Database['writes'] = {
      query(statement) {
        statements.push(statement.name);
        return database.writes.query(statement);
      },
      end: () => database.writes.end(),
    };
    const probe = createWriteProbe({ writes });
    await Promise.all(Array.from({ length: 20 }, probe.prove));
    await probe.prove();
    expect(statements).toEqual(['probe_value']);
    const [written] = await shop.rows(`select octet_length(value) as bytes from installation where name = 'writable'`);
    expect(written?.bytes).toBeGreaterThan(4096);
    // An outage clears the cached result.
    probe.report('outage');
    await probe.prove();
    expect(statements).toEqual(['probe_value', 'probe_value', 'probe_payment']);
    await database.close();
  });
});
