/** Finds the payment of a page. */

import { sees } from '../../../core/operators/principal.ts';
import { inspectPayment } from '../../../core/payments/find.ts';
import { Refusal } from '../../../rules/errors.ts';
import type { PanelRequest } from '../frame/route.ts';

/** A payment that the operator may see, with everything about it. */
export async function requirePayment({ gateway, session, params }: PanelRequest) {
  const found = await inspectPayment(gateway, params.paymentId ?? '');
  if (!found || !sees(session.principal, found.payment.mid)) throw new Refusal('noSuchPayment');
  return found;
}
