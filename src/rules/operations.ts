/** The fields of each API operation, and the values that its hash covers, which are always followed by the password. */
import { EXPIRY_MONTH, EXPIRY_YEAR, isCardNumber } from '../lib/cards/card.ts';
import { callbackAddress } from './callback-address.ts';
import {
  amount,
  amountOfPayment,
  amountOrCheck,
  anyText,
  calendarDate,
  currency,
  dayOfMonth,
  type Field,
  type FieldContext,
  flag,
  ipAddress,
  type Kind,
  may,
  must,
  oneOf,
  orderId,
  returnAddress,
  SENTENCES,
  text,
  uuid,
  webAddress,
  wholeNumber,
  yesNo,
} from './fields.ts';
import { country, mailText } from './formats.ts';
import { LIMITS } from './limits.ts';
import { LINK_LIMITS } from './links.ts';
import { ORDER_LINE_FIELDS } from './order-lines.ts';

export interface ApiOperation {
  fields: readonly Field[];
  /** The fields whose raw values the hash covers, in this order; a missing field counts as empty. */
  signs: readonly string[];
  /** Names of objects and lists that the request may also contain; their members are not in `fields`. */
  also?: readonly string[];
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

/** Fields that have different names in the protocols, where one is easily sent in place of the other. */
export const COUNTERPARTS: readonly (readonly [string, string])[] = [
  ['client_key', 'merchant_key'],
  ['order_id', 'order.number'],
  ['trans_id', 'payment_id'],
  ['return_url', 'success_url'],
  ['recurring_first_trans_id', 'recurring_init_trans_id'],
];

/** A text that no format restricts, with what it has to contain. */
const described = (expects: string, more: Pick<Kind, 'example'> = {}): Kind => ({ ...anyText, expects, ...more });

const hash = must('hash', described('40 hex digits, the SHA-1 of the hex MD5 of the signed text'));
const idOfPayment = described('id of a payment, as the gateway returned it', { example: uuid.example as string });
const recurringToken = described('recurring token, as the first payment returned it');
const description: Kind = { ...text(1, LIMITS.descriptionLength), example: 'Two teapots' };
const transId = must('trans_id', idOfPayment);
/** The idempotency key of the merchant. */
const operationId = may('operation_id', uuid);
const scheduleFields = (need: typeof must): Field[] => [
  need('name', text(1, 100), { example: 'Monthly plan' }),
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
      must('brand', described('label of a brand, or an alias that the account defines', { example: 'vcard' })),
      must('order_id', orderId),
      must('order_amount', amount('order_currency')),
      must('order_currency', currency),
      must('order_description', description),
      may('identifier', anyText),
      may('payer_first_name', anyText),
      may('payer_last_name', anyText),
      may('payer_address', anyText),
      may('payer_country', country),
      may('payer_state', anyText),
      may('payer_city', anyText),
      may('payer_zip', anyText),
      may('payer_email', mailText),
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
    also: ['custom_data'],
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
      must('order_description', description),
      must('recurring_first_trans_id', idOfPayment),
      must('recurring_token', recurringToken),
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

const cardNumber: Kind = {
  check: (value) => (isCardNumber(value) ? undefined : SENTENCES.invalid),
  expects: '12 to 19 digits of a card number, without spaces',
  schema: { type: 'string', pattern: '^\\d{12,19}$' },
};
const digits = (pattern: RegExp, expects: string, example: string): Kind => ({
  check: (value) => (pattern.test(value) ? undefined : SENTENCES.invalid),
  expects,
  example,
  schema: { type: 'string', pattern: pattern.source },
});
const cardToken = described('card token, as an earlier sale with req_token returned it');
const UNSTORED = { isTransient: true } as const;

/** A card in a form. Which of these a request needs depends on the others: `wire/s2s/card-sale.ts` says it. */
const CARD_FIELDS: readonly Field[] = [
  may('card_number', cardNumber, UNSTORED),
  may('card_token', cardToken),
  may('card_exp_month', digits(EXPIRY_MONTH, 'two digits of a month', '05')),
  may('card_exp_year', digits(EXPIRY_YEAR, 'four digits of a year', '2030')),
  may('card_cvv2', digits(/^\d{3,4}$/, 'three or four digits', '123'), UNSTORED),
];

/** Whether a card sale only authorises. */
export const isAuthorisation = ({ value }: Pick<FieldContext, 'value'>): boolean =>
  value('auth') === 'Y' || value('action') === 'AUTH';

const cardSale = {
  opensPayment: true,
  fields: [
    must('order_id', orderId),
    must('order_amount', amountOrCheck('order_currency', isAuthorisation)),
    must('order_currency', currency),
    must('order_description', description),
    ...CARD_FIELDS,
    must('payer_first_name', anyText),
    must('payer_last_name', anyText),
    may('payer_middle_name', anyText),
    may('payer_birth_date', calendarDate),
    must('payer_email', mailText),
    must('payer_phone', anyText),
    must('payer_country', country),
    may('payer_state', anyText),
    must('payer_city', anyText),
    must('payer_address', anyText),
    must('payer_zip', anyText),
    must('payer_ip', ipAddress),
    must('term_url_3ds', webAddress),
    may('callback_url', callbackAddress),
    may('auth', yesNo),
    may('recurring_init', yesNo),
    may('req_token', yesNo),
    may('schedule_id', uuid),
    may('channel_id', text(1, LIMITS.channelIdLength)),
    hash,
  ],
  also: ['custom_data'],
  signs: ['order_id', 'order_amount', 'order_currency'],
} as const satisfies ApiOperation;

/** The operations of `/post` for accounts with `dialect.card_sales`. `SALE` here is the one without a brand. */
export const DIALECT_OPERATIONS = {
  SALE: cardSale,
  AUTH: cardSale,
  CREDIT2CARD: {
    fields: [
      must('order_id', orderId),
      must('order_amount', amount('order_currency')),
      must('order_currency', currency),
      must('order_description', description),
      may('card_number', cardNumber, UNSTORED),
      may('card_token', cardToken),
      ...['first_name', 'last_name', 'middle_name', 'birth_date', 'address', 'country', 'state', 'city', 'zip'].map(
        (name) => may(`payee_${name}`, anyText),
      ),
      may('payee_email', mailText),
      may('payee_phone', anyText),
      operationId,
      hash,
    ],
    signs: ['order_id', 'order_amount', 'order_currency', 'order_description'],
  },
  GET_TRANS_DETAILS: { fields: [transId, hash], signs: ['trans_id'], isRead: true },
} as const satisfies Record<string, ApiOperation>;

/** The actions that exist only for accounts with `dialect.card_sales`. */
export type DialectAction = Exclude<keyof typeof DIALECT_OPERATIONS, 'SALE'>;

export const isDialectAction = (action: string): action is DialectAction =>
  action !== 'SALE' && Object.hasOwn(DIALECT_OPERATIONS, action);

/** The operations of Checkout, by the last part of their path; a dot in a field name means a nested object. */
export const CHECKOUT_OPERATIONS = {
  session: {
    opensPayment: true,
    fields: [
      must('operation', oneOf(['purchase'])),
      must('order.number', orderId),
      must('order.amount', amount('order.currency')),
      must('order.currency', currency),
      must('order.description', description),
      ...ORDER_LINE_FIELDS,
      must('success_url', returnAddress),
      may('cancel_url', returnAddress),
      may('expiry_url', webAddress),
      may('error_url', webAddress),
      may('session_expiry', wholeNumber(1, LIMITS.sessionMinutesMost), { isLoose: true }),
      may('url_target', text(1, 64)),
      may('req_token', flag, { isLoose: true }),
      may('token_consent_required', flag, { isLoose: true }),
      may('recurring_init', flag, { isLoose: true }),
      may('schedule_id', uuid),
      may('schedule_start_date', calendarDate),
      may('payment_schedule_amount', amount('order.currency')),
      may('recurring_consent_required', flag, { isLoose: true }),
      may('auth', flag, { isLoose: true }),
      may('customer.name', anyText),
      may('customer.email', mailText),
      may('customer.birth_date', anyText),
      ...['country', 'state', 'city', 'district', 'address', 'house_number', 'zip', 'phone'].map((name) =>
        may(`billing_address.${name}`, name === 'country' ? country : anyText),
      ),
      hash,
    ],
    also: ['methods', 'card_token', 'parameters', 'custom_data'],
    signs: ['order.number', 'order.amount', 'order.currency', 'order.description'],
  },
  link: {
    fields: [
      must('title', text(1, LINK_LIMITS.title), { example: 'Two teapots' }),
      must('currency', currency),
      may('amount', amount('currency')),
      may('min_amount', amount('currency')),
      may('max_amount', amount('currency')),
      may('description', text(1, LINK_LIMITS.description)),
      may('uses', wholeNumber(1, LINK_LIMITS.uses), { isLoose: true }),
      may('valid_until', described('date, or date and time in UTC', { example: '2099-01-31T23:59:59Z' })),
      may('locale', described('language', { example: 'en' })),
      may('success_url', webAddress),
      may('authorise', flag, { isLoose: true }),
      may('order_prefix', text(1, LINK_LIMITS.orderPrefix)),
      hash,
    ],
    also: ['methods', 'ask'],
    // A link has an amount or bounds, so one of the two is empty.
    signs: ['title', 'amount', 'min_amount', 'currency', 'description'],
  },
  'payment/status': {
    fields: [
      may('payment_id', idOfPayment, { alias: 'trans_id' }),
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
      must('order_description', description),
      must('card_token', described('card token, as a payment with a saved card returned it')),
      may('name', anyText),
      operationId,
      // The former shape of the request, which is refused.
      may('order', anyText),
      hash,
    ],
    signs: ['order_id', 'order_amount', 'order_currency', 'order_description'],
  },
  'payment/refund': {
    fields: [must('payment_id', idOfPayment), may('amount', amountOfPayment), operationId, hash],
    signs: ['payment_id', 'amount'],
  },
  'payment/capture': {
    fields: [must('payment_id', idOfPayment), may('amount', amountOfPayment), operationId, hash],
    signs: ['payment_id', 'amount'],
  },
  'payment/void': { fields: [must('payment_id', idOfPayment), operationId, hash], signs: ['payment_id'] },
  'payment/retry': { opensPayment: true, fields: [must('payment_id', idOfPayment), hash], signs: ['payment_id'] },
  'payment/recurring': {
    opensPayment: true,
    fields: [
      must('recurring_init_trans_id', idOfPayment),
      must('recurring_token', recurringToken),
      must('order.number', orderId),
      must('order.amount', amount('order.currency', amountOfPayment)),
      may('order.currency', currency),
      must('order.description', description),
      may('schedule_id', uuid),
      may('auth', flag, { isLoose: true }),
      hash,
    ],
    signs: ['recurring_init_trans_id', 'recurring_token', 'order.number', 'order.amount', 'order.description'],
  },
} as const satisfies Record<string, ApiOperation>;

export type CheckoutPath = keyof typeof CHECKOUT_OPERATIONS;
