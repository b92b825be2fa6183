/** How a payer may pay on our page: which brands are offered, what each still needs, and what the choice leads to. */
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
import type { KeptCard, PaymentDetails, WholePayment } from '../../store/payments.ts';
import { type CardRefusal, recordCardAttempt } from '../card-attempts.ts';
import type { Account, Gateway } from '../context.ts';
import { type Card, type CardProblem, cardProblems, keepCard, openSavedCard } from '../vault.ts';
import { type Browser, payByCard } from './authenticate.ts';
import { reserveOrder } from './open.ts';
import { submit } from './provider.ts';
import { recordPayerInput } from './record.ts';
import { resealSession, sealSecrets, secretsOf, secretsOfSession } from './secrets.ts';

const NONE: ReadonlyMap<string, string> = new Map();

/** For each brand the fields of a payment under the names of a sale: what the merchant sent, and what the payer adds. */
export function fieldContextsOf(
  gateway: Pick<Gateway, 'environment' | 'seal'>,
  { details, orderId, amountText, currency }: WholePayment,
  { settings }: Account,
): (label: string, answers?: ReadonlyMap<string, string>) => FieldContext {
  const order: Record<string, string> = {
    order_id: orderId,
    order_amount: amountText,
    order_currency: currency,
    order_description: details.description,
    identifier: details.identifier ?? '',
  };
  const secrets = secretsOfSession(gateway, details.session);
  const setting = settingsReader(settings);
  return (label, answers = NONE) => {
    const sent: Record<string, unknown> = {
      ...details.session?.parameters[label],
      ...secrets[label],
      ...details.parameters,
    };
    const sentAs = (name: string): string => {
      if (Object.hasOwn(order, name)) return order[name] as string;
      if (name.startsWith('payer_')) return details.payer[name.slice('payer_'.length)] ?? '';
      const value = sent[nameInside(name)];
      return typeof value === 'string' ? value : '';
    };
    return {
      value: (name) => answers.get(name) || sentAs(name),
      positions: (name) => positionsIn(Object.keys(sent), nameInside(name)),
      setting,
      allowsHttp: gateway.environment === 'sandbox',
    };
  };
}

/** What the payer has to fill in for a brand. */
export function missingFields(brand: Brand, context: FieldContext): Field[] {
  const required = brand.fields.filter(
    (field) => field.need === 'must' && !field.isSetting && isNeeded(field, context) && isAbsent(field, context),
  );
  return [...required, ...fieldsToAsk(brand, context)];
}

/** A way to pay that is offered to a payer. */
export interface Method {
  label: string;
  /** What the account calls it. */
  title: string;
  fields: readonly Field[];
}

/** The ways to pay that the account allows for this payment, cards first. */
export function methodsFor(gateway: Gateway, payment: WholePayment, account: Account): Method[] {
  const { brands } = account.settings;
  const wanted = payment.details.session?.methods ?? [];
  const isListed = (list: readonly string[]): boolean => list.length === 0 || list.includes(CARD);
  const hasCards = isListed(brands) && isListed(wanted) && Object.hasOwn(gateway.connectors, 'upstream');
  const card: Method = { label: CARD, title: 'Card', fields: [] };
  return [...(hasCards ? [card] : []), ...otherMethods(gateway, payment, account)];
}

/** What is to be repeated without its payer has to be paid in a way that can be. */
const mustRecur = ({ isRecurringInit, scheduleId }: WholePayment): boolean => isRecurringInit || scheduleId !== null;

const isElsewhere = ({ country }: Brand, { details: { payer } }: WholePayment): boolean =>
  country !== undefined && Boolean(payer.country) && payer.country !== country;

/** The brands that fit, with what each still needs. */
function otherMethods(gateway: Gateway, payment: WholePayment, account: Account): Method[] {
  const { brands, brand_aliases } = account.settings;
  const wanted = payment.details.session?.methods ?? [];
  const contextFor = fieldContextsOf(gateway, payment, account);
  return Object.entries(BRANDS).flatMap(([label, brand]) => {
    const title = Object.keys(brand_aliases).find((alias) => brand_aliases[alias] === label) ?? label;
    const isAllowed = brands.length === 0 || brands.includes(label);
    const isWanted = wanted.length === 0 || wanted.includes(label) || wanted.includes(title);
    const isHere = Object.hasOwn(gateway.connectors, brand.connector) && isForPayers(brand);
    if (!isAllowed || !isWanted || !isHere || isElsewhere(brand, payment)) return [];
    if (mustRecur(payment) && !brand.recurs) return [];
    const context = contextFor(label);
    const fields = missingFields(brand, context);
    return isPossible(brand, fields, context) ? [{ label, title, fields }] : [];
  });
}

/** Whether the rest of the order fits the brand, and the payer can be asked for everything that is missing. */
function isPossible(brand: Brand, missing: readonly Field[], context: FieldContext): boolean {
  if (missing.some((field) => field.items || field.name.startsWith('order_'))) return false;
  const problems: Problem[] = [];
  checkFields(
    brand.fields.filter((field) => !missing.includes(field)),
    context,
    problems,
  );
  return problems.length === 0;
}

