/** The chain of the audit log: what `verify` finds after the database was rewritten by somebody who does not have the key. */
import { beforeEach, describe, expect, test } from 'vitest';
import { acceptEntries, logAuditHead } from '../../src/core/audit/key.ts';
import { rotateKeys } from '../../src/core/installation/rotation.ts';
import { auditKey, commandCaller } from '../../src/core/operators/principal.ts';
import { createSeal, newMasterKey } from '../../src/lib/crypto/seal.ts';
import { createLog } from '../../src/lib/text/log.ts';
import { LIMITS } from '../../src/rules/limits.ts';
import { openGateway } from '../../src/server/gateway.ts';
import { openRotationStore } from '../../src/store/installation/rotation.ts';
import { type VerifyOptions, verifyAt } from '../../src/store/installation/verify.ts';
import { openShop } from '../support/gateway.ts';

const masterKey = newMasterKey();
const shop = openShop({ masterKey });

const verify = (options: VerifyOptions = {}) =>
  verifyAt(shop.connection, { auditKey: auditKey(shop.gateway), ...options });
const violations = async () => (await verify()).violations;
const markNow = async () => {
  const { entries, keyed } = (await verify()).audit;
  return { seq: BigInt(entries), mark: keyed?.mark ?? '' };
};

/** The digest of row `r` after `previous`, as anyone can compute it. */
const DIGEST = `sha256(previous || convert_to(jsonb_build_array(r.seq, (extract(epoch from r.at) * 1000)::bigint,
  r.actor_kind, r.actor_id, r.actor_name, r.address, r.action, r.mid, r.subject, r.before, r.after)::text, 'UTF8'))`;

/** Numbers all entries anew, and computes their digests and that of the head. */
const REPAIR = `do $$
declare r audit_log; previous bytea := ''; n bigint := 0;
begin
  for r in select * from audit_log order by seq loop
    n := n + 1;
    update audit_log set seq = n where seq = r.seq;
    r.seq := n;
    previous := ${DIGEST};
    update audit_log set digest = previous where seq = n;
  end loop;
  update audit_head set seq = n, digest = previous;
end $$`;

/** An entry as the previous version of the gateway writes it. */
const PLAIN_ENTRY = `do $$
declare r audit_log; previous bytea;
begin
  select seq + 1, digest into r.seq, previous from audit_head for update;
  r.at := date_trunc('milliseconds', now()); r.actor_kind := 'operator'; r.actor_name := 'Ada'; r.action := 'accounts.change';
  r.digest := ${DIGEST};
  insert into audit_log select r.*;
  update audit_head set seq = r.seq, digest = r.digest;
end $$`;

const TABLES = ['audit_log', 'audit_head'];

/** A copy of the log and its head, and the way back to it. */
async function keep(): Promise<() => Promise<void>> {
  for (const table of TABLES)
    await shop.rows(`drop table if exists kept_${table}; create table kept_${table} as table ${table}`);
  return async () => {
    for (const table of TABLES) await shop.rows(`truncate ${table}; insert into ${table} table kept_${table}`);
  };
}

const clear = () => shop.rows(`truncate audit_log; update audit_head set seq = 0, digest = '', mac = null`);

beforeEach(async () => {
  await clear();
  for (let count = 0; count < 8; count++) await shop.newMerchant();
  expect(await violations()).toEqual([]);
});

