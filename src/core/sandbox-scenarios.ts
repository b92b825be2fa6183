/** Rehearsals: what the provider simulator is told to do, to a payment or to the next calls. */
import type { ControlAnswer } from '../connectors/simulator-control.ts';
import { isUuid } from '../lib/id.ts';
import { invalidField, Refusal } from '../rules/errors.ts';
import type { Gateway } from './context.ts';

/** Sends an order to the provider simulator; a world that does not answer is an outage, not an outcome. */
async function order(gateway: Gateway, method: 'GET' | 'POST', path: string, body?: unknown): Promise<ControlAnswer> {
  if (!gateway.simulator) throw new Refusal('actionNotSupported');
  try {
    return await gateway.simulator.control(method, path, body);
  } catch (error) {
    gateway.log.warn({ err: error }, 'the provider simulator did not answer');
    throw new Refusal('unavailable');
  }
}

/** Tells the simulated provider of a payment what to say or to do. */
export async function runScenario(
  gateway: Gateway,
  paymentId: string,
  wish: Record<string, unknown>,
): Promise<ControlAnswer> {
  const payment = isUuid(paymentId) ? await gateway.payments.findAnywhere(paymentId) : undefined;
  if (!payment) throw new Refusal('noSuchPayment');
  const { mid, brand, amount, currency, connector } = payment;
  if (connector === 'vcard' && !('chargeback' in wish)) {
    const sentence = 'The test brand has no provider that could be told.';
    throw invalidField(Object.keys(wish)[0] ?? 'body', sentence);
  }
  // The test connector has no provider whose books could know the payment.
  const notify_url = `${gateway.inboundUrl}/inbound/${connector}`;
  const unknown = { mid, brand, amount: String(amount), currency, notify_url };
  const body = connector === 'vcard' ? { ...wish, unknown } : wish;
  return order(gateway, 'POST', `/payments/${payment.paymentId}`, body);
}

/** Makes the next provider calls misbehave, in every process of this installation. */
export async function setFault(gateway: Gateway, fault: Record<string, unknown>): Promise<ControlAnswer> {
  const answer = await order(gateway, 'POST', '/faults', fault);
  await gateway.installation.announceFaults();
  gateway.armFaults();
  return answer;
}

export const listFaults = (gateway: Gateway): Promise<ControlAnswer> => order(gateway, 'GET', '/faults');

/** The provider's own books, to compare with ours. */
export const readLedger = (gateway: Gateway, after: string): Promise<ControlAnswer> =>
  order(gateway, 'GET', `/ledger?after=${encodeURIComponent(after)}`);
