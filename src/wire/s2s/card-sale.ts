/** Card sales over `/post`, for accounts with `dialect.card_sales`: their checks, and the payment that they open. */
import { newCard, type SentCard, savedCard } from '../../core/cards/sent-card.ts';
import { acceptedNetworks, asksForCard, canTake, type factsOf, isCardHosted } from '../../core/connections/route.ts';
import type { Account, Gateway, PaymentDetails } from '../../core/context.ts';
import { endCardCheck } from '../../core/payments/card-check.ts';
import { composePayment, type Order, openPayment } from '../../core/payments/open.ts';
import type { S2sBody } from '../../core/requests/s2s-body.ts';
import { existingSchedule } from '../../core/schedules/schedules.ts';
import { isCardNumber, isExpired, isExpiry } from '../../lib/cards/card.ts';
import { networkOf, rulesOf } from '../../lib/cards/networks.ts';
import { mayHaveDigits, plainDigits } from '../../lib/cards/search.ts';
import { Secret } from '../../lib/crypto/secret.ts';
import { isZeroAmount } from '../../lib/money/money.ts';
import { cut } from '../../lib/text/cut.ts';
import { printableName } from '../../lib/text/form.ts';
import { CARD } from '../../rules/brands.ts';
import { DOCS } from '../../rules/docs.ts';
import { type Problem, Refusal } from '../../rules/errors.ts';
import { SENTENCES } from '../../rules/fields.ts';
import { isAuthorisation } from '../../rules/operations.ts';
import { type S2sAnswer, saleAnswer } from './answers.ts';
import { canonicalContent, cardSaleDetails } from './sale-details.ts';

const CARD_FIELDS = ['card_number', 'card_token', 'card_exp_month', 'card_exp_year', 'card_cvv2'] as const;

/** Whether a request contains a card, as the sales of other gateways do. */
export const hasCardFields = ({ value }: S2sBody): boolean => CARD_FIELDS.some((name) => value(name) !== '');

/** Whether a SALE is one by card: accounts that take them need no brand for it. */
export const isCardSale = ({ settings }: Account, { value }: S2sBody): boolean =>
  settings['dialect.card_sales'] && value('brand') === '';

/** What is said about a card sale to an account that does not take them; its other refusals stay as they are. */
export const CARD_SALE_NOT_TAKEN: Problem = {
  field: 'action',
  sentence: 'This is a card sale, which this account does not take over /post.',
  expected: 'A SALE with a brand; or a Checkout session, whose payment page asks the payer for the card.',
  hint: 'Nothing of the card was kept. To send cards over /post, ask your operator for the setting dialect.card_sales.',
  docs: DOCS.family,
};

/** A brand beside a card: nobody can tell which of them should pay. */
export const BRAND_BESIDE_CARD: Problem = {
  field: 'brand',
  sentence: 'This value should not be sent with a card.',
  expected: 'A brand, or the fields of a card without a brand.',
};

/** The number of the card in any other field, such as the order number, would be stored there. */
export function numberElsewhere({ value, texts }: S2sBody): Problem[] {
  const number = value('card_number');
  if (!isCardNumber(number)) return [];
  const contains = (text: string): boolean =>
    mayHaveDigits(text, number.length) && plainDigits(text).replace(/\D/g, '').includes(number);
  const problems: Problem[] = [];
  for (const [name, text] of texts()) {
    const isInName = contains(name);
    if (!isInName && !contains(text)) continue;
    const field = isInName ? 'body' : printableName(name);
    problems.push({ field, sentence: SENTENCES.cardNumber, docs: DOCS.mustNotBeSent });
  }
  return problems;
}

const ONE_CARD = 'The number of a card, with its expiry and its security code; or a card_token in their place.';

/** A token beside a number: nobody can tell which card is meant. */
export const tokenBesideNumber = ({ value }: S2sBody): Problem[] =>
  value('card_token') === '' || value('card_number') === ''
    ? []
    : [{ field: 'card_token', sentence: SENTENCES.different('card_number'), expected: ONE_CARD }];

/** Whether the card is only checked: an authorisation of nothing. */
const isCardCheck = ({ value }: S2sBody): boolean =>
  value('order_amount').startsWith('0') && isZeroAmount(value('order_amount'));

/** A card check is voided at once, so that no amount could be repeated. */
const SCHEDULE_OF_CHECK: Problem = {
  field: 'schedule_id',
  sentence: 'This value should not be sent with an order_amount of zero.',
  expected: 'No schedule_id in a card check; or the order_amount of the first payment, which the schedule repeats.',
};

/** Checks of the card that depend on several of its fields, on the clock, or on the account. */
export function cardFieldProblems(gateway: Gateway, account: Account, body: S2sBody): Problem[] {
  const { value } = body;
  const blank = (field: string, expected?: string): Problem => ({ field, sentence: SENTENCES.blank, expected });
  const number = value('card_number');
  const ofSale = [
    ...(value('brand') === '' ? [] : [BRAND_BESIDE_CARD]),
    ...(value('schedule_id') !== '' && value('recurring_init') !== 'Y'
      ? [blank('recurring_init', 'Y, because a schedule_id needs a recurring sale.')]
      : []),
    ...(value('schedule_id') !== '' && isCardCheck(body) ? [SCHEDULE_OF_CHECK] : []),
  ];
  if (value('card_token') !== '') return [...tokenBesideNumber(body), ...ofSale];
  const missing = (['card_exp_month', 'card_exp_year', 'card_cvv2'] as const).filter((name) => value(name) === '');
  return [
    ...numberElsewhere(body),
    ...(number === '' ? [blank('card_number', ONE_CARD)] : []),
    ...missing.map((name) => blank(name)),
    ...(number === '' || missing.length > 0 ? [] : ofWholeCard(gateway, account, body)),
    ...ofSale,
  ];
}

