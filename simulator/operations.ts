/** Capture, void and refund; an operation id makes each idempotent. */
import type { LedgerOperation, OperationKind, Payment, Status } from './ledger.ts';
import { cardBehaviourOf, type Simulator } from './payments.ts';

interface Rule {
  /** The statuses that allow the operation, and the refusal in any other. */
  from: readonly Status[];
  refusal: string;
  to?: Status;
  /** The direction of the movement, if money moves. */
  direction?: 'in' | 'out';
  maximum(simulator: Simulator, payment: Payment): bigint;
  tooMuch: string;
}

export const OPERATIONS: Readonly<Record<OperationKind, Rule>> = {
  capture: {
    from: ['authorised'],
    refusal: 'Only an authorised payment can be captured.',
    to: 'settled',
    direction: 'in',
    maximum: (_, payment) => BigInt(payment.amount),
    tooMuch: 'The amount is more than was authorised.',
  },
  void: {
    from: ['redirect', 'pending', 'sending', 'authorised'],
    refusal: 'The payment can no longer be voided.',
    to: 'voided',
    maximum: (_, payment) => BigInt(payment.amount),
    tooMuch: 'The amount is more than that of the payment.',
  },
  refund: {
    from: ['settled'],
    refusal: 'Only a settled payment can be refunded.',
    direction: 'out',
    maximum: ({ ledger }, { reference }) => ledger.balance(reference),
    tooMuch: 'The amount is more than what is left of the payment.',
  },
};

export const isOperationKind = (value: string): value is OperationKind => Object.hasOwn(OPERATIONS, value);

export const operationResponse = ({ operation, status, amount, reason }: LedgerOperation) => ({
  operation,
  status,
  amount,
  ...(reason !== null && { reason }),
});

/** Checks and performs an operation in one transaction, so that concurrent refunds cannot exceed the balance. */
export function performOperation(
  simulator: Simulator,
  reference: string,
  kind: OperationKind,
  { operation, amount }: Pick<LedgerOperation, 'operation' | 'amount'>,
): LedgerOperation {
  const { ledger } = simulator;
  const { to, direction } = OPERATIONS[kind];
  return ledger.transaction(() => {
    const earlier = ledger.operation(reference, operation);
    if (earlier) return earlier;
    const payment = ledger.payment(reference) as Payment;
    const reason = refusalReason(simulator, payment, kind, BigInt(amount));
    const status = reason === null ? 'done' : 'declined';
    ledger.addOperation({ reference, operation, kind, amount, status, reason });
    if (status === 'done') {
      if (to) ledger.changeStatus(reference, [payment.status], { status: to });
      if (direction) ledger.addMovement({ reference, operation, kind, direction, amount, currency: payment.currency });
    }
    return ledger.operation(reference, operation) as LedgerOperation;
  });
}

function refusalReason(simulator: Simulator, payment: Payment, kind: OperationKind, amount: bigint): string | null {
  const { from, refusal, maximum, tooMuch } = OPERATIONS[kind];
  if (!from.includes(payment.status)) return refusal;
  if (kind === 'capture' && cardBehaviourOf(simulator, payment).refusesCapture)
    return 'The simulated bank refuses the capture.';
  return amount > maximum(simulator, payment) ? tooMuch : null;
}
