/** What an operator does to a payment: the same operations as a merchant's, recorded under the operator's name. */
import { isUuid } from '../../lib/crypto/id.ts';
import { Refusal } from '../../rules/errors.ts';
import type { RefundReason } from '../../rules/refund-reasons.ts';
import { isAllowed, type Permission, type Role } from '../../rules/roles.ts';
import type { AuditEntry } from '../../store/audit/audit.ts';
import type { OperationRow, PaymentWithDetails } from '../../store/payments/payments.ts';
import { findAccount } from '../accounts/accounts.ts';
import type { Account, Gateway, RiskDecisionRow } from '../context.ts';
import { capture, readAmount, refund, voidPayment } from '../payments/change.ts';
import type { Initiator, OperationResult } from '../payments/operate.ts';
import { earlierRequest, type RefundRequest, requestRefund } from '../payments/refund-requests.ts';
import { type Decision, type Resolved, readNote, resolveAttention } from '../payments/resolve.ts';
import { isHeldByReview } from '../risk/reviewed.ts';
import { auditEntry, type Caller, type Principal, sees } from './principal.ts';

/** An empty amount means everything; `operationId` makes the request idempotent. The note is shown in the history. */
export interface OperatorRequest {
  amount: string;
  operationId: string;
  reason?: RefundReason | undefined;
  note?: string;
}

export const OPERATOR_ACTIONS = ['capture', 'void', 'refund'] as const;
export type OperatorAction = (typeof OPERATOR_ACTIONS)[number];

const PERFORM: Readonly<
  Record<
    OperatorAction,
    (
      gateway: Gateway,
      account: Account,
      payment: PaymentWithDetails,
      request: OperatorRequest,
      initiator: Initiator,
    ) => Promise<OperationResult>
  >
> = {
  capture: (gateway, account, payment, { amount, operationId }, initiator) =>
    capture(gateway, account, payment, amount, initiator, operationId),
  void: (gateway, _account, payment, { operationId }, initiator) =>
    voidPayment(gateway, payment, initiator, operationId),
  refund: (gateway, account, payment, { amount, operationId }, initiator) =>
    refund(gateway, account, payment, amount, initiator, 'refundOrReversal', operationId),
};

/** What an operator needs for an action. */
export const ACTION_PERMISSIONS = {
  capture: 'payments.operate',
  void: 'payments.operate',
  refund: 'payments.refund',
} as const satisfies Record<OperatorAction, Permission>;

/** Refuses a payment that does not exist, or that the caller may not see. */
export async function requirePayment(
  gateway: Gateway,
  principal: Pick<Principal, 'mids'>,
  paymentId: string,
): Promise<PaymentWithDetails> {
  const payment = isUuid(paymentId) ? await gateway.payments.findAnywhere(paymentId) : undefined;
  if (!payment || !sees(principal, payment.mid)) throw new Refusal('noSuchPayment');
  return payment;
}

/** Writes an entry once, however often the payment changes while its operation is composed. */
function recorder({ audit }: Gateway, entry: AuditEntry): () => Promise<void> {
  let written: Promise<void> | undefined;
  return () => {
    written ??= audit.append(entry);
    return written;
  };
}

/** Carries out what the operator decided about a payment on the attention list. */
export async function resolveAs(
  gateway: Gateway,
  principal: Pick<Principal, 'mids' | 'refundLimit'>,
  by: Caller,
  paymentId: string,
  decision: Decision,
): Promise<Resolved> {
  const payment = await requirePayment(gateway, principal, paymentId);
  const { mid, paymentId: subject, attention, state, declineReason } = payment;
  const note = readNote(decision.note);
  const requester = { id: by.id, refundLimit: principal.refundLimit };
  const before = { attention, status: state, decline_reason: declineReason };
  const after = { resolve: decision.resolve, note: note || null };
  const entry = auditEntry(gateway, by, 'payments.resolve_attention', { mid, subject, before, after });
  return resolveAttention(gateway, payment, { ...decision, note }, by.name, requester, recorder(gateway, entry));
}

/** Dismisses the mark without a note; a payment without a mark is returned as it is. */
export async function attendAs(
  gateway: Gateway,
  principal: Pick<Principal, 'mids' | 'refundLimit'>,
  by: Caller,
  paymentId: string,
): Promise<PaymentWithDetails> {
  const payment = await requirePayment(gateway, principal, paymentId);
  if (payment.attention === null) return payment;
  const decision = { resolve: 'dismiss', note: '', operationId: '' } as const;
  return (await resolveAs(gateway, principal, by, paymentId, decision)).payment;
}

/** The payment with the operation, or with the refund that waits for a second person. */
export type Operated =
  | { payment: PaymentWithDetails; operation: OperationRow; request?: undefined }
  | { payment: PaymentWithDetails; operation?: undefined; request: RefundRequest };

export async function operateAs(
  gateway: Gateway,
  principal: Pick<Principal, 'mids' | 'refundLimit'>,
  by: Caller,
  paymentId: string,
  action: OperatorAction,
  request: OperatorRequest,
): Promise<Operated> {
  const payment = await requirePayment(gateway, principal, paymentId);
  const account = await findAccount(gateway, payment.mid);
  if (!account) throw new Refusal('noSuchPayment');
  readAmount(request.amount, payment, account, 0n);
  const { mid, paymentId: subject } = payment;
  const note = readNote(request.note ?? '');
  const after = {
    amount: request.amount || null,
    operation_id: request.operationId || null,
    ...(request.reason && { reason: request.reason }),
    ...(note !== '' && { note }),
  };
  const entry = auditEntry(gateway, by, `payments.${action}`, { mid, subject, after });
  const record = recorder(gateway, entry);
  const { refundLimit } = principal;
  const requester = { id: by.id, refundLimit, approvalFrom: account.settings.refund_approval_from };
  const initiator = { actor: 'operator', name: by.name, ...(note !== '' && { note }), requester, record } as const;
  const earlier = action === 'refund' ? await earlierRequest(gateway, payment, request) : undefined;
  if (earlier && earlier.state !== 'approved') return { payment, request: earlier };
  try {
    return await PERFORM[action](gateway, account, payment, request, initiator);
  } catch (error) {
    if (!(error instanceof Refusal) || error.error !== 'refundNeedsApproval') throw error;
    const current = await requirePayment(gateway, principal, paymentId);
    const wanted = { amount: request.amount, operationId: request.operationId, note };
    return { payment: current, request: await requestRefund(gateway, account, current, by, refundLimit, wanted) };
  }
}

/** The actions that the role has and that the state of a payment and its review may allow; the operation itself decides. */
export function possibleActions(
  role: Role,
  payment: PaymentWithDetails,
  risk: RiskDecisionRow | undefined,
): OperatorAction[] {
  return actionsOf(payment, isHeldByReview(risk)).filter((action) => isAllowed(role, ACTION_PERMISSIONS[action]));
}

function actionsOf({ state, authorised, captured, refunded }: PaymentWithDetails, isHeld: boolean): OperatorAction[] {
  if (state === 'PENDING' && authorised > 0n) return isHeld ? ['void', 'refund'] : ['capture', 'void', 'refund'];
  if (state === 'PENDING') return ['void'];
  return state === 'SETTLED' && refunded < captured ? ['refund'] : [];
}
