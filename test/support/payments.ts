/** Payments inserted directly into the store, as if the process that opened them had died right after. */
import { composePayment } from '../../src/core/payments/open.ts';
import { completeSettings } from '../../src/rules/settings.ts';
import type { PaymentWithDetails } from '../../src/store/payments.ts';
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
