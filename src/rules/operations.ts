/** The fields of each API operation, and the values that its hash covers, which are always followed by the password. */
import { callbackAddress } from './callback-address.ts';
import {
  amount,
  amountOfPayment,
  anyText,
  calendarDate,
  currency,
  dayOfMonth,
  type Field,
  flag,
  ipAddress,
  may,
  must,
  oneOf,
  orderId,
  text,
  uuid,
  webAddress,
  wholeNumber,
  yesNo,
} from './fields.ts';
import { country } from './formats.ts';
import { LIMITS } from './limits.ts';
import { ORDER_LINE_FIELDS } from './order-lines.ts';

export interface ApiOperation {
  fields: readonly Field[];
  /** The fields whose raw values the hash covers, in this order; a missing field counts as empty. */
  signs: readonly string[];
  /** The operation changes nothing; clients may poll it. */
  isRead?: true;
  /** The operation makes a new payment, which a suspended account does not take. */
  opensPayment?: true;
}

/** The values that the hash of a request covers, in order; `value` returns the raw value of a field. */
export const signedValues = ({ signs }: ApiOperation, value: (name: string) => string): string[] => signs.map(value);

/** Fields that may be sent under another name, and that name. */
export const aliasesOf = ({ fields }: ApiOperation): Record<string, string> =>
  Object.fromEntries(fields.flatMap(({ name, alias }) => (alias === undefined ? [] : [[name, alias]])));

const hash = must('hash', anyText);
const transId = must('trans_id', anyText);
/** The idempotency key of the merchant. */
const operationId = may('operation_id', uuid);
const scheduleFields = (need: typeof must): Field[] => [
  need('name', text(1, 100)),
  need('interval_length', wholeNumber(1, 365)),
  need('interval_unit', oneOf(['day', 'week', 'month'])),
  need('payments_count', wholeNumber(1, 1200)),
];
const scheduleExtras = [may('day_of_month', dayOfMonth), may('delays', wholeNumber(0, LIMITS.scheduleDelaysMost))];

/** The operations of `/post`, by the value of the parameter `action`. */
export const S2S_OPERATIONS = {
  SALE: {
    opensPayment: true,
    fields: [
      // The sale itself checks the brand, because the choice depends on the account.
      must('brand', anyText),
      must('order_id', orderId),
      must('order_amount', amount('order_currency')),
      must('order_currency', currency),
      must('order_description', text(1, LIMITS.descriptionLength)),
      may('identifier', anyText),
      may('payer_first_name', anyText),
      may('payer_last_name', anyText),
      may('payer_address', anyText),
      may('payer_country', country),
      may('payer_state', anyText),
      may('payer_city', anyText),
      may('payer_zip', anyText),
      may('payer_email', anyText),
      may('payer_phone', anyText),
      must('payer_ip', ipAddress),
      must('return_url', webAddress),
      may('term_url_3ds', webAddress),
      may('callback_url', callbackAddress),
      may('auth', yesNo),
      may('recurring_init', yesNo),
      may('schedule_id', uuid),
      hash,
    ],
    signs: ['identifier', 'order_id', 'order_amount', 'order_currency'],
  },
  GET_TRANS_STATUS: { fields: [transId, hash], signs: ['trans_id'], isRead: true },
  GET_TRANS_STATUS_BY_ORDER: { fields: [must('order_id', orderId), hash], signs: ['order_id'], isRead: true },
  CAPTURE: { fields: [transId, may('amount', amountOfPayment), operationId, hash], signs: ['trans_id'] },
  VOID: { fields: [transId, operationId, hash], signs: ['trans_id'] },
  CREDITVOID: { fields: [transId, may('amount', amountOfPayment), operationId, hash], signs: ['trans_id'] },
  RECURRING_SALE: {
    opensPayment: true,
    fields: [
      must('order_id', orderId),
      // The currency defaults to that of the first payment, which is not known during this check.
      must('order_amount', amount('order_currency', amountOfPayment)),
      may('order_currency', currency),
      must('order_description', text(1, LIMITS.descriptionLength)),
      must('recurring_first_trans_id', anyText),
      must('recurring_token', anyText),
      may('schedule_id', uuid),
      may('auth', yesNo),
      may('term_url_3ds', webAddress),
      hash,
    ],
    signs: ['order_id'],
  },
  CREATE_SCHEDULE: {
    fields: [...scheduleFields(must), may('schedule_id', uuid), ...scheduleExtras, hash],
    signs: [],
  },
  UPDATE_SCHEDULE: {
    fields: [must('schedule_id', uuid), ...scheduleFields(may), ...scheduleExtras, hash],
    signs: ['schedule_id'],
  },
  DELETE_SCHEDULE: { fields: [must('schedule_id', uuid), hash], signs: ['schedule_id'] },
} as const satisfies Record<string, ApiOperation>;

