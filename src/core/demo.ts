/** The demo account of the sandbox, and a payment of it that anybody can try. */
import { newId } from '../lib/id.ts';
import { NO_BRAND_YET } from '../rules/brands.ts';
import { LIMITS } from '../rules/limits.ts';
import type { Gateway } from './context.ts';
import { demoAccount } from './installation.ts';
import { paymentPageUrl } from './payments/links.ts';
import { openPayment } from './payments/open.ts';

/** Opens a Checkout session of the demo account and returns the address of its payment page. */
export async function openDemoPayment(gateway: Gateway): Promise<string> {
  const account = await demoAccount(gateway);
  const paymentId = newId();
  const until = gateway.clock.now(account.mid) + LIMITS.sessionMinutes * LIMITS.minuteMs;
  const orderId = `demo-${paymentId}`;
  const start = `${gateway.publicUrl}/`;
  await openPayment(gateway, account, {
    protocol: 'checkout',
    brand: NO_BRAND_YET,
    paymentId,
    orderId,
    amountText: '19.99',
    currency: 'EUR',
    isAuthorisation: false,
    isRecurringInit: false,
    payerUntil: until,
    details: {
      description: 'A test order',
      payer: {},
      session: {
        id: paymentId,
        until,
        payer: {},
        successUrl: `${start}?paid=${paymentId}`,
        cancelUrl: start,
        methods: [],
        parameters: {},
      },
    },
    content: orderId,
  });
  return paymentPageUrl(gateway, paymentId);
}
