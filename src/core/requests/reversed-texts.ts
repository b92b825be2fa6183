/** The texts that the hash of an S2S request may cover in the recipe `reversed_md5`, which can depend on a payment. */
import type { HashedPart } from '../../lib/crypto/hash.ts';
import { CARD_DIGITS, PASSWORD, partsOf, REVERSED_REQUESTS, type ReversedText } from '../../rules/hash-recipes.ts';
import type { DialectAction, S2sAction } from '../../rules/operations.ts';
import type { Account, Gateway } from '../context.ts';
import { findPayment } from '../payments/find.ts';
import type { RequestBody } from './body.ts';
import { kindOf, signedFacts } from './signed-facts.ts';

type Action = S2sAction | DialectAction;

/** One reading of a request: its text in the table, and the values of that text. The password is asked for by its name. */
export interface ReversedReading {
  text: ReversedText;
  value: (name: string) => string;
  /** The e-mail address that the text covers was erased, so that the hash of a client is not that of the gateway. */
  isErased?: boolean;
}

const isKnown = (action: string): action is Action => Object.hasOwn(REVERSED_REQUESTS, action);

/** The request's own field and the payment that it is about, for actions on a payment. */
function paymentOf(gateway: Gateway, account: Account, action: Action, value: RequestBody['value']) {
  if (action === 'GET_TRANS_STATUS_BY_ORDER') {
    return gateway.payments.findByOrder({ mid: account.mid, orderId: value('order_id') });
  }
  return findPayment(gateway, account, value(action === 'RECURRING_SALE' ? 'recurring_first_trans_id' : 'trans_id'));
}

/** The actions whose card and e-mail address are in the request itself, or that have none. */
const OWN_FACTS: readonly string[] = [
  'SALE',
  'AUTH',
  'CREDIT2CARD',
  'CREATE_SCHEDULE',
  'UPDATE_SCHEDULE',
  'DELETE_SCHEDULE',
];

/** Whether the text of an action has nothing of a stored payment. */
export const hasOwnFacts = (action: string): boolean => OWN_FACTS.includes(action);

/**
 * The readings of a request; none if it is about a payment that does not exist, so that its hash cannot be checked. A
 * repetition of a sale with a token may cover the token in place of the digits.
 */
export async function reversedReadings(
  gateway: Gateway,
  account: Account,
  action: string,
  body: Pick<RequestBody, 'value' | 'cardText'>,
): Promise<ReversedReading[]> {
  if (!isKnown(action)) return [];
  const texts = REVERSED_REQUESTS[action];
  const { value } = body;
  const reading = (text: ReversedText | undefined, facts: Record<string, string> = {}): ReversedReading[] =>
    text === undefined
      ? []
      : [{ text, value: (name) => (Object.hasOwn(facts, name) ? (facts[name] as string) : value(name)) }];
  if (hasOwnFacts(action)) {
    const isApm = action === 'SALE' && value('brand') !== '';
    return reading(isApm ? texts.apm : texts.card, { [CARD_DIGITS]: body.cardText ?? '' });
  }
  const payment = await paymentOf(gateway, account, action, value);
  // The text of an order without a card covers nothing of a payment.
  if (!payment) return texts.apm === 'apmOrder' ? reading('apmOrder') : [];
  if (kindOf(payment) === 'apm') return reading(texts.apm);
  const { email, card } = signedFacts(payment);
  const { token } = payment.details.card ?? {};
  const cards = texts.card === 'cardSale' && token !== undefined ? [card, token] : [card];
  const isErased = payment.details.erasedAt !== undefined;
  return cards.flatMap((each) =>
    reading(texts.card, { payer_email: email, [CARD_DIGITS]: each }).map((one) => ({ ...one, isErased })),
  );
}

/** The parts of a reading that are hashed, with this password. */
export const partsWith = ({ text, value }: ReversedReading, password: string): HashedPart[] =>
  partsOf(text, (name) => (name === PASSWORD ? password : value(name)));
