/** What a shop that shows the payment page in a frame is told about the result of the payment. */
import { LEFT } from '../../core/payments/leave.ts';
import { hasChoices } from '../../core/payments/payer.ts';
import type { PaymentResult } from '../../core/payments/return.ts';
import type { Page, ToldResult } from '../layout.ts';
import type { PageView } from './view.ts';

const TOLD: Readonly<Record<PaymentResult, ToldResult | undefined>> = {
  open: undefined,
  unknown: undefined,
  paid: 'paid',
  declined: 'declined',
  failed: 'declined',
  expired: 'cancelled',
  cancelled: 'cancelled',
};

/** A payer who can try again stays on the page, so the shop gets no address then. */
export function toldOf(view: PageView): Page['told'] {
  const result = TOLD[view.result];
  if (!result || view.payment.declineReason === LEFT) return undefined;
  return { result, back: hasChoices(view) ? undefined : view.back.address };
}
