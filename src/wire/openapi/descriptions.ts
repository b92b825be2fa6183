/** What the rows say of a field, in words: for the docs and for the OpenAPI document. */
import type { Field } from '../../rules/fields.ts';
import { SETTINGS, type SettingName } from '../../rules/settings.ts';

const NEEDS: Record<Field['need'], string> = { must: 'required', may: 'optional', ask: 'asked' };

/** Whether a request without the field is always refused. */
export const isRequired = (field: Field): boolean =>
  field.need === 'must' &&
  !field.isSetting &&
  field.default === undefined &&
  !field.countries &&
  !field.exceptCountries;

/** Whether a request needs the field, and under which conditions. */
export function needOf(field: Field): string {
  const also = [
    field.methods && `needed for ${field.methods.join(', ')}`,
    field.with && `ignored unless \`${field.with}\` is sent too`,
    field.alias && `\`${field.alias}\` is accepted too`,
    field.isSecret && 'kept sealed',
  ].filter((words) => typeof words === 'string');
  return [mainNeedOf(field), ...also].join('; ');
}

function mainNeedOf(field: Field): string {
  const { need, isSetting, default: fallback, countries, exceptCountries, needsCountry, methods } = field;
  if (isSetting) return 'from the account’s settings';
  if (methods) return 'asked when no way to pay is complete';
  if (fallback !== undefined) return `optional, default \`${fallback}\``;
  const word = NEEDS[need];
  const who = need === 'ask' ? 'from payers' : 'for payers';
  const orUnknown = needsCountry ? '' : ' and when `payer_country` is not sent';
  if (countries) return `${word} ${who} from ${countries.join(', ')}${orUnknown}`;
  if (exceptCountries) return `${word}, but not ${who} from ${exceptCountries.join(', ')}`;
  return need === 'ask' ? 'asked from the payer when it is not sent' : word;
}

/** What the value has to be. */
export function expectsOf({ name, isSetting, items, expects, lengthMost }: Field): string {
  if (isSetting) return SETTINGS[name as SettingName].expects;
  if (items) return `list of objects with ${items.map(({ name }) => `\`${name}\``).join(' and ')}`;
  return lengthMost === undefined ? expects : `${expects}, at most ${lengthMost} characters`;
}

/** A row and, where it is a list, the members of its first object under the names that are sent. */
export const withMembers = (field: Field): Field[] => [
  field,
  ...(field.items ?? []).map((item) => ({ ...item, name: `${field.name}[0][${item.name}]` })),
];

/** What a hash covers; the password comes last. */
export const hashOver = (signs: readonly string[]): string =>
  [...signs.map((name) => `\`${name}\``), 'the password'].join(', ');