/** Takes the payer's choice and what was filled in for it, and submits the payment; or says what is wrong. */
export async function choose(
  gateway: Gateway,
  payment: WholePayment,
  account: Account,
  method: Method,
  answers: ReadonlyMap<string, string>,
): Promise<{ problems: Problem[] } | { payment: WholePayment }> {
  const brand = brandOf(method.label) as Brand;
  const given = new Map(method.fields.map(({ name }) => [name, answers.get(name)?.trim() ?? '']));
  const problems: Problem[] = [...given]
    .filter(([name, value]) => value.includes('\0') || cardNumberAt(name, value))
    .map(([field]) => ({ field, sentence: SENTENCES.invalid }));
  const context = fieldContextsOf(gateway, payment, account)(method.label, given);
  checkFields(
    method.fields.map((field) => ({ ...field, need: 'must' })),
    context,
    problems,
  );
  if (problems.length > 0) return { problems };
  const attempt = await attemptOf(gateway, payment);
  const details = detailsWith(gateway, attempt, brand, context);
  const collected = await recordPayerInput(gateway, attempt, details, {
    brand: method.label,
    connector: brand.connector,
  });
  // Whoever pressed the button twice gets what the first press came to.
  if (!collected) return { payment: (await gateway.payments.find(attempt)) ?? attempt };
  return { payment: await submit(gateway, collected, account) };
}

/** A card of an earlier payment that the session offers, and the code on its back, which is asked for every time. */
export interface SavedCardChoice {
  savedCardId: string;
  cvv: Secret;
}

/** Takes the payer's card: a new one goes into the vault, its bank is asked, and the payment is submitted. */
export async function chooseCard(
  gateway: Gateway,
  payment: WholePayment,
  account: Account,
  given: Card | SavedCardChoice,
  browser: Browser,
): Promise<{ problems: Problem[] } | { refusal: CardRefusal } | { payment: WholePayment }> {
  const meant = 'savedCardId' in given ? await savedCardOf(gateway, payment, given) : { card: given };
  if (!meant) return { problems: [{ field: 'saved_card', sentence: 'saved' satisfies CardProblem }] };
  const { card } = meant;
  const problems = Object.entries(cardProblems(card, gateway.clock.now(payment.mid)));
  if (problems.length > 0) return { problems: problems.map(([field, sentence]) => ({ field, sentence })) };
  const refusal = await recordCardAttempt(gateway, account, payment, browser.ip);
  if (refusal) return { refusal };
  const attempt = await attemptOf(gateway, payment);
  const kept = meant.kept ?? (await keepCard(gateway, attempt, card, attempt.details.session?.wantsToken === true));
  const { connector } = brandOf(CARD) as Brand;
  const details = { ...attempt.details, card: kept };
  const collected = await recordPayerInput(gateway, attempt, details, { brand: CARD, connector });
  if (!collected) {
    // Another press was faster, and nobody will ever need this copy.
    if (!meant.kept) await gateway.cards.remove(attempt.mid, kept.id);
    return { payment: (await gateway.payments.find(attempt)) ?? attempt };
  }
  return { payment: await payByCard(gateway, collected, account, card, browser) };
}

/** The card that the payer means, and what a payment keeps of it; nothing when the session does not offer it. */
async function savedCardOf(
  gateway: Gateway,
  { mid, details }: WholePayment,
  { savedCardId, cvv }: SavedCardChoice,
): Promise<{ card: Card; kept?: KeptCard } | undefined> {
  const saved = await openSavedCard(gateway, mid, details.session?.cardTokens ?? [], savedCardId);
  return saved && { ...saved, card: { ...saved.card, cvv } };
}

/** The payment to go on with: after a decline, a new one under the same order. */
function attemptOf(gateway: Gateway, found: WholePayment): WholePayment | Promise<WholePayment> {
  const payment = { ...found, details: resealSession(gateway, found.details) };
  return payment.state === 'DECLINED' ? nextAttempt(gateway, payment) : payment;
}

function detailsWith(gateway: Gateway, payment: WholePayment, brand: Brand, context: FieldContext): PaymentDetails {
  const { parameters, secrets: added } = brandValues(brand, context);
  // What the merchant sent sealed stays; the payer's page never sees it.
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

/** What was filled in for one attempt is not carried over to the next; what the merchant sent is. */
export const detailsAsSent = ({ description, payer, session, customData }: PaymentDetails): PaymentDetails => ({
  description,
  payer: session?.payer ?? payer,
  ...(session && { session }),
  ...(customData && { customData }),
});

/** After a decline the payer may try again within the session: a payment of its own, under the same order. */
async function nextAttempt(gateway: Gateway, declined: WholePayment): Promise<WholePayment> {
  const now = gateway.clock.now(declined.mid);
  const attempt: WholePayment = {
    ...declined,
    paymentId: newId(),
    attempt: declined.attempt + 1,
    brand: NO_BRAND_YET,
    connector: NO_CONNECTOR,
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
    createdAt: now,
    updatedAt: now,
    details: detailsAsSent(declined.details),
  };
  const schedule =
    declined.scheduleId === null ? undefined : await gateway.schedules.find(declined.mid, declined.scheduleId);
  if (await reserveOrder(gateway, attempt, { schedule })) return attempt;
  // Another press was faster; if it was of another session, there is nothing to go on with here.
  const [newest] = await gateway.payments.attempts(declined, 1);
  return newest?.details.session?.id === declined.details.session?.id ? (newest ?? declined) : declined;
}