describe('a log that was rewritten, with all digests computed anew, is found', () => {
  const CHANGED = 'The audit log was changed: entry';
  const ATTACKS: Record<string, [sql: string, found: string]> = {
    'an entry deleted, another renamed, the rest renumbered': [
      `delete from audit_log where seq = 3; update audit_log set actor_name = 'somebody else' where seq = 5; ${REPAIR}`,
      `${CHANGED} 3`,
    ],
    'only the newest entry changed': [`update audit_log set actor_name = 'x' where seq = 8; ${REPAIR}`, `${CHANGED} 8`],
    'an entry inserted': [
      `update audit_log set seq = seq + 100 where seq > 4;
       insert into audit_log select 5, at, actor_kind, actor_id, 'x', address, action, mid, subject, before, after, digest
       from audit_log where seq = 4; ${REPAIR}`,
      `${CHANGED} 6`,
    ],
    'two entries exchanged': [
      `update audit_log set seq = case seq when 4 then 105 else 104 end where seq in (4, 5);
       update audit_log set seq = seq - 100 where seq > 100; ${REPAIR}`,
      `${CHANGED} 4`,
    ],
    'the HMAC of another entry copied': [
      'update audit_log set mac = (select mac from audit_log where seq = 4) where seq = 5',
      `${CHANGED} 5`,
    ],
    'the HMAC of an entry removed': ['update audit_log set mac = null where seq = 5', `${CHANGED} 6`],
    'entries disguised as written before the upgrade': [
      `update audit_log set mac = null, actor_name = 'x' where seq <= 5; ${REPAIR}`,
      `${CHANGED} 6`,
    ],
    'the newest entries disguised as written by an earlier version': [
      `update audit_log set mac = null, actor_name = 'x' where seq >= 7; ${REPAIR}`,
      'The audit log was changed: its newest entries were removed or replaced.',
    ],
    'all entries disguised as written by an earlier version': [
      `update audit_log set mac = null, actor_name = 'x'; ${REPAIR}; update audit_head set mac = null`,
      'No entry of the audit log is under the key.',
    ],
    'the newest entries deleted': [
      `delete from audit_log where seq > 6; ${REPAIR}`,
      'The audit log was changed: its newest entries were removed or replaced.',
    ],
    'the newest entries deleted, with the HMAC of an entry as that of the head': [
      `delete from audit_log where seq > 6; ${REPAIR}; update audit_head set mac = (select mac from audit_log where seq = 6)`,
      'The audit log was changed: its newest entries were removed or replaced.',
    ],
    'the newest entries deleted, and the head without an HMAC': [
      `delete from audit_log where seq > 6; ${REPAIR}; update audit_head set mac = null`,
      'The audit log was changed: its newest entries were removed or replaced.',
    ],
    'all entries deleted': [
      `delete from audit_log; ${REPAIR}`,
      'The audit log was changed: its newest entries were removed or replaced.',
    ],
    'the head deleted': [
      'delete from audit_head',
      'The audit log was changed: the number of its newest entry is missing.',
    ],
  };

  test.each(Object.entries(ATTACKS))('%s', async (_what, [attack, found]) => {
    const restore = await keep();
    await shop.rows(attack);
    try {
      expect((await violations())[0]).toContain(found);
      // Without the key only the digests can be checked, and the result says so.
      expect((await verifyAt(shop.connection)).audit.keyed).toBeUndefined();
    } finally {
      await restore();
    }
    expect(await violations()).toEqual([]);
  });

  test('also after the gateway has written further entries', async () => {
    await shop.rows(`delete from audit_log where seq > 6; ${REPAIR}`);
    await shop.newMerchant();
    await shop.newMerchant();
    expect(await violations()).toEqual(['The audit log was changed: entry 7 does not fit its digest.']);
  });
});

