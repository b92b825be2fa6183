/** The vault: stores card data encrypted as long as it is needed, and decrypts it for calls to the provider. */
import type { CardData } from '../../connectors/connector.ts';
import { isCardNumber, isExpired, isExpiry, maskedNumber } from '../../lib/cards/card.ts';
import { networkOf } from '../../lib/cards/networks.ts';
import { hasNumber } from '../../lib/cards/search.ts';
import { createHmacOf } from '../../lib/crypto/hmac.ts';
import { newId, newSecret } from '../../lib/crypto/id.ts';
import { boundTo, createSeal, newMasterKey, type Seal } from '../../lib/crypto/seal.ts';
import { Secret } from '../../lib/crypto/secret.ts';
import { isOpen } from '../../rules/states.ts';
import type { CardRow, DataKeyRow, KeyedCard, SentCardRow } from '../../store/cards/cards.ts';
import type { AgedCard } from '../../store/installation/rotation.ts';
import type { KeptCard, Payment, Transition } from '../../store/payments/payments.ts';
import type { Gateway } from '../context.ts';

/** A card as the payer entered it; number and security code print as `***`. */
export type { CardData as Card } from '../../connectors/connector.ts';

/** What can be wrong with a card; the payment page has a message for each. */
export type CardProblem = 'number' | 'network' | 'expiry' | 'expired' | 'cvv' | 'holder' | 'saved';

/** The problems of an entered card, by form field; empty if there are none. Without a list, all networks are accepted. */
export function cardProblems(
  card: CardData,
  now: number,
  acceptedNetworks?: readonly string[],
): Record<string, CardProblem> {
  const number = card.number.reveal();
  const network = networkOf(number);
  const isDate = isExpiry(card.month, card.year);
  return {
    ...(acceptedNetworks?.includes(network) === false && { card_number: 'network' }),
    ...(!isCardNumber(number) && { card_number: 'number' }),
    ...(!isDate && { card_expiry: 'expiry' }),
    ...(isDate && isExpired(card.month, card.year, now) && { card_expiry: 'expired' }),
    ...(!/^\d{3,4}$/.test(card.cvv?.reveal() ?? '') && { card_cvv: 'cvv' }),
    ...((!/^[^\p{C}]{1,100}$/u.test(card.holder) || hasNumber(card.holder)) && { card_holder: 'holder' }),
  };
}

const bound = (mid: string, cardId: string, version: number): string =>
  boundTo('cards', `sealed v${version}`, `${mid} ${cardId}`);
const dataKeyBound = (mid: string, version: number): string => boundTo('data_keys', 'sealed', `${mid} ${version}`);
const fingerprintKeyBound = (mid: string): string => boundTo('fingerprint_keys', 'sealed', mid);

/** What was opened of keys that were read, as long as the store keeps them. */
const dataSeals = new WeakMap<Buffer, Seal>();
const fingerprintsOf = new WeakMap<Buffer, (number: string) => string>();

function openedOnce<Opened>(known: WeakMap<Buffer, Opened>, sealed: Buffer, open: () => Opened): Opened {
  const opened = known.get(sealed) ?? open();
  known.set(sealed, opened);
  return opened;
}

const dataSeal = ({ seal }: Pick<Gateway, 'seal'>, { mid, version, sealed }: DataKeyRow): Seal =>
  openedOnce(dataSeals, sealed, () => createSeal(seal.open(sealed, dataKeyBound(mid, version))));

export const newDataKey = ({ seal }: Pick<Gateway, 'seal'>, mid: string, version: number): DataKeyRow => ({
  mid,
  version,
  sealed: seal.seal(newMasterKey(), dataKeyBound(mid, version)),
});

/** The data key for an account's new cards; created if there is none. */
async function newestDataKey(gateway: Gateway, mid: string): Promise<DataKeyRow> {
  const known = await gateway.cards.dataKey(mid);
  if (known) return known;
  await gateway.cards.insertDataKey(newDataKey(gateway, mid, 1), gateway.clock.now(mid));
  return newestDataKey(gateway, mid);
}