function ofWholeCard(gateway: Gateway, account: Account, body: S2sBody): Problem[] {
  const { value } = body;
  const problems: Problem[] = [];
  const number = value('card_number');
  const network = networkOf(number);
  const isNumber = isCardNumber(number);
  const isTaken = acceptedNetworks(gateway, account, routeFacts(body))?.includes(network) !== false;
  if (isNumber && !isTaken)
    problems.push({
      field: 'card_number',
      sentence: SENTENCES.notAChoice,
      expected: 'A card of a network that the account takes.',
    });
  const [month, year] = [value('card_exp_month'), value('card_exp_year')];
  if (isExpiry(month, year) && isExpired(month, year, gateway.clock.now(account.mid)))
    problems.push({
      field: 'card_exp_year',
      sentence: 'This card has expired.',
      expected: 'The expiry of a card that is valid.',
    });
  const { codeLength } = rulesOf(network);
  if (isNumber && isTaken && codeLength !== undefined && value('card_cvv2').length !== codeLength)
    problems.push({
      field: 'card_cvv2',
      sentence: SENTENCES.invalid,
      expected: `${codeLength} digits, as the security codes of this network have.`,
    });
  return problems;
}

/** What routes and networks depend on before there is a payment; the amount is not read yet. */
const routeFacts = ({ value }: S2sBody): Parameters<typeof factsOf>[0] => ({
  brand: CARD,
  currency: value('order_currency'),
  amount: 1n,
  details: { description: '', payer: { country: value('payer_country') } },
});

const holderOf = ({ value }: S2sBody): string =>
  cut([value('payer_first_name'), value('payer_last_name')].filter(Boolean).join(' '), 100);

function enteredCard(body: S2sBody): SentCard['card'] {
  const { value } = body;
  const cvv = value('card_cvv2');
  return {
    number: new Secret(value('card_number')),
    month: value('card_exp_month'),
    year: value('card_exp_year'),
    holder: holderOf(body),
    ...(cvv !== '' && { cvv: new Secret(cvv) }),
  };
}

/** The card leaves the request here: from now on the order has it, and then the vault. */
async function takeCard(gateway: Gateway, account: Account, body: S2sBody): Promise<SentCard> {
  const token = body.value('card_token');
  const entered = enteredCard(body);
  body.forgetCard();
  const needs = { hasToken: body.value('req_token') === 'Y', isRepeatable: body.value('recurring_init') === 'Y' };
  return token === '' ? newCard(account, entered, needs) : savedCard(gateway, account, token, entered.cvv);
}

export async function performCardSale(
  gateway: Gateway,
  account: Account,
  body: S2sBody,
  action: 'SALE' | 'AUTH',
): Promise<S2sAnswer> {
  const { value } = body;
  const scheduleId = value('schedule_id');
  const content = canonicalContent(body);
  const sentCard = await takeCard(gateway, account, body);
  const schedule = scheduleId === '' ? undefined : await existingSchedule(gateway, account, scheduleId);
  const details: PaymentDetails = {
    ...cardSaleDetails(body),
    card: sentCard.kept,
    ...(isCardCheck(body) && { isCardCheck: true }),
  };
  const order: Order = {
    protocol: 's2s',
    brand: CARD,
    orderId: value('order_id'),
    amountText: value('order_amount'),
    currency: value('order_currency'),
    isAuthorisation: isAuthorisation(body),
    isRecurringInit: value('recurring_init') === 'Y',
    details,
    schedule,
    sentCard,
    content,
  };
  requireTakenCard(gateway, account, order);
  const payment = await openPayment(gateway, account, order);
  if (details.isCardCheck && payment.state === 'PENDING' && payment.authorised > 0n) {
    endCardCheck(gateway, payment, account).catch((error) =>
      gateway.log.warn({ err: error, payment_id: payment.paymentId }, 'a card check could not be voided'),
    );
  }
  const token = payment.state === 'DECLINED' ? undefined : payment.details.card?.token;
  return { ...saleAnswer(action, payment, gateway), ...(token !== undefined && { card_token: token }) };
}

/** Refuses a card that no route takes from a merchant, as the payment page would not ask for it. */
function requireTakenCard(gateway: Gateway, account: Account, order: Order): void {
  const { brands } = account.settings;
  const isAllowed = brands.length === 0 || brands.includes(CARD);
  if (!isAllowed || !canTake(gateway, account, CARD)) throw new Refusal('actionNotSupported');
  if (account.routes.length === 0) return;
  const composed = composePayment(gateway, account, order);
  const isHosted = asksForCard(account, composed.connector) && isCardHosted(gateway, account, composed);
  if (isHosted) throw new Refusal('actionNotSupported');
}
