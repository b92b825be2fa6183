/** What the settings of a connection add to requests: connected accounts (Connect), and the choice of methods. */
import type Stripe from 'stripe';
import { settingText } from '../../rules/connectors.ts';
import type { ConnectionAccess, ProviderOperation, ProviderState, Submission } from '../connector.ts';
import { fromStripe, shareForStripe } from './amounts.ts';

type Settings = ConnectionAccess['settings'];

/** The payment method configuration that decides which methods payers may choose from; Stripe's default one without it. */
export function configurationOf(settings: Settings): { payment_method_configuration?: string } {
  const configuration = settingText(settings, 'payment_method_configuration');
  return configuration === undefined ? {} : { payment_method_configuration: configuration };
}

/** A percentage with up to two decimals, such as 2.5, in hundredths of a percent. */
const hundredths = (percent: string): bigint => {
  const [whole = '', decimals = ''] = percent.split('.');
  return BigInt(whole + decimals.padEnd(2, '0'));
};

/** One percent is 100 hundredths, and the whole is 100 percent. */
const WHOLE = 10_000n;

/** The members of a new PaymentIntent by the settings of the connection. */
export function connectOf(
  settings: Settings,
  { amount, currency }: Submission,
): Pick<Stripe.PaymentIntentCreateParams, 'on_behalf_of' | 'transfer_data' | 'application_fee_amount'> {
  const account = settingText(settings, 'on_behalf_of');
  const destination = settingText(settings, 'transfer_destination');
  const percent = settingText(settings, 'application_fee_percent');
  const share = destination && percent ? shareForStripe(amount, currency, hundredths(percent), WHOLE) : 0;
  return {
    ...(account && { on_behalf_of: account }),
    ...(destination && { transfer_data: { destination } }),
    ...(share > 0 && { application_fee_amount: share }),
  };
}

/** What later operations need to know of a PaymentIntent: whatever the settings are by then, they go by what Stripe has. */
export const transferStateOf = ({
  transfer_data: transfer,
  application_fee_amount: fee,
}: Stripe.PaymentIntent): ProviderState | undefined =>
  transfer ? { hasTransfer: true, ...(fee && { applicationFee: fee }) } : undefined;

/** A capture of a part has the same part of the fee; Stripe would keep all of it. */
export function captureFee({
  state,
  amount,
  paymentAmount,
  currency,
}: ProviderOperation): Pick<Stripe.PaymentIntentCaptureParams, 'application_fee_amount'> {
  const { applicationFee } = state;
  if (typeof applicationFee !== 'number' || amount >= paymentAmount) return {};
  const fee = fromStripe(applicationFee, currency)?.amount ?? 0n;
  return { application_fee_amount: shareForStripe(fee, currency, amount, paymentAmount) };
}

/** A refund takes its part back from the connected account, and returns its part of the fee. */
export const reversalOf = ({
  state,
}: ProviderOperation): Pick<Stripe.RefundCreateParams, 'reverse_transfer' | 'refund_application_fee'> =>
  state.hasTransfer === true
    ? { reverse_transfer: true, ...(typeof state.applicationFee === 'number' && { refund_application_fee: true }) }
    : {};
