/** Reads Checkout.com's payments and actions as outcomes. */
import { Secret } from '../../lib/crypto/secret.ts';
import { REASONS } from '../../rules/reasons.ts';
import { declineOf, type OperationOutcome, type Outcome, type Submission } from '../connector.ts';
import { leftOpen, type OpenStatuses } from '../events.ts';
import { fromCheckout } from './amounts.ts';
import { declinedBy } from './declines.ts';
import type { Action, Payment } from './types.ts';

type Kind = 'authorised' | 'captured' | 'waiting' | 'declined' | 'ended';

/** The statuses of payments. */
const KINDS: Readonly<Record<string, Kind>> = {
  Authorized: 'authorised',
  Captured: 'captured',
  'Partially Captured': 'captured',
  Paid: 'captured',
  'Partially Refunded': 'captured',
  Refunded: 'captured',
  Pending: 'waiting',
  Active: 'waiting',
  Requested: 'waiting',
  'Authentication Requested': 'waiting',
  'Retry Scheduled': 'waiting',
  Declined: 'declined',
  Canceled: 'ended',
  Expired: 'ended',
  Voided: 'ended',
};

export const OPEN_STATUSES: OpenStatuses = { 'Card Verified': 'No amount was authorised.' };

/** The outcome of a payment. A sale is captured at once, so it counts as paid when it is authorised. */
export function outcomeOf(payment: Payment, { authoriseOnly }: Pick<Submission, 'authoriseOnly'>): Outcome {
  const { id, status, currency, amount, source, scheme_id: schemeId, balances, processing } = payment;
  const kind = Object.hasOwn(KINDS, status) ? KINDS[status] : undefined;
  const answered = {
    providerReference: id,
    ...(schemeId !== undefined && { networkTransactionId: schemeId }),
    ...(source?.id !== undefined && { paymentMethod: new Secret(source.id) }),
  };
  const reportedAmount = fromCheckout(amount, currency);
  switch (kind) {
    case 'authorised':
      return { kind: authoriseOnly ? 'authorised' : 'settled', reportedAmount, ...answered };
    case 'captured': {
      // Of an authorisation perhaps a part was captured, here or in the dashboard.
      const captured = authoriseOnly && balances ? fromCheckout(balances.total_captured, currency) : undefined;
      return { kind: 'settled', reportedAmount, ...(captured && { captured }), ...answered };
    }
    case 'waiting': {
      const url = payment._links?.redirect?.href ?? '';
      if (/^https?:\/\//.test(url)) return { kind: 'redirected', url, method: 'GET', params: {}, ...answered };
      return { kind: 'unknown', ...answered };
    }
    case 'declined':
      return { ...declinedBy(codeOf(payment), processing), providerReference: id };
    case 'ended':
      return { ...declineOf('outOfTime'), providerReference: id };
    default:
      return { ...leftOpen(status, OPEN_STATUSES), ...answered };
  }
}

/** The answer to a payment has its code; a payment that is queried has that of its authorisation. */
const codeOf = ({ response_code: code, actions = [] }: Payment): string | undefined =>
  code ?? actions.find(({ type }) => type === 'Authorization')?.response_code;

export function actionOutcome({ id, approved, amount }: Action, currency: string): OperationOutcome {
  return approved === true
    ? { kind: 'done', operationReference: id, reportedAmount: fromCheckout(amount, currency) }
    : { kind: 'declined', operationReference: id, reason: REASONS.providerSaidNo };
}
