/** The payer's choice on the payment page: which methods are offered, which fields each needs, and the submission. */
import { positionsIn } from '../../lib/form.ts';
import { newId } from '../../lib/id.ts';
import type { Secret } from '../../lib/secret.ts';
import {
  BRANDS,
  type Brand,
  brandOf,
  brandValues,
  CARD,
  fieldsToAsk,
  isAbsent,
  isForPayers,
  NO_BRAND_YET,
  NO_CONNECTOR,
  nameInside,
  offeredMethods,
} from '../../rules/brands.ts';
import type { Problem } from '../../rules/errors.ts';
import { cardNumberAt, checkFields, type Field, type FieldContext, isNeeded, SENTENCES } from '../../rules/fields.ts';
import { settingsReader } from '../../rules/settings.ts';
import type { KeptCard, PaymentDetails, PaymentWithDetails } from '../../store/payments.ts';
import { type CardRefusal, recordCardAttempt } from '../card-attempts.ts';
import type { Account, Gateway } from '../context.ts';
import { type Card, type CardProblem, cardProblems, keepCard, openSavedCard } from '../vault.ts';
import { type BrowserData, payByCard } from './authenticate.ts';
import { reserveOrder } from './open.ts';
import { recordPayerInput } from './record.ts';
import { asksForCard, canTake, chooseRoute, factsOf, isCardHosted, takesEnteredCard } from './route.ts';
import { resealSession, sealSecrets, secretsOf, secretsOfSession } from './secrets.ts';
import { submit } from './submit.ts';

const NONE: ReadonlyMap<string, string> = new Map();

