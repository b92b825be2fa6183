/** Test payments of the sandbox: of the demo account, which anybody can try, and of any account from the panel. */
import { newId } from '../lib/id.ts';
import { NO_BRAND_YET } from '../rules/brands.ts';
import { LIMITS } from '../rules/limits.ts';
import type { Account, Gateway } from './context.ts';
import { demoAccount } from './installation.ts';
import { linkOf } from './payments/links.ts';
import { openPayment } from './payments/open.ts';

/** Opens a Checkout session of the demo account and returns the address of its payment page. */
export async function openDemoPayment(gateway: Gateway): Promise<string> {
  const start = `${gateway.publicUrl}/`;
  const account = await demoAccount(gateway);
  return gateway.publicUrl + (await openTestPayment(gateway, account, (id) => `${start}?paid=${id}`, start));
}

/** Opens a Checkout session of an account and returns the path of its payment page. */
export async function openTestPayment(
  gateway: Gateway,
  account: Account,
  successUrl: (paymentId: string) => string,
  cancelUrl?: string,
): Promise<string> {
  const paymentId = newId();
  const until = gateway.clock.now(account.mid) + LIMITS.sessionMinutes * LIMITS.minuteMs;
  const orderId = `demo-${paymentId}`;
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
        successUrl: successUrl(paymentId),
        cancelUrl: cancelUrl ?? successUrl(paymentId),
        methods: [],
        parameters: {},
      },
    },
    content: orderId,
  });
  return `/pay/${linkOf(gateway, paymentId)}`;
}
