/** Payments put into the store by hand, as if the process that opened them had died right after. */

import { newId } from '../../src/lib/id.ts';
import type { WholePayment } from '../../src/store/payments.ts';
import { newOrderId, type TestGateway } from './gateway.ts';

/** A payment of ten dollars in PREPARE, not yet in the store. */
export function preparedPayment(shop: TestGateway, changes: Partial<WholePayment> = {}): WholePayment {
  const { mid } = shop.merchant;
  const now = shop.gateway.clock.now(changes.mid ?? mid);
  return {
    mid,
    paymentId: newId(),
    orderId: newOrderId(),
    attempt: 1,
    protocol: 's2s',
    brand: 'vcard',
    connector: 'vcard',
    state: 'PREPARE',
    historyLength: 1,
    amountText: '10.00',
    currency: 'USD',
    amount: 1000n,
    authorised: 0n,
    captured: 0n,
    refunded: 0n,
    inDoubt: false,
    dueAt: now + 30_000,
    asked: 0,
    isAuthorisation: false,
    isRecurringInit: false,
    fingerprint: '0'.repeat(32),
    descriptor: 'Test Shop',
    declineReason: null,
    recurringToken: null,
    scheduleId: null,
    providerReference: null,
    createdAt: now,
    updatedAt: now,
    details: { description: 'A test order', identifier: 'success@example.com', payer: {} },
    ...changes,
  };
}
