/** The operations of Checkout: what each does with a request that passed the checks. */
import type { Account, Gateway, PaymentWithDetails } from '../../core/context.ts';
import { makeLink } from '../../core/links/links.ts';
import { capture, refund, voidPayment } from '../../core/payments/change.ts';
import { credit } from '../../core/payments/credit.ts';
import { findAttempts, findCurrent, findPayment } from '../../core/payments/find.ts';
import { type CheckoutBody, canonicalContent } from '../../core/requests/checkout-body.ts';
import { recur, retry } from '../../core/schedules/recur.ts';
import { Refusal } from '../../rules/errors.ts';
import { isYes } from '../../rules/fields.ts';
import type { CheckoutPath } from '../../rules/operations.ts';
import { linkBody, linkView } from '../links.ts';
import { acceptedAnswer, capturedAnswer, statusAnswer } from './answers.ts';
import { session } from './session.ts';

type Perform = (gateway: Gateway, account: Account, body: CheckoutBody) => Promise<object>;

const status: Perform = async (gateway, account, { value }) => {
  const paymentId = value('payment_id');
  if (paymentId !== '') {
    const payment = await findCurrent(gateway, account, paymentId);
    if (!payment) throw new Refusal('unknownCheckoutPayment');
    return statusAnswer(payment);
  }
  const size = value('size');
  const attempts = await findAttempts(gateway, account, value('order_id'), Number(size || 1));
  const [newest] = attempts;
  if (!newest) throw new Refusal('unknownOrder');
  return size === '' ? statusAnswer(newest) : attempts.map(statusAnswer);
};

/** The payment with this id; a payment of another account is refused like one that does not exist. */
async function requirePayment(gateway: Gateway, account: Account, paymentId: string): Promise<PaymentWithDetails> {
  const payment = await findPayment(gateway, account, paymentId);
  if (!payment) throw new Refusal('unknownPayment');
  return payment;
}

const recurring: Perform = async (gateway, account, body) => {
  const { value } = body;
  const payment = await recur(gateway, account, {
    firstId: value('recurring_init_trans_id'),
    token: value('recurring_token'),
    orderId: value('order.number'),
    amountText: value('order.amount'),
    amountField: 'order.amount',
    currency: value('order.currency'),
    description: value('order.description'),
    isAuthorisation: isYes(value('auth')),
    scheduleId: value('schedule_id'),
    protocol: 'checkout',
    content: canonicalContent(body),
  });
  return statusAnswer(payment);
};

/** The checks admit an amount as a number only if the account may send it so; it counts as it is written. */
const link: Perform = async (gateway, account, { at, value }) => {
  const body = linkBody((name) => (typeof at(name) === 'number' && name.endsWith('amount') ? value(name) : at(name)));
  return linkView(gateway, await makeLink(gateway, account, body));
};

export const CHECKOUT_ACTIONS: Readonly<Record<CheckoutPath, Perform>> = {
  session,
  link,
  'payment/status': status,
  'payment/card/credit': async (gateway, account, body) =>
    acceptedAnswer(
      await credit(gateway, account, {
        orderId: body.value('order_id'),
        amountText: body.value('order_amount'),
        currency: body.value('order_currency'),
        card: { token: body.value('card_token') },
        operationId: body.value('operation_id'),
        content: canonicalContent(body),
      }),
    ),
  'payment/refund': async (gateway, account, { value }) => {
    const payment = await requirePayment(gateway, account, value('payment_id'));
    const [amount, operationId] = [value('amount'), value('operation_id')];
    return acceptedAnswer(await refund(gateway, account, payment, amount, 'merchant', 'refundOnly', operationId));
  },
  'payment/void': async (gateway, account, { value }) => {
    const payment = await requirePayment(gateway, account, value('payment_id'));
    return acceptedAnswer(await voidPayment(gateway, payment, 'merchant', value('operation_id')));
  },
  'payment/capture': async (gateway, account, { value }) => {
    const payment = await requirePayment(gateway, account, value('payment_id'));
    return capturedAnswer(await capture(gateway, account, payment, value('amount'), 'merchant', value('operation_id')));
  },
  'payment/retry': async (gateway, account, { value }) =>
    statusAnswer(await retry(gateway, account, value('payment_id'))),
  'payment/recurring': recurring,
};
