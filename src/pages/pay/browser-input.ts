/** What a payer's browser brings: a card, who it is, and whether it comes from our own page. */
import type { IncomingHttpHeaders } from 'node:http';
import type { Browser } from '../../core/payments/authenticate.ts';
import type { SavedChoice } from '../../core/payments/choose.ts';
import type { Card } from '../../core/vault.ts';
import { Secret } from '../../lib/secret.ts';

/** Digits are digits, in whichever script they are typed: these blocks all begin with their zero. */
const inLatin = (text: string): string => text.replace(/[٠-٩۰-۹๐-๙]/g, (digit) => String(digit.charCodeAt(0) & 15));

/** A card as the form brings it: a saved one with its code, or one that was typed. */
export function cardOf(
  answers: ReadonlyMap<string, string>,
  savedCards: readonly { id: string }[],
): Card | SavedChoice {
  const text = (name: string): string => inLatin(answers.get(name)?.trim() ?? '');
  const cvv = new Secret(text('card_cvv'));
  const saved = answers.get('saved_card') ?? 'new';
  if (saved !== 'new' && savedCards.length > 0) return { savedCardId: saved, cvv };
  const [month = '', year = ''] = text('card_expiry').split(/\s*\/\s*/);
  return {
    number: new Secret(text('card_number').replace(/[\s-]/g, '')),
    month: month.padStart(2, '0'),
    year: year.length === 2 ? `20${year}` : year,
    holder: answers.get('card_holder')?.trim() ?? '',
    cvv,
  };
}

export const browserOf = (headers: IncomingHttpHeaders, ip: string): Browser => ({
  ip,
  language: headers['accept-language']?.split(/[,;]/)[0] ?? 'en',
  userAgent: headers['user-agent'] ?? '',
  accept: headers.accept ?? '',
});

/**
 * Whether another site sent the form. A browser that is told to keep quiet about where it was says `null`, and then
 * the other header tells; one that says neither has the link, which nobody can guess.
 */
export function isForeign(headers: IncomingHttpHeaders, publicUrl: string): boolean {
  const { origin, 'sec-fetch-site': site } = headers;
  // A page that the payer opened by themselves comes from nowhere; a neighbour under the same domain is a stranger, too.
  if (site !== undefined) return site !== 'same-origin' && site !== 'none';
  return origin !== undefined && origin !== 'null' && origin !== new URL(publicUrl).origin;
}
