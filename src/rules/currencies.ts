/** The payment currencies of ISO 4217, by alphabetic code. */
import { CODES_BY_EXPONENT } from '../lib/money/iso-4217.ts';

export type Currency = Readonly<{ numeric: string; exponent: 0 | 2 | 3 }>;

function tableOf(exponent: Currency['exponent']): [string, Currency][] {
  return CODES_BY_EXPONENT[exponent]
    .trim()
    .split(/\s+/)
    .map((entry) => [entry.slice(0, 3), Object.freeze({ numeric: entry.slice(3), exponent })]);
}

// Without a prototype, so that a code such as `constructor` from a request is not found.
export const CURRENCIES: Readonly<Record<string, Currency>> = Object.freeze(
  Object.assign(Object.create(null), Object.fromEntries([...tableOf(0), ...tableOf(2), ...tableOf(3)])),
);

/** The fraction digits of a currency; two for a code that is not known. */
export const exponentOf = (currency: string): number => CURRENCIES[currency]?.exponent ?? 2;
