/** The actions of `/post`: what each does with a request that passed the checks. */

import { canTake, isNeededByProvider } from '../../core/connections/route.ts';
import type { Account, Gateway, PaymentWithDetails, ScheduleTerms } from '../../core/context.ts';
import { capture, refund, voidPayment } from '../../core/payments/change.ts';
import { credit } from '../../core/payments/credit.ts';
import { refundsElsewhere } from '../../core/payments/elsewhere.ts';
import { findCurrent, findPayment, findStatus, findStatusByOrder } from '../../core/payments/find.ts';
import { type Order, openPayment } from '../../core/payments/open.ts';
import type { S2sBody } from '../../core/requests/s2s-body.ts';
import { isMerchantsAuthorisation } from '../../core/risk/reviewed.ts';
import { recur } from '../../core/schedules/recur.ts';
import { createSchedule, deleteSchedule, existingSchedule, updateSchedule } from '../../core/schedules/schedules.ts';
import { openWalletPayment } from '../../core/wallets/token.ts';
import { Secret } from '../../lib/crypto/secret.ts';
import { minorUnits } from '../../lib/money/money.ts';
import { mostSimilar } from '../../lib/text/similar.ts';
import {
  BRANDS,
  type Brand,
  brandLabel,
  brandValues,
  fieldsToAsk,
  isWallet,
  offeredMethods,
  TOKEN_FIELD,
} from '../../rules/brands.ts';
import { exponentOf } from '../../rules/currencies.ts';
import { type ErrorName, type Problem, Refusal } from '../../rules/errors.ts';
import { amountSpelling, SENTENCES } from '../../rules/fields.ts';
import { type ApiOperation, DIALECT_OPERATIONS, type DialectAction, type S2sAction } from '../../rules/operations.ts';
import { readSaleLines, requiresLines } from '../../rules/order-lines.ts';
import { settingsReader } from '../../rules/settings.ts';
import type { AccountFields } from '../merchant-request.ts';
import { fieldContext } from '../pipeline.ts';
import { unusedFieldWarnings } from '../unused-fields.ts';
import {
  acceptedAnswer,
  operationAnswer,
  type S2sAnswer,
  saleAnswer,
  scheduleAnswer,
  statusAnswer,
} from './answers.ts';
import {
  BRAND_BESIDE_CARD,
  CARD_SALE_NOT_TAKEN,
  cardFieldProblems,
  hasCardFields,
  isCardSale,
  numberElsewhere,
  performCardSale,
  tokenBesideNumber,
} from './card-sale.ts';
import { detailsAnswer } from './details.ts';
import { canonicalContent, saleDetails } from './sale-details.ts';

type Perform = (gateway: Gateway, account: Account, body: S2sBody) => Promise<S2sAnswer>;

interface Action {
  perform: Perform;
  /** Fields and problems that depend on the account. */
  accountFields?: (gateway: Gateway, account: Account, body: S2sBody) => AccountFields;
  /** The operation in place of the one of the table, if the account decides it. */
  operationFor?: (account: Account, body: S2sBody) => ApiOperation | undefined;
}

/** Adds to the answer of a sale which well-known fields the gateway does not act upon. */
const warning =
  (perform: Action['perform']): Action['perform'] =>
  async (gateway, account, body) => {
    const answer = await perform(gateway, account, body);
    // The specification has the field callback_url, and the gateway uses it.
    const warnings = unusedFieldWarnings(gateway, (name) => name !== 'callback_url' && body.value(name) !== '');
    return warnings.length === 0 ? answer : { ...answer, warnings };
  };

/** A sale or an authorisation with a card in the request. */
const cardSale = (action: 'SALE' | 'AUTH'): Action => ({
  accountFields: (gateway, account, body) => ({ fields: [], problems: cardFieldProblems(gateway, account, body) }),
  perform: warning((gateway, account, body) => performCardSale(gateway, account, body, action)),
});

const CARD_SALE = cardSale('SALE');
const APM_SALE: Action = { perform: warning(performSale) };

