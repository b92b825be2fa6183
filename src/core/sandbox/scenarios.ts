/** Sandbox scenarios: controls what the provider simulator does with a payment or with the next calls. */
import type { ControlAnswer } from '../../connectors/simulator-control.ts';
import { isUuid } from '../../lib/crypto/id.ts';
import { minorUnits } from '../../lib/money/money.ts';
import { isObject, isText } from '../../lib/text/json.ts';
import { exponentOf } from '../../rules/currencies.ts';
import { invalidField, Refusal } from '../../rules/errors.ts';
import { SENTENCES } from '../../rules/fields.ts';
import type { Gateway } from '../context.ts';
import { auditEntry, type Caller, type Principal, sees } from '../operators/principal.ts';

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
  by: Caller,
  paymentId: string,
  scenario: Record<string, unknown>,
): Promise<ControlAnswer['body']> {
  const payment = isUuid(paymentId) ? await gateway.payments.findAnywhere(paymentId) : undefined;
  if (!payment) throw new Refusal('noSuchPayment');
  const { mid, brand, amount, currency, connector } = payment;
  const [name = 'body', value] = Object.entries(scenario)[0] ?? [];
  if (connector === 'vcard' && !name.includes('chargeback')) {
    throw invalidField(name, 'The test brand has no provider that could be told.');
  }
  if (connector === 'vcard' && name === 'chargeback_reversed' && payment.state !== 'CHARGEBACK') {
    throw invalidField(name, 'The payment is not charged back.');
  }
  // The simulator has no payments of the test connector in its ledger, so the request describes the payment.
  const notify_url = `${gateway.inboundUrl}/inbound/${connector}`;
  const unknown = { mid, brand, amount: String(amount), currency, notify_url };
  const told = isObject(value) ? { [name]: withMinorUnits(name, value, currency) } : scenario;
  const body = connector === 'vcard' ? { ...told, unknown } : told;
  const answer = await control(gateway, 'POST', `/payments/${payment.paymentId}`, body);
  if (answer.status === 404) throw new Refusal('noSuchPayment');
  if (answer.status !== 200) {
    const sentence = isText(answer.body.error, 255) ? answer.body.error : 'The simulated provider refused.';
    throw invalidField(name, sentence);
  }
  const facts = { mid, subject: payment.paymentId, after: scenario };
  await gateway.audit.append(auditEntry(gateway, by, 'sandbox.bank', facts));
  return answer.body;
}

/** The simulator takes amounts in minor units. */
function withMinorUnits(name: string, value: Record<string, unknown>, currency: string): Record<string, unknown> {
  if (typeof value.amount !== 'string') return value;
  const amount = minorUnits(value.amount, exponentOf(currency));
  if (typeof amount !== 'bigint') throw invalidField(`${name}.amount`, SENTENCES.invalid);
  return { ...value, amount: String(amount) };
}

/** Sets a fault for the next provider calls, in every process of this installation. */
export async function setFault(
  gateway: Gateway,
  by: Caller,
  fault: { mid?: string | undefined; mode: string } & Record<string, unknown>,
): Promise<ControlAnswer> {
  const answer = await control(gateway, 'POST', '/faults', fault);
  await gateway.installation.announceFaults();
  gateway.armFaults();
  const { mid = null, mode, ...after } = fault;
  await gateway.audit.append(auditEntry(gateway, by, 'sandbox.fault', { mid, subject: mode, after }));
  return answer;
}

export interface Fault {
  /** Null for all accounts. */
  mid: string | null;
  brand: string | null;
  mode: string;
  left: number;
}

/** The faults of the accounts that the caller sees; those of all accounts are shown to callers without a restriction. */
export async function listFaults(gateway: Gateway, principal: Pick<Principal, 'mids'>): Promise<Fault[]> {
  const { faults } = (await control(gateway, 'GET', '/faults')).body as { faults?: Fault[] };
  return (faults ?? []).filter(({ mid }) => principal.mids === null || (mid !== null && sees(principal, mid)));
}

/** The ledger of the simulated provider, for reconciliation. */
export const readLedger = (gateway: Gateway, after: string): Promise<ControlAnswer> =>
  control(gateway, 'GET', `/ledger?after=${encodeURIComponent(after)}`);
