/** Measures the two writes of a sale at the maximum rate of the store, without HTTP and without request checks. */
import { createAccount } from '../src/core/accounts/accounts.ts';
import type { Gateway } from '../src/core/context.ts';
import { commandCaller } from '../src/core/operators/principal.ts';
import { composePayment } from '../src/core/payments/open.ts';
import { newId } from '../src/lib/crypto/id.ts';

export async function driveSql(gateway: Gateway, seconds: number, concurrency: number): Promise<number> {
  const { payments, clock } = gateway;
  const { account } = await createAccount(gateway, commandCaller('bench'), 'Bench', {});
  const until = performance.now() + seconds * 1000;
  let paid = 0;

  const pay = async (): Promise<void> => {
    while (performance.now() < until) {
      const payment = composePayment(gateway, account, {
        protocol: 's2s',
        brand: 'vcard',
        orderId: newId(),
        amountText: '19.99',
        currency: 'USD',
        isAuthorisation: false,
        isRecurringInit: false,
        details: {
          description: 'A payment of the benchmark',
          returnUrl: 'https://shop.example/return',
          identifier: 'success@example.com',
          payer: { ip: '203.0.113.7' },
        },
        content: '',
      });
      await payments.open(payment);
      await payments.transition({
        before: payment,
        after: {
          ...payment,
          state: 'SETTLED',
          historyLength: 2,
          authorised: payment.amount,
          captured: payment.amount,
          dueAt: null,
          updatedAt: clock.now(),
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
