/** Refunds that need a second person: requested by one, approved or refused by another. */
import { isUuid, newId } from '../../lib/crypto/id.ts';
import { Refusal } from '../../rules/errors.ts';
import { LIMITS } from '../../rules/limits.ts';
import type { RefundRequestState } from '../../rules/refund-requests.ts';
import type { PaymentWithDetails } from '../../store/payments/payments.ts';
import type { ListedRefundRequest, RefundRequest, RefundRequestFilter } from '../../store/payments/refund-requests.ts';
import { findAccount } from '../accounts/accounts.ts';
import type { Account, Gateway } from '../context.ts';
import { mayBeOutdated } from '../installation/hold.ts';
import { auditEntry, type Caller, isAuthor, type Principal } from '../operators/principal.ts';
import { plannedRefund, sendRefund } from './change.ts';
import type { OperationResult } from './operate.ts';
import { duplicateOperation, idempotencyKeyOf } from './operation-ids.ts';
import { requireWithinLimit } from './refund-limit.ts';

export type { ListedRefundRequest, RefundRequest } from '../../store/payments/refund-requests.ts';

/** What was asked for; an empty amount means everything. */
export interface WantedRefund {
  amount: string;
  operationId: string;
  note: string;
}

const contentOf = (operationId: string, { paymentId }: Pick<PaymentWithDetails, 'paymentId'>, amount: string) =>
  idempotencyKeyOf(operationId, 'refund', paymentId, amount)?.content ?? '';

/** The request that an earlier call with this `operation_id` made; refuses one that asked for something else. */
export async function earlierRequest(
  gateway: Gateway,
  payment: PaymentWithDetails,
  { operationId, amount }: Pick<WantedRefund, 'operationId' | 'amount'>,
): Promise<RefundRequest | undefined> {
  if (operationId === '') return undefined;
  const key = { mid: payment.mid, operationId: operationId.toLowerCase() };
  const found = await gateway.refundRequests.ofOperation(key);
  if (found && found.content !== contentOf(operationId, payment, amount)) throw duplicateOperation();
  return found;
}

/** Stores a refund that waits for a second person. Nothing is reserved: the approval checks the payment anew. */
export async function requestRefund(
  gateway: Gateway,
  account: Account,
  payment: PaymentWithDetails,
  by: Caller,
  refundLimit: string | null,
  wanted: WantedRefund,
): Promise<RefundRequest> {
  const { mid, paymentId, currency } = payment;
  const { amount } = plannedRefund(gateway, account, payment, wanted.amount);
  const requestId = newId();
  const operationId = wanted.operationId.toLowerCase() || requestId;
  const request: RefundRequest = {
    mid,
    requestId,
    paymentId,
    operationId,
    content: contentOf(operationId, payment, wanted.amount),
    currency,
    amount,
    note: wanted.note || null,
    state: 'waiting',
    authorKind: by.kind,
    authorId: by.id,
    authorName: by.name,
    authorLimit: refundLimit,
    requestedAt: gateway.clock.now(mid),
    decidedBy: null,
    decidedAt: null,
    dueAt: null,
  };
  const after = { request_id: requestId, currency, amount: String(amount), note: request.note };
  const audit = auditEntry(gateway, by, 'payments.request_refund', { mid, subject: paymentId, after });
  const stored = await gateway.refundRequests.add(request, audit);
  if (stored.content !== request.content) throw duplicateOperation();
  return stored;
}

/** Newest first. */
export const listRefundRequests = (
  gateway: Gateway,
  filter: RefundRequestFilter,
  limit: number,
  before?: string,
): Promise<ListedRefundRequest[]> =>
  filter.mids?.length === 0 ? Promise.resolve([]) : gateway.refundRequests.list(filter, limit, before);

function requireDecidable(request: RefundRequest, by: Caller): void {
  if (isAuthor(request, by)) throw new Refusal('ownRefundRequest');
  if (request.state !== 'waiting') throw new Refusal('refundRequestDecided');
}

