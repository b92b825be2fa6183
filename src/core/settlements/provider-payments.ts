/** Payments of providers to the operator's bank account, which reduce what they owe. */
import { newId } from '../../lib/crypto/id.ts';
import { dateTime } from '../../lib/time/date-time.ts';
import { invalidField } from '../../rules/errors.ts';
import { composeEntry } from '../../rules/ledger.ts';
import { LINE_CHOICES } from '../../rules/price-plans.ts';
import type { ProviderPayment } from '../../store/settlements/payouts.ts';
import { listConnections } from '../connections/connections.ts';
import type { Gateway } from '../context.ts';
import { invalid, readAmount, readCurrency, readText } from '../ledger/input.ts';
import { receivables } from '../ledger/ledger.ts';
import { auditEntry, type Caller } from '../operators/principal.ts';

export type { ProviderPayment } from '../../store/settlements/payouts.ts';

/** As the caller sent it. */
export const PROVIDER_PAYMENT_FIELDS = ['connector', 'currency', 'amount', 'reference', 'received_on'] as const;
export type ProviderPaymentInput = Readonly<Partial<Record<(typeof PROVIDER_PAYMENT_FIELDS)[number], unknown>>>;

/** The connectors whose providers are expected to pay: those of the installation and of its connections, and former ones with entries. */
export async function listProviders(gateway: Gateway): Promise<string[]> {
  const [connections, { rows }] = await Promise.all([listConnections(gateway, { mids: null }), receivables(gateway)]);
  const names = [...connections, ...rows].map(({ connector }) => connector);
  return [...new Set([...Object.keys(gateway.connectors), ...names])].sort();
}

/** One that payments can have, or have had: nothing would be owed to a misspelt one. */
async function readConnector(gateway: Gateway, value: unknown): Promise<string> {
  const isNamed = (name: string): boolean => name === value;
  const known = LINE_CHOICES.connectors.find(isNamed) ?? (await listProviders(gateway)).find(isNamed);
  if (known === undefined) throw invalid('connector', 'The connector of payments, as they are listed, such as stripe.');
  return known;
}

function readDay(value: unknown, now: number): string {
  const at = typeof value === 'string' && /^\d{4}-\d\d-\d\d$/.test(value) ? dateTime(value) : undefined;
  if (typeof value !== 'string' || at === undefined) throw invalid('received_on', 'A day, such as 2026-11-15.');
  if (at > now) throw invalid('received_on', 'A day that is not in the future.');
  return value;
}

const isSame = (a: ProviderPayment, b: ProviderPayment): boolean =>
  a.currency === b.currency && a.amount === b.amount && a.receivedOn === b.receivedOn;

/** Records a bank credit of a provider; the same reference twice is one. */
export async function recordProviderPayment(
  gateway: Gateway,
  by: Caller,
  input: ProviderPaymentInput,
): Promise<{ payment: ProviderPayment; isNew: boolean }> {
  const now = gateway.clock.now();
  const connector = await readConnector(gateway, input.connector);
  const currency = readCurrency(input.currency);
  const payment: ProviderPayment = {
    providerPaymentId: newId(),
    connector,
    currency,
    amount: readAmount(input.amount, currency),
    reference: readText(input.reference, 'reference', 'The reference of the bank credit.'),
    receivedOn: readDay(input.received_on, now),
    recordedBy: by.name,
    recordedAt: now,
  };
  const { providerPaymentId: sourceId, amount, reference } = payment;
  const entry = composeEntry(
    { sourceId, category: 'provider_payment', connector, currency, postedAt: now, note: reference },
    { amount },
  );
  const after = { connector, currency, amount: String(amount), reference };
  const existing = await gateway.payouts.recordProviderPayment(
    payment,
    entry,
    auditEntry(gateway, by, 'provider_payments.record', { subject: sourceId, after }),
  );
  if (existing && !isSame(existing, payment))
    throw invalidField('reference', 'Another payment of this provider has this reference.');
  return { payment: existing ?? payment, isNew: existing === undefined };
}

/** Newest first. */
export const listProviderPayments = (gateway: Gateway, limit: number, before?: string): Promise<ProviderPayment[]> =>
  gateway.payouts.listProviderPayments(limit, before);
