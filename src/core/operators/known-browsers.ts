/** Known browsers: a cookie that only this gateway can make says that an operator signed in in this browser before. */
import { newSecret } from '../../lib/crypto/id.ts';
import { LIMITS } from '../../rules/limits.ts';
import type { Gateway } from '../context.ts';

const PURPOSE = 'operator browser';

const textOf = (issuedAt: string, id: string, email: string): string => `${issuedAt} ${id} ${email}`;

/** The value of the cookie for the operator with this e-mail address; each sign-in makes a new one. */
export function newBrowserCookie(
  { clock, fingerprints }: Pick<Gateway, 'clock' | 'fingerprints'>,
  email: string,
): string {
  const issuedAt = String(Math.floor(clock.real() / 1000));
  const id = newSecret(16);
  return `${issuedAt}.${id}.${fingerprints.tag(textOf(issuedAt, id, email), PURPOSE)}`;
}

/** The id of the browser; undefined if the cookie is not ours, is for another operator, or is too old. */
export function knownBrowser(
  { clock, fingerprints }: Pick<Gateway, 'clock' | 'fingerprints'>,
  email: string,
  cookie: string,
): string | undefined {
  const [issuedAt = '', id = '', tag = ''] = cookie.split('.');
  const isRecent = clock.real() - Number(issuedAt) * 1000 < LIMITS.knownBrowserMs;
  return isRecent && fingerprints.isTag(tag, textOf(issuedAt, id, email), PURPOSE) ? id : undefined;
}
