/** The filters of the list of payments that an operator saves under a name. */
import { invalidField } from '../../rules/errors.ts';
import { LIMITS } from '../../rules/limits.ts';
import type { SavedFilter } from '../../store/operators/saved-filters.ts';
import type { Gateway } from '../context.ts';
import { auditEntry, type Caller } from './principal.ts';
import type { Session } from './sessions.ts';

export const listSavedFilters = ({ savedFilters }: Gateway, { operator }: Session): Promise<SavedFilter[]> =>
  savedFilters.list(operator.operatorId);

/** Replaces a filter of the same name. */
export async function saveFilter(
  gateway: Gateway,
  { operator }: Session,
  by: Caller,
  { name: given, query }: SavedFilter,
): Promise<void> {
  const name = given.trim();
  const isName = name !== '' && name.length <= LIMITS.savedFilterNameLength && !/[\p{Cc}\p{Cf}]/u.test(name);
  if (!isName) throw invalidField('name', `Enter a name of ${LIMITS.savedFilterNameLength} characters or less.`);
  if (query === '') throw invalidField('name', 'Choose a filter first.');
  if (query.length > QUERY_LENGTH_MOST) throw invalidField('name', 'These filters are too long to be saved.');
  // The search may contain personal data, so the log has the name only.
  const audit = auditEntry(gateway, by, 'filters.save', { subject: operator.operatorId, after: { name } });
  const now = gateway.clock.real();
  const isSaved = await gateway.savedFilters.save(
    operator.operatorId,
    { name, query },
    now,
    LIMITS.savedFiltersMost,
    audit,
  );
  if (!isSaved) throw invalidField('name', `Delete a filter first: ${LIMITS.savedFiltersMost} can be saved.`);
}

const QUERY_LENGTH_MOST = 2000;

export const deleteFilter = (gateway: Gateway, { operator }: Session, by: Caller, name: string): Promise<void> =>
  gateway.savedFilters.delete(
    operator.operatorId,
    name,
    auditEntry(gateway, by, 'filters.delete', { subject: operator.operatorId, before: { name } }),
  );
