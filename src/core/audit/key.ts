/** The audit log under its key: the first entry with it after an upgrade, the hourly mark, and entries that are accepted. */
import { type AuditHead, headMark } from '../../lib/crypto/audit-chain.ts';
import { ACCEPT_ENTRIES } from '../../store/audit/audit.ts';
import type { UnkeyedEntries } from '../../store/audit/verify.ts';
import type { Gateway } from '../context.ts';
import { auditEntry, auditKey, type Caller } from '../operators/principal.ts';

const GATEWAY: Caller = { kind: 'system', id: null, name: 'turnpike', address: null };

/** The heads that processes have logged last. */
const logged = new WeakMap<Gateway, AuditHead>();

/** Logs the newest entry, so that whoever has the log notices if the entry is missing later; this process notices, too. */
export async function logAuditHead(gateway: Gateway): Promise<void> {
  const { audit, log } = gateway;
  const before = logged.get(gateway);
  const { seq, mac } = await audit.head();
  if (before && before.seq > 0n && !(await audit.digestOf(before.seq))?.equals(before.digest)) {
    log.error({ seq: Number(before.seq) }, 'the audit log was changed: an entry is missing or is another one');
  }
  if (!before && mac === null && seq > 0n) {
    log.warn(
      { seq: Number(seq) },
      'the audit log is under a key from its next entry on: this happens once, at an upgrade',
    );
    await audit.append(auditEntry(gateway, GATEWAY, 'audit.use_key', { after: { entries: Number(seq) } }));
  }
  const head = await audit.head();
  logged.set(gateway, head);
  log.info({ mark: `${head.seq}:${headMark(auditKey(gateway), head)}` }, 'newest entry of the audit log');
}

/** Accepts entries without the key, which a process of an earlier version wrote. */
export const acceptEntries = (gateway: Gateway, by: Caller, { from, to }: UnkeyedEntries): Promise<void> =>
  gateway.audit.append(auditEntry(gateway, by, ACCEPT_ENTRIES, { after: { from, to } }));
