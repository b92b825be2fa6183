/** Reads what callers send about the ledger and settlements; a refusal names the field and what was expected. */
import { isUuid } from '../../lib/crypto/id.ts';
import { minorUnits } from '../../lib/money/money.ts';
import { CURRENCIES, exponentOf } from '../../rules/currencies.ts';
import { invalidField, type Refusal } from '../../rules/errors.ts';
import { SENTENCES } from '../../rules/fields.ts';
import { requireAccount } from '../accounts/require-account.ts';
import type { Gateway } from '../context.ts';
import type { Principal } from '../operators/principal.ts';
import { readNote } from '../payments/resolve.ts';

export const invalid = (field: string, expected: string, sentence: string = SENTENCES.invalid): Refusal =>
  invalidField(field, sentence, { expected });

export function readCurrency(value: unknown): string {
  if (typeof value === 'string' && Object.hasOwn(CURRENCIES, value)) return value;
  throw invalid('currency', 'The code of a currency, such as EUR.');
}

/** An amount above zero, in minor units. */
export function readAmount(value: unknown, currency: string, field = 'amount'): bigint {
  const amount = typeof value === 'string' ? minorUnits(value.trim(), exponentOf(currency)) : undefined;
  if (typeof amount === 'bigint') return amount;
  throw invalid(field, 'A number above zero as a text, such as "12.50".');
}

export function readWholeNumber(value: unknown, field: string, least: number, most: number): number {
  if (typeof value === 'number' && Number.isInteger(value) && value >= least && value <= most) return value;
  throw invalid(field, `A whole number from ${least} to ${most}.`);
}

/** A text that is not blank. */
export function readText(value: unknown, field: string, expected: string): string {
  const text = typeof value === 'string' ? readNote(value, field) : '';
  if (text === '') throw invalid(field, expected, value === undefined ? SENTENCES.blank : SENTENCES.invalid);
  return text;
}

/** The account that a body names, if the caller may see it. */
export async function readMid(gateway: Gateway, principal: Principal, value: unknown): Promise<string> {
  if (typeof value !== 'string' || !isUuid(value)) throw invalid('mid', 'The id of an account.');
  return (await requireAccount(gateway, principal, value)).mid;
}
