/** Amounts as Adyen counts them: in minor units, for some currencies with other fraction digits than ISO 4217. */
import { CURRENCIES } from '../../rules/currencies.ts';
import type { ReportedAmount } from '../connector.ts';

/** Where Adyen differs from ISO 4217 (https://docs.adyen.com/development-resources/currency-codes). */
const ADYEN_EXPONENTS: Readonly<Record<string, number>> = { CLP: 2, CVE: 0, IDR: 0, ISK: 2 };

export interface AdyenAmount {
  currency: string;
  value: number;
}

/** How many fraction digits more Adyen has than we; undefined for an unknown currency. */
function moreDigits(currency: string): number | undefined {
  const ours = CURRENCIES[currency]?.exponent;
  return ours === undefined ? undefined : (ADYEN_EXPONENTS[currency] ?? ours) - ours;
}

/** Shifts by so many digits; undefined if digits other than 0 would be lost. */
function shift(amount: bigint, digits: number): bigint | undefined {
  const factor = 10n ** BigInt(Math.abs(digits));
  if (digits >= 0) return amount * factor;
  return amount % factor === 0n ? amount / factor : undefined;
}

/** The amount for Adyen; undefined if Adyen cannot charge exactly this amount. */
export function toAdyen(amount: bigint, currency: string): AdyenAmount | undefined {
  const digits = moreDigits(currency);
  const value = digits === undefined ? undefined : shift(amount, digits);
  return value === undefined || value > Number.MAX_SAFE_INTEGER ? undefined : { currency, value: Number(value) };
}

/** An amount of Adyen in our minor units. */
export function fromAdyen(amount: { currency?: unknown; value?: unknown } | null | undefined): ReportedAmount {
  const { currency, value } = amount ?? {};
  if (typeof currency !== 'string' || !Number.isSafeInteger(value)) return 'invalid';
  const digits = moreDigits(currency);
  const converted = digits === undefined ? undefined : shift(BigInt(value as number), -digits);
  return converted === undefined ? 'invalid' : { amount: converted, currency };
}
