/** Telephone orders: a user of the merchant enters the card of a caller on the payment page. */
import { newId } from '../../lib/crypto/id.ts';
import { amountText } from '../../lib/money/money.ts';
import { NO_BRAND_YET } from '../../rules/brands.ts';
import { CURRENCIES, exponentOf } from '../../rules/currencies.ts';
import { invalidField, type Problem, Refusal } from '../../rules/errors.ts';
import { orderId as orderIdKind, SENTENCES } from '../../rules/fields.ts';
import { LIMITS } from '../../rules/limits.ts';
import type { PaymentWithDetails } from '../../store/payments/payments.ts';
import type { Account, Gateway, TakenOrder } from '../context.ts';
import { plainTextProblem, readUnits } from '../links/read.ts';
import { auditEntry, type Caller, type Principal } from '../operators/principal.ts';
import { composePayment, type Order, openPayment } from '../payments/open.ts';
import { canBePaid } from '../payments/payer.ts';

export const TELEPHONE_ORDER_MEMBERS = ['amount', 'currency', 'description', 'order_id'] as const;

/** Why an account takes no telephone orders. */
const notAllowed = (sentence: string): Refusal =>
  invalidField('mid', sentence, { expected: 'An account with the setting telephone_orders.' });

/** The context of a field that depends on nothing else. */
const NO_CONTEXT = { value: () => '', positions: () => [], setting: () => undefined, allowsHttp: false };

function readOrder(account: Account, body: Readonly<Record<string, unknown>>) {
  const problems: Problem[] = [];
  const currency = typeof body.currency === 'string' ? body.currency : '';
  if (CURRENCIES[currency] === undefined) {
    const sentence = currency === '' ? SENTENCES.blank : SENTENCES.invalid;
    problems.push({ field: 'currency', sentence, expected: 'A currency of ISO 4217, such as EUR.' });
  }
  const amount = readUnits('amount', body.amount, currency, account, problems) ?? 0n;
  const problem = plainTextProblem('description', body.description, 1, LIMITS.descriptionLength);
  if (problem) problems.push(problem);
  const sent = body.order_id ?? '';
  const orderId = typeof sent === 'string' ? sent : '';
  const sentence = typeof sent === 'string' ? orderId && orderIdKind.check(orderId, NO_CONTEXT) : SENTENCES.notText;
  if (sentence) problems.push({ field: 'order_id', sentence });
  if (problems.length > 0) throw new Refusal('invalidData', problems);
  return { amount, currency, description: String(body.description).trim(), orderId };
}

/** Opens the session of a telephone order; the order number is chosen here if it was not sent. */
export async function takeTelephoneOrder(
  gateway: Gateway,
  account: Account,
  by: Caller,
  body: Readonly<Record<string, unknown>>,
): Promise<PaymentWithDetails> {
  const { amount, currency, description, orderId } = readOrder(account, body);
  if (!account.settings.telephone_orders) throw notAllowed('This account takes no telephone orders.');
  if (account.isSuspended) throw invalidField('mid', SENTENCES.suspended);
  const { mid } = account;
  if (gateway.isLinkTooFast(mid)) throw new Refusal('tooManyRequests');
  const paymentId = newId();
  const until = gateway.clock.now(mid) + LIMITS.sessionMinutes * LIMITS.minuteMs;
  const order: Order = {
    protocol: 'checkout',
    brand: NO_BRAND_YET,
    paymentId,
    orderId: orderId || `phone-${paymentId.replaceAll('-', '').slice(-16)}`,
    amountText: amountText(amount, exponentOf(currency)),
    currency,
    isAuthorisation: false,
    isRecurringInit: false,
    payerUntil: until,
    details: {
      description,
      payer: {},
      session: {
        id: paymentId,
        until,
        payer: {},
        successUrl: '',
        methods: [],
        parameters: {},
        isTelephoneOrder: true,
      },
    },
    content: paymentId,
  };
  if (!canBePaid(gateway, composePayment(gateway, account, order), account)) {
    throw notAllowed('No provider of this account takes telephone orders.');
  }
  const payment = await openPayment(gateway, account, order);
  const createdAt = gateway.clock.now(mid);
  await gateway.telephoneOrders.insert({ mid, paymentId, orderId: order.orderId, takenBy: by.id, createdAt });
  const after = { amount: order.amountText, currency, order_id: order.orderId };
  await gateway.audit.append(auditEntry(gateway, by, 'telephone_orders.create', { mid, subject: paymentId, after }));
  return payment;
}

/** The orders that the caller has taken, newest first. */
export const listTelephoneOrders = async (
  gateway: Gateway,
  { id, mids }: Principal,
  filter: { mid?: string | undefined; before?: string | undefined; limit: number },
): Promise<TakenOrder[]> => (id === null ? [] : gateway.telephoneOrders.list({ ...filter, takenBy: id, mids }));
