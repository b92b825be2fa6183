/** Reads a submitted form: the card, the browser data for 3-D Secure, and whether another site sent it. */
import type { IncomingHttpHeaders } from 'node:http';
import type { FastifyRequest } from 'fastify';
import type { Card } from '../../core/cards/vault.ts';
import type { BrowserData, BrowserScreen } from '../../core/payments/authenticate.ts';
import type { SavedCardChoice } from '../../core/payments/choose.ts';
import { Secret } from '../../lib/crypto/secret.ts';
import type { Form } from '../../lib/text/form.ts';
import { LIMITS } from '../../rules/limits.ts';
import { KEPT_CARD, NEW_CARD } from './kept-input.ts';
import type { PageView } from './view.ts';

/** Converts Arabic, Persian and Thai digits; each of these Unicode blocks begins with its zero. */
export const toLatinDigits = (text: string): string =>
  text.replace(/[٠-٩۰-۹๐-๙]/g, (digit) => String(digit.charCodeAt(0) & 15));

/** Month and year, with or without a separator; browsers and payers write them in many ways. */
const EXPIRY = /^(\d{1,2})\s*[/.\-–\s]?\s*(\d{2}|\d{4})$/;

/** The card of a form: a saved card with its security code, or a new card, whose number may be the one that was kept. */
export function readCard(
  answers: ReadonlyMap<string, string>,
  { savedCards, kept }: Pick<PageView, 'savedCards' | 'kept'>,
): Card | SavedCardChoice {
  const text = (name: string): string => toLatinDigits(answers.get(name)?.trim() ?? '');
  const cvv = new Secret(text('card_cvv'));
  const saved = answers.get('saved_card') ?? NEW_CARD;
  const keptNumber = saved === KEPT_CARD ? kept?.number : undefined;
  // A number that is kept no longer is refused like a saved card that was removed.
  const isSaved = saved === KEPT_CARD ? !keptNumber : saved !== NEW_CARD && savedCards.length > 0;
  if (isSaved) return { savedCardId: saved, cvv };
  const [, month = '', year = ''] = EXPIRY.exec(text('card_expiry')) ?? [];
  return {
    number: keptNumber ?? new Secret(text('card_number').replace(/[\s-]/g, '')),
    month: month.padStart(2, '0'),
    year: year.length === 2 ? `20${year}` : year,
    holder: answers.get('card_holder')?.trim() ?? '',
    cvv,
  };
}

/** The browser data of a request; `script` is what the script of the page wrote into the form. */
export const readBrowser = (headers: IncomingHttpHeaders, ip: string, script = ''): BrowserData => ({
  ip,
  language: headers['accept-language']?.split(/[,;]/)[0] ?? 'en',
  userAgent: headers['user-agent'] ?? '',
  accept: headers.accept ?? '',
  screen: readScreen(script),
});

/** Width, height, colour depth and time zone offset: `1280 800 24 -120`. */
const SCREEN = /^(\d{1,5}) (\d{1,5}) (\d{1,2}) (-?\d{1,4})$/;

function readScreen(text: string): BrowserScreen | undefined {
  const [width, height, colorDepth, timeZoneOffset] = (SCREEN.exec(text) ?? []).slice(1).map(Number);
  if (width === undefined || height === undefined || colorDepth === undefined || timeZoneOffset === undefined)
    return undefined;
  // Browsers run no Java.
  return { width, height, colorDepth, timeZoneOffset, isJavaEnabled: false };
}

/** What the payer brings back from a provider, in the query or in a form; what exceeds the limits is dropped. */
export function readReturned({ query, body }: Pick<FastifyRequest, 'query' | 'body'>): Record<string, string> {
  const sent = [...Object.entries(query as object), ...((body as Form | undefined)?.values ?? [])];
  const returned: Record<string, string> = {};
  let length = 0;
  for (const [name, value] of sent.slice(0, LIMITS.returnedParameters)) {
    if (typeof value !== 'string' || name === '__proto__') continue;
    length += name.length + value.length;
    if (length > LIMITS.returnedLength) break;
    returned[name] = value;
  }
  return returned;
}
