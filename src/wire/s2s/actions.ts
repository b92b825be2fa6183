/** The actions of `/post`: what each does with a request that passed the checks. */
import type { Account, Gateway, PaymentDetails, PaymentWithDetails, ScheduleTerms } from '../../core/context.ts';
import { capture, refund, voidPayment } from '../../core/payments/change.ts';
import { findPayment, findStatus, findStatusByOrder } from '../../core/payments/find.ts';
import { type Order, openPayment } from '../../core/payments/open.ts';
import { recur } from '../../core/payments/recur.ts';
import { canTake } from '../../core/payments/route.ts';
import { openWalletPayment } from '../../core/payments/wallet-token.ts';
import type { S2sBody } from '../../core/requests/s2s-body.ts';
import { createSchedule, deleteSchedule, existingSchedule, updateSchedule } from '../../core/schedules.ts';
import { entriesBelow } from '../../lib/form.ts';
import { mostSimilar } from '../../lib/similar.ts';
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
import { type ErrorName, type Problem, Refusal } from '../../rules/errors.ts';
import { SENTENCES } from '../../rules/fields.ts';
import type { S2sAction } from '../../rules/operations.ts';
import type { AccountFields } from '../merchant-request.ts';
import { fieldContext } from '../pipeline.ts';
import {
  acceptedAnswer,
  operationAnswer,
  type S2sAnswer,
  saleAnswer,
  scheduleAnswer,
  statusAnswer,
} from './answers.ts';

type Perform = (gateway: Gateway, account: Account, body: S2sBody) => Promise<S2sAnswer>;

interface Action {
  perform: Perform;
  /** Fields and problems that depend on the account. */
  accountFields?: (gateway: Gateway, account: Account, body: S2sBody) => AccountFields;
}

const sale: Action = {
  accountFields(gateway, account, body) {
    const name = body.value('brand');
    const label = brandLabel(name, account.settings, isOffered(gateway, account));
    const brand = label === undefined ? undefined : BRANDS[label];
    if (brand) return { fields: brand.fields, problems: recurringProblems(brand, body), brand: label };
    return { fields: [], problems: name === '' ? [] : [unknownBrand(gateway, account, name)] };
  },
  async perform(gateway, account, body) {
    const { value } = body;
    const scheduleId = value('schedule_id');
    const schedule = scheduleId === '' ? undefined : await existingSchedule(gateway, account, scheduleId);
    const brand = brandLabel(value('brand'), account.settings, isOffered(gateway, account)) as string;
    const row = BRANDS[brand] as Brand;
    const context = fieldContext(gateway, account, body);
    const { parameters, secrets } = brandValues(row, context);
    const methods = offeredMethods(row, context);
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
        ...(Object.keys(parameters).length > 0 && { parameters }),
        ...(methods.length > 0 && { methods }),
      },
      schedule,
      secrets: Object.keys(secrets).length > 0 ? secrets : undefined,
      needsFields: fieldsToAsk(row, context).length > 0,
      content: canonicalContent(body),
    };
    const payment = await (isWallet(brand)
      ? openWalletPayment(gateway, account, { ...order, brand }, value(TOKEN_FIELD))
      : openPayment(gateway, account, order));
    return saleAnswer('SALE', payment, gateway);
  },
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

/** Refuses a recurring sale with a brand that cannot recur, and a schedule for a sale that is not recurring. */
function recurringProblems({ recurs }: Brand, { value }: S2sBody): Problem[] {
  const isRecurring = value('recurring_init') === 'Y';
  if (isRecurring && !recurs)
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

/** The payer fields of a request, and the names under which they are stored. */
const PAYER_FIELDS = [
  ['payer_first_name', 'first_name'],
  ['payer_last_name', 'last_name'],
  ['payer_address', 'address'],
  ['payer_country', 'country'],
  ['payer_state', 'state'],
  ['payer_city', 'city'],
  ['payer_zip', 'zip'],
  ['payer_email', 'email'],
  ['payer_phone', 'phone'],
  ['payer_ip', 'ip'],
] as const;

const OPTIONAL_DETAILS = [
  ['identifier', 'identifier'],
  ['term_url_3ds', 'termUrl3ds'],
  ['callback_url', 'callbackUrl'],
] as const;

function saleDetails(body: S2sBody): PaymentDetails {
  const { value } = body;
  const payer: Record<string, string> = {};
  for (const [field, name] of PAYER_FIELDS) {
    const text = value(field);
    if (text !== '') payer[name] = text;
  }
  const details: PaymentDetails = { description: value('order_description'), returnUrl: value('return_url'), payer };
  for (const [field, name] of OPTIONAL_DETAILS) {
    const text = value(field);
    if (text !== '') details[name] = text;
  }
  const customData = entriesBelow(body.form, 'custom_data');
  if (customData.length > 0) details.customData = Object.fromEntries(customData);
  return details;
}

/** The content of a request in a canonical order, without the hash: after a password rotation a repeat has another hash. */
function canonicalContent({ form }: S2sBody): string {
  let content = '';
  for (const name of [...form.values.keys()].sort()) {
    const value = form.values.get(name) as string;
    // The lengths make the encoding unambiguous.
    if (name !== 'hash') content += `${name.length}:${name}${value.length}:${value}`;
  }
  return content;
}

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
