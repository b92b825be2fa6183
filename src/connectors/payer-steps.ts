/** Composes what a payer does next from the texts of a provider; undefined if there is nothing to show. */
import { isText } from '../lib/text/json.ts';
import type { CheckResult, PayerStep } from './connector.ts';

const LENGTH = 2048;

export const isWebAddress = (value: unknown): value is string => isText(value, LENGTH) && /^https?:\/\//.test(value);

export const redirectStep = (url: unknown): PayerStep | undefined =>
  isWebAddress(url) ? { kind: 'redirected', url, method: 'GET', params: {} } : undefined;

export const codeStep = (code: unknown): PayerStep | undefined =>
  isText(code, LENGTH) && code !== '' ? { kind: 'accepted', code } : undefined;

/** Instructions in this order, without those that are missing; a date alone says nothing. */
export function instructionsStep(texts: Readonly<Record<string, unknown>>): PayerStep | undefined {
  const known = Object.entries(texts).filter(
    (entry): entry is [string, string] => isText(entry[1], LENGTH) && entry[1] !== '',
  );
  return known.some(([name]) => name !== 'expires')
    ? { kind: 'accepted', instructions: Object.fromEntries(known) }
    : undefined;
}

/** Adds to the result of a check which methods of the connection cannot be used. */
export function warnOfUnshown(
  result: CheckResult,
  settings: Readonly<Record<string, unknown>>,
  unshown: readonly string[],
): CheckResult {
  const methods = Object.values((settings.methods ?? {}) as Record<string, string>);
  const found = [...new Set(methods.filter((method) => unshown.includes(method)))];
  if (!result.ok || found.length === 0) return result;
  return { ...result, detail: `${result.detail} The payment page cannot show these methods: ${found.join(', ')}.` };
}
