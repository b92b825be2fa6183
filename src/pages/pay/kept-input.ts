/** Keeps the name and the expiry of a card in the payer's browser, sealed, so that a decline does not empty the form. */
import type { FastifyReply, FastifyRequest } from 'fastify';
import type { Gateway } from '../../core/context.ts';
import { hasNumber } from '../../lib/card.ts';
import { isObject } from '../../lib/json.ts';
import { boundTo } from '../../lib/seal.ts';
import { LIMITS } from '../../rules/limits.ts';
import { readCookie } from '../read-cookie.ts';
import type { PageView } from './view.ts';

const NAME = 'turnpike_card_form';
const VALUE = /^[A-Za-z0-9_-]{1,1024}$/;
const FIELDS = ['card_holder', 'card_expiry'] as const;
const NOTHING: ReadonlyMap<string, string> = new Map();

type Place = Pick<PageView, 'path' | 'payment' | 'account'>;

/** Others who have the link do not have the cookie, so they do not see what this payer entered. */
const bound = ({ path }: Place): string => boundTo('cookie', NAME, path);

/** In a frame of another site, browsers send only cookies that are marked for that. */
function attributesOf({ publicUrl }: Gateway, { path, account }: Place): string {
  if (!publicUrl.startsWith('https:')) return `Path=${path}; HttpOnly; SameSite=Lax`;
  const isFramed = account.settings.frame_ancestors.length > 0;
  return `Path=${path}; HttpOnly; Secure; SameSite=${isFramed ? 'None; Partitioned' : 'Lax'}`;
}

/** Keeps the input of a card that was submitted; number and security code are not part of it. */
export function keepInput(
  gateway: Gateway,
  reply: FastifyReply,
  place: Place,
  answers: ReadonlyMap<string, string>,
): void {
  const now = gateway.clock.now(place.payment.mid);
  const kept = Object.fromEntries(FIELDS.map((name) => [name, answers.get(name) ?? '']));
  if (Object.values(kept).some(hasNumber)) return;
  const content = JSON.stringify({ ...kept, until: now + LIMITS.inputKeptMs });
  const value = gateway.seal.seal(content, bound(place)).toString('base64url');
  const maxAge = LIMITS.inputKeptMs / 1000;
  reply.header('set-cookie', `${NAME}=${value}; ${attributesOf(gateway, place)}; Max-Age=${maxAge}`);
}

/** What was kept for this page, as the values of a form; empty if there is nothing, or if it is too old. */
export function keptInput(
  gateway: Gateway,
  { headers }: Pick<FastifyRequest, 'headers'>,
  place: Place,
): ReadonlyMap<string, string> {
  const value = readCookie(headers, NAME, VALUE);
  if (value === undefined) return NOTHING;
  try {
    const kept: unknown = JSON.parse(gateway.seal.open(Buffer.from(value, 'base64url'), bound(place)));
    if (!isObject(kept) || Number(kept.until) < gateway.clock.now(place.payment.mid)) return NOTHING;
    return new Map([['saved_card', 'new'], ...FIELDS.map((name): [string, string] => [name, String(kept[name])])]);
  } catch {
    // Sealed for another page, or with a master key that was retired.
    return NOTHING;
  }
}

/** Removes the cookie once the payment has an outcome that ends the page. */
export function forgetInput(
  gateway: Gateway,
  { headers }: Pick<FastifyRequest, 'headers'>,
  reply: FastifyReply,
  place: Place,
): void {
  if (readCookie(headers, NAME, VALUE) === undefined) return;
  reply.header('set-cookie', `${NAME}=; ${attributesOf(gateway, place)}; Max-Age=0`);
}
