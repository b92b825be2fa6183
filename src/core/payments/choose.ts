/** The payer's choice on the payment page: which methods are offered, which fields each needs, and the submission. */

import { newId } from '../../lib/crypto/id.ts';
import type { Secret } from '../../lib/crypto/secret.ts';
import { positionsIn } from '../../lib/text/form.ts';
import {
  BRANDS,
  type Brand,
  brandOf,
  brandValues,
  CARD,
  fieldsToAsk,
  isAbsent,
  isCommon,
  isForPayers,
  NO_BRAND_YET,
  NO_CONNECTOR,
  nameInside,
  offeredMethods,
} from '../../rules/brands.ts';
import type { Problem } from '../../rules/errors.ts';
import { cardNumbersAt, checkFields, type Field, type FieldContext, isNeeded, SENTENCES } from '../../rules/fields.ts';
import { saleFieldsOf } from '../../rules/order-lines.ts';
import { payerTimeOf } from '../../rules/payer-minutes.ts';
import { settingsReader } from '../../rules/settings.ts';
import type { KeptCard, PaymentDetails, PaymentWithDetails } from '../../store/payments/payments.ts';
import { type CardRefusal, recordCardAttempt } from '../cards/card-attempts.ts';
import { type Card, type CardProblem, cardProblems, keepCard, openSavedCard } from '../cards/vault.ts';
import {
  acceptedNetworks,
  asksForCard,
  canTake,
  chooseRoute,
  factsOf,
  isCardHosted,
  isNeededByProvider,
  takesEnteredCard,
} from '../connections/route.ts';
import type { Account, Gateway } from '../context.ts';
import { claimUse } from '../links/claims.ts';
import { isMerchantsAuthorisation } from '../risk/reviewed.ts';
import { screened } from '../risk/screen.ts';
import { type BrowserData, payByCard } from './authenticate.ts';
import { NOTHING_YET, reserveOrder } from './open.ts';
import { recordPayerInput } from './record.ts';
import { resealSession, sealSecrets, secretsOf, secretsOfSession } from './secrets.ts';
import { submit } from './submit.ts';

const NONE: ReadonlyMap<string, string> = new Map();

/** Reads the fields of a payment, for each brand, under their names in a sale; the payer's input comes first. */
export function fieldContextsOf(
  gateway: Gateway,
  payment: PaymentWithDetails,
  account: Account,
): (label: string, payerInput?: ReadonlyMap<string, string>) => FieldContext {
  const { details, orderId, amountText, currency } = payment;
  const order: Record<string, string> = {
    order_id: orderId,
    order_amount: amountText,
    order_currency: currency,
    order_description: details.description,
    identifier: details.identifier ?? '',
  };
  const secrets = secretsOfSession(gateway, details.session);
  const setting = settingsReader(account.settings);
  const lines = details.lines && saleFieldsOf(details.lines, currency);
  return (label, payerInput = NONE) => {
    const sent: Record<string, unknown> = {
      ...lines,
      ...details.session?.parameters[label],
      ...secrets[label],
      ...details.parameters,
    };
    const sentValue = (name: string): string => {
      if (Object.hasOwn(order, name)) return order[name] as string;
      if (name.startsWith('payer_')) return details.payer[name.slice('payer_'.length)] ?? '';
      const value = sent[nameInside(name)];
      return typeof value === 'string' ? value : '';
    };
    return {
      value: (name) => payerInput.get(name) || sentValue(name),
      positions: (name) => positionsIn(Object.keys(sent), nameInside(name)),
      setting,
      isNeededByProvider: (name) => isNeededByProvider(gateway, account, { ...factsOf(payment), brand: label }, name),
      allowsHttp: gateway.environment === 'sandbox',
    };
  };
}

/** The fields that the payer has to fill in for a brand. */
export function missingFields(brand: Brand, context: FieldContext): Field[] {
  const required = brand.fields.filter(
    (field) => field.need === 'must' && !field.isSetting && isNeeded(field, context) && isAbsent(field, context),
  );
  return [...required, ...fieldsToAsk(brand, context)];
}

/** A payment method that is offered to the payer. */
export interface Method {
  label: string;
  fields: readonly Field[];
  /** A card that the provider asks for on its own page. */
  isHosted?: true;
}

/** The account's own order of methods on the payment page; empty if it has none. */
export const ownOrder = ({ settings: { page_methods, brands } }: Account): readonly string[] =>
  page_methods.length > 0 ? page_methods : brands;

/**
 * The payment methods that the account and the session allow for this payment: in the account's own order, or without
 * one, cards first.
 */
