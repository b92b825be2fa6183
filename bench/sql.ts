/** The two writes of a sale, driven against the store as fast as it takes them, with no HTTP and no checks before them. */
import { newId } from '../src/lib/id.ts';
import type { PaymentStore, WholePayment } from '../src/store/payments.ts';

export async function driveSql(payments: PaymentStore, seconds: number, concurrency: number): Promise<number> {
  const mid = newId();
  const until = performance.now() + seconds * 1000;
  let paid = 0;

  const pay = async (): Promise<void> => {
    while (performance.now() < until) {
      const payment = newPayment(mid);
      await payments.open(payment);
      await payments.move({
        before: payment,
        after: {
          ...payment,
          state: 'SETTLED',
          historyLength: 2,
          authorised: payment.amount,
          captured: payment.amount,
          dueAt: null,
          updatedAt: Date.now(),
        },
        event: 'settled',
        actor: 'provider',
        call: { verb: 'submit', connector: 'vcard', outcome: 'settled', tookMs: 0 },
      });
      paid++;
    }
  };
  const started = performance.now();
  await Promise.all(Array.from({ length: concurrency }, pay));
  return paid / ((performance.now() - started) / 1000);
}

function newPayment(mid: string): WholePayment {
  const now = Date.now();
  const paymentId = newId();
  return {
    mid,
    paymentId,
    orderId: `sql-${paymentId}`,
    attempt: 1,
    protocol: 's2s',
    brand: 'vcard',
    connector: 'vcard',
    state: 'PREPARE',
    historyLength: 1,
    amountText: '19.99',
    currency: 'USD',
    amount: 1999n,
    authorised: 0n,
    captured: 0n,
    refunded: 0n,
    inDoubt: false,
    dueAt: now + 30_000,
    asked: 0,
    isAuthorisation: false,
    isRecurringInit: false,
    fingerprint: paymentId.replaceAll('-', ''),
    descriptor: 'Bench',
    declineReason: null,
    recurringToken: null,
    scheduleId: null,
    providerReference: null,
    createdAt: now,
    updatedAt: now,
    details: {
      description: 'A payment of the benchmark',
      returnUrl: 'https://shop.example/return',
      identifier: 'success@example.com',
      payer: { ip: '203.0.113.7' },
    },
  };
}
