/** The vault: keeps card numbers and expiries sealed, and opens them for a provider alone. */
import { createHmac, randomBytes } from 'node:crypto';
import type { CardData } from '../connectors/connector.ts';
import { isCardNumber, isExpired, maskedNumber, networkOf } from '../lib/card.ts';
import { newId, newSecret } from '../lib/id.ts';
import { boundTo, createSeal, type Seal } from '../lib/seal.ts';
import { Secret } from '../lib/secret.ts';
import type { CardRow } from '../store/cards.ts';
import type { KeptCard } from '../store/payments.ts';
import type { Gateway } from './context.ts';

/** A card as the payer typed it; its number and code print as stars wherever they turn up. */
export type { CardData as Card } from '../connectors/connector.ts';

/** What is wrong with a card that somebody typed, by the field of the form; nothing when it can be right. */
export function cardProblems(card: CardData, now: number): Record<string, string> {
  const number = card.number.reveal();
  const isDate = /^(0[1-9]|1[0-2])$/.test(card.month) && /^20\d\d$/.test(card.year);
  return {
    ...(!isCardNumber(number) && { card_number: 'This card number does not look right. Please check it.' }),
    ...(!isDate && { card_expiry: 'Please write the expiry as on the card, such as 05/30.' }),
    ...(isDate && isExpired(card.month, card.year, now) && { card_expiry: 'This card has expired.' }),
    ...(!/^\d{3,4}$/.test(card.cvv?.reveal() ?? '') && {
      card_cvv: 'Please fill in the 3 or 4 digits of the security code.',
    }),
    ...(!/^[^\p{C}]{2,100}$/u.test(card.holder) && { card_holder: 'Please fill in the name on the card.' }),
  };
}

const bound = (mid: string, cardId: string, version: number): string =>
  boundTo('cards', `sealed v${version}`, `${mid} ${cardId}`);
const keyBound = (mid: string, version: number): string => boundTo('data_keys', 'sealed', `${mid} ${version}`);

/** The seal of an account's data in one version; the newest when none is named, made when there is none. */
async function accountSeal(gateway: Gateway, mid: string, version?: number): Promise<{ seal: Seal; version: number }> {
  const row = await gateway.cards.dataKey(mid, version);
  if (row) return { seal: createSeal(gateway.seal.open(row.sealed, keyBound(mid, row.version))), version: row.version };
  if (version !== undefined) throw new Error(`The data key ${version} of account ${mid} is lost.`);
  const sealed = gateway.seal.seal(randomBytes(32).toString('base64'), keyBound(mid, 1));
  await gateway.cards.insertDataKey({ mid, version: 1, sealed }, gateway.clock.now(mid));
  return accountSeal(gateway, mid);
}

/** Keeps a card and returns what may be known of it. The code on its back is not kept, here or anywhere. */
export async function keepCard(
  gateway: Gateway,
  { mid, paymentId }: { mid: string; paymentId: string },
  card: CardData,
): Promise<KeptCard> {
  const cardId = newId();
  const number = card.number.reveal();
  const { seal, version } = await accountSeal(gateway, mid);
  const content = JSON.stringify({ number, month: card.month, year: card.year, holder: card.holder });
  const row: CardRow = {
    mid,
    cardId,
    token: newSecret(24),
    keyVersion: version,
    sealed: seal.seal(content, bound(mid, cardId, version)),
    fingerprint: createHmac('sha256', gateway.seal.derive(`card fingerprint ${mid}`))
      .update(number)
      .digest('hex'),
    masked: maskedNumber(number),
    network: networkOf(number),
    paymentId,
    createdAt: gateway.clock.now(mid),
  };
  await gateway.cards.insert(row);
  return { id: cardId, masked: row.masked, network: row.network };
}

/** Opens a card for a call to its provider. */
export async function openCard(gateway: Gateway, mid: string, cardId: string): Promise<CardData> {
  const row = await gateway.cards.find(mid, cardId);
  if (!row) throw new Error(`The card ${cardId} is not in the vault.`);
  const { seal } = await accountSeal(gateway, mid, row.keyVersion);
  const { number, month, year, holder } = JSON.parse(seal.open(row.sealed, bound(mid, cardId, row.keyVersion)));
  return { number: new Secret(number), month, year, holder };
}