export function methodsFor(gateway: Gateway, payment: PaymentWithDetails, account: Account): Method[] {
  const hasCards = isAllowed(payment, account, CARD) && canTake(gateway, account, CARD, factsOf(payment));
  const isHosted = hasCards && isCardHosted(gateway, account, payment);
  const card: Method = { label: CARD, fields: [], ...(isHosted && { isHosted }) };
  if (payment.details.session?.isTelephoneOrder) return hasCards && !isHosted ? [card] : [];
  const methods = [...(hasCards ? [card] : []), ...brandMethods(gateway, payment, account)];
  const order = ownOrder(account);
  const position = ({ label }: Method): number => (order.includes(label) ? order.indexOf(label) : order.length);
  return order.length === 0 ? methods : methods.toSorted((one, other) => position(one) - position(other));
}

/**
 * The method as the payer saw it: a card that was entered here is not asked for again, even if its first route has
 * changed meanwhile to one whose provider asks for cards on its own page.
 */
export const asEntered = (
  gateway: Gateway,
  payment: PaymentWithDetails,
  account: Account,
  { isHosted, ...method }: Method,
): Method => (isHosted && !takesEnteredCard(gateway, account, payment) ? { ...method, isHosted } : method);

/** Whether the payment needs a brand that supports merchant-initiated repetitions. */
const mustRecur = ({ isRecurringInit, scheduleId }: PaymentWithDetails): boolean =>
  isRecurringInit || scheduleId !== null;

const isOtherCountry = ({ countries }: Brand, { details: { payer } }: PaymentWithDetails): boolean =>
  countries !== undefined && Boolean(payer.country) && !countries.includes(payer.country?.toUpperCase() ?? '');

/** The name of a method in the list of a session: its label or an alias of the account. */
const nameInSession = (
  { details: { session } }: PaymentWithDetails,
  { settings: { brand_aliases } }: Account,
  label: string,
): string | undefined =>
  session?.methods.find(
    (name) => name === label || (Object.hasOwn(brand_aliases, name) && brand_aliases[name] === label),
  );

/** Whether the account may use a method, and the session names it or, if it names none, the account's page shows it. */
function isAllowed(payment: PaymentWithDetails, account: Account, label: string): boolean {
  const { brands, page_methods } = account.settings;
  if (brands.length > 0 && !brands.includes(label)) return false;
  if ((payment.details.session?.methods ?? []).length > 0) return nameInSession(payment, account, label) !== undefined;
  return page_methods.length === 0 || page_methods.includes(label);
}

/** Whether account, session, payer and connectors allow a brand for this payment. */
export function isOffered(gateway: Gateway, payment: PaymentWithDetails, account: Account, label: string): boolean {
  const brand = BRANDS[label] as Brand;
  return (
    isAllowed(payment, account, label) &&
    canTake(gateway, account, label, factsOf(payment)) &&
    !isOtherCountry(brand, payment) &&
    (brand.recurs !== undefined || !mustRecur(payment))
  );
}

/** The brands for payers. The amount and the currency of the order exclude most of them, so they are checked first. */
const FOR_PAYERS = Object.entries(BRANDS)
  .filter(([, brand]) => isForPayers(brand))
  .map(([label, brand]) => {
    const ofOrder = brand.fields.filter(({ name }) => name === 'order_amount' || name === 'order_currency');
    return { label, brand, ofOrder };
  });

/** The brands for payers that are offered and fit the order, each with its missing and invalid fields. */
function candidateBrands(gateway: Gateway, payment: PaymentWithDetails, account: Account) {
  const contextFor = fieldContextsOf(gateway, payment, account);
  return FOR_PAYERS.flatMap(({ label, brand, ofOrder }) => {
    if (!isOffered(gateway, payment, account, label)) return [];
    const context = contextFor(label);
    if (!areValid(ofOrder, context)) return [];
    const fields = missingFields(brand, context);
    return [{ label, fields, problems: fieldProblems(brand, fields, context) }];
  });
}

function areValid(fields: readonly Field[], context: FieldContext): boolean {
  const problems: Problem[] = [];
  checkFields(fields, context, problems);
  return problems.length === 0;
}

const brandMethods = (gateway: Gateway, payment: PaymentWithDetails, account: Account): Method[] =>
  candidateBrands(gateway, payment, account).flatMap(({ label, fields, problems }) =>
    problems.length === 0 ? [{ label, fields }] : [],
  );

/** The fields because of which a brand is not offered: those that the merchant has to send, and those that are not valid. */
function fieldProblems(brand: Brand, missing: readonly Field[], context: FieldContext): Problem[] {
  const problems: Problem[] = missing
    .filter(({ by }) => by === 'merchant')
    .map(({ name }) => ({ field: name, sentence: SENTENCES.blank }));
  checkFields(
    brand.fields.filter((field) => !missing.includes(field)),
    context,
    problems,
  );
  return problems;
}

