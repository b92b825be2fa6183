/** The Mollie connector against its double; every request is validated against the schemas of Mollie's SDK. */
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { PaymentStatus, RefundStatus } from '@mollie/api-client';
import { expect } from 'vitest';
import type { Submission } from '../../src/connectors/connector.ts';
import { mollie } from '../../src/connectors/mollie/index.ts';
import { Secret } from '../../src/lib/crypto/secret.ts';
import { amountText } from '../../src/lib/money/money.ts';
import { API_KEY, type MollieDouble, startMollie } from '../doubles/mollie.ts';
import { conforms, type ProviderDouble, type Webhook } from './conforms.ts';

async function mollieDouble(
  submissionOf: (double: MollieDouble, outcome: 'success' | 'decline') => Partial<Submission>,
): Promise<ProviderDouble> {
  const received: Webhook[] = [];
  const server = createServer(async (request, response) => {
    const parts: Buffer[] = [];
    for await (const part of request) parts.push(part);
    received.push({ headers: request.headers as Record<string, string>, body: Buffer.concat(parts) });
    response.end();
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const notifyUrl = `http://127.0.0.1:${(server.address() as AddressInfo).port}/`;
  const double = await startMollie();
  const connector = mollie.create({
    credential: () => API_KEY,
    settings: {},
    apiBase: double.url,
    environment: 'sandbox',
  });
  let isDelayed = false;
  let isDeclined = false;
  return {
    connector,
    isSigned: false,
    submission(outcome) {
      isDeclined = outcome === 'decline';
      const how = outcome === 'redirect' ? { brand: 'bank-a', method: 'ideal' } : submissionOf(double, outcome);
      return { notifyUrl, ...how };
    },
    fault: double.fault,
    delayOperation() {
      double.delayRefund();
      isDelayed = true;
    },
    async pay({ providerReference = '' }) {
      if (isDeclined) double.finish(providerReference, PaymentStatus.failed, 'insufficient_funds');
      else double.pay(providerReference);
      await double.notify(providerReference);
      return {};
    },
    balance: ({ reference }) => double.balance(reference),
    unheld: { brand: 'bank-a', method: 'ideal', recurringOf: undefined, first: undefined },
    afterSale: {
      async reverseRefund({ reference, providerReference = '' }) {
        for (const refund of double.find(reference)?.refunds ?? []) refund.status = RefundStatus.failed;
        await double.notify(providerReference);
      },
      async dispute({ providerReference = '' }, amount) {
        double.newChargeback(providerReference).amount = { currency: 'EUR', value: amountText(amount, 2) };
        await double.notify(providerReference);
      },
      async winDispute({ reference, providerReference = '' }) {
        for (const each of double.find(reference)?.chargebacks ?? []) each.reversedAt = '2026-11-16T08:00:00+00:00';
        await double.notify(providerReference);
      },
      async captureElsewhere({ providerReference = '' }, amount) {
        double.captureElsewhere(providerReference, amountText(amount, 2));
        await double.notify(providerReference);
      },
      async refundElsewhere({ providerReference = '' }, amount) {
        double.refundElsewhere(providerReference, amountText(amount, 2));
        await double.notify(providerReference);
      },
    },
    async webhooks() {
      if (isDelayed) await double.settleRefunds();
      isDelayed = false;
      return received.splice(0);
    },
    async close() {
      expect(double.violations).toEqual([]);
      await connector.close?.();
      await double.close();
      server.closeAllConnections();
      await new Promise((resolve) => server.close(resolve));
    },
  };
}

conforms('mollie, on its page', async () => ({
  ...(await mollieDouble(() => ({ brand: 'card', method: 'creditcard' }))),
  isHosted: true,
}));

// The outcome of a repetition is known at once.
conforms('mollie, repetitions', () =>
  mollieDouble((double, outcome) => {
    const { customer, mandate } = double.newCustomer(outcome === 'decline' ? 'insufficient_funds' : undefined);
    const first = { state: { customer }, secretState: {}, paymentMethod: new Secret(mandate) };
    return { brand: 'card', method: 'creditcard', recurringOf: 'the first payment', first };
  }),
);
