/** Payments inserted directly into the store, as if the process that opened them had died right after. */
import { composePayment } from '../../src/core/payments/open.ts';
import { completeSettings } from '../../src/rules/settings.ts';
import type { PaymentWithDetails } from '../../src/store/payments/payments.ts';
import { newOrderId, type TestGateway } from './gateway.ts';

/** A payment of ten dollars in PREPARE, not yet in the store. */
export function preparedPayment(shop: TestGateway, changes: Partial<PaymentWithDetails> = {}): PaymentWithDetails {
  const mid = changes.mid ?? shop.merchant.mid;
  const account = { mid, name: 'Test Shop', settings: completeSettings({}), routes: [] };
  const payment = composePayment(shop.gateway, account, {
    protocol: 's2s',
    brand: 'vcard',
    orderId: newOrderId(),
    amountText: '10.00',
    currency: 'USD',
    isAuthorisation: false,
    isRecurringInit: false,
    details: { description: 'A test order', identifier: 'success@example.com', payer: {} },
    content: '',
  });
  return { ...payment, ...changes };
}

/** SQL: the id of a payment of the past, which contains a time as all ids of payments do. */
export const PAST_PAYMENT_ID = `('01a0' || substr(gen_random_uuid()::text, 5))::uuid`;

/** SQL: the first row of the history of payments that were inserted without one; the projections learn of them by it. */
export const OPEN_HISTORY = `
  insert into history (mid, payment_id, seq, event, to_state, actor, at)
  select p.mid, p.payment_id, 1, 'opened', 'PREPARE', 'merchant', p.created_at from payments p
  where not exists (select from history h where h.mid = p.mid and h.payment_id = p.payment_id)
  order by p.payment_id`;
