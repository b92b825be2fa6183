/** The kinds of account settings: how each value is checked, described and asked for in a form. */
import { isText } from '../lib/text/json.ts';
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
export const choice = (...choices: string[]) =>
  kind(`one of ${choices.join(', ')}`, (value) => choices.includes(value as string), choices);

export const publicLink = kind('an https or mailto address, or empty', (value) => value === '' || isPublicLink(value));
export const emailAddress = kind('an e-mail address, or empty', (value) => value === '' || isMailAddress(value));
export const phone = kind('a phone number such as +49 30 1234567, or empty', (value) => value === '' || isPhone(value));