const sale: Action = {
  operationFor: (account, body) => (isCardSale(account, body) ? DIALECT_OPERATIONS.SALE : undefined),
  accountFields(gateway, account, body) {
    if (isCardSale(account, body)) return CARD_SALE.accountFields?.(gateway, account, body) as AccountFields;
    const fields = brandFields(gateway, account, body);
    return hasCardFields(body) ? { ...fields, problems: [...fields.problems, ...besideCard(account, body)] } : fields;
  },
  perform: (gateway, account, body) =>
    (isCardSale(account, body) ? CARD_SALE : APM_SALE).perform(gateway, account, body),
};

/** What is wrong with card fields in a sale that is not one by card. */
const besideCard = ({ settings }: Account, { value }: S2sBody): Problem[] =>
  settings['dialect.card_sales'] ? [BRAND_BESIDE_CARD] : value('brand') === '' ? [CARD_SALE_NOT_TAKEN] : [];

function brandFields(gateway: Gateway, account: Account, body: S2sBody): AccountFields {
  const name = body.value('brand');
  const label = brandLabel(name, account.settings, isOffered(gateway, account));
  const brand = label === undefined ? undefined : BRANDS[label];
  if (brand) {
    const problems = [
      ...recurringProblems(gateway, account, label as string, body),
      ...linesOf(brand, account, body).problems,
    ];
    return { fields: brand.fields, problems, brand: label };
  }
  return { fields: [], problems: name === '' ? [] : [unknownBrand(gateway, account, name)] };
}

/** The lines of the order, of brands that require them. */
const linesOf = ({ fields }: Brand, { settings }: Account, body: S2sBody): ReturnType<typeof readSaleLines> =>
  requiresLines(fields) ? readSaleLines(body, amountSpelling(settingsReader(settings))) : { problems: [] };

async function performSale(gateway: Gateway, account: Account, body: S2sBody): Promise<S2sAnswer> {
  const { value } = body;
  const scheduleId = value('schedule_id');
  const schedule = scheduleId === '' ? undefined : await existingSchedule(gateway, account, scheduleId);
  const brand = brandLabel(value('brand'), account.settings, isOffered(gateway, account)) as string;
  const row = BRANDS[brand] as Brand;
  const context = fieldContext(gateway, account, body);
  const { parameters, secrets } = brandValues(row, context);
  const methods = offeredMethods(row, context);
  const { lines } = linesOf(row, account, body);
  const order: Order = {
    protocol: 's2s',
    brand,
    orderId: value('order_id'),
    amountText: value('order_amount'),
    currency: value('order_currency'),
    isAuthorisation: value('auth') === 'Y',
    isRecurringInit: value('recurring_init') === 'Y',
    details: {
      ...saleDetails(body),
      ...(lines && { lines }),
      ...(Object.keys(parameters).length > 0 && { parameters }),
      ...(methods.length > 0 && { methods }),
    },
    schedule,
    secrets: Object.keys(secrets).length > 0 ? secrets : undefined,
    needsFields:
      fieldsToAsk(row, { ...context, isNeededByProvider: neededFor(gateway, account, brand, body) }).length > 0,
    content: canonicalContent(body),
  };
  const payment = await (isWallet(brand)
    ? openWalletPayment(gateway, account, { ...order, brand }, value(TOKEN_FIELD))
    : openPayment(gateway, account, order));
  return saleAnswer('SALE', payment, gateway);
}

/** Whether a provider that may get the sale needs a field. */
const neededFor =
  (gateway: Gateway, account: Account, brand: string, { value }: S2sBody) =>
  (field: string): boolean => {
    const currency = value('order_currency');
    const amount = minorUnits(value('order_amount'), exponentOf(currency), 'number') as bigint;
    return isNeededByProvider(gateway, account, { brand, currency, amount, country: value('payer_country') }, field);
  };