export type S2sAction = keyof typeof S2S_OPERATIONS;

const sessionAddress = ['success_url', 'cancel_url', 'expiry_url', 'error_url'] as const;

/** The operations of Checkout, by the last part of their path; a dot in a field name means a nested object. */
export const CHECKOUT_OPERATIONS = {
  session: {
    opensPayment: true,
    fields: [
      must('operation', oneOf(['purchase'])),
      must('order.number', orderId),
      must('order.amount', amount('order.currency')),
      must('order.currency', currency),
      must('order.description', text(1, LIMITS.descriptionLength)),
      ...ORDER_LINE_FIELDS,
      ...sessionAddress.map((name) => (name === 'success_url' ? must : may)(name, webAddress)),
      may('session_expiry', wholeNumber(1, LIMITS.sessionMinutesMost), { isLoose: true }),
      may('url_target', text(1, 64)),
      may('req_token', flag, { isLoose: true }),
      may('recurring_init', flag, { isLoose: true }),
      may('schedule_id', uuid),
      may('schedule_start_date', calendarDate),
      may('payment_schedule_amount', amount('order.currency')),
      may('recurring_consent_required', flag, { isLoose: true }),
      may('auth', flag, { isLoose: true }),
      ...['name', 'email', 'birth_date'].map((name) => may(`customer.${name}`, anyText)),
      ...['country', 'state', 'city', 'district', 'address', 'house_number', 'zip', 'phone'].map((name) =>
        may(`billing_address.${name}`, name === 'country' ? country : anyText),
      ),
      hash,
    ],
    signs: ['order.number', 'order.amount', 'order.currency', 'order.description'],
  },
  'payment/status': {
    fields: [
      may('payment_id', anyText, { alias: 'trans_id' }),
      may('order_id', orderId),
      may('size', wholeNumber(1, LIMITS.attemptsMost), { isLoose: true }),
      hash,
    ],
    signs: ['payment_id', 'order_id'],
    isRead: true,
  },
  'payment/card/credit': {
    fields: [
      must('operation', oneOf(['credit'])),
      must('order_id', orderId),
      must('order_amount', amount('order_currency')),
      must('order_currency', currency),
      must('order_description', text(1, LIMITS.descriptionLength)),
      must('card_token', anyText),
      may('name', anyText),
      operationId,
      // The former shape of the request, which is refused.
      may('order', anyText),
      hash,
    ],
    signs: ['order_id', 'order_amount', 'order_currency', 'order_description'],
  },
  'payment/refund': {
    fields: [must('payment_id', anyText), may('amount', amountOfPayment), operationId, hash],
    signs: ['payment_id', 'amount'],
  },
  'payment/capture': {
    fields: [must('payment_id', anyText), may('amount', amountOfPayment), operationId, hash],
    signs: ['payment_id', 'amount'],
  },
  'payment/void': { fields: [must('payment_id', anyText), operationId, hash], signs: ['payment_id'] },
  'payment/retry': { opensPayment: true, fields: [must('payment_id', anyText), hash], signs: ['payment_id'] },
  'payment/recurring': {
    opensPayment: true,
    fields: [
      must('recurring_init_trans_id', anyText),
      must('recurring_token', anyText),
      must('order.number', orderId),
      must('order.amount', amount('order.currency', amountOfPayment)),
      may('order.currency', currency),
      must('order.description', text(1, LIMITS.descriptionLength)),
      may('schedule_id', uuid),
      may('auth', flag, { isLoose: true }),
      hash,
    ],
    signs: ['recurring_init_trans_id', 'recurring_token', 'order.number', 'order.amount', 'order.description'],
  },
} as const satisfies Record<string, ApiOperation>;

export type CheckoutPath = keyof typeof CHECKOUT_OPERATIONS;
