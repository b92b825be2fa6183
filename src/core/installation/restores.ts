/** After a restore: what the provider may know that this database does not, and the release of what is held. */
import { invalidField, Refusal } from '../../rules/errors.ts';
import { SENTENCES } from '../../rules/fields.ts';
import { LIMITS } from '../../rules/limits.ts';
import type { Restore, RestoredAccess, StatementSince } from '../../store/installation/restores.ts';
import type { Gateway } from '../context.ts';
import { auditEntry, type Caller } from '../operators/principal.ts';
import { readNote } from '../payments/resolve.ts';
import { type CheckedCharge, checkDueCharges } from '../schedules/schedules.ts';

export interface RestoreReport {
  restore: Restore;
  /** The charges that wait for the release: how many, and what the provider says about the first of them. */
  charges: { due: number; checked: CheckedCharge[] };
  /** The newest statements about the time since the backup. */
  statements: StatementSince[];
  /** What the backup brought back, and may have been removed since. */
  access: RestoredAccess;
}

/** Undefined if this installation was never restored. Nothing is written; the provider is asked about due charges. */
export async function restoreReport(gateway: Gateway): Promise<RestoreReport | undefined> {
  const restore = await gateway.restores.last();
  if (!restore) return undefined;
  const isHeld = restore.releasedAt === null;
  return {
    restore,
    charges: isHeld ? await checkDueCharges(gateway, restore, LIMITS.restoreCheckedMost) : { due: 0, checked: [] },
    statements: await gateway.restores.statementsSince(restore.backupAt, LIMITS.restoreStatementsMost),
    access: await gateway.restores.access(),
  };
}

/** From now on charges and voids are made again; the provider is asked first about what it may know already. */
export async function releaseRestore(gateway: Gateway, by: Caller, noteText: unknown): Promise<Restore> {
  const restore = await gateway.restores.last();
  if (restore?.releasedAt !== null) throw new Refusal('nothingHeld');
  const note = readNote(typeof noteText === 'string' ? noteText : '');
  if (note === '')
    throw invalidField('note', SENTENCES.blank, { expected: 'What you have checked, for the audit log.' });
  const { restoredAt, backupAt } = restore;
  const facts = { before: { restored_at: restoredAt, backup_at: backupAt }, after: { note } };
  const entry = auditEntry(gateway, by, 'restore.release', facts);
  if (!(await gateway.restores.release(by.name, note, entry))) throw new Refusal('nothingHeld');
  return (await gateway.restores.last()) as Restore;
}

/** Marks a database that was restored by other tools, as `backup --restore` does; false if a restore is held already. */
export const markRestored = (gateway: Gateway, by: Caller, backupAt: number): Promise<boolean> =>
  gateway.restores.mark(backupAt, auditEntry(gateway, by, 'restore.mark', { after: { backup_at: backupAt } }));