const CANNOT_RECUR = 'N, or a brand that supports recurring sales, such as vcard.';
const NEEDS_RECURRING = 'Y, because a schedule_id needs a recurring sale.';

/** The refusal of a brand names those that the account can take. */
function unknownBrand(gateway: Gateway, account: Account, name: string): Problem {
  const { settings } = account;
  const names = [...Object.keys(settings.brand_aliases), ...Object.keys(BRANDS)].filter((each) =>
    brandLabel(each, settings, isOffered(gateway, account)),
  );
  const meant = mostSimilar(name, names);
  return {
    field: 'brand',
    sentence: SENTENCES.notAChoice,
    expected: `One of the brands of the account: ${names.join(', ')}.`,
    hint: meant && `Did you mean ${meant}?`,
  };
}

/** Refuses a recurring sale whose brand nobody can repeat, and a schedule for a sale that is not recurring. */
function recurringProblems(gateway: Gateway, account: Account, label: string, { value }: S2sBody): Problem[] {
  const isRecurring = value('recurring_init') === 'Y';
  if (isRecurring && !canTake(gateway, account, label, undefined, true))
    return [{ field: 'recurring_init', sentence: SENTENCES.notAChoice, expected: CANNOT_RECUR }];
  const isScheduled = value('schedule_id') !== '';
  return isScheduled && !isRecurring
    ? [{ field: 'recurring_init', sentence: SENTENCES.blank, expected: NEEDS_RECURRING }]
    : [];
}

/** A brand is offered only if a route of the account, or this installation itself, can take it. */
const isOffered =
  (gateway: Gateway, account: Account) =>
  (_: Brand, label: string): boolean =>
    canTake(gateway, account, label);

const status: Action = {
  async perform(gateway, account, { value }) {
    const payment = await findStatus(gateway, account, value('trans_id'));
    if (!payment) throw new Refusal('unknownTransaction');
    return statusAnswer('GET_TRANS_STATUS', payment);
  },
};

const statusByOrder: Action = {
  async perform(gateway, account, { value }) {
    const payment = await findStatusByOrder(gateway, account, value('order_id'));
    if (!payment) throw new Refusal('unknownOrder');
    return statusAnswer('GET_TRANS_STATUS_BY_ORDER', payment);
  },
};

/** An action on the payment `trans_id`; a payment of another account is refused like one that does not exist. */
const paymentAction = (
  unknown: ErrorName,
  perform: (gateway: Gateway, account: Account, payment: PaymentWithDetails, body: S2sBody) => Promise<S2sAnswer>,
): Action => ({
  async perform(gateway, account, body) {
    const payment = await findPayment(gateway, account, body.value('trans_id'));
    if (!payment) throw new Refusal(unknown);
    return perform(gateway, account, payment, body);
  },
});

const recurringSale: Action = {
  async perform(gateway, account, body) {
    const { value } = body;
    const payment = await recur(gateway, account, {
      firstId: value('recurring_first_trans_id'),
      token: value('recurring_token'),
      orderId: value('order_id'),
      amountText: value('order_amount'),
      amountField: 'order_amount',
      currency: value('order_currency'),
      description: value('order_description'),
      isAuthorisation: value('auth') === 'Y',
      termUrl3ds: value('term_url_3ds') || undefined,
      scheduleId: value('schedule_id'),
      content: canonicalContent(body),
    });
    const { card } = payment.details;
    const answer = saleAnswer('RECURRING_SALE', payment, gateway);
    return card?.token === undefined ? answer : { ...answer, card_token: card.token };
  },
};

/** The schedule terms of a request; fields that were not sent are left out. */
function readTerms({ value }: S2sBody): Partial<ScheduleTerms> {
  const number = (name: string) => (value(name) === '' ? undefined : Number(value(name)));
  const terms = {
    name: value('name') || undefined,
    intervalLength: number('interval_length'),
    intervalUnit: value('interval_unit') || undefined,
    paymentsCount: number('payments_count'),
    dayOfMonth: number('day_of_month'),
    delays: number('delays'),
  };
  return Object.fromEntries(Object.entries(terms).filter(([, term]) => term !== undefined));
}

