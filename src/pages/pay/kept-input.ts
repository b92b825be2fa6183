/** Keeps the card of a form in the payer's browser, sealed and without its security code, so that a decline does not empty the form. */
import type { FastifyReply, FastifyRequest } from 'fastify';
import type { Gateway } from '../../core/context.ts';
import { hasNumber } from '../../lib/cards/search.ts';
import { boundTo } from '../../lib/crypto/seal.ts';
import { Secret } from '../../lib/crypto/secret.ts';
import { isObject } from '../../lib/text/json.ts';
import { LIMITS } from '../../rules/limits.ts';
import { readCookie } from '../read-cookie.ts';
import type { KeptInput, PageView } from './view.ts';

const NAME = 'turnpike_card_form';
const VALUE = /^[A-Za-z0-9_-]{1,1536}$/;

/** The values of `saved_card` for a card that is not saved, and for the card of the last attempt. */
export const NEW_CARD = 'new';
export const KEPT_CARD = 'kept';

export type Place = Pick<PageView, 'path' | 'payment' | 'account'>;

/** Others who have the link do not have the cookie, so they do not see what this payer entered. */
const bound = ({ path }: Place): string => boundTo('cookie', NAME, path);

/** In a frame of another site, browsers send only cookies that are marked for that. */
export function cookieAttributes({ publicUrl }: Gateway, { path, account }: Pick<Place, 'path' | 'account'>): string {
  if (!publicUrl.startsWith('https:')) return `Path=${path}; HttpOnly; SameSite=Lax`;
  const isFramed = account.settings.frame_ancestors.length > 0;
  return `Path=${path}; HttpOnly; Secure; SameSite=${isFramed ? 'None; Partitioned' : 'Lax'}`;
}

/** Keeps a card that was submitted. Of a telephone order the number is not kept: the browser is not that of the payer. */
export function keepInput(
  gateway: Gateway,
  reply: FastifyReply,
  place: Place,
  number: Secret,
  answers: ReadonlyMap<string, string>,
): void {
  const holder = answers.get('card_holder') ?? '';
  const expiry = answers.get('card_expiry') ?? '';
  if (hasNumber(holder) || hasNumber(expiry)) return;
  const { mid, details } = place.payment;
  const until = gateway.clock.now(mid) + LIMITS.inputKeptMs;
  const isOwn = !details.session?.isTelephoneOrder;
  const content = { holder, expiry, until, ...(isOwn && { number: number.reveal() }) };
  const value = gateway.seal.seal(JSON.stringify(content), bound(place)).toString('base64url');
  const maxAge = LIMITS.inputKeptMs / 1000;
  reply.header('set-cookie', `${NAME}=${value}; ${cookieAttributes(gateway, place)}; Max-Age=${maxAge}`);
}

/** What was kept for this page; undefined if there is nothing, or if it is too old. */
export function keptInput(
  gateway: Gateway,
  { headers }: Pick<FastifyRequest, 'headers'>,
  place: Place,
): KeptInput | undefined {
  const value = readCookie(headers, NAME, VALUE);
  if (value === undefined) return undefined;
  try {
    const kept: unknown = JSON.parse(gateway.seal.open(Buffer.from(value, 'base64url'), bound(place)));
    if (!isObject(kept) || Number(kept.until) < gateway.clock.now(place.payment.mid)) return undefined;
    const { number, holder, expiry } = kept;
    // A version from before this one has sealed it.
    if (typeof holder !== 'string' || typeof expiry !== 'string') return undefined;
    return { holder, expiry, ...(typeof number === 'string' && { number: new Secret(number) }) };
  } catch {
    // Sealed for another page, or with a master key that was retired.
    return undefined;
  }
}

/** Removes the cookie; its path need not be that of the request. */
export const forgetInput = (gateway: Gateway, reply: FastifyReply, place: Place): FastifyReply =>
  reply.header('set-cookie', `${NAME}=; ${cookieAttributes(gateway, place)}; Max-Age=0`);

export const hasKeptInput = ({ headers }: Pick<FastifyRequest, 'headers'>): boolean =>
  readCookie(headers, NAME, VALUE) !== undefined;
