/** The cookies of the panel, for the session and for a known browser, and the check that a form was sent by a page of the panel itself. */
import { timingSafeEqual } from 'node:crypto';
import type { FastifyReply, FastifyRequest } from 'fastify';
import type { Gateway } from '../../../core/context.ts';
import { panelOrigins } from '../../../core/operators/panel-address.ts';
import type { Session } from '../../../core/operators/sessions.ts';
import type { SignedIn } from '../../../core/operators/sign-in.ts';
import type { Form } from '../../../lib/text/form.ts';
import { LIMITS } from '../../../rules/limits.ts';
import { isCrossSite } from '../../cross-site.ts';
import { readCookie } from '../../read-cookie.ts';

/** The prefix makes browsers refuse the cookie unless it is secure, and from any other host. */
const NAME = '__Host-turnpike_session';
const BROWSER = '__Host-turnpike_browser';
const ATTRIBUTES = 'Path=/; Secure; HttpOnly; SameSite=Lax';

/** The value of the session cookie; undefined if there is none. */
export const sessionCookie = ({ headers }: Pick<FastifyRequest, 'headers'>): string | undefined =>
  readCookie(headers, NAME, /^[0-9a-f]{64}$/);

/** The value of the cookie of a known browser; empty if there is none. */
export const browserCookie = ({ headers }: Pick<FastifyRequest, 'headers'>): string =>
  readCookie(headers, BROWSER, /^\d{1,12}\.[0-9a-f]{32}\.[\w-]{1,64}$/) ?? '';

/** Sets the cookies of an operator who has signed in. */
export const setCookies = (reply: FastifyReply, { cookie, browser }: SignedIn): FastifyReply =>
  reply
    .header('set-cookie', `${NAME}=${cookie}; ${ATTRIBUTES}; Max-Age=${LIMITS.operatorSessionMs / 1000}`)
    .header('set-cookie', `${BROWSER}=${browser}; ${ATTRIBUTES}; Max-Age=${LIMITS.knownBrowserMs / 1000}`);

export const clearSessionCookie = (reply: FastifyReply): FastifyReply =>
  reply.header('set-cookie', `${NAME}=; ${ATTRIBUTES}; Max-Age=0`);

/** A form that no page of the panel sent, or that belongs to another session; answered with 403. */
export class ForeignForm extends Error {
  readonly statusCode = 403;

  constructor() {
    super('The form was not sent by a page of this session.');
  }
}

const isSame = (given: string, expected: string): boolean => {
  const [a, b] = [Buffer.from(given), Buffer.from(expected)];
  return a.length === b.length && timingSafeEqual(a, b);
};

/** Whether a page of the panel sent the form and, with a session, a page of this session. */
export function isOwnForm(
  { publicUrl }: Pick<Gateway, 'publicUrl'>,
  { headers, body }: Pick<FastifyRequest, 'headers' | 'body'>,
  session?: Session,
): boolean {
  const token = (body as Form | undefined)?.values.get('form_token') ?? '';
  return !isCrossSite(headers, panelOrigins(publicUrl)) && (!session || isSame(token, session.formToken));
}

/** Refuses a form that no page of the panel, or of the session, sent. */
export function requireOwnForm(...of: Parameters<typeof isOwnForm>): void {
  if (!isOwnForm(...of)) throw new ForeignForm();
}

/** A path below `/admin` to go to after a sign-in; any other value leads to the overview. */
export function panelPath(next: string | undefined): string {
  const base = 'http://panel';
  if (next === undefined || !/^\/admin(?:[/?]|$)/.test(next) || !URL.canParse(next, base)) return '/admin';
  const { origin, pathname, search } = new URL(next, base);
  const isPage =
    /^\/admin(?:\/|$)/.test(pathname) && !/^\/admin\/(?:api|sign-in|sign-out|confirm)(?:\/|$)/.test(pathname);
  return origin === base && isPage ? pathname + search : '/admin';
}
