/** Sandbox scenarios: controls what the provider simulator does with a payment or with the next calls. */
import type { ControlAnswer } from '../connectors/simulator-control.ts';
import { isUuid } from '../lib/id.ts';
import { isText } from '../lib/json.ts';
import { invalidField, Refusal } from '../rules/errors.ts';
import type { Gateway } from './context.ts';

/** Calls the control API of the provider simulator; without an answer, the request is refused as unavailable. */
async function control(gateway: Gateway, method: 'GET' | 'POST', path: string, body?: unknown): Promise<ControlAnswer> {
  if (!gateway.simulator) throw new Refusal('actionNotSupported');
  try {
    return await gateway.simulator.control(method, path, body);
  } catch (error) {
    gateway.log.warn({ err: error }, 'the provider simulator did not answer');
    throw new Refusal('unavailable');
  }
}

/** Makes the simulated provider of a payment perform an action, such as a chargeback; returns the provider's payment. */
export async function runScenario(
  gateway: Gateway,
  paymentId: string,
  scenario: Record<string, unknown>,
): Promise<ControlAnswer['body']> {
  const payment = isUuid(paymentId) ? await gateway.payments.findAnywhere(paymentId) : undefined;
  if (!payment) throw new Refusal('noSuchPayment');
  const { mid, brand, amount, currency, connector } = payment;
  if (connector === 'vcard' && !('chargeback' in scenario)) {
    const sentence = 'The test brand has no provider that could be told.';
    throw invalidField(Object.keys(scenario)[0] ?? 'body', sentence);
  }
  // The simulator has no payments of the test connector in its ledger, so the request describes the payment.
  const notify_url = `${gateway.inboundUrl}/inbound/${connector}`;
  const unknown = { mid, brand, amount: String(amount), currency, notify_url };
  const body = connector === 'vcard' ? { ...scenario, unknown } : scenario;
  const answer = await control(gateway, 'POST', `/payments/${payment.paymentId}`, body);
  if (answer.status === 404) throw new Refusal('noSuchPayment');
  if (answer.status !== 200) {
    const sentence = isText(answer.body.error, 255) ? answer.body.error : 'The simulated provider refused.';
    throw invalidField(Object.keys(scenario)[0] as string, sentence);
  }
  return answer.body;
}

/** Sets a fault for the next provider calls, in every process of this installation. */
export async function setFault(gateway: Gateway, fault: Record<string, unknown>): Promise<ControlAnswer> {
  const answer = await control(gateway, 'POST', '/faults', fault);
  await gateway.installation.announceFaults();
  gateway.armFaults();
  return answer;
}

export const listFaults = (gateway: Gateway): Promise<ControlAnswer> => control(gateway, 'GET', '/faults');

/** The ledger of the simulated provider, for reconciliation. */
export const readLedger = (gateway: Gateway, after: string): Promise<ControlAnswer> =>
  control(gateway, 'GET', `/ledger?after=${encodeURIComponent(after)}`);