/** Reads the fields of a payment, for each brand, under their names in a sale; the payer's input comes first. */
export function fieldContextsOf(
  gateway: Pick<Gateway, 'environment' | 'seal'>,
  { details, orderId, amountText, currency }: PaymentWithDetails,
  { settings }: Account,
): (label: string, payerInput?: ReadonlyMap<string, string>) => FieldContext {
  const order: Record<string, string> = {
    order_id: orderId,
    order_amount: amountText,
    order_currency: currency,
    order_description: details.description,
    identifier: details.identifier ?? '',
  };
  const secrets = secretsOfSession(gateway, details.session);
  const setting = settingsReader(settings);
  return (label, payerInput = NONE) => {
    const sent: Record<string, unknown> = {
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

/** The account's alias of a brand, or the brand itself. */
export const brandTitle = (label: string, aliases: Readonly<Record<string, string>>): string =>
  Object.keys(aliases).find((alias) => aliases[alias] === label) ?? label;

/** A payment method that is offered to the payer. */
export interface Method {
  label: string;
  /** The account's alias of the brand, or the brand itself. */
  title: string;
  fields: readonly Field[];
  /** A card that the provider asks for on its own page. */
  isHosted?: true;
}

/**
 * The payment methods that the account and the session allow for this payment: in the order of the account's list of
 * brands, or without one, cards first.
 */
export function methodsFor(gateway: Gateway, payment: PaymentWithDetails, account: Account): Method[] {
  const { brands } = account.settings;
  const sessionMethods = payment.details.session?.methods ?? [];
  const allowsCards = (list: readonly string[]): boolean => list.length === 0 || list.includes(CARD);
  const hasCards =
    allowsCards(brands) && allowsCards(sessionMethods) && canTake(gateway, account, CARD, factsOf(payment));
  const isHosted = hasCards && isCardHosted(gateway, account, payment);
  const card: Method = { label: CARD, title: 'Card', fields: [], ...(isHosted && { isHosted }) };
  const methods = [...(hasCards ? [card] : []), ...brandMethods(gateway, payment, account)];
  return brands.length === 0
    ? methods
    : methods.toSorted((one, other) => brands.indexOf(one.label) - brands.indexOf(other.label));
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

const isOtherCountry = ({ country }: Brand, { details: { payer } }: PaymentWithDetails): boolean =>
  country !== undefined && Boolean(payer.country) && payer.country !== country;

/** The name of a brand that account, session, payer and connectors allow for this payment; otherwise undefined. */
export function offeredTitle(
  gateway: Gateway,
  payment: PaymentWithDetails,
  account: Account,
  label: string,
): string | undefined {
  const brand = BRANDS[label] as Brand;
  const { brands } = account.settings;
  const sessionMethods = payment.details.session?.methods ?? [];
  const title = brandTitle(label, account.settings.brand_aliases);
  const isAllowed = brands.length === 0 || brands.includes(label);
  const isInSession = sessionMethods.length === 0 || sessionMethods.includes(label) || sessionMethods.includes(title);
  const isAvailable = canTake(gateway, account, label, factsOf(payment));
  if (!isAllowed || !isInSession || !isAvailable || isOtherCountry(brand, payment)) return undefined;
  return mustRecur(payment) && !brand.recurs ? undefined : title;
}

/** The brands that are offered, each with the fields that it still needs. */
function brandMethods(gateway: Gateway, payment: PaymentWithDetails, account: Account): Method[] {
  const contextFor = fieldContextsOf(gateway, payment, account);
  return Object.entries(BRANDS).flatMap(([label, brand]) => {
    const title = isForPayers(brand) ? offeredTitle(gateway, payment, account, label) : undefined;
    if (title === undefined) return [];
    const context = contextFor(label);
    const fields = missingFields(brand, context);
    return isOfferable(brand, fields, context) ? [{ label, title, fields }] : [];
  });
}

/** Whether the payer can fill in all missing fields, and the other fields are valid for the brand. */
function isOfferable(brand: Brand, missing: readonly Field[], context: FieldContext): boolean {
  if (missing.some((field) => field.items || field.name.startsWith('order_'))) return false;
  const problems: Problem[] = [];
  checkFields(
    brand.fields.filter((field) => !missing.includes(field)),
    context,
    problems,
  );
  return problems.length === 0;
}

/** Stores the payer's choice and input and submits the payment; returns problems if the input is not valid. */
export async function choose(
  gateway: Gateway,
  payment: PaymentWithDetails,
  account: Account,
  method: Method,
  input: ReadonlyMap<string, string>,
  consent?: string,
): Promise<{ problems: Problem[] } | { payment: PaymentWithDetails }> {
  const brand = brandOf(method.label) as Brand;
  const values = new Map(method.fields.map(({ name }) => [name, input.get(name)?.trim() ?? '']));
  const problems: Problem[] = [...values]
    .filter(([name, value]) => value.includes('\0') || cardNumberAt(name, value))
    .map(([field]) => ({ field, sentence: SENTENCES.invalid }));
  const context = fieldContextsOf(gateway, payment, account)(method.label, values);
  checkFields(
    method.fields.map((field) => ({ ...field, need: 'must' })),
    context,
    problems,
  );
  if (problems.length > 0) return { problems };
  const attempt = await attemptOf(gateway, payment);
  const details = { ...detailsWith(gateway, attempt, brand, context), ...consentOf(gateway, payment, consent) };
  const facts = factsOf({ ...attempt, brand: method.label, details });
  const route = chooseRoute(gateway, account, facts, attempt.paymentId);
  // A new attempt may be in the share of another route, which needs the card: the payer is asked for it.
  if (method.isHosted && !asksForCard(account, route.connector)) return { payment: attempt };
  const collected = await recordPayerInput(gateway, attempt, details, { brand: method.label, ...route });
  // The form was submitted twice: the second request gets the payment of the first.
  if (!collected) return { payment: (await gateway.payments.find(attempt)) ?? attempt };
  return { payment: await submit(gateway, collected, account) };
}

/** What the payer agreed to, for the record. */
const consentOf = ({ clock }: Gateway, { mid }: PaymentWithDetails, text: string | undefined) =>
  text === undefined ? {} : { consent: { at: clock.now(mid), text } };

/** A saved card that the session offers, and its security code, which the payer enters every time. */
export interface SavedCardChoice {
  savedCardId: string;
  cvv: Secret;
}

/** Takes the payer's card: stores a new one in the vault, authenticates the payer and submits the payment. */
export async function chooseCard(
  gateway: Gateway,
  payment: PaymentWithDetails,
  account: Account,
  choice: Card | SavedCardChoice,
  browser: BrowserData,
  consent?: string,
): Promise<{ problems: Problem[] } | { refusal: CardRefusal } | { payment: PaymentWithDetails }> {
  const chosen = 'savedCardId' in choice ? await savedCardOf(gateway, payment, choice) : { card: choice };
  if (!chosen) return { problems: [{ field: 'saved_card', sentence: 'saved' satisfies CardProblem }] };
  const { card } = chosen;
  const problems = Object.entries(cardProblems(card, gateway.clock.now(payment.mid)));
  if (problems.length > 0) return { problems: problems.map(([field, sentence]) => ({ field, sentence })) };
  const refusal = await recordCardAttempt(gateway, account, payment, browser.ip);
  if (refusal) return { refusal };
  const attempt = await attemptOf(gateway, payment);
  const kept = chosen.kept ?? (await keepCard(gateway, attempt, card, attempt.details.session?.wantsToken === true));
  const details = { ...attempt.details, ...consentOf(gateway, payment, consent), card: kept };
  const facts = factsOf({ ...attempt, brand: CARD, details }, card.number.reveal());
  const route = chooseRoute(gateway, account, facts, attempt.paymentId);
  const collected = await recordPayerInput(gateway, attempt, details, { brand: CARD, ...route });
  if (!collected) {
    // A concurrent request was first, so this copy of the card is not needed.
    if (!chosen.kept) await gateway.cards.remove(attempt.mid, kept.id);
    return { payment: (await gateway.payments.find(attempt)) ?? attempt };
  }
  return { payment: await payByCard(gateway, collected, account, card, browser) };
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

/** The payment to submit: after a decline, a new attempt under the same order. */
export function attemptOf(
  gateway: Gateway,
  found: PaymentWithDetails,
): PaymentWithDetails | Promise<PaymentWithDetails> {
  const payment = { ...found, details: resealSession(gateway, found.details) };
  return payment.state === 'DECLINED' ? nextAttempt(gateway, payment) : payment;
}

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
  const person = ['first_name', 'last_name', 'email', 'phone'].flatMap((name): [string, string][] => {
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
export const detailsAsSent = ({ description, payer, session, customData }: PaymentDetails): PaymentDetails => ({
  description,
  payer: session?.payer ?? payer,
  ...(session && { session }),
  ...(customData && { customData }),
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
    state: 'PREPARE',
    historyLength: 1,
    dueAt: declined.details.session?.until ?? declined.payerUntil,
    payerUntil: declined.details.session?.until ?? declined.payerUntil,
    queryCount: 0,
    inDoubt: false,
    nextStep: null,
    attention: null,
    declineReason: null,
    providerReference: null,
    providerData: null,
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
