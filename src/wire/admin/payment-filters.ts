/** The filters of the list of payments and of its export. */
import type { PaymentSelection } from '../../core/context.ts';
import { NETWORK_NAMES } from '../../lib/cards/networks.ts';
import { ATTENTIONS } from '../../rules/attention.ts';
import { COUNTRIES } from '../../rules/countries.ts';
import { CURRENCIES } from '../../rules/currencies.ts';
import { readAmount, readSearch } from '../../rules/payment-search.ts';
import { STATE_NAMES } from '../../rules/states.ts';
import { anyText, dateTime, expecting, oneOf, type QueryValues, uuidText } from './input.ts';

const amount = expecting('A decimal number, such as 19.99.', readAmount);

/** The reader of each parameter. */
export const PAYMENT_FILTERS = {
  q: readSearch,
  mid: uuidText,
  order_id: anyText,
  status: oneOf(STATE_NAMES),
  brand: anyText,
  attention: oneOf(ATTENTIONS),
  schedule_id: uuidText,
  channel_id: anyText,
  connection_id: anyText,
  network: oneOf(NETWORK_NAMES),
  country: expecting('Two letters, such as DE.', (text: string) => (COUNTRIES.has(text) ? text : undefined)),
  currency: expecting('Three letters, such as EUR.', (text: string) =>
    Object.hasOwn(CURRENCIES, text) ? text : undefined,
  ),
  amount,
  amount_from: amount,
  amount_to: amount,
  from: dateTime,
  to: dateTime,
};

/** The filter of the parameters that were read, for the accounts that the caller may see; null means all. */
export const paymentFilter = (
  query: QueryValues<typeof PAYMENT_FILTERS>,
  mids: readonly string[] | null,
): PaymentSelection => ({
  mids,
  words: query.q,
  mid: query.mid,
  orderId: query.order_id,
  state: query.status,
  brand: query.brand,
  attention: query.attention,
  scheduleId: query.schedule_id,
  channelId: query.channel_id,
  connection: query.connection_id,
  network: query.network,
  country: query.country,
  currency: query.currency,
  amountFrom: query.amount ?? query.amount_from,
  amountTo: query.amount ?? query.amount_to,
  from: query.from,
  to: query.to,
});