/** What has to change in the parameters of a session, so that a method that it names is offered. */
export const parameterProblems = (gateway: Gateway, payment: PaymentWithDetails, account: Account): Problem[] =>
  candidateBrands(gateway, payment, account).flatMap(({ label, problems }) => {
    const name = nameInSession(payment, account, label);
    // A brand that does not fit the order needs other data than parameters.
    if (name === undefined || problems.some(({ field }) => isCommon(field))) return [];
    return problems.map(({ field, sentence }) => ({ field: `parameters.${name}.${nameInside(field)}`, sentence }));
  });

/** Stores the payer's choice and input and submits the payment; returns problems if the input is not valid. */
export async function choose(
  gateway: Gateway,
  payment: PaymentWithDetails,
  account: Account,
  method: Method,
  input: ReadonlyMap<string, string>,
  given: GivenDetails = {},
  browserIp?: string,
): Promise<{ problems: Problem[] } | { payment: PaymentWithDetails }> {
  const brand = brandOf(method.label) as Brand;
  const values = new Map(method.fields.map(({ name }) => [name, input.get(name)?.trim() ?? '']));
  const problems: Problem[] = [...values]
    .filter(([name, value]) => value.includes('\0') || cardNumbersAt(name, value).length > 0)
    .map(([field]) => ({ field, sentence: SENTENCES.invalid }));
  const context = fieldContextsOf(gateway, payment, account)(method.label, values);
  checkFields(
    method.fields.map((field) => ({ ...field, need: 'must' })),
    context,
    problems,
  );
  if (problems.length > 0) return { problems };
  const attempt = await attemptOf(gateway, payment);
  const details = { ...detailsWith(gateway, attempt, brand, context), ...given };
  const facts = factsOf({ ...attempt, brand: method.label, details });
  const route = chooseRoute(gateway, account, facts, attempt.paymentId);
  // A new attempt may be in the share of another route, which needs the card: the payer is asked for it.
  if (method.isHosted && !asksForCard(account, route.connector)) return { payment: attempt };
  const collected = await recordPayerInput(gateway, attempt, details, {
    brand: method.label,
    payerTimeMs: payerTimeOf(account.settings, method.label),
    ...route,
  });
  // The form was submitted twice: the second request gets the payment of the first.
  if (!collected) return { payment: (await gateway.payments.find(attempt)) ?? attempt };
  const submitted = await screened(gateway, account, collected, { ip: browserIp }, (passed, threeDs) =>
    submit(gateway, passed, account, { threeDs }),
  );
  return { payment: submitted };
}

/** What the payer gave besides the fields of the method. */
export type GivenDetails = Pick<PaymentDetails, 'consent' | 'language' | 'receiptEmail'>;

/** A saved card that the session offers, and its security code, which the payer enters every time. */
export interface SavedCardChoice {
  savedCardId: string;
  cvv: Secret;
}

/** Whether the merchant gets a token of a new card. */
const hasToken = ({ details: { session } }: PaymentWithDetails, mayBeSaved: boolean): boolean =>
  session?.wantsToken === true && (mayBeSaved || session.needsTokenConsent !== true);

/** Takes the payer's card: stores a new one in the vault, authenticates the payer and submits the payment. */
export async function chooseCard(
  gateway: Gateway,
  payment: PaymentWithDetails,
  account: Account,
  choice: Card | SavedCardChoice,
  browser: BrowserData,
  given: GivenDetails = {},
  mayBeSaved = false,
): Promise<{ problems: Problem[] } | { refusal: CardRefusal } | { payment: PaymentWithDetails }> {
  const chosen = 'savedCardId' in choice ? await savedCardOf(gateway, payment, choice) : { card: choice };
  if (!chosen) return { problems: [{ field: 'saved_card', sentence: 'saved' satisfies CardProblem }] };
  const { card } = chosen;
  const accepted = acceptedNetworks(gateway, account, payment);
  const problems = Object.entries(cardProblems(card, gateway.clock.now(payment.mid), accepted));
  if (problems.length > 0) return { problems: problems.map(([field, sentence]) => ({ field, sentence })) };
  const refusal = await recordCardAttempt(gateway, account, payment, browser.ip);
  if (refusal) return { refusal };
  const attempt = await attemptOf(gateway, payment);
  const kept = chosen.kept ?? (await keepCard(gateway, attempt, card, hasToken(attempt, mayBeSaved)));
  const details = { ...attempt.details, ...given, card: kept };
  const facts = factsOf({ ...attempt, brand: CARD, details }, card.number.reveal());
  const route = chooseRoute(gateway, account, facts, attempt.paymentId);
  const collected = await recordPayerInput(gateway, attempt, details, {
    brand: CARD,
    payerTimeMs: payerTimeOf(account.settings, CARD),
    ...route,
  });
  if (!collected) {
    // A concurrent request was first, so this copy of the card is not needed.
    if (!chosen.kept) await gateway.cards.remove(attempt.mid, kept.id);
    return { payment: (await gateway.payments.find(attempt)) ?? attempt };
  }
  const seen = { number: card.number.reveal(), ip: browser.ip, isSaved: chosen.kept !== undefined };
  const paid = await screened(gateway, account, collected, seen, (passed, threeDs) =>
    payByCard(gateway, passed, account, card, browser, threeDs),
  );
  return { payment: paid };
}

