/** Methods that are paid with a code to scan, and need nothing from the payer before it is shown. */
import type { Method } from '../../core/payments/choose.ts';
import { brandOf } from '../../rules/brands.ts';
import type { PageView } from './view.ts';

export const isCodeMethod = ({ label, fields }: Method): boolean =>
  fields.length === 0 && brandOf(label)?.codeTimeMs !== undefined;

/** Whether choosing the method is all that the payer has to do to see the code. */
export const needsNothing = (view: PageView, method: Method): boolean =>
  isCodeMethod(method) && !view.asksForReceipt && !view.series;

/** Whether the code is the only way to pay: the page asks for it by itself, once. */
export const isShownAtOnce = (view: PageView, method: Method): boolean =>
  view.methods.length === 1 && view.payment.state === 'PREPARE' && needsNothing(view, method);
