/** The vault: keeps card numbers and expiries sealed while they are needed, and opens them for a provider alone. */
import { createHmac } from 'node:crypto';
import type { CardData } from '../connectors/connector.ts';
import { hasNumber, isCardNumber, isExpired, maskedNumber, networkOf } from '../lib/card.ts';
import { newId, newSecret } from '../lib/id.ts';
import { boundTo, createSeal, newMasterKey, type Seal } from '../lib/seal.ts';
import { Secret } from '../lib/secret.ts';
import { isOpen } from '../rules/states.ts';
import type { CardRow, DataKeyRow, KeyedCard } from '../store/cards.ts';
import type { KeptCard, Payment, Transition } from '../store/payments.ts';
import type { AgedCard } from '../store/rotation.ts';
import type { Gateway } from './context.ts';

/** A card as the payer typed it; its number and code print as stars wherever they turn up. */
export type { CardData as Card } from '../connectors/connector.ts';

/** What can be wrong with a card; the page has words for each. */
export type CardProblem = 'number' | 'expiry' | 'expired' | 'cvv' | 'holder' | 'saved';

/** What is wrong with a card that somebody typed, by the field of the form; nothing when it can be right. */
export function cardProblems(card: CardData, now: number): Record<string, CardProblem> {
  const isDate = /^(0[1-9]|1[0-2])$/.test(card.month) && /^20\d\d$/.test(card.year);
  return {
    ...(!isCardNumber(card.number.reveal()) && { card_number: 'number' }),
    ...(!isDate && { card_expiry: 'expiry' }),
    ...(isDate && isExpired(card.month, card.year, now) && { card_expiry: 'expired' }),
    ...(!/^\d{3,4}$/.test(card.cvv?.reveal() ?? '') && { card_cvv: 'cvv' }),
    ...((!/^[^\p{C}]{2,100}$/u.test(card.holder) || hasNumber(card.holder)) && { card_holder: 'holder' }),
  };
}

const bound = (mid: string, cardId: string, version: number): string =>
  boundTo('cards', `sealed v${version}`, `${mid} ${cardId}`);
const dataKeyBound = (mid: string, version: number): string => boundTo('data_keys', 'sealed', `${mid} ${version}`);
const fingerprintKeyBound = (mid: string): string => boundTo('fingerprint_keys', 'sealed', mid);

const dataSeal = ({ seal }: Pick<Gateway, 'seal'>, { mid, version, sealed }: DataKeyRow): Seal =>
  createSeal(seal.open(sealed, dataKeyBound(mid, version)));

export const newDataKey = ({ seal }: Pick<Gateway, 'seal'>, mid: string, version: number): DataKeyRow => ({
  mid,
  version,
  sealed: seal.seal(newMasterKey(), dataKeyBound(mid, version)),
});

/** The key that seals an account's new cards; made when there is none. */
async function newestDataKey(gateway: Gateway, mid: string): Promise<DataKeyRow> {
  const known = await gateway.cards.dataKey(mid);
  if (known) return known;
  await gateway.cards.insertDataKey(newDataKey(gateway, mid, 1), gateway.clock.now(mid));
  return newestDataKey(gateway, mid);
}

/** The same for the same number of one account, whatever happens to the other keys; it tells nothing else. */
async function cardFingerprint(gateway: Gateway, mid: string, number: string): Promise<string> {
  const sealed = await gateway.cards.fingerprintKey(mid);
  if (sealed) {
    const key = Buffer.from(gateway.seal.open(sealed, fingerprintKeyBound(mid)), 'base64');
    return createHmac('sha256', key).update(number).digest('hex');
  }
  const made = gateway.seal.seal(newMasterKey(), fingerprintKeyBound(mid));
  await gateway.cards.insertFingerprintKey(mid, made, gateway.clock.now(mid));
  return cardFingerprint(gateway, mid, number);
}