const createScheduleAction: Action = {
  async perform(gateway, account, body) {
    const terms = { dayOfMonth: null, delays: 0, ...readTerms(body) } as ScheduleTerms;
    const { scheduleId } = await createSchedule(gateway, account, terms, body.value('schedule_id'));
    return scheduleAnswer('CREATE_SCHEDULE', scheduleId);
  },
};

const updateScheduleAction: Action = {
  async perform(gateway, account, body) {
    const { scheduleId } = await updateSchedule(gateway, account, body.value('schedule_id'), readTerms(body));
    return scheduleAnswer('UPDATE_SCHEDULE', scheduleId);
  },
};

const deleteScheduleAction: Action = {
  async perform(gateway, account, { value }) {
    await deleteSchedule(gateway, account, value('schedule_id'));
    return scheduleAnswer('DELETE_SCHEDULE', value('schedule_id').toLowerCase());
  },
};

const creditToCard: Action = {
  accountFields: (_gateway, _account, body) => ({
    fields: [],
    problems:
      body.value('card_number') === '' && body.value('card_token') === ''
        ? [{ field: 'card_token', sentence: SENTENCES.blank, expected: 'A card_token, or a card_number in its place.' }]
        : [...tokenBesideNumber(body), ...numberElsewhere(body)],
  }),
  async perform(gateway, account, body) {
    const { value } = body;
    const token = value('card_token');
    const card = token === '' ? { number: new Secret(value('card_number')) } : { token };
    const content = canonicalContent(body);
    body.forgetCard();
    const credited = await credit(gateway, account, {
      orderId: value('order_id'),
      amountText: value('order_amount'),
      currency: value('order_currency'),
      card,
      operationId: value('operation_id'),
      content,
    });
    return acceptedAnswer('CREDIT2CARD', credited);
  },
};

/** The actions of accounts with `dialect.card_sales`. */
export const DIALECT_ACTIONS: Record<DialectAction, Action> = {
  AUTH: cardSale('AUTH'),
  CREDIT2CARD: creditToCard,
  GET_TRANS_DETAILS: paymentAction('unknownTransaction', async (gateway, account, { paymentId }) => {
    const payment = await findCurrent(gateway, account, paymentId);
    if (!payment) throw new Refusal('unknownTransaction');
    const [operations, refunds, isAuthorisation] = await Promise.all([
      gateway.operations.of(payment),
      refundsElsewhere(gateway, payment),
      isMerchantsAuthorisation(gateway, payment),
    ]);
    return detailsAnswer(payment, operations, refunds, isAuthorisation);
  }),
};

export const S2S_ACTIONS: Record<S2sAction, Action> = {
  SALE: sale,
  GET_TRANS_STATUS: status,
  GET_TRANS_STATUS_BY_ORDER: statusByOrder,
  CAPTURE: paymentAction('unknownTransaction', async (gateway, account, payment, { value }) =>
    operationAnswer(
      'CAPTURE',
      await capture(gateway, account, payment, value('amount'), 'merchant', value('operation_id')),
      value('amount') || undefined,
    ),
  ),
  VOID: paymentAction('unknownPayment', async (gateway, _account, payment, { value }) =>
    operationAnswer('VOID', await voidPayment(gateway, payment, 'merchant', value('operation_id'))),
  ),
  CREDITVOID: paymentAction('unknownPayment', async (gateway, account, payment, { value }) => {
    const [amount, operationId] = [value('amount'), value('operation_id')];
    const refunded = await refund(gateway, account, payment, amount, 'merchant', 'refundOrReversal', operationId);
    return acceptedAnswer('CREDITVOID', refunded);
  }),
  RECURRING_SALE: recurringSale,
  CREATE_SCHEDULE: createScheduleAction,
  UPDATE_SCHEDULE: updateScheduleAction,
  DELETE_SCHEDULE: deleteScheduleAction,
};
