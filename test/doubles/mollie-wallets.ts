/** The tokens of device wallets as the double of Mollie reads them. */
import { PaymentMethod } from '@mollie/api-client';

/** A token with this text is refused by the bank. */
export const REFUSED_WALLET = 'refused by the bank';

/** Whether a payment has the token of its wallet, as the vendor makes it, in JSON. */
export function isWalletToken({
  method,
  applePayPaymentToken,
  googlePayPaymentToken,
}: Record<string, unknown>): boolean {
  const isApple = method === PaymentMethod.applepay;
  const token = JSON.parse(String(isApple ? applePayPaymentToken : googlePayPaymentToken));
  return isApple ? token.paymentData?.data !== undefined : method === PaymentMethod.googlepay && token.signedMessage;
}