/** Keeps a card and returns what may be known of it. The code on its back is not kept, here or anywhere. */
export async function keepCard(
  gateway: Gateway,
  { mid, paymentId }: { mid: string; paymentId: string },
  card: CardData,
  tellsToken: boolean,
): Promise<KeptCard> {
  const cardId = newId();
  const number = card.number.reveal();
  const content = JSON.stringify({ number, month: card.month, year: card.year, holder: card.holder });
  const fingerprint = await cardFingerprint(gateway, mid, number);
  for (;;) {
    const key = await newestDataKey(gateway, mid);
    const row: CardRow = {
      mid,
      cardId,
      token: newSecret(24),
      keyVersion: key.version,
      sealed: dataSeal(gateway, key).seal(content, bound(mid, cardId, key.version)),
      fingerprint,
      masked: maskedNumber(number),
      network: networkOf(number),
      paymentId,
      createdAt: gateway.clock.now(mid),
    };
    if (await gateway.cards.insert(row)) return keptCard(row, card, tellsToken);
    // The key was retired in this very moment; there is a newer one.
  }
}

const keptCard = (row: CardRow, { month, year }: CardData, tellsToken: boolean): KeptCard => ({
  id: row.cardId,
  masked: row.masked,
  network: row.network,
  expiry: `${month}/${year}`,
  ...(tellsToken && { token: row.token }),
});

function openContent(gateway: Pick<Gateway, 'seal'>, row: KeyedCard): string {
  const { mid, cardId, keyVersion, keySealed } = row;
  const seal = dataSeal(gateway, { mid, version: keyVersion, sealed: keySealed });
  return seal.open(row.sealed, bound(mid, cardId, keyVersion));
}

/** A card as it is sealed under the newest key of its account. */
export function resealCard(gateway: Pick<Gateway, 'seal'>, card: AgedCard): Buffer {
  const { mid, cardId, newestVersion, newestSealed } = card;
  const seal = dataSeal(gateway, { mid, version: newestVersion, sealed: newestSealed });
  return seal.seal(openContent(gateway, card), bound(mid, cardId, newestVersion));
}

function open(gateway: Pick<Gateway, 'seal'>, row: KeyedCard): CardData {
  const { number, month, year, holder } = JSON.parse(openContent(gateway, row));
  return { number: new Secret(number), month, year, holder };
}

/** Opens a card for a call to its provider; nothing when its number was erased. */
export async function openCard(gateway: Gateway, mid: string, cardId: string): Promise<CardData | undefined> {
  const row = await gateway.cards.find(mid, cardId);
  return row && open(gateway, row);
}

const hasOutcome = ({ state, authorised }: Payment): boolean => !isOpen(state) || authorised > 0n;

/**
 * Erases the number of a card when its payment gets its outcome, unless it is needed for a token or for repetitions. If
 * that fails, or the process dies before, `eraseUnneededCards` does it.
 */
export async function eraseAfterOutcome(gateway: Gateway, { before, after }: Transition): Promise<void> {
  // A repetition uses the card of the first payment.
  if (hasOutcome(before) || !hasOutcome(after) || after.details.recurringOf !== undefined) return;
  try {
    await gateway.cards.eraseOf(after);
  } catch (error) {
    gateway.log.warn({ err: error, payment_id: after.paymentId }, 'the card of a payment could not be erased');
  }
}

/** Few at a time, so that no row is locked for long. */
const ERASE_MOST = 500;

/** Erases what was left over, such as cards of sessions that ended, and of processes that died before they could. */
export async function eraseUnneededCards(gateway: Gateway): Promise<void> {
  while ((await gateway.cards.eraseLeftovers(ERASE_MOST)) === ERASE_MOST);
}

/** A card of an earlier payment that a payer may use again. */
export interface SavedCard {
  id: string;
  masked: string;
  network: string;
  /** As on the card: `05/30`. */
  expiry: string;
  isExpired: boolean;
}

/** The cards of these tokens as the payer sees them; of the same card the newest, and none of another account. */
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

/** Opens one of these saved cards for another payment, which keeps the same of it: the vault gets no second copy. */
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

/** The card of a token, whichever account it belongs to, and whether it has expired by that account's clock. */
export async function cardOfToken(
  gateway: Gateway,
  token: string,
): Promise<{ card: CardRow; isExpired: boolean } | undefined> {
  const card = await gateway.cards.findAnywhere(token);
  if (!card) return undefined;
  const { month, year } = open(gateway, card);
  return { card, isExpired: isExpired(month, year, gateway.clock.now(card.mid)) };
}
