/** Reads Adyen's answers to payments and sessions as outcomes. */
import type {
  PaymentDetailsResponse,
  PaymentResponse,
  SessionResultResponse,
} from '@adyen/api-library/lib/src/typings/checkout/models.js';
import { isText } from '../../lib/json.ts';
import { Secret } from '../../lib/secret.ts';
import { declineOf, type Outcome, type Submission } from '../connector.ts';
import { fromAdyen } from './amounts.ts';
import { causeOfRefusal } from './declines.ts';
import type { Plain } from './requests.ts';

type Answer = Plain<PaymentResponse> | Plain<PaymentDetailsResponse>;

/** Adyen's words for a payment that is authorised; a sale is captured at once. */
export const paidKind = ({ authoriseOnly }: Pick<Submission, 'authoriseOnly'>): 'authorised' | 'settled' =>
  authoriseOnly ? 'authorised' : 'settled';

const TOKEN_LENGTH = 255;
const textIn = (data: Readonly<Record<string, unknown>> | undefined, ...names: string[]): string | undefined =>
  names.map((name) => data?.[name]).find((value): value is string => isText(value, TOKEN_LENGTH) && value !== '');

/** What repetitions need; Adyen returns it if the merchant account is set to. */
export function recurringData(additionalData: Readonly<Record<string, unknown>> | undefined) {
  const token = textIn(additionalData, 'tokenization.storedPaymentMethodId', 'recurring.recurringDetailReference');
  return {
    networkTransactionId: textIn(additionalData, 'networkTxReference'),
    paymentMethod: token === undefined ? undefined : new Secret(token),
  };
}

/** The outcome of `/payments` and `/payments/details`. */
export function outcomeOf(answer: Answer, submission: Pick<Submission, 'authoriseOnly'>): Outcome {
  const providerReference = answer.pspReference;
  switch (answer.resultCode) {
    case 'Authorised':
    case 'PartiallyAuthorised':
      return {
        kind: paidKind(submission),
        providerReference,
        ...(answer.amount && { reportedAmount: fromAdyen(answer.amount) }),
        ...recurringData(answer.additionalData),
      };
    case 'Refused':
    case 'Cancelled':
    case 'Error': {
      const isCancelled = answer.resultCode === 'Cancelled' && answer.refusalReasonCode === undefined;
      const cause = isCancelled ? 'cancelledByPayer' : causeOfRefusal(answer.refusalReasonCode, answer.refusalReason);
      return { ...declineOf(cause), providerReference };
    }
    case 'RedirectShopper':
    case 'PresentToShopper':
    case 'Pending':
    case 'Received':
      return { ...nextStepOf(answer.action), providerReference };
    default:
      return { kind: 'unknown', providerReference };
  }
}

/** What the payer does next. Without a redirect or a code the gateway waits for the webhook. */
function nextStepOf(action: Answer['action']): Extract<Outcome, { kind: 'redirected' | 'accepted' }> {
  if (action?.type === 'redirect' && 'url' in action && /^https?:\/\//.test(action.url ?? '')) {
    const isPost = action.method === 'POST';
    const params = isPost && 'data' in action ? (action.data ?? {}) : {};
    return { kind: 'redirected', url: action.url as string, method: isPost ? 'POST' : 'GET', params };
  }
  if (action?.type === 'qrCode' && 'qrCodeData' in action && action.qrCodeData)
    return { kind: 'accepted', code: action.qrCodeData };
  return { kind: 'accepted' };
}

/** The outcome of a session on Adyen's page. */
export function sessionOutcome(
  { status, payments = [], additionalData }: Plain<SessionResultResponse>,
  submission: Submission,
): Outcome {
  const [payment] = payments;
  const providerReference = payment?.pspReference;
  switch (status) {
    case 'completed':
      return {
        kind: paidKind(submission),
        providerReference,
        ...(payment?.amount && { reportedAmount: fromAdyen(payment.amount) }),
        ...recurringData(additionalData),
      };
    case 'paymentPending':
      return { kind: 'accepted', providerReference };
    case 'refused':
      return declineOf('refusedByBank');
    case 'canceled':
      return declineOf('cancelledByPayer');
    case 'expired':
      return declineOf('outOfTime');
    default:
      return { kind: 'unknown' };
  }
}
