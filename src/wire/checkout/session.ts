/** Checkout sessions: the checks of their objects and lists, and the payment that a session opens. */
import type { Account, Gateway, PaymentDetails } from '../../core/context.ts';
import { paymentPageUrl } from '../../core/payments/links.ts';
import { composePayment, type Order, openPayment } from '../../core/payments/open.ts';
import { canBePaid } from '../../core/payments/payer.ts';
import { type CheckoutBody, canonicalContent, textList, toList } from '../../core/requests/checkout-body.ts';
import { existingSchedule } from '../../core/schedules/schedules.ts';
import { newId } from '../../lib/crypto/id.ts';
import { nameWithMembers, VALUE_AND_MEMBERS } from '../../lib/text/form.ts';
import { isObject } from '../../lib/text/json.ts';
import { utcDay } from '../../lib/time/day.ts';
import { BRANDS, type Brand, brandLabel, isCommon, isForPayers, NO_BRAND_YET, nameInside } from '../../rules/brands.ts';
import { invalidField, type Problem } from '../../rules/errors.ts';
import { amountSpelling, isYes, SENTENCES, startOfDate } from '../../rules/fields.ts';
import { LIMITS } from '../../rules/limits.ts';
import { CHECKOUT_OPERATIONS } from '../../rules/operations.ts';
import { readOrderLines } from '../../rules/order-lines.ts';
import { settingsReader } from '../../rules/settings.ts';
import { channelOf } from '../../rules/unused-fields.ts';
import type { Warning } from '../unused-fields.ts';
import { noMethodFits, type SentParameters, sessionWarnings, unusedInSession } from './session-hints.ts';

/** What a session may say about the charges of its schedule. */
const SCHEDULE_TERMS = ['schedule_start_date', 'payment_schedule_amount'] as const;

/** The objects of a session, with an example of each. */
const OBJECTS = {
  customer: '{"name": "Ana Petrovic", "email": "ana@example.com"}',
  billing_address: '{"country": "DE", "city": "Berlin"}',
  parameters: '{"upi-b": {"upi_id": "name@bank"}}',
  custom_data: '{"basket": "17"}',
} as const;

const anObject = (example: string): string => `A JSON object, such as ${example}.`;

/** Whether a value is empty; some languages send an empty list for an empty object. */
const isEmpty = (value: unknown): boolean =>
  (value ?? '') === '' || (typeof value === 'object' && value !== null && Object.keys(value).length === 0);

const isStringList = (value: unknown): boolean =>
  typeof value === 'string' || toList(value)?.every((item) => item === null || typeof item === 'string') === true;

/** Applies the limits of a form, because stored names repeat the outer names for every inner value. */
function sizeProblems(field: string, value: unknown): Problem[] {
  const names = new Set<string>();
  for (const [name] of flatTexts(value)) {
    if (names.size === LIMITS.formFields) return [{ field, sentence: SENTENCES.tooMany(LIMITS.formFields) }];
    if (name.length > LIMITS.nameLength) return [{ field, sentence: SENTENCES.longNames(LIMITS.nameLength) }];
    // A name may contain brackets, and then mean a member of another one.
    if (names.has(name)) return [{ field, sentence: SENTENCES.once }];
    names.add(name);
  }
  return nameWithMembers(names, LIMITS.nameLength) === undefined ? [] : [{ field, sentence: VALUE_AND_MEMBERS }];
}

