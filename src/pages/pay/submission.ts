/** Reads a submitted form: the card, the browser data for 3-D Secure, and whether another site sent it. */
import type { IncomingHttpHeaders } from 'node:http';
import type { Browser } from '../../core/payments/authenticate.ts';
import type { SavedCardChoice } from '../../core/payments/choose.ts';
import type { Card } from '../../core/vault.ts';
import { Secret } from '../../lib/secret.ts';

/** Converts Arabic, Persian and Thai digits; each of these Unicode blocks begins with its zero. */
const toLatinDigits = (text: string): string =>
  text.replace(/[٠-٩۰-۹๐-๙]/g, (digit) => String(digit.charCodeAt(0) & 15));

/** The card of a form: a saved card with its security code, or a new card. */
export function readCard(
  answers: ReadonlyMap<string, string>,
  savedCards: readonly { id: string }[],
): Card | SavedCardChoice {
  const text = (name: string): string => toLatinDigits(answers.get(name)?.trim() ?? '');
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

export const readBrowser = (headers: IncomingHttpHeaders, ip: string): Browser => ({
  ip,
  language: headers['accept-language']?.split(/[,;]/)[0] ?? 'en',
  userAgent: headers['user-agent'] ?? '',
  accept: headers.accept ?? '',
});