/** Identifies a card number within an account without revealing it; key rotation does not change it. */
export async function cardFingerprint(gateway: Gateway, mid: string, number: string): Promise<string> {
  const sealed = await gateway.cards.fingerprintKey(mid);
  if (sealed) {
    const fingerprintOf = openedOnce(fingerprintsOf, sealed, () =>
      createHmacOf(Buffer.from(gateway.seal.open(sealed, fingerprintKeyBound(mid)), 'base64')),
    );
    return fingerprintOf(number);
  }
  const made = gateway.seal.seal(newMasterKey(), fingerprintKeyBound(mid));
  await gateway.cards.insertFingerprintKey(mid, made, gateway.clock.now(mid));
  return cardFingerprint(gateway, mid, number);
}

/**
 * What a payment stores of a card that came with its order. The vault gets its number if something needs it after the
 * payment: a token, or repetitions.
 */
export const newKeptCard = (
  card: CardData,
  { hasToken, isRepeatable }: { hasToken: boolean; isRepeatable: boolean },
): KeptCard => {
  const number = card.number.reveal();
  const token = hasToken ? newSecret(24) : '';
  const row = { cardId: newId(), masked: maskedNumber(number), network: networkOf(number), token };
  return { ...keptCard(row, card, hasToken), ...(!hasToken && !isRepeatable && { isTransient: true }) };
};

/** The row of a card that came with its order. It identifies a transient card, too, but without its number. */
export async function sentCardRow(
  gateway: Gateway,
  payment: CardOwner,
  card: CardData,
  given: KeptCard,
): Promise<SentCardRow> {
  const { id: cardId, masked, network, token, isTransient } = given;
  if (!isTransient) return { ...(await sealedRow(gateway, payment, card, given)), isKept: token !== undefined };
  const fingerprint = await cardFingerprint(gateway, payment.mid, card.number.reveal());
  return { cardId, token: newSecret(24), fingerprint, masked, network, keyVersion: null, sealed: null, isKept: false };
}

/**
 * Stores a card, without its security code, and returns what a payment may store of it. If it is `given`, the payment that
 * refers to the card is stored already; otherwise it is written next.
 */
export async function keepCard(
  gateway: Gateway,
  payment: CardOwner,
  card: CardData,
  hasToken: boolean,
  given?: KeptCard,
): Promise<KeptCard> {
  const isWaited = given !== undefined && isNeededLater(payment, given);
  for (;;) {
    const row = await sealedRow(gateway, payment, card, given);
    if (await gateway.cards.insert(row, isWaited)) return keptCard(row, card, hasToken);
    // A rotation has just retired the data key; there is a newer one.
  }
}

/** The payment for which a card is stored. */
type CardOwner = Pick<Payment, 'mid' | 'paymentId'> & Partial<Pick<Payment, 'isRecurringInit'>>;

/**
 * Whether a card has to outlive its payment, also if the database crashes after the provider took the card. A card that is
 * needed for the next call only is durable with the next commit of its payment.
 */
const isNeededLater = ({ isRecurringInit = false }: CardOwner, { token }: KeptCard): boolean =>
  isRecurringInit || token !== undefined;

async function sealedRow(
  gateway: Gateway,
  { mid, paymentId }: CardOwner,
  card: CardData,
  given: KeptCard | undefined,
): Promise<CardRow> {
  const cardId = given?.id ?? newId();
  const number = card.number.reveal();
  const content = JSON.stringify({ number, month: card.month, year: card.year, holder: card.holder });
  const fingerprint = await cardFingerprint(gateway, mid, number);
  const key = await newestDataKey(gateway, mid);
  return {
    mid,
    cardId,
    token: given?.token ?? newSecret(24),
    keyVersion: key.version,
    sealed: dataSeal(gateway, key).seal(content, bound(mid, cardId, key.version)),
    fingerprint,
    masked: given?.masked ?? maskedNumber(number),
    network: given?.network ?? networkOf(number),
    paymentId,
    createdAt: gateway.clock.now(mid),
  };
}

const keptCard = (
  row: Pick<CardRow, 'cardId' | 'masked' | 'network' | 'token'>,
  { month, year }: CardData,
  hasToken: boolean,
): KeptCard => ({
  id: row.cardId,
  masked: row.masked,
  network: row.network,
  expiry: `${month}/${year}`,
  ...(hasToken && { token: row.token }),
});

