/** What the gateway does with a payment afterwards: capture, void and refund, each once per operation. */
import type { LedgerOperation, OperationKind, Payment, Status } from './ledger.ts';
import { cardRowOf, type Simulator } from './payments.ts';

interface Rule {
  /** The states in which the payment must be, and what is said when it is not. */
  from: readonly Status[];
  refusal: string;
  to?: Status;
  /** Where the money moves, if it does. */
  direction?: 'in' | 'out';
  most(simulator: Simulator, payment: Payment): bigint;
  tooMuch: string;
}

export const OPERATIONS: Readonly<Record<OperationKind, Rule>> = {
  capture: {
    from: ['authorised'],
    refusal: 'Only an authorised payment can be captured.',
    to: 'settled',
    direction: 'in',
    most: (_, payment) => BigInt(payment.amount),
    tooMuch: 'The amount is more than was authorised.',
  },
  void: {
    from: ['redirect', 'pending', 'sending', 'authorised'],
    refusal: 'The payment can no longer be voided.',
    to: 'voided',
    most: (_, payment) => BigInt(payment.amount),
    tooMuch: 'The amount is more than that of the payment.',
  },
  refund: {
    from: ['settled'],
    refusal: 'Only a settled payment can be refunded.',
    direction: 'out',
    most: ({ ledger }, { reference }) => ledger.balance(reference),
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

/** The check, the state and the money are one transaction: what is refunded here cannot be refunded elsewhere. */
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
    const reason = refusalOf(simulator, payment, kind, BigInt(amount));
    const status = reason === null ? 'done' : 'declined';
    ledger.addOperation({ reference, operation, kind, amount, status, reason });
    if (status === 'done') {
      if (to) ledger.move(reference, [payment.status], { status: to });
      if (direction) ledger.addMovement({ reference, operation, kind, direction, amount, currency: payment.currency });
    }
    return ledger.operation(reference, operation) as LedgerOperation;
  });
}

function refusalOf(simulator: Simulator, payment: Payment, kind: OperationKind, amount: bigint): string | null {
  const { from, refusal, most, tooMuch } = OPERATIONS[kind];
  if (!from.includes(payment.status)) return refusal;
  if (kind === 'capture' && cardRowOf(simulator, payment).refusesCapture)
    return 'The simulated bank refuses the capture.';
  return amount > most(simulator, payment) ? tooMuch : null;
}
