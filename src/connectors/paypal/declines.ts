/** Why PayPal declined: the issues of its errors as our decline causes. */
import type { DeclineCause } from '../../rules/reasons.ts';
import { declineOf, type Outcome } from '../connector.ts';

/** Of a payment that its payer has left; ours, not PayPal's. */
export const WITHDRAWN = 'WITHDRAWN';

/** The issues of creating, capturing and authorising orders in PayPal's description of the Orders API, version 2. */
const ISSUES: Readonly<Partial<Record<DeclineCause, readonly string[]>>> = {
  refusedByBank: ['INSTRUMENT_DECLINED', 'TRANSACTION_REFUSED', 'PAYMENT_SOURCE_DECLINED_BY_PROCESSOR'],
  limitExceeded: ['TRANSACTION_LIMIT_EXCEEDED', 'MAX_NUMBER_OF_PAYMENT_ATTEMPTS_EXCEEDED'],
  notPermitted: [
    'PAYER_CANNOT_PAY',
    'PAYER_ACCOUNT_RESTRICTED',
    'COMPLIANCE_VIOLATION',
    'DOMESTIC_TRANSACTION_REQUIRED',
    'PAYMENT_SOURCE_CANNOT_BE_USED',
  ],
  revoked: [
    'AGREEMENT_ALREADY_CANCELLED',
    'BILLING_AGREEMENT_NOT_FOUND',
    'PAYER_ACCOUNT_LOCKED_OR_CLOSED',
    'TOKEN_EXPIRED',
    'TOKEN_ID_NOT_FOUND',
  ],
  suspectedFraud: ['PAYEE_BLOCKED_TRANSACTION', 'TRANSACTION_BLOCKED_BY_PAYEE', 'DECLINED_DUE_TO_RELATED_TXN'],
  notAuthenticated: ['PAYER_ACTION_REQUIRED', 'REDIRECT_PAYER_FOR_ALTERNATE_FUNDING'],
  outOfTime: ['ORDER_EXPIRED', 'ORDER_COMPLETED_OR_VOIDED'],
  cancelledByPayer: [WITHDRAWN],
  methodUnavailable: [
    'AUTH_CAPTURE_NOT_ENABLED',
    'DECIMAL_PRECISION',
    'INVALID_CURRENCY_CODE',
    'MAX_VALUE_EXCEEDED',
    'NOT_ENABLED_TO_VAULT_PAYMENT_SOURCE',
    'PAYEE_ACCOUNT_INVALID',
    'PAYEE_ACCOUNT_LOCKED_OR_CLOSED',
    'PAYEE_ACCOUNT_RESTRICTED',
    'PAYMENT_TYPE_NOT_SUPPORTED_FOR_INTENT',
    'TRANSACTION_RECEIVING_LIMIT_EXCEEDED',
    'UNSUPPORTED_INTENT',
    'UNSUPPORTED_INTENT_FOR_PAYMENT_SOURCE',
  ],
};

const CAUSES: ReadonlyMap<string, DeclineCause> = new Map(
  Object.entries(ISSUES).flatMap(([cause, issues]) => issues.map((issue) => [issue, cause as DeclineCause])),
);

/** Whether the issue says nothing of the payment: PayPal does not accept a member of the request. */
export const isUnnamed = (issue: string): boolean => !CAUSES.has(issue);

/** A decline by the issue of an error; any other issue means that PayPal does not accept the request as it is. */
export const declinedBy = (issue: string): Extract<Outcome, { kind: 'declined' }> =>
  declineOf(CAUSES.get(issue) ?? 'providerRefused', issue === WITHDRAWN ? {} : { own: issue });
