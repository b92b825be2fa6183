/** The answer of GET_TRANS_DETAILS: the payer, the card, and what happened to the payment. */
import type { OperationRow, PaymentWithDetails } from '../../core/context.ts';
import type { RefundAtProvider } from '../../core/payments/elsewhere.ts';
import { amountText } from '../../lib/money/money.ts';
import { wireDate } from '../../lib/time/clock.ts';
import { CALLBACK_ACTIONS, type CallbackType, OPERATION_TYPES } from '../../rules/callbacks.ts';
import { exponentOf } from '../../rules/currencies.ts';
import { isOpen } from '../../rules/states.ts';
import { type S2sAnswer, statusAnswer } from './answers.ts';

const OUTCOMES: Readonly<Record<OperationRow['state'], string>> = {
  done: 'success',
  declined: 'fail',
  sent: 'waiting',
};

/** The outcome of the sale itself, whatever happened to the payment later. */
const saleOutcome = ({ state, authorised }: PaymentWithDetails): string =>
  authorised > 0n ? 'success' : isOpen(state) ? 'waiting' : 'fail';

/** An operation that is listed: one of ours, or a refund that was made at the provider itself. */
interface Listed {
  type: CallbackType;
  status: string;
  at: number;
  amount: bigint;
}

const listed = (operations: readonly OperationRow[]): Listed[] =>
  operations.flatMap(({ verb, state, finishedAt, requestedAt, amount }) => {
    const type = OPERATION_TYPES[verb as keyof typeof OPERATION_TYPES];
    return type === undefined ? [] : [{ type, status: OUTCOMES[state], at: finishedAt ?? requestedAt, amount }];
  });

/** `isAuthorisation` says that the merchant asked for one; a review authorises other payments, too. */
export function detailsAnswer(
  payment: PaymentWithDetails,
  operations: readonly OperationRow[],
  refundsElsewhere: readonly RefundAtProvider[],
  isAuthorisation: boolean,
): S2sAnswer {
  const { payer, card, recurringOf } = payment.details;
  const exponent = exponentOf(payment.currency);
  const refunds = refundsElsewhere.map(({ at, amount }): Listed => ({ type: 'refund', status: 'success', at, amount }));
  const shown = [...listed(operations), ...refunds].toSorted((one, other) => one.at - other.at);
  const ofSale = isAuthorisation ? 'AUTH' : CALLBACK_ACTIONS[recurringOf === undefined ? 'sale' : 'recurring'];
  const answer: S2sAnswer = {
    ...statusAnswer('GET_TRANS_DETAILS', payment),
    name: [payer.first_name, payer.last_name].filter(Boolean).join(' '),
    mail: payer.email ?? '',
    ip: payer.ip ?? '',
    card: card?.masked ?? '',
    transactions: [
      {
        type: ofSale,
        status: saleOutcome(payment),
        date: wireDate(payment.createdAt),
        amount: payment.amountText,
      },
      ...shown.map(({ type, status, at, amount }) => ({
        type: CALLBACK_ACTIONS[type],
        status,
        date: wireDate(at),
        amount: amount === payment.amount ? payment.amountText : amountText(amount, exponent),
      })),
    ],
  };
  return answer;
}
