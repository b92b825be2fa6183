/** What each action of `/post` does once a request has passed the gates. */
import type { Account, Gateway, Payment, PaymentDetails } from '../../core/context.ts';
import { findPayment, findStatus, findStatusByOrder } from '../../core/payments/find.ts';
import { openPayment } from '../../core/payments/open.ts';
import { entriesBelow } from '../../lib/form.ts';
import { BRANDS, type Brand, brandLabel, brandValues, fieldsToAsk, offeredMethods } from '../../rules/brands.ts';
import { type ErrorName, Refusal } from '../../rules/errors.ts';
import { SENTENCES } from '../../rules/fields.ts';
import type { S2sAction } from '../../rules/operations.ts';
import { type AccountFields, contextOf } from '../pipeline.ts';
import { type Answer, saleAnswer, statusAnswer } from './answers.ts';
import type { S2sBody } from './body.ts';

type Perform = (gateway: Gateway, account: Account, body: S2sBody) => Promise<Answer>;

interface Action {
  perform: Perform;
  /** Fields and problems that depend on the account. */
  accountFields?: (gateway: Gateway, account: Account, body: S2sBody) => AccountFields;
}

const sale: Action = {
  accountFields(gateway, { settings }, body) {
    const name = body.value('brand');
    const label = brandLabel(name, settings, isOffered(gateway));
    if (label !== undefined) return { fields: BRANDS[label]?.fields ?? [], problems: [] };
    return { fields: [], problems: name === '' ? [] : [{ field: 'brand', sentence: SENTENCES.notAChoice }] };
  },
  async perform(gateway, account, body) {
    const { value } = body;
    // No schedule exists before schedules can be made, so none can be found.
    if (value('schedule_id') !== '') throw new Refusal('unknownSchedule');
    const brand = brandLabel(value('brand'), account.settings, isOffered(gateway)) as string;
    const row = BRANDS[brand] as Brand;
    const context = contextOf(gateway, account, body);
    const { parameters, secrets } = brandValues(row, context);
    const methods = offeredMethods(row, context);
    const payment = await openPayment(gateway, account, {
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
      secrets: Object.keys(secrets).length > 0 ? secrets : undefined,
      needsFields: fieldsToAsk(row, context).length > 0,
      content: contentOf(body),
    });
    return saleAnswer('SALE', payment, gateway);
  },
};

/** A brand whose connector this installation does not have is no choice at all. */
const isOffered =
  ({ connectors }: Gateway) =>
  ({ connector }: Brand): boolean =>
    Object.hasOwn(connectors, connector);

/** The fields of the payer as sent, and the names under which they are kept. */
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
    const given = value(field);
    if (given !== '') payer[name] = given;
  }
  const details: PaymentDetails = { description: value('order_description'), returnUrl: value('return_url'), payer };
  for (const [field, name] of OPTIONAL_DETAILS) {
    const given = value(field);
    if (given !== '') details[name] = given;
  }
  const customData = entriesBelow(body.form, 'custom_data');
  if (customData.length > 0) details.customData = Object.fromEntries(customData);
  return details;
}

/** Everything a request says, in one order; the hash is left out, since two passwords may sign the same request. */
function contentOf({ form }: S2sBody): string {
  let content = '';
  for (const name of [...form.values.keys()].sort()) {
    const value = form.values.get(name) as string;
    // With the lengths, no two different requests run together into the same text.
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

/** Operations that are members of the interface but that no connector offers yet: all gates hold, then 204005. */
const notSupportedYet = (
  find: (...args: Parameters<Perform>) => Promise<Payment | undefined>,
  unknown: ErrorName,
): Action => ({
  async perform(gateway, account, body) {
    if (!(await find(gateway, account, body))) throw new Refusal(unknown);
    throw new Refusal('actionNotSupported');
  },
});
const byTransId: Parameters<typeof notSupportedYet>[0] = (gateway, account, { value }) =>
  findPayment(gateway, account, value('trans_id'));
const nothing = async (): Promise<undefined> => undefined;

export const S2S_ACTIONS: Record<S2sAction, Action> = {
  SALE: sale,
  GET_TRANS_STATUS: status,
  GET_TRANS_STATUS_BY_ORDER: statusByOrder,
  CAPTURE: notSupportedYet(byTransId, 'unknownTransaction'),
  VOID: notSupportedYet(byTransId, 'unknownPayment'),
  CREDITVOID: notSupportedYet(byTransId, 'unknownPayment'),
  RECURRING_SALE: notSupportedYet(async (gateway, account, { value }) => {
    const first = await findPayment(gateway, account, value('recurring_first_trans_id'));
    return first?.recurringToken === value('recurring_token') ? first : undefined;
  }, 'unknownRecurringPair'),
  CREATE_SCHEDULE: notSupportedYet(nothing, 'actionNotSupported'),
  UPDATE_SCHEDULE: notSupportedYet(nothing, 'unknownSchedule'),
  DELETE_SCHEDULE: notSupportedYet(nothing, 'unknownSchedule'),
};
