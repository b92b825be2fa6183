/** A session of Checkout: what can be wrong with its objects and lists, and the payment that it opens. */
import type { Account, Gateway, PaymentDetails } from '../../core/context.ts';
import { pageOf } from '../../core/payments/links.ts';
import { openPayment } from '../../core/payments/open.ts';
import { existingSchedule } from '../../core/schedules.ts';
import { newId } from '../../lib/id.ts';
import { isObject } from '../../lib/json.ts';
import { BRANDS, type Brand, brandLabel, isForPayers, NO_BRAND_YET, nameInside } from '../../rules/brands.ts';
import type { Problem } from '../../rules/errors.ts';
import { isYes, SENTENCES } from '../../rules/fields.ts';
import { LIMITS } from '../../rules/limits.ts';
import { CHECKOUT_OPERATIONS } from '../../rules/operations.ts';
import { type CheckoutBody, contentOf, listOf, textList } from './body.ts';

const OBJECTS = ['customer', 'billing_address', 'parameters'] as const;

/** Nothing, in one of the ways in which callers write it; some languages have one empty list for all of them. */
const isNothing = (value: unknown): boolean =>
  (value ?? '') === '' || (typeof value === 'object' && value !== null && Object.keys(value).length === 0);

const isTexts = (value: unknown): boolean =>
  typeof value === 'string' || listOf(value)?.every((one) => one === null || typeof one === 'string') === true;

/** More than a form could bring: what is kept repeats the outer names for every text inside. */
function tooMuch(field: string, given: unknown): Problem[] {
  let count = 0;
  for (const [name] of flatTexts(given)) {
    if (++count > LIMITS.formFields) return [{ field, sentence: SENTENCES.tooMany(LIMITS.formFields) }];
    if (name.length > LIMITS.nameLength) return [{ field, sentence: SENTENCES.longNames(LIMITS.nameLength) }];
  }
  return [];
}

/** What the rows of the fields do not say. */
export function sessionProblems({ at, value }: CheckoutBody, account: Account): Problem[] {
  const fits = (field: string, sent: unknown, isRight: boolean, sentence: string): Problem[] =>
    isRight || isNothing(sent) ? [] : [{ field, sentence }];
  return [
    ...OBJECTS.flatMap((name) => fits(name, at(name), isObject(at(name)), SENTENCES.notAnObject)),
    ...brandParameters(at('parameters'), account).flatMap(({ name, given }) =>
      fits(`parameters.${name}`, given, isObject(given), SENTENCES.notAnObject),
    ),
    ...fits('custom_data', at('custom_data'), typeof at('custom_data') === 'object', SENTENCES.notAnObject),
    ...['custom_data', 'parameters'].flatMap((name) => tooMuch(name, at(name))),
    // Who wants to offer one way to pay must not offer all of them by mistake.
    ...fits('methods', at('methods'), isTexts(at('methods')), SENTENCES.notTexts),
    ...(textList(at('card_token')).length > LIMITS.savedCardsMost
      ? [{ field: 'card_token', sentence: SENTENCES.tooMany(LIMITS.savedCardsMost) }]
      : []),
    // A schedule repeats what may be repeated.
    ...(value('schedule_id') !== '' && !isYes(value('recurring_init'))
      ? [{ field: 'recurring_init', sentence: SENTENCES.blank }]
      : []),
  ];
}

export async function session(
  gateway: Gateway,
  account: Account,
  body: CheckoutBody,
): Promise<{ redirect_url: string }> {
  const { value } = body;
  const schedule =
    value('schedule_id') === '' ? undefined : await existingSchedule(gateway, account, value('schedule_id'));
  const minutes = Number(value('session_expiry') || LIMITS.sessionMinutes);
  const paymentId = newId();
  const payerUntil = gateway.clock.now(account.mid) + minutes * LIMITS.minuteMs;
  const { open, secret } = givenTexts(body.at('parameters'), account);
  const hasSecrets = Object.values(secret).some((texts) => Object.keys(texts).length > 0);
  const payment = await openPayment(gateway, account, {
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
    details: sessionDetails(paymentId, body, open, payerUntil),
    secrets: hasSecrets ? secret : undefined,
    content: contentOf(body),
  });
  // A repeat gets the link of the session, whatever attempt it has come to.
  return { redirect_url: pageOf(gateway, payment.details.session?.id ?? payment.paymentId) };
}

const ADDRESS = 'billing_address.';
const ADDRESS_FIELDS = CHECKOUT_OPERATIONS.session.fields.flatMap(({ name }) =>
  name.startsWith(ADDRESS) ? name.slice(ADDRESS.length) : [],
);

function sessionDetails(
  id: string,
  { value, at }: CheckoutBody,
  parameters: GivenTexts['open'],
  until: number,
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
      parameters,
      ...(cardTokens.length > 0 && { cardTokens }),
      ...(isYes(value('req_token')) && { wantsToken: true as const }),
    },
    ...(Object.keys(customData).length > 0 && { customData }),
  };
}

interface BrandParameters {
  /** As the merchant calls the brand. */
  name: string;
  label: string;
  given: unknown;
}

/** What the merchant knows of the fields of brands; a name that is no brand for payers of the account does not count. */
function brandParameters(parameters: unknown, { settings }: Account): BrandParameters[] {
  return Object.entries(isObject(parameters) ? parameters : {}).flatMap(([name, given]) => {
    const label = brandLabel(name, settings, isForPayers);
    return label === undefined ? [] : { name, label, given };
  });
}

/** What was given for brands, under the names of a form: what nobody may read stands apart. */
interface GivenTexts {
  open: Record<string, Record<string, string>>;
  secret: Record<string, Record<string, string>>;
}

function givenTexts(parameters: unknown, account: Account): GivenTexts {
  const texts: GivenTexts = { open: {}, secret: {} };
  for (const { label, given } of brandParameters(parameters, account)) {
    const { fields } = BRANDS[label] as Brand;
    const open: Record<string, string> = {};
    const secret: Record<string, string> = {};
    for (const [name, text] of flatTexts(given)) {
      const [plain] = name.split('[', 1);
      const row = fields.find((field) => [field.name, field.alias ?? ''].some((known) => nameInside(known) === plain));
      // Only a list has members.
      if (row && text !== '' && (row.items !== undefined || name === plain))
        (row.isSecret ? secret : open)[name] = text;
    }
    texts.open[label] = open;
    texts.secret[label] = secret;
  }
  return texts;
}

/** The texts of an object, under the names that a form has for them: `cart[id]`. Numbers and truth values are texts. */
function* flatTexts(value: unknown, nameOf = (name: string): string => name): Generator<[name: string, text: string]> {
  for (const [name, inner] of Object.entries(value ?? {})) {
    if (typeof inner === 'object') yield* flatTexts(inner, (below) => `${nameOf(name)}[${below}]`);
    else yield [nameOf(name), String(inner)];
  }
}
