/** The Mollie connector against its double. */
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { PaymentStatus } from '@mollie/api-client';
import { expect } from 'vitest';
import { mollie } from '../../src/connectors/mollie/index.ts';
import { Secret } from '../../src/lib/secret.ts';
import { API_KEY, startMollie } from '../doubles/mollie.ts';
import { conforms, type ProviderDouble, type Webhook } from './conforms.ts';

async function mollieDouble(): Promise<ProviderDouble> {
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
  return {
    connector,
    isSigned: false,
    // Only a repetition has an outcome at once; all other payers go to the page of Mollie.
    submission(outcome) {
      if (outcome === 'redirect') return { notifyUrl, brand: 'bank-a', method: 'ideal' };
      const { customer, mandate } = double.newCustomer(outcome === 'decline' ? 'insufficient_funds' : undefined);
      const first = { state: { customer }, secretState: {}, paymentMethod: new Secret(mandate) };
      return { notifyUrl, brand: 'card', method: 'creditcard', recurringOf: 'the first payment', first };
    },
    fault: double.fault,
    delayOperation() {
      double.delayRefund();
      isDelayed = true;
    },
    async pay({ providerReference = '' }) {
      double.finish(providerReference, PaymentStatus.paid);
      await double.notify(providerReference);
      return {};
    },
    balance: ({ reference }) => double.balance(reference),
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

conforms('mollie', mollieDouble);
