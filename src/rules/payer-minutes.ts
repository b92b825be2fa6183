/** The account setting that says how long payers have for a method, and the time that follows from it. */
import { isObject } from '../lib/text/json.ts';
import { BRANDS, brandOf, CARD } from './brands.ts';
import { LIMITS } from './limits.ts';
import { kind, row } from './setting-kinds.ts';

/** Whole numbers, or their digits, as a form has them. */
export type PayerMinutes = Readonly<Record<string, number | string>>;

const isMinutes = (value: unknown): boolean =>
  (typeof value === 'number' ? Number.isInteger(value) : /^\d{1,3}$/.test(typeof value === 'string' ? value : '')) &&
  Number(value) >= 1 &&
  Number(value) <= LIMITS.sessionMinutesMost;

const minutesByBrand = kind(
  `an object of brand label: whole number of minutes from 1 to ${LIMITS.sessionMinutesMost}, such as {"ideal": 15}`,
  (value) =>
    isObject(value) &&
    Object.entries(value).every(
      ([label, minutes]) => (label === CARD || Object.hasOwn(BRANDS, label)) && isMinutes(minutes),
    ),
  'pairs',
);

export const PAYER_SETTINGS = {
  payer_minutes: row<PayerMinutes>(
    {},
    minutesByBrand,
    'The minutes that payers have for a method, by brand label, in place of those of the gateway: a payer who has not finished by then cannot pay any more. In a session, never longer than the session.',
  ),
};

/** How long a payer may take for a method, if that is fixed by the account or the brand. */
export function payerTimeOf(
  { payer_minutes: minutes }: Readonly<{ payer_minutes: PayerMinutes }>,
  label: string,
): number | undefined {
  const set = Object.hasOwn(minutes, label) ? minutes[label] : undefined;
  return set === undefined ? brandOf(label)?.payerTimeMs : Number(set) * LIMITS.minuteMs;
}
