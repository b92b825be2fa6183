/** The language that a payer has chosen on the page, in a cookie of the payment pages. */
import type { FastifyReply, FastifyRequest } from 'fastify';
import type { Gateway } from '../../core/context.ts';
import { LANGUAGES } from '../locales/index.ts';
import { readCookie } from '../read-cookie.ts';
import { cookieAttributes, type Place } from './kept-input.ts';

const NAME = 'turnpike_language';
const MAX_AGE_SECONDS = 180 * 86_400;

const isLanguage = (text: unknown): text is string => typeof text === 'string' && Object.hasOwn(LANGUAGES, text);

type LanguageRequest = Pick<FastifyRequest, 'headers' | 'query'>;
const asked = ({ query }: LanguageRequest): unknown => (query as { lang?: unknown } | undefined)?.lang;

/** The language of the link that the payer has just followed, else that of the cookie. */
export function chosenLanguage(request: LanguageRequest): string | undefined {
  const language = asked(request) ?? readCookie(request.headers, NAME, /^[a-z]{2}$/);
  return isLanguage(language) ? language : undefined;
}

/** Keeps the language of the link for the following pages. */
export function keepLanguage(
  gateway: Gateway,
  request: LanguageRequest,
  reply: FastifyReply,
  { account }: Pick<Place, 'account'>,
): void {
  const language = asked(request);
  if (!isLanguage(language)) return;
  const attributes = cookieAttributes(gateway, { path: '/pay', account });
  reply.header('set-cookie', `${NAME}=${language}; ${attributes}; Max-Age=${MAX_AGE_SECONDS}`);
}
