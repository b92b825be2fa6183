/** The filters of the list of payments and of its export. */
import type { PaymentFilter } from '../../core/context.ts';
import { ATTENTIONS } from '../../rules/attention.ts';
import { readSearch } from '../../rules/payment-search.ts';
import { STATE_NAMES } from '../../rules/states.ts';
import { anyText, dateTime, oneOf, type QueryValues, uuidText } from './input.ts';

/** The reader of each parameter. */
export const PAYMENT_FILTERS = {
  q: readSearch,
  mid: uuidText,
  order_id: anyText,
  status: oneOf(STATE_NAMES),
  brand: anyText,
  attention: oneOf(ATTENTIONS),
  schedule_id: uuidText,
  from: dateTime,
  to: dateTime,
};

/** The filter of the parameters that were read, for the accounts that the caller may see; null means all. */
export const paymentFilter = (
  query: QueryValues<typeof PAYMENT_FILTERS>,
  mids: readonly string[] | null,
): Omit<PaymentFilter, 'before' | 'limit'> => ({
  mids,
  words: query.q,
  mid: query.mid,
  orderId: query.order_id,
  state: query.status,
  brand: query.brand,
  attention: query.attention,
  scheduleId: query.schedule_id,
  from: query.from,
  to: query.to,
});