function openContent(gateway: Pick<Gateway, 'seal'>, row: KeyedCard): string {
  const { mid, cardId, keyVersion, keySealed } = row;
  const seal = dataSeal(gateway, { mid, version: keyVersion, sealed: keySealed });
  return seal.open(row.sealed, bound(mid, cardId, keyVersion));
}

/** Encrypts a card again, under the newest data key of its account. */
export function resealCard(gateway: Pick<Gateway, 'seal'>, card: AgedCard): Buffer {
  const { mid, cardId, newestVersion, newestSealed } = card;
  const seal = dataSeal(gateway, { mid, version: newestVersion, sealed: newestSealed });
  return seal.seal(openContent(gateway, card), bound(mid, cardId, newestVersion));
}

function open(gateway: Pick<Gateway, 'seal'>, row: KeyedCard): CardData {
  const { number, month, year, holder } = JSON.parse(openContent(gateway, row));
  return { number: new Secret(number), month, year, holder };
}

/** Decrypts a card for a call to the provider; undefined if it was erased. */
export async function openCard(gateway: Gateway, mid: string, cardId: string): Promise<CardData | undefined> {
  const row = await gateway.cards.find(mid, cardId);
  return row && open(gateway, row);
}

const hasOutcome = ({ state, authorised }: Payment): boolean => !isOpen(state) || authorised > 0n;

/**
 * What a transition does to the cards of its payment: when the payment gets its outcome, or begins a series no more, they
 * are erased, unless a token or repetitions need the card. Undefined if it does nothing.
 */
export function cardsAfter({ before, after }: Transition): Transition['cards'] {
  const { card, recurringOf } = after.details;
  // A repetition uses the card of the first payment.
  if (!card || recurringOf !== undefined || !hasOutcome(after)) return undefined;
  const isSeriesOver = before.recurringToken !== null && after.recurringToken === null;
  if (hasOutcome(before) && !isSeriesOver) return undefined;
  // No challenge began, so that the number was never stored.
  if (card.isTransient && before.state === 'PREPARE') return undefined;
  return { neededId: card.token !== undefined || after.recurringToken !== null ? card.id : null };
}

/** Cards per statement; few, so that no row is locked for long. */
const MAX_ERASED = 500;

/** Erases cards that were not erased with an outcome, such as copies that were stored after it. */
export async function eraseUnneededCards(gateway: Gateway): Promise<void> {
  while ((await gateway.cards.eraseLeftovers(MAX_ERASED)) === MAX_ERASED);
}

/** A card of an earlier payment that the payer can use again. */
export interface SavedCard {
  id: string;
  masked: string;
  network: string;
  /** As printed on cards: `05/30`. */
  expiry: string;
  isExpired: boolean;
}

/** The account's cards of these tokens, as displayed to the payer; duplicates of a card are listed once, the newest. */
export async function savedCards(gateway: Gateway, mid: string, tokens: readonly string[]): Promise<SavedCard[]> {
  const now = gateway.clock.now(mid);
  const rows = await gateway.cards.findByTokens(mid, tokens);
  const newest = [...new Map(rows.toReversed().map((row) => [row.fingerprint, row])).values()].toReversed();
  return newest.map((row) => {
    const { month, year } = open(gateway, row);
    const { cardId: id, masked, network } = row;
    return { id, masked, network, expiry: `${month}/${year.slice(2)}`, isExpired: isExpired(month, year, now) };
  });
}

/** Decrypts a saved card for another payment, which refers to the same row of the vault. */
export async function openSavedCard(
  gateway: Gateway,
  mid: string,
  tokens: readonly string[],
  cardId: string,
): Promise<{ card: CardData; kept: KeptCard } | undefined> {
  const row = (await gateway.cards.findByTokens(mid, tokens)).find((saved) => saved.cardId === cardId);
  if (!row) return undefined;
  const card = open(gateway, row);
  return { card, kept: keptCard(row, card, true) };
}

/** The card of a token, of any account, and whether it has expired by that account's clock. */
export async function cardOfToken(
  gateway: Gateway,
  token: string,
): Promise<{ card: CardRow; isExpired: boolean } | undefined> {
  const card = await gateway.cards.findAnywhere(token);
  if (!card) return undefined;
  const { month, year } = open(gateway, card);
  return { card, isExpired: isExpired(month, year, gateway.clock.now(card.mid)) };
}