/** Checks that the field tables do not express. */
export function sessionProblems({ at, value }: CheckoutBody, account: Account): Problem[] {
  const checkIfSet = (field: string, sent: unknown, isValid: boolean, sentence: string, expected: string): Problem[] =>
    isValid || isEmpty(sent) ? [] : [{ field, sentence, expected }];
  const { custom_data: customData, ...objects } = OBJECTS;
  return [
    ...Object.entries(objects).flatMap(([name, example]) =>
      checkIfSet(name, at(name), isObject(at(name)), SENTENCES.notAnObject, anObject(example)),
    ),
    ...brandParameters(at('parameters'), account).flatMap(({ name, value }) =>
      checkIfSet(
        `parameters.${name}`,
        value,
        isObject(value),
        SENTENCES.notAnObject,
        `A JSON object with the fields of ${name}.`,
      ),
    ),
    ...checkIfSet(
      'custom_data',
      at('custom_data'),
      typeof at('custom_data') === 'object',
      SENTENCES.notAnObject,
      anObject(customData),
    ),
    ...['custom_data', 'parameters'].flatMap((name) => sizeProblems(name, at(name))),
    // An invalid list, or one of empty texts, must not offer all methods.
    ...checkIfSet(
      'methods',
      at('methods'),
      isStringList(at('methods')) && textList(at('methods')).length > 0,
      SENTENCES.notTexts,
      'A list of methods, such as ["card"].',
    ),
    ...orderLines(at, account).problems,
    ...(textList(at('card_token')).length > LIMITS.savedCardsMost
      ? [
          {
            field: 'card_token',
            sentence: SENTENCES.tooMany(LIMITS.savedCardsMost),
            expected: `The tokens of at most ${LIMITS.savedCardsMost} saved cards, as a list.`,
          },
        ]
      : []),
    // A schedule requires a recurring payment.
    ...(value('schedule_id') !== '' && !isYes(value('recurring_init'))
      ? [
          {
            field: 'recurring_init',
            sentence: SENTENCES.blank,
            expected: 'true, because a schedule_id needs a recurring payment.',
          },
        ]
      : []),
    ...(value('schedule_id') === '' && SCHEDULE_TERMS.some((name) => value(name) !== '')
      ? [
          {
            field: 'schedule_id',
            sentence: SENTENCES.blank,
            expected: `The id of a schedule, which ${SCHEDULE_TERMS.join(' and ')} apply to.`,
          },
        ]
      : []),
  ];
}

const orderLines = (at: CheckoutBody['at'], { settings }: Account): ReturnType<typeof readOrderLines> => {
  const order = at('order');
  return isObject(order)
    ? readOrderLines(order, toList(order.lines), amountSpelling(settingsReader(settings)))
    : { problems: [] };
};

export async function session(
  gateway: Gateway,
  account: Account,
  body: CheckoutBody,
): Promise<{ redirect_url: string; warnings?: Warning[] }> {
  const { value } = body;
  const schedule =
    value('schedule_id') === '' ? undefined : await existingSchedule(gateway, account, value('schedule_id'));
  const minutes = Number(value('session_expiry') || LIMITS.sessionMinutes);
  const paymentId = newId();
  const now = gateway.clock.now(account.mid);
  const start = startOfDate(value('schedule_start_date'));
  if (start !== undefined && (start <= now || start > now + LIMITS.scheduleStartMostMs)) {
    throw invalidField('schedule_start_date', 'This value should be a date after today, at most ten years ahead.', {
      expected: `A date after today, such as ${utcDay(now + 30 * LIMITS.dayMs)}.`,
    });
  }
  const payerUntil = now + minutes * LIMITS.minuteMs;
  const { open, secret } = brandTexts(body.at('parameters'), account);
  const hasSecrets = Object.values(secret).some((texts) => Object.keys(texts).length > 0);
  const order: Order = {
    protocol: 'checkout',
    brand: NO_BRAND_YET,
    paymentId,
    orderId: value('order.number'),
    amountText: value('order.amount'),
    currency: value('order.currency'),
    isAuthorisation: isYes(value('auth')),
    isRecurringInit: isYes(value('recurring_init')),
    schedule,
    payerUntil,
    details: {
      ...sessionDetails(paymentId, body, open, payerUntil, orderLines(body.at, account).lines),
      ...(account.settings['dialect.session_callback_url'] &&
        value('callback_url') !== '' && { callbackUrl: value('callback_url') }),
    },
    secrets: hasSecrets ? secret : undefined,
    content: canonicalContent(body),
  };
  const isRestricted = order.details.session?.methods.length !== 0;
  if (isRestricted) {
    const composed = composePayment(gateway, account, order);
    if (!canBePaid(gateway, composed, account)) throw noMethodFits(gateway, composed, account);
  }
  const payment = await openPayment(gateway, account, order);
  // A repeat returns the link of the session, whichever attempt is current.
  const redirect_url = paymentPageUrl(gateway, payment.details.session?.id ?? payment.paymentId);
  const warnings =
    gateway.environment === 'sandbox'
      ? sessionWarnings(gateway, account, body, payment, sentParameters(body, account))
      : unusedInSession(gateway, account, body);
  return warnings.length === 0 ? { redirect_url } : { redirect_url, warnings };
}

