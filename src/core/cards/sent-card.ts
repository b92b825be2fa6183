/** A card that the merchant sends with its request: the limits, the vault and 3DS of the payment page, through another door. */
import { Refusal } from '../../rules/errors.ts';
import type { Settings } from '../../rules/settings.ts';
import type { AttemptCounts } from '../../store/cards/card-attempts.ts';
import type { KeptCard, PaymentWithDetails } from '../../store/payments/payments.ts';
import type { SentItem } from '../../store/payments/write.ts';
import type { Account, Gateway } from '../context.ts';
import { advance } from '../payments/advance.ts';
import { payByCard } from '../payments/authenticate.ts';
import { screened } from '../risk/screen.ts';
import { checkSentAttempt, sentAttempt } from './card-attempts.ts';
import { type Card, cardOfToken, newKeptCard, openSavedCard, sentCardRow } from './vault.ts';

export type { AttemptCounts } from '../../store/cards/card-attempts.ts';

/** The card of an order. It exists in memory only, until the vault has it. */
export interface SentCard {
  card: Card;
  /** What the payment stores of it. */
  kept: KeptCard;
  /** The vault has the card already. */
  isSaved: boolean;
  /** The settings of the account, with the limits of card attempts. */
  settings: Settings;
}

/** The decline reason of a card beyond a limit; the payer is not on a page of the gateway, so that only the merchant gets it. */
const TOO_MANY_CARDS = 'Too many cards were tried.';

export const newCard = (
  { settings }: Account,
  card: Card,
  needs: { hasToken: boolean; isRepeatable: boolean },
): SentCard => ({ card, kept: newKeptCard(card, needs), isSaved: false, settings });

/** What is written with the payment of a card. */
export async function sentItem(
  gateway: Gateway,
  payment: PaymentWithDetails,
  { card, kept, isSaved, settings }: SentCard,
): Promise<SentItem> {
  const counted = sentAttempt(gateway, settings, payment);
  return isSaved ? counted : { ...counted, card: await sentCardRow(gateway, payment, card, kept) };
}

/** The card of a token, with the security code if the merchant sent one. */
export async function savedCard(
  gateway: Gateway,
  { mid, settings }: Account,
  token: string,
  cvv: Card['cvv'],
): Promise<SentCard> {
  const found = await cardOfToken(gateway, token);
  if (!found) throw new Refusal('unknownCardToken');
  if (found.card.mid !== mid) throw new Refusal('foreignCardToken');
  if (found.isExpired) throw new Refusal('expiredCardToken');
  const saved = await openSavedCard(gateway, mid, [token], found.card.cardId);
  if (!saved) throw new Refusal('unknownCardToken');
  return { card: { ...saved.card, cvv }, kept: saved.kept, isSaved: true, settings };
}

/**
 * Begins a payment whose intent, card and attempt are durable. A card beyond a limit is removed, and not sent to a
 * provider. If the process dies before the call, the provider is queried and has no such payment, which is then declined.
 */
export async function payBySentCard(
  gateway: Gateway,
  payment: PaymentWithDetails,
  account: Account,
  { card, kept, isSaved, settings }: SentCard,
  counts: AttemptCounts | undefined,
): Promise<PaymentWithDetails> {
  if (await checkSentAttempt(gateway, settings, payment, counts)) {
    if (!isSaved) await gateway.cards.remove(payment.mid, kept.id);
    return advance(gateway, payment, { event: 'declined', actor: 'merchant', declineReason: TOO_MANY_CARDS });
  }
  const ip = payment.details.payer.ip ?? '';
  // The merchant's server sends the request, so nothing but the address is known of the payer's browser.
  const browser = { ip, language: '', userAgent: '', accept: '' };
  const seen = { number: card.number.reveal(), ip, isSaved };
  return screened(gateway, account, payment, seen, (passed, threeDs) =>
    payByCard(gateway, passed, account, card, browser, threeDs),
  );
}