/** The chosen card, and what a payment stores of it; undefined if the session does not offer it. */
async function savedCardOf(
  gateway: Gateway,
  { mid, details }: PaymentWithDetails,
  { savedCardId, cvv }: SavedCardChoice,
): Promise<{ card: Card; kept?: KeptCard } | undefined> {
  const saved = await openSavedCard(gateway, mid, details.session?.cardTokens ?? [], savedCardId);
  return saved && { ...saved, card: { ...saved.card, cvv } };
}

/**
 * The payment to submit: after a decline, a new attempt under the same order. Refuses one of a link that is used up. The
 * attempt is opened before it claims a use, because only a payment holds one.
 */
export async function attemptOf(gateway: Gateway, found: PaymentWithDetails): Promise<PaymentWithDetails> {
  const payment = { ...found, details: resealSession(gateway, found.details) };
  const attempt = payment.state === 'DECLINED' ? await nextAttempt(gateway, payment) : payment;
  await claimUse(gateway, attempt);
  return attempt;
}

/** What a form of a brand may ask of the payer. */
const OF_PAYER = ['first_name', 'last_name', 'email', 'phone', 'address', 'zip', 'city', 'country'];

function detailsWith(
  gateway: Gateway,
  payment: PaymentWithDetails,
  brand: Brand,
  context: FieldContext,
): PaymentDetails {
  const { parameters, secrets: added } = brandValues(brand, context);
  // Keeps the merchant's secret fields, which the payment page never displays.
  const secrets = { ...secretsOf(gateway, payment), ...added };
  const methods = offeredMethods(brand, context);
  const { payer, identifier: _identifier, sealed: _sealed, parameters: _parameters, ...rest } = payment.details;
  const identifier = context.value('identifier');
  const person = OF_PAYER.flatMap((name): [string, string][] => {
    const value = context.value(`payer_${name}`);
    return value === '' ? [] : [[name, value]];
  });
  return {
    ...rest,
    payer: { ...payer, ...Object.fromEntries(person) },
    ...(identifier !== '' && { identifier }),
    ...(Object.keys(parameters).length > 0 && { parameters }),
    ...(methods.length > 0 && { methods }),
    ...(Object.keys(secrets).length > 0 && { sealed: sealSecrets(gateway, payment.paymentId, secrets) }),
  };
}

/** The details without the payer's input: the next attempt starts with the merchant's data only. */
export const detailsAsSent = ({
  description,
  lines,
  payer,
  session,
  customData,
  callbackUrl,
  channelId,
}: PaymentDetails): PaymentDetails => ({
  description,
  ...(lines && { lines }),
  payer: session?.payer ?? payer,
  ...(session && { session }),
  ...(customData && { customData }),
  ...(callbackUrl !== undefined && { callbackUrl }),
  ...(channelId !== undefined && { channelId }),
});

/** Opens the next attempt of a session after a decline: a new payment under the same order. */
async function nextAttempt(gateway: Gateway, declined: PaymentWithDetails): Promise<PaymentWithDetails> {
  const now = gateway.clock.now(declined.mid);
  const attempt: PaymentWithDetails = {
    ...declined,
    paymentId: newId(),
    attempt: declined.attempt + 1,
    brand: NO_BRAND_YET,
    connector: NO_CONNECTOR,
    routeReason: null,
    ...NOTHING_YET,
    isAuthorisation: await isMerchantsAuthorisation(gateway, declined),
    dueAt: declined.details.session?.until ?? declined.payerUntil,
    payerUntil: declined.details.session?.until ?? declined.payerUntil,
    createdAt: now,
    updatedAt: now,
    details: detailsAsSent(declined.details),
  };
  const schedule =
    declined.scheduleId === null ? undefined : await gateway.schedules.find(declined.mid, declined.scheduleId);
  if (await reserveOrder(gateway, attempt, { schedule })) return attempt;
  // A concurrent request was first. If it belongs to another session, this session cannot continue.
  const [newest] = await gateway.payments.attempts(declined, 1);
  return newest?.details.session?.id === declined.details.session?.id ? (newest ?? declined) : declined;
}