const sentParameters = (body: CheckoutBody, account: Account): SentParameters[] =>
  brandParameters(body.at('parameters'), account).map(({ name, label, value }) => ({
    name,
    label,
    names: isObject(value) ? Object.keys(value) : [],
  }));

const ADDRESS = 'billing_address.';
const ADDRESS_FIELDS = CHECKOUT_OPERATIONS.session.fields.flatMap(({ name }) =>
  name.startsWith(ADDRESS) ? name.slice(ADDRESS.length) : [],
);

function sessionDetails(
  id: string,
  { value, at }: CheckoutBody,
  parameters: BrandTexts['open'],
  until: number,
  lines: PaymentDetails['lines'],
): PaymentDetails {
  const optional = <Name extends string>(name: Name, field: string): { [Key in Name]?: string } =>
    (value(field) === '' ? {} : { [name]: value(field) }) as { [Key in Name]?: string };
  const [firstName = '', ...lastNames] = value('customer.name').trim().split(/\s+/);
  const payer: Record<string, string> = {
    ...(firstName !== '' && { first_name: firstName }),
    ...(lastNames.length > 0 && { last_name: lastNames.join(' ') }),
    ...optional('email', 'customer.email'),
    ...optional('birth_date', 'customer.birth_date'),
    ...Object.assign({}, ...ADDRESS_FIELDS.map((name) => optional(name, ADDRESS + name))),
  };
  const customData = Object.fromEntries(flatTexts(at('custom_data')));
  const channelId = channelOf(value('channel_id'));
  const cardTokens = [...new Set(textList(at('card_token')))];
  return {
    description: value('order.description'),
    ...(lines && { lines }),
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
      parameters,
      ...(cardTokens.length > 0 && { cardTokens }),
      ...(isYes(value('req_token')) && { wantsToken: true as const }),
      ...(isYes(value('token_consent_required')) && { needsTokenConsent: true as const }),
      ...optional('scheduleStart', 'schedule_start_date'),
      ...optional('scheduleAmount', 'payment_schedule_amount'),
      // The box to agree stands below the terms of a series.
      ...(isYes(value('recurring_init')) &&
        isYes(value('recurring_consent_required')) && { needsConsent: true as const }),
    },
    ...(channelId !== undefined && { channelId }),
    ...(Object.keys(customData).length > 0 && { customData }),
  };
}

interface BrandParameters {
  /** The label or alias that the merchant sent. */
  name: string;
  label: string;
  value: unknown;
}

/** The brand parameters of a session; names that are not brands for payers of the account are ignored. */
function brandParameters(parameters: unknown, { settings }: Account): BrandParameters[] {
  return Object.entries(isObject(parameters) ? parameters : {}).flatMap(([name, value]) => {
    const label = brandLabel(name, settings, isForPayers);
    return label === undefined ? [] : { name, label, value };
  });
}

/** The parameters of each brand under the field names of a form, with secret fields apart. */
interface BrandTexts {
  open: Record<string, Record<string, string>>;
  secret: Record<string, Record<string, string>>;
}

function brandTexts(parameters: unknown, account: Account): BrandTexts {
  const texts: BrandTexts = { open: {}, secret: {} };
  for (const { label, value } of brandParameters(parameters, account)) {
    const { fields } = BRANDS[label] as Brand;
    const open: Record<string, string> = {};
    const secret: Record<string, string> = {};
    for (const [name, text] of flatTexts(value)) {
      const [baseName] = name.split('[', 1);
      const row = fields.find(
        (field) =>
          !isCommon(field.name) && [field.name, field.alias ?? ''].some((known) => nameInside(known) === baseName),
      );
      // Only list fields have members.
      if (row && text !== '' && (row.items !== undefined || name === baseName))
        (row.isSecret ? secret : open)[name] = text;
    }
    texts.open[label] = open;
    texts.secret[label] = secret;
  }
  return texts;
}

/** The values of an object as strings, under form names such as `cart[id]`. */
function* flatTexts(value: unknown, nameOf = (name: string): string => name): Generator<[name: string, text: string]> {
  for (const [name, inner] of Object.entries(value ?? {})) {
    if (typeof inner === 'object') yield* flatTexts(inner, (below) => `${nameOf(name)}[${below}]`);
    else yield [nameOf(name), String(inner)];
  }
}
