/** Checks the chain of the audit log: its digests, and with the key its HMACs. */
import type pg from 'pg';
import {
  type AuditHead,
  type AuditKey,
  EMPTY_CHAIN,
  entryDigest,
  entryMac,
  headMac,
  headMark,
} from '../../lib/crypto/audit-chain.ts';
import { LIMITS } from '../../rules/limits.ts';
import { ACCEPT_ENTRIES, auditText } from './audit.ts';

/** Entries without the key, from the first to the last of a run. */
export interface UnkeyedEntries {
  from: number;
  to: number;
}

/** A head that was logged or printed before. */
export interface KnownHead {
  seq: bigint;
  mark: string;
}

export interface AuditVerification {
  violations: string[];
  entries: number;
  /** Undefined if the key was not at hand, and only the digests were checked. */
  keyed?: {
    /** The first entry with the key; null if there is none. */
    from: number | null;
    mark: string;
    /** Entries that no upgrade explains. */
    unkeyed: UnkeyedEntries[];
  };
}

interface Row {
  seq: bigint;
  at: number;
  action: string;
  after: UnkeyedEntries | null;
  digest: Buffer;
  mac: Buffer | null;
  text: string;
}

type Client = Pick<pg.ClientBase, 'query'>;

/** The snapshot is that of the client's transaction. */
async function* entries(client: Client): AsyncGenerator<Row> {
  for (let last = 0n; ; ) {
    const { rows } = await client.query<Omit<Row, 'seq' | 'at'> & { seq: string; at: string }>(
      `select a.seq::text, (extract(epoch from a.at) * 1000)::bigint::text as at, a.action, a.digest, a.mac,
         case when a.action = '${ACCEPT_ENTRIES}' then a.after end as after, ${auditText('a')} as text
       from audit_log a where a.seq > $1 order by a.seq limit ${LIMITS.auditPage}`,
      [String(last)],
    );
    for (const row of rows) yield { ...row, seq: BigInt(row.seq), at: Number(row.at) };
    const [newest] = rows.slice(-1);
    if (!newest || rows.length < LIMITS.auditPage) return;
    last = BigInt(newest.seq);
  }
}

const changed = (what: string): string => `The audit log was changed: ${what}.`;

export async function verifyAudit(client: Client, key?: AuditKey, known?: KnownHead): Promise<AuditVerification> {
  const runs = unkeyedRuns();
  const violations: string[] = [];
  let head: AuditHead = EMPTY_CHAIN;
  let isKnownFound = known === undefined;
  for await (const row of entries(client)) {
    const next = { seq: head.seq + 1n, digest: entryDigest(head.digest, row.text) };
    const isSound =
      row.seq === next.seq &&
      row.digest.equals(next.digest) &&
      (!key || row.mac === null || row.mac.equals(entryMac(key, head.mac, next)));
    if (!isSound) {
      violations.push(changed(`entry ${row.seq} does not fit its digest`));
      break;
    }
    runs.add(row);
    head = { ...next, mac: key && row.mac ? headMac(key, row.seq, row.mac) : head.mac };
    if (key && known?.seq === row.seq) isKnownFound = headMark(key, head) === known.mark;
  }
  const { rows } = await client.query<{ seq: string; digest: Buffer; mac: Buffer | null }>(
    'select seq::text, digest, mac from audit_head',
  );
  const stored = rows[0];
  if (violations.length === 0) violations.push(...differences(head, stored, key !== undefined));
  if (!isKnownFound) violations.push(changed(`it does not contain the entry ${known?.seq} of the mark`));
  if (!key) return { violations, entries: Number(head.seq) };
  const { from, unkeyed } = runs.result();
  if (from === null && head.seq > 0n && violations.length === 0) {
    violations.push(
      'No entry of the audit log is under the key. A gateway of this version adds one at its start; if one has run before, the log was replaced.',
    );
  }
  violations.push(
    ...unkeyed.map((run) => `${rangeText(run)} of the audit log ${isOne(run) ? 'is' : 'are'} not under the key.`),
  );
  return { violations, entries: Number(head.seq), keyed: { from, mark: headMark(key, head), unkeyed } };
}

function differences(
  head: AuditHead,
  stored: { seq: string; digest: Buffer; mac: Buffer | null } | undefined,
  hasKey: boolean,
) {
  if (!stored) return [changed('the number of its newest entry is missing')];
  if (BigInt(stored.seq) !== head.seq || !stored.digest.equals(head.digest)) {
    return [changed(`entry ${stored.seq} does not fit its digest`)];
  }
  const isSame = stored.mac === null || head.mac === null ? stored.mac === head.mac : stored.mac.equals(head.mac);
  return hasKey && !isSame ? [changed('its newest entries were removed or replaced')] : [];
}

const isOne = ({ from, to }: UnkeyedEntries): boolean => from === to;

const rangeText = (run: UnkeyedEntries): string =>
  isOne(run) ? `Entry ${run.from}` : `Entries ${run.from} to ${run.to}`;

/**
 * Finds entries without the key. Those before the first entry with the key are from before the upgrade. For some time
 * after it, processes of the earlier version may still write; later entries have to be accepted by an entry with the key.
 */
function unkeyedRuns() {
  const found: UnkeyedEntries[] = [];
  const accepted: (UnkeyedEntries | null)[] = [];
  let from: number | null = null;
  let upgradedUntil = Number.POSITIVE_INFINITY;
  let isUpgraded = false;
  return {
    add({ seq, at, mac, after }: Row): void {
      if (mac !== null) {
        if (from === null) [from, upgradedUntil] = [Number(seq), at + LIMITS.auditUpgradeMs];
        accepted.push(after);
      }
      isUpgraded ||= at > upgradedUntil;
      if (mac !== null || !isUpgraded) return;
      const last = found.at(-1);
      if (last?.to === Number(seq) - 1) last.to = Number(seq);
      else found.push({ from: Number(seq), to: Number(seq) });
    },
    result: () => ({
      from,
      unkeyed: found.filter((run) => !accepted.some((other) => other?.from === run.from && other.to === run.to)),
    }),
  };
}
