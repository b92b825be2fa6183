/** What each Checkout request does once it has passed the gates. */
import type { Account, Gateway, PaymentDetails, WholePayment } from '../../core/context.ts';
import { capture, refund, voidPayment } from '../../core/payments/change.ts';
import { credit } from '../../core/payments/credit.ts';
import { findAttempts, findCurrent, findPayment } from '../../core/payments/find.ts';
import { pageOf } from '../../core/payments/links.ts';
import { openPayment } from '../../core/payments/open.ts';
import { recur } from '../../core/payments/recur.ts';
import { existingSchedule } from '../../core/schedules.ts';
import { newId } from '../../lib/id.ts';
import { canonicalJson, isObject } from '../../lib/json.ts';
import { brandOf, UNCHOSEN } from '../../rules/brands.ts';
import { Refusal } from '../../rules/errors.ts';
import { isYes } from '../../rules/fields.ts';
import { LIMITS } from '../../rules/limits.ts';
import type { CheckoutPath } from '../../rules/operations.ts';
import { acceptedAnswer, capturedAnswer, statusAnswer } from './answers.ts';
import { type CheckoutBody, textList } from './body.ts';

type Perform = (gateway: Gateway, account: Account, body: CheckoutBody) => Promise<unknown>;

/** Everything a request says but its hash, since two passwords may sign the same request. */
function contentOf({ at }: CheckoutBody): string {
  const { hash: _hash, ...content } = at('') as Record<string, unknown>;
  return canonicalJson(content);
}

/** An object of texts; numbers and truth values are taken as text, everything else does not count. */
function textRecord(value: unknown): Record<string, string> {
  const entries = isObject(value) ? Object.entries(value) : [];
  return Object.fromEntries(
    entries.flatMap(([name, text]) =>
      ['string', 'number', 'boolean'].includes(typeof text) && !String(text).includes('\0')
        ? [[name, String(text)]]
        : [],
    ),
  );
}

const session: Perform = async (gateway, account, body) => {
  const { value } = body;
  const schedule =
    value('schedule_id') === '' ? undefined : await existingSchedule(gateway, account, value('schedule_id'));
  const minutes = Number(value('session_expiry') || LIMITS.sessionMinutes);
  const paymentId = newId();
  const payerUntil = gateway.clock.now(account.mid) + minutes * LIMITS.minuteMs;
  const payment = await openPayment(gateway, account, {
    protocol: 'checkout',
    brand: UNCHOSEN,
    paymentId,
    orderId: value('order.number'),
    amountText: value('order.amount'),
    currency: value('order.currency'),
    isAuthorisation: isYes(value('auth')),
    isRecurringInit: isYes(value('recurring_init')),
    schedule,
    payerUntil,
    details: sessionDetails(paymentId, body, account, payerUntil),
    content: contentOf(body),
  });
  // A repeat gets the link of the session, whatever attempt it has come to.
  return { redirect_url: pageOf(gateway, payment.details.session?.id ?? payment.paymentId) };
};

function sessionDetails(id: string, { value, at }: CheckoutBody, { settings }: Account, until: number): PaymentDetails {
  const optional = <Name extends string>(name: Name, field: string): { [Key in Name]?: string } =>
    (value(field) === '' ? {} : { [name]: value(field) }) as { [Key in Name]?: string };
  const [firstName = '', ...lastNames] = value('customer.name').split(' ');
  const payer: Record<string, string> = {
    ...(firstName !== '' && { first_name: firstName }),
    ...(lastNames.length > 0 && { last_name: lastNames.join(' ') }),
    ...optional('email', 'customer.email'),
    ...optional('birth_date', 'customer.birth_date'),
    ...textRecord(at('billing_address')),
  };
  const parameters = isObject(at('parameters')) ? (at('parameters') as Record<string, unknown>) : {};
  const customData = textRecord(at('custom_data'));
  const cardTokens = [...new Set(textList(at('card_token')))];
  return {
    description: value('order.description'),
    payer,
    session: {
      id,
      until,
      payer,
      successUrl: value('success_url'),
      ...optional('cancelUrl', 'cancel_url'),
      ...optional('expiryUrl', 'expiry_url'),
      ...optional('errorUrl', 'error_url'),
      ...optional('urlTarget', 'url_target'),
      methods: textList(at('methods')),
      parameters: Object.fromEntries(
        Object.entries(parameters).map(([name, given]) => {
          const label = settings.brand_aliases[name] ?? name;
          return [label, withoutSecrets(label, textRecord(given))];
        }),
      ),
      ...(cardTokens.length > 0 && { cardTokens }),
      ...(isYes(value('req_token')) && { wantsToken: true as const }),
    },
    ...(Object.keys(customData).length > 0 && { customData }),
  };
}

/** What nobody may read is not kept for later: the payer is asked for it when it is needed. */
function withoutSecrets(label: string, given: Record<string, string>): Record<string, string> {
  const secret = new Set(brandOf(label)?.fields.flatMap(({ name, isSecret }) => (isSecret ? name : [])));
  return Object.fromEntries(Object.entries(given).filter(([name]) => !secret.has(`parameters[${name}]`)));
}

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

/** The payment that a request names; another account's is as unknown as one that never was. */
async function existing(gateway: Gateway, account: Account, paymentId: string): Promise<WholePayment> {
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
    currency: '',
    description: value('order.description'),
    isAuthorisation: false,
    scheduleId: value('schedule_id'),
    content: contentOf(body),
  });
  return statusAnswer(payment);
};

export const CHECKOUT_ACTIONS: Readonly<Record<CheckoutPath, Perform>> = {
  session,
  'payment/status': status,
  'payment/card/credit': async (gateway, account, body) =>
    acceptedAnswer(
      await credit(gateway, account, {
        orderId: body.value('order_id'),
        amountText: body.value('order_amount'),
        currency: body.value('order_currency'),
        cardToken: body.value('card_token'),
        content: contentOf(body),
      }),
    ),
  'payment/refund': async (gateway, account, { value }) => {
    const payment = await existing(gateway, account, value('payment_id'));
    return acceptedAnswer(await refund(gateway, account, payment, value('amount'), 'merchant', 'refundOnly'));
  },
  'payment/void': async (gateway, account, { value }) => {
    const payment = await existing(gateway, account, value('payment_id'));
    return acceptedAnswer(await voidPayment(gateway, payment, 'merchant'));
  },
  'payment/capture': async (gateway, account, { value }) => {
    const payment = await existing(gateway, account, value('payment_id'));
    return capturedAnswer(await capture(gateway, payment, value('amount'), 'merchant'));
  },
  'payment/recurring': recurring,
};
