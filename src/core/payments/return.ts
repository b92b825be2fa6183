/** Where a payer goes when we are done with them: back to the shop, with what the account wants in the address. */
import { wireHash } from '../../lib/hash.ts';
import type { Account, WholePayment } from '../context.ts';

/** The merchant's address for a payer who comes back; nothing when the merchant gave none. */
export function returnAddress(payment: WholePayment, account: Account): string | undefined {
  const { description } = payment.details;
  const returnUrl = addressFor(payment);
  if (returnUrl === undefined || !account.settings.return_parameters) return returnUrl;
  const { paymentId, orderId, amountText, currency } = payment;
  const signed = [paymentId, orderId, amountText, currency, description];
  const hash = wireHash(signed, account.passwords()[0] as string);
  const added = new URLSearchParams({ payment_id: paymentId, trans_id: paymentId, order_id: orderId, hash });
  // The merchant's own query stays as it was written.
  const [address = '', fragment] = returnUrl.split('#', 2);
  const query = `${address.includes('?') ? '&' : '?'}${added}`;
  return address + query + (fragment === undefined ? '' : `#${fragment}`);
}

/** A session has an address for each end; a sale has one for all of them. */
function addressFor({ details: { returnUrl, session }, state }: WholePayment): string | undefined {
  if (!session) return returnUrl;
  const { successUrl, cancelUrl } = session;
  return state === 'DECLINED' || state === 'EXPIRED' || state === 'VOID' ? (cancelUrl ?? successUrl) : successUrl;
}
