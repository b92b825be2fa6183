/** Reads Adyen's answers to payments and sessions as outcomes. */
import type {
  CheckoutBankTransferAction,
  CheckoutVoucherAction,
  PaymentDetailsResponse,
  PaymentResponse,
  SessionResultResponse,
} from '@adyen/api-library/lib/src/typings/checkout/models.js';
import { Secret } from '../../lib/crypto/secret.ts';
import { isText } from '../../lib/text/json.ts';
import { declineOf, type Outcome, type PayerStep, type Submission } from '../connector.ts';
import { leftOpen, type OpenStatuses } from '../events.ts';
import { codeStep, instructionsStep, isWebAddress } from '../payer-steps.ts';
import { fromAdyen } from './amounts.ts';
import { refusalOf } from './declines.ts';
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

const NATIVE = 'It belongs to native 3-D Secure, which the gateway does not request.';
const AUTHENTICATION = 'Only a request to authenticate without a payment is answered so.';

/** The result codes, and statuses of sessions, that leave the outcome open. */
export const OPEN_STATUSES: OpenStatuses = {
  IdentifyShopper: NATIVE,
  ChallengeShopper: NATIVE,
  AuthenticationFinished: AUTHENTICATION,
  AuthenticationNotRequired: AUTHENTICATION,
  Success: 'It is not the result of a payment that the gateway makes.',
  active: 'The payer is on Adyen’s page.',
};

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
      const { refusalReasonCode, refusalReason, additionalData } = answer;
      const declined = isCancelled
        ? declineOf('cancelledByPayer')
        : refusalOf(refusalReasonCode, refusalReason, additionalData);
      return { ...declined, providerReference };
    }
    case 'RedirectShopper':
    case 'PresentToShopper':
    case 'Pending':
    case 'Received':
      return { ...nextStepOf(answer.action), providerReference };
    default:
      return { ...leftOpen(answer.resultCode, OPEN_STATUSES), providerReference };
  }
}

type Action = NonNullable<Answer['action']>;

const redirectOf = (action: Action): PayerStep | undefined => {
  if (!('url' in action) || !isWebAddress(action.url)) return undefined;
  const isPost = 'method' in action && action.method === 'POST';
  const params = isPost && 'data' in action ? (action.data ?? {}) : {};
  return { kind: 'redirected', url: action.url, method: isPost ? 'POST' : 'GET', params };
};

/** What the payer does next, by the type of the action; undefined if the payment page cannot show it. */
const STEPS: Readonly<Record<string, (action: Action) => PayerStep | undefined>> = {
  redirect: redirectOf,
  qrCode: (action) => codeStep('qrCodeData' in action ? action.qrCodeData : undefined) ?? redirectOf(action),
  voucher: (action) => {
    const { entity, reference, expiresAt, downloadUrl, instructionsUrl, url } = action as Plain<CheckoutVoucherAction>;
    const voucher = [downloadUrl, url, instructionsUrl].find(isWebAddress);
    return instructionsStep({ entity, reference, expires: expiresAt?.slice(0, 10), voucher });
  },
  bankTransfer: (action) => {
    const transfer = action as Plain<CheckoutBankTransferAction>;
    return instructionsStep({
      account_holder: transfer.beneficiary,
      iban: transfer.iban,
      bic: transfer.bic,
      account_number: transfer.accountNumber,
      bank_code: transfer.sortCode ?? transfer.routingNumber ?? transfer.bankCode,
      reference: transfer.reference,
      voucher: transfer.downloadUrl,
    });
  },
  // The payer confirms in an app.
  await: () => ({ kind: 'accepted' }),
};

/** Without an action the gateway waits for the webhook. A step that cannot be shown cannot be paid. */
function nextStepOf(action: Answer['action']): PayerStep | ReturnType<typeof declineOf> {
  if (!action) return { kind: 'accepted' };
  const type = String(action.type);
  return (Object.hasOwn(STEPS, type) ? STEPS[type]?.(action) : undefined) ?? declineOf('methodUnavailable');
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
      return leftOpen(status, OPEN_STATUSES);
  }
}