describe('an upgrade', () => {
  const upgrade = async () => {
    await clear();
    for (let count = 0; count < 3; count++) await shop.rows(PLAIN_ENTRY);
    expect((await violations())[0]).toContain('No entry of the audit log is under the key.');
    // The work loop of another process does this at its start.
    await logAuditHead({ ...shop.gateway });
  };

  test('puts the log under the key, with the entries that it has', async () => {
    await upgrade();
    expect(await verify()).toMatchObject({ violations: [], audit: { entries: 4, keyed: { from: 4 } } });
    const [entry] = (await shop.admin('GET', '/audit?limit=1')).body.items;
    expect(entry).toMatchObject({ action: 'audit.use_key', after: { entries: 3 } });
    await shop.rows(`update audit_log set actor_name = 'x' where seq = 2; ${REPAIR}`);
    expect(await violations()).toEqual(['The audit log was changed: entry 4 does not fit its digest.']);
  });

  test('happens once: the log of a running gateway that loses its key is not put under it again', async () => {
    await logAuditHead(shop.gateway);
    await shop.rows(`update audit_log set mac = null, actor_name = 'x'; ${REPAIR}; update audit_head set mac = null`);
    await logAuditHead(shop.gateway);
    expect((await violations())[0]).toContain('No entry of the audit log is under the key.');
    expect(shop.logs.at(-2)).toContain('the audit log was changed: an entry is missing or is another one');
  });

  test('allows entries of the earlier version for a day; later ones have to be accepted', async () => {
    await upgrade();
    for (let count = 0; count < 2; count++) await shop.rows(PLAIN_ENTRY);
    await shop.newMerchant();
    await shop.rows(PLAIN_ENTRY);
    expect(await violations()).toEqual([]);

    const usual = LIMITS.auditUpgradeMs;
    Object.assign(LIMITS, { auditUpgradeMs: -1 });
    try {
      expect(await violations()).toEqual([
        'Entries 5 to 6 of the audit log are not under the key.',
        'Entry 8 of the audit log is not under the key.',
      ]);
      for (const run of (await verify()).audit.keyed?.unkeyed ?? []) {
        await acceptEntries(shop.gateway, commandCaller('verify'), run);
      }
      expect(await violations()).toEqual([]);
      await shop.rows(PLAIN_ENTRY);
      expect(await violations()).toEqual(['Entry 11 of the audit log is not under the key.']);
    } finally {
      Object.assign(LIMITS, { auditUpgradeMs: usual });
    }
  });
});

describe('a mark', () => {
  test('of the log or of an earlier run finds that the log was set back to an earlier state', async () => {
    const restore = await keep();
    await shop.newMerchant();
    const knownHead = await markNow();
    await logAuditHead(shop.gateway);
    expect(shop.logs.at(-1)).toContain(`"mark":"${knownHead.seq}:${knownHead.mark}"`);
    await shop.newMerchant();
    expect((await verify({ knownHead })).violations).toEqual([]);

    await restore();
    expect(await violations()).toEqual([]);
    const missing = ['The audit log was changed: it does not contain the entry 9 of the mark.'];
    expect((await verify({ knownHead })).violations).toEqual(missing);
    await shop.newMerchant();
    expect((await verify({ knownHead })).violations).toEqual(missing);
    // A process that ran all the time notices by itself.
    await logAuditHead(shop.gateway);
    expect(shop.logs.at(-2)).toContain('the audit log was changed: an entry is missing or is another one');
  });
});

test('concurrent changes form one chain', async () => {
  await Promise.all(Array.from({ length: 20 }, () => shop.newMerchant()));
  expect((await verify()).audit).toMatchObject({ violations: [], entries: 28 });
});

// The last test: the gateway does not have the new key.
test('the chain goes on after a rotation of the master key', async () => {
  const { mark } = await markNow();
  const next = newMasterKey();
  const rows = openRotationStore(shop.connection);
  await rotateKeys({ seal: createSeal(`${next},${masterKey}`) }, rows, () => undefined).finally(() => rows.close());
  const log = createLog('silent', { write: () => undefined });
  const { gateway, close } = await openGateway({
    connection: shop.connection,
    environment: 'sandbox',
    masterKey: next,
    log,
  });
  try {
    const key = auditKey(gateway);
    expect((await verifyAt(shop.connection, { auditKey: key })).audit.keyed?.mark).toBe(mark);
    await logAuditHead(gateway);
    await acceptEntries(gateway, commandCaller('verify'), { from: 0, to: 0 });
    const knownHead = { seq: 8n, mark };
    expect((await verifyAt(shop.connection, { auditKey: key, knownHead })).violations).toEqual([]);
  } finally {
    await close();
  }
});
