/** What a provider's answers bring to be stored with a payment: merged and sealed when written, opened for later calls. */
import type { FirstPayment, Outcome, ProviderMemory, ProviderState } from '../../connectors/connector.ts';
import { boundTo } from '../../lib/crypto/seal.ts';
import { Secret } from '../../lib/crypto/secret.ts';
import { LIMITS } from '../../rules/limits.ts';
import type { Payment, PaymentChanges, ProviderData } from '../../store/payments/payments.ts';
import type { Gateway } from '../context.ts';

type Sealing = Pick<Gateway, 'seal'>;
type Answer = Exclude<Outcome, { kind: 'notFound' }>;

/** The secret part, which is sealed as a whole. */
interface SecretData {
  state?: ProviderState;
  paymentMethod?: string;
}

const bound = (paymentId: string): string => boundTo('payments', 'provider_data', paymentId);

const secretDataOf = ({ seal }: Sealing, { paymentId, providerData }: Payment): SecretData =>
  providerData?.sealed === undefined
    ? {}
    : JSON.parse(seal.open(Buffer.from(providerData.sealed, 'base64'), bound(paymentId)));

const sealSecretData = ({ seal }: Sealing, { paymentId }: Payment, data: SecretData): string =>
  seal.seal(JSON.stringify(data), bound(paymentId)).toString('base64');

/** Whether a state is small enough to be stored. */
export const isStorableState = (state: ProviderState): boolean =>
  JSON.stringify(state).length <= LIMITS.providerStateBytes;

/** What an answer changes in the stored payment besides its state; nothing if it brought nothing new. */
export function learned(gateway: Pick<Gateway, 'seal' | 'log'>, payment: Payment, answer: Answer): PaymentChanges {
  const { providerReference, state, secretState, networkTransactionId, paymentMethod, fee, captureBefore } = answer;
  const decline = answer.kind === 'declined' ? answer.decline : undefined;
  const reference: PaymentChanges = providerReference === undefined ? {} : { providerReference };
  const brought = [state, secretState, networkTransactionId, paymentMethod, fee, decline, captureBefore];
  if (brought.every((each) => each === undefined)) return reference;
  if ([state, secretState].some((each) => each && !isStorableState(each))) {
    gateway.log.error({ payment_id: payment.paymentId }, 'the state of a connector is too large, and is not stored');
    return reference;
  }
  const data: ProviderData = {
    ...payment.providerData,
    ...(state && { state }),
    ...(networkTransactionId !== undefined && { networkTransactionId }),
    ...(decline && { decline }),
    ...(captureBefore !== undefined && { captureBefore }),
    ...(fee && { fee: { amount: String(fee.amount), currency: fee.currency } }),
  };
  if (secretState || paymentMethod) {
    const secrets: SecretData = {
      ...secretDataOf(gateway, payment),
      ...(secretState && { state: secretState }),
      ...(paymentMethod && { paymentMethod: paymentMethod.reveal() }),
    };
    data.sealed = sealSecretData(gateway, payment, secrets);
  }
  return { ...reference, providerData: data };
}

/** What earlier answers brought, for the next call. */
export const memoryOf = (gateway: Sealing, payment: Payment): ProviderMemory => ({
  providerReference: payment.providerReference ?? undefined,
  state: payment.providerData?.state ?? {},
  secretState: payment.providerData?.sealed === undefined ? {} : (secretDataOf(gateway, payment).state ?? {}),
});

/** The data without what only repetitions need: the token of the payment method, and the id of the network. */
export function withoutPaymentMethod(gateway: Sealing, payment: Payment): ProviderData | null {
  if (payment.providerData === null) return null;
  const { sealed: _sealed, networkTransactionId: _network, ...data } = payment.providerData;
  const { state } = secretDataOf(gateway, payment);
  return state ? { ...data, sealed: sealSecretData(gateway, payment, { state }) } : data;
}

/** What the first payment of a series brought, for its repetitions. */
export function firstPaymentData(gateway: Sealing, first: Payment): FirstPayment {
  const { paymentMethod } = secretDataOf(gateway, first);
  return {
    ...memoryOf(gateway, first),
    networkTransactionId: first.providerData?.networkTransactionId,
    paymentMethod: paymentMethod === undefined ? undefined : new Secret(paymentMethod),
  };
}

const REFERENCE = /^([\da-f]{8}(?:-[\da-f]{4}){3}-[\da-f]{12})(?:-(\d{1,3}))?$/i;

/** Our reference of the current submission: that of the first one is the id of the payment. */
export function referenceOf({
  paymentId,
  providerData,
}: {
  paymentId: string;
  providerData: Pick<ProviderData, 'submission'> | null;
}): string {
  const submission = providerData?.submission ?? 1;
  return submission === 1 ? paymentId : `${paymentId}-${submission}`;
}

/** The payment of a reference, in lower case; undefined if it is not one of ours. */
export const paymentIdOf = (reference: string): string | undefined => REFERENCE.exec(reference)?.[1]?.toLowerCase();