const authorOf = ({ authorId, authorLimit }: RefundRequest) => ({ id: authorId, refundLimit: authorLimit });

async function paymentOf(gateway: Gateway, request: RefundRequest) {
  const payment = await gateway.payments.find(request);
  const account = await findAccount(gateway, request.mid);
  if (!payment || !account) throw new Refusal('noSuchPayment');
  return { payment, account };
}

/** Refuses a refund that the payment no longer allows, or that is above the limit of one of the two persons. */
async function requirePossible(
  gateway: Gateway,
  request: RefundRequest,
  principal: Pick<Principal, 'id' | 'refundLimit'>,
): Promise<void> {
  const { payment, account } = await paymentOf(gateway, request);
  const plan = plannedRefund(gateway, account, payment, request.amount);
  await requireWithinLimit(gateway, payment, principal, plan);
  await requireWithinLimit(gateway, payment, authorOf(request), plan);
}

/** Approves or refuses a refund, once, and as another person or token than the one that requested it. */
export async function decideRefundRequest(
  gateway: Gateway,
  principal: Principal,
  by: Caller,
  requestId: string,
  state: Exclude<RefundRequestState, 'waiting'>,
): Promise<RefundRequest> {
  const id = requestId.toLowerCase();
  const filter = { mids: principal.mids, requestId: id };
  const [found] = isUuid(id) ? await listRefundRequests(gateway, filter, 1) : [];
  if (!found) throw new Refusal('noSuchRefundRequest');
  requireDecidable(found, by);
  if (state === 'approved') await requirePossible(gateway, found, principal);
  const decided = await gateway.refundRequests.decide(found, (request) => {
    requireDecidable(request, by);
    const { mid, paymentId: subject } = request;
    const action = `payments.${state === 'approved' ? 'approve' : 'refuse'}_refund`;
    return {
      state,
      decidedBy: by.name,
      decidedAt: gateway.clock.now(mid),
      dueAt: state === 'approved' ? gateway.clock.real() + LIMITS.leaseMs : null,
      audit: auditEntry(gateway, by, action, {
        mid,
        subject,
        before: { state: request.state },
        after: { state, request_id: request.requestId },
      }),
    };
  });
  if (state === 'approved') await sendApproved(gateway, decided);
  return decided;
}

/**
 * Sends an approved refund. If the process dies meanwhile, the work loop does it again under the same operation id, which
 * sends it once. What the payment does not allow any more waits for a decision again.
 */
async function sendApproved(gateway: Gateway, request: RefundRequest): Promise<OperationResult> {
  const { payment, account } = await paymentOf(gateway, request);
  const { operationId, content, amount, authorName, note } = request;
  try {
    const result = await sendRefund(
      gateway,
      account,
      payment,
      amount,
      {
        actor: 'operator',
        name: authorName,
        ...(note !== null && { note }),
        requester: authorOf(request),
        // The decision is in the log.
        record: async () => undefined,
      },
      { operationId, content },
    );
    await gateway.refundRequests.sent(request);
    return result;
  } catch (error) {
    if (error instanceof Refusal) await gateway.refundRequests.reopen(request);
    throw error;
  }
}

/**
 * A refund that was approved before a restore may have been sent since the backup, under an operation that is lost here: it
 * waits for a decision again.
 */
async function sendDue(gateway: Gateway, request: RefundRequest): Promise<void> {
  if (await mayBeOutdated(gateway, request.decidedAt ?? request.requestedAt))
    await gateway.refundRequests.reopen(request);
  else await sendApproved(gateway, request);
}

/** Sends approved refunds whose process died before it sent them. */
export async function sendDueRefunds(gateway: Gateway, isStopped: () => boolean): Promise<void> {
  for (const request of await gateway.refundRequests.due(gateway.clock.real(), LIMITS.decisionsAtATime)) {
    if (isStopped()) return;
    await sendDue(gateway, request).catch((error) =>
      gateway.log.error({ err: error, payment_id: request.paymentId }, 'an approved refund could not be sent'),
    );
  }
}
