/** Describes fields in English from their table entries, for the docs and the OpenAPI document. */
import type { Field } from '../../rules/fields.ts';
import { SETTINGS, type SettingName } from '../../rules/settings.ts';

const NEEDS: Record<Field['need'], string> = {
  must: 'required',
  may: 'optional',
  ask: 'requested from the payer if missing',
};

/** Whether a request without the field is always refused. */
export const isRequired = (field: Field): boolean =>
  field.need === 'must' &&
  !field.isSetting &&
  field.default === undefined &&
  !field.countries &&
  !field.exceptCountries;

/** Whether a field is required, and under which conditions. */
export function needOf(field: Field): string {
  const also = [
    field.methods && `required for ${field.methods.join(', ')}`,
    field.with && `ignored unless \`${field.with}\` is sent too`,
    field.alias && `\`${field.alias}\` is accepted too`,
    field.isForProvider && 'only if the provider needs it',
    field.isSecret && 'kept sealed',
    field.isTransient && 'not stored',
  ].filter((text) => typeof text === 'string');
  return [mainNeedOf(field), ...also].join('; ');
}

function mainNeedOf(field: Field): string {
  const { need, isSetting, default: fallback, countries, exceptCountries, needsCountry, methods } = field;
  if (isSetting) return 'from the account’s settings';
  if (methods) return 'requested from the payer if no payment method is complete';
  if (fallback !== undefined) return `optional, default \`${fallback}\``;
  const orUnknown = needsCountry ? '' : ' and if `payer_country` is not sent';
  if (countries)
    return `${NEEDS[need]}${need === 'ask' ? ',' : ''} for payers from ${countries.join(', ')}${orUnknown}`;
  if (exceptCountries) return `${NEEDS[need]}, except for payers from ${exceptCountries.join(', ')}`;
  return NEEDS[need];
}

const LIST = new Intl.ListFormat('en-GB');

/** The format of a valid value. */
export function expectsOf({ name, isSetting, items, expects, lengthMost }: Field): string {
  if (isSetting) return SETTINGS[name as SettingName].expects;
  if (items) return `list of objects with ${LIST.format(items.map(({ name }) => `\`${name}\``))}`;
  return lengthMost === undefined ? expects : `${expects}, at most ${lengthMost} characters`;
}

/** A field and, if it is a list, the members of its first object under their names in a form or in JSON. */
export const withMembers = (field: Field): Field[] => [
  field,
  ...(field.items ?? []).map((item) => ({
    ...item,
    name: field.name.includes('.') ? `${field.name}[].${item.name}` : `${field.name}[0][${item.name}]`,
  })),
];

/** The fields that a hash covers; the password is last. */
export const hashOver = (signs: readonly string[]): string =>
  [...signs.map((name) => `\`${name}\``), 'the password'].join(', ');
