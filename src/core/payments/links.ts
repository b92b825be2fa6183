/** Payer links: the id of a payment with a keyed tag, so that links cannot be guessed. */
import { isUuid } from '../../lib/crypto/id.ts';
import type { PaymentWithDetails } from '../../store/payments/payments.ts';
import type { Gateway } from '../context.ts';

const PURPOSE = 'payer link';

export const linkOf = ({ fingerprints }: Pick<Gateway, 'fingerprints'>, paymentId: string): string =>
  `${paymentId}.${fingerprints.tag(paymentId, PURPOSE)}`;

/** The URL of the payment page. */
export const paymentPageUrl = (gateway: Pick<Gateway, 'fingerprints' | 'publicUrl'>, paymentId: string): string =>
  `${gateway.publicUrl}/pay/${linkOf(gateway, paymentId)}`;

export async function findByLink(gateway: Gateway, link: string): Promise<PaymentWithDetails | undefined> {
  const [paymentId = '', tag = '', ...more] = link.split('.');
  if (more.length > 0 || !isUuid(paymentId) || !gateway.fingerprints.isTag(tag, paymentId, PURPOSE)) return undefined;
  return gateway.payments.findAnywhere(paymentId);
}
