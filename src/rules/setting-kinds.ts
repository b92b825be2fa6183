/** The kinds of account settings: how each value is checked, described and asked for in a form. */
import { isLoopbackHost } from '../lib/http/address.ts';
import { isRefundLimit } from '../lib/money/refund-limit.ts';
import { isText } from '../lib/text/json.ts';
import { isPlainText } from '../lib/text/plain-text.ts';
import type { CallbackReach } from './callback-address.ts';
import { isMailAddress, isPhone, isPublicLink } from './contacts.ts';

export interface Row<Value> {
  default: Value;
  /** The default in the sandbox, where it differs. */
  sandboxDefault?: Value;
  /** Returns the error message for an invalid value. */
  check: (value: unknown, reach: CallbackReach) => string | undefined;
  expects: string;
  about: string;
  /** How a form asks for the value. */
  input: SettingInput;
  /** Write-only: sealed, and read back as `set` or empty. */
  isSecret?: true;
}

/** A list is one value per line; pairs are one `name: value` per line; a list of texts offers these choices. */
export type SettingInput = 'flag' | 'text' | 'number' | 'list' | 'pairs' | 'json' | 'pem' | readonly string[];

export const row = <Value>(
  value: Value,
  kind: Pick<Row<Value>, 'check' | 'expects' | 'input'>,
  about: string,
  traits: Pick<Row<Value>, 'sandboxDefault' | 'isSecret'> = {},
): Row<Value> => ({
  default: value,
  ...kind,
  about,
  ...traits,
});

export const kind = (expects: string, accepts: (value: unknown) => boolean, input: SettingInput = 'text') => ({
  expects,
  input,
  check: (value: unknown) => (accepts(value) ? undefined : `This value should be ${expects}.`),
});

export const isTexts = (value: unknown, accepts: (text: string) => boolean): boolean =>
  Array.isArray(value) && value.length <= 200 && value.every((entry) => isText(entry, 255) && accepts(entry));

export const flag = kind('true or false', (value) => typeof value === 'boolean', 'flag');
export const text = (most: number) => kind(`a text of ${most} characters or less`, (value) => isText(value, most));
/** A text that payers see: nothing in it is hidden or turns the letters around. */
export const shownText = (most: number) =>
  kind(
    `a text of ${most} characters or less without control characters`,
    (value) => isText(value, most) && isPlainText(value),
  );
export const choice = (...choices: string[]) =>
  kind(`one of ${choices.join(', ')}`, (value) => choices.includes(value as string), choices);

export const decimal = kind(
  'a number such as 500.00, or empty',
  (value) => value === '' || (typeof value === 'string' && isRefundLimit(value)),
);

export const publicLink = kind('an https or mailto address, or empty', (value) => value === '' || isPublicLink(value));
export const emailAddress = kind('an e-mail address, or empty', (value) => value === '' || isMailAddress(value));
export const phone = kind('a phone number such as +49 30 1234567, or empty', (value) => value === '' || isPhone(value));

export const colour = kind('a colour such as #1a7f5a, or empty', (value) =>
  /^(#[0-9a-f]{6})?$/i.test(typeof value === 'string' ? value : '?'),
);

export const locale = kind('a language tag such as en or pt-BR, or empty', (value) =>
  /^([a-z]{2,3}(-[A-Za-z0-9]{2,8})*)?$/.test(typeof value === 'string' ? value : '?'),
);

export const origins = kind(
  'a list of https origins such as https://shop.example, or http ones on this machine',
  (value) =>
    isTexts(value, (text) => {
      // A wildcard would allow every site, and other characters have a meaning in the Content-Security-Policy header.
      const url = /^[\w.:/[\]-]+$/.test(text) ? URL.parse(text) : null;
      return (
        url?.origin === text &&
        (url.protocol === 'https:' || (url.protocol === 'http:' && isLoopbackHost(url.hostname)))
      );
    }),
  'list',
);

export const country = kind('two capital letters such as DE, or empty', (value) =>
  /^([A-Z]{2})?$/.test(typeof value === 'string' ? value : '?'),
);
