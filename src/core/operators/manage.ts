/** The operators of an installation: lists them, changes their roles, suspends them. */
import { Refusal } from '../../rules/errors.ts';
import type { Role } from '../../rules/roles.ts';
import type { Operator } from '../../store/operators.ts';
import type { Gateway } from '../context.ts';
import { auditEntry, type Caller } from '../principal.ts';

export const listOperators = ({ operators }: Gateway): Promise<Operator[]> => operators.list();

/** Refuses a change that would leave no active owner: there would be no way back. */
export async function changeOperator(
  gateway: Gateway,
  by: Caller,
  operatorId: string,
  change: { role?: Role; isSuspended?: boolean },
): Promise<Operator> {
  const before = await gateway.operators.find(operatorId);
  if (!before) throw new Refusal('noSuchOperator');
  const { role = before.role, isSuspended = before.state === 'suspended' } = change;
  const unsuspended = before.lastSignedInAt === null ? 'invited' : 'active';
  const state = isSuspended ? 'suspended' : before.state === 'suspended' ? unsuspended : before.state;
  const entry = auditEntry(gateway, by, 'operators.change', {
    subject: operatorId,
    before: { role: before.role, state: before.state },
    after: { role, state },
  });
  const after = await gateway.operators.update(operatorId, { role, state }, entry);
  if (after === 'lastOwner') throw new Refusal('lastOwner');
  if (!after) throw new Refusal('noSuchOperator');
  return after;
}
