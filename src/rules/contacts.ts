/** The addresses at which people are reached: what is accepted as an e-mail address, a phone number or a link. */
import { isText } from '../lib/text/json.ts';
import { isSeen } from '../lib/text/plain-text.ts';

/** Longer addresses cannot be delivered to. */
const MAIL_LENGTH = 254;

/**
 * One address without a name, quotes, comments or encoded words. Nothing that separates addresses or headers is accepted,
 * so that no header of an e-mail can be added by it.
 */
const MAIL_ADDRESS =
  /^(?!.*=\?)[^\s"'(),:;<>@[\\\]]{1,64}@(?:[\p{L}\p{N}](?:[\p{L}\p{N}-]{0,61}[\p{L}\p{N}])?\.)+\p{L}[\p{L}\p{N}-]{0,61}[\p{L}\p{N}]$/u;

export const isMailAddress = (value: unknown): value is string =>
  isText(value, MAIL_LENGTH) && isSeen(value) && MAIL_ADDRESS.test(value);

export const isPhone = (value: unknown): value is string =>
  typeof value === 'string' && /^\+?[\d ()./-]{3,32}$/.test(value) && /\d{2}/.test(value);

/** A link for payers: an https address without a password in it, or a mailto address. */
export function isPublicLink(value: unknown): value is string {
  const url = isText(value, 2048) && !/[\s\p{C}]/u.test(value) ? URL.parse(value) : null;
  if (url?.protocol === 'mailto:') return isMailAddress(decodeURIComponentOr(url.pathname));
  return url?.protocol === 'https:' && url.username === '' && url.password === '';
}

function decodeURIComponentOr(text: string): string {
  try {
    return decodeURIComponent(text);
  } catch {
    return '';
  }
}
