/** What a caller does to operators: it manages those that it covers. To it, the others do not exist. */
import { isUuid } from '../../lib/crypto/id.ts';
import type { Secret } from '../../lib/crypto/secret.ts';
import { invalidField, Refusal } from '../../rules/errors.ts';
import { SENTENCES } from '../../rules/fields.ts';
import { isMerchantRole, type Role } from '../../rules/roles.ts';
import { isActiveOwner, type Operator } from '../../store/operators/operators.ts';
import type { Gateway } from '../context.ts';
import { requireAccounts } from './access-input.ts';
import { inviteAgain, inviteOperator, type NewOperator } from './invitations.ts';
import { auditEntry, type Caller, covers, type Reach, requireCovered } from './principal.ts';

/** The accounts of a merchant's user are chosen: without a list it would see all. */
const missingAccounts = (): Refusal =>
  invalidField('mids', SENTENCES.blank, { expected: 'The ids of the accounts that the user may see, as a list.' });

export const listOperators = async (gateway: Gateway, principal: Reach): Promise<Operator[]> =>
  (await gateway.operators.list()).filter((operator) => covers(principal, operator));

export async function requireOperator(gateway: Gateway, principal: Reach, operatorId: string): Promise<Operator> {
  const operator = isUuid(operatorId) ? await gateway.operators.find(operatorId) : undefined;
  if (!operator || !covers(principal, operator)) throw new Refusal('noSuchOperator');
  return operator;
}

/** How many invitations the user of a merchant makes: with a mail server, each may be an e-mail to anybody. */
export const INVITATIONS = { most: 30, windowMs: 60 * 60 * 1000 } as const;

function requireFewInvitations(gateway: Gateway, { role }: Reach, { id }: Caller): void {
  if (isMerchantRole(role) && gateway.isInvitationTooFast(id ?? '')) {
    throw new Refusal('tooManyRequests', [], INVITATIONS.windowMs / 1000);
  }
}

export async function inviteOperatorAs(
  gateway: Gateway,
  principal: Reach,
  by: Caller,
  wanted: NewOperator,
): ReturnType<typeof inviteOperator> {
  requireCovered(principal, wanted);
  if (isMerchantRole(wanted.role) && wanted.mids === null) throw missingAccounts();
  await requireAccounts(gateway, wanted.mids);
  requireFewInvitations(gateway, principal, by);
  return inviteOperator(gateway, by, wanted);
}

export async function inviteAgainAs(
  gateway: Gateway,
  principal: Reach,
  by: Caller,
  operatorId: string,
): Promise<{ operator: Operator; secret: Secret }> {
  const operator = await requireOperator(gateway, principal, operatorId);
  requireFewInvitations(gateway, principal, by);
  return { operator, secret: await inviteAgain(gateway, by, operator) };
}

/** The state of an operator that is suspended, or is no longer; one who never signed in can still use its invitation. */
function stateAfter({ state, lastSignedInAt }: Operator, isSuspended: boolean): Operator['state'] {
  if (isSuspended) return 'suspended';
  if (state !== 'suspended') return state;
  return lastSignedInAt === null ? 'invited' : 'active';
}

/** What a caller changes about an operator; what is absent stays as it is. */
export interface OperatorChange {
  name?: string;
  role?: Role;
  mids?: string[] | null;
  refundLimit?: string | null;
  isSuspended?: boolean;
}

const auditView = ({ name, role, mids, refundLimit, state }: Operator) => ({
  name,
  role,
  mids,
  refund_limit: refundLimit,
  state,
});

/**
 * Refuses an operator that the caller does not cover, now or after the change, and a change that would leave no active owner
 * of all accounts: there would be no way back.
 */
export async function changeOperator(
  gateway: Gateway,
  principal: Reach,
  by: Caller,
  operatorId: string,
  { isSuspended, ...values }: OperatorChange,
): Promise<Operator> {
  if (!isUuid(operatorId)) throw new Refusal('noSuchOperator');
  if (values.mids !== undefined) {
    requireCovered(principal, { ...principal, mids: values.mids });
    await requireAccounts(gateway, values.mids);
  }
  const changed = await gateway.operators.change(operatorId, (before) => {
    if (!covers(principal, before)) throw new Refusal('noSuchOperator');
    const change = { ...values, ...(isSuspended !== undefined && { state: stateAfter(before, isSuspended) }) };
    const after = { ...before, ...change };
    requireCovered(principal, after);
    if (isMerchantRole(after.role) && after.mids === null) throw missingAccounts();
    if (before.isLastOwner && !isActiveOwner(after)) throw new Refusal('lastOwner');
    const audit = auditEntry(gateway, by, 'operators.change', {
      subject: operatorId,
      before: auditView(before),
      after: auditView(after),
    });
    return { change, audit };
  });
  if (!changed) throw new Refusal('noSuchOperator');
  return changed;
}

/** Deletes an operator with its credentials; it is signed out at once, and its invitation does not work any more. */
export async function deleteOperator(
  gateway: Gateway,
  principal: Reach,
  by: Caller,
  operatorId: string,
): Promise<void> {
  const isDeleted =
    isUuid(operatorId) &&
    (await gateway.operators.delete(operatorId, (before) => {
      if (!covers(principal, before)) throw new Refusal('noSuchOperator');
      if (before.isLastOwner) throw new Refusal('lastOwner');
      const { email } = before;
      return auditEntry(gateway, by, 'operators.delete', {
        subject: operatorId,
        before: { email, ...auditView(before) },
      });
    }));
  if (!isDeleted) throw new Refusal('noSuchOperator');
}
