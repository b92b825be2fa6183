/** Amounts as Checkout.com counts them: in minor units, with exceptions. */
import { CURRENCIES } from '../../rules/currencies.ts';
import type { ReportedAmount } from '../connector.ts';

/** Where Checkout.com counts other fraction digits than ISO 4217 (https://www.checkout.com/docs/payments/accept-payments/format-the-amount-value). */
const EXPONENTS: Readonly<Record<string, number>> = { CLP: 2 };

/** Three fraction digits are taken only if the last one is 0. */
const COARSE_EXPONENT = 3;
const MOST = 999_999_999n;

/** The factor between our minor units and those of Checkout.com; undefined for an unknown currency. */
function factorOf(currency: string): { factor: bigint; exponent: number } | undefined {
  const ours = CURRENCIES[currency]?.exponent;
  if (ours === undefined) return undefined;
  const exponent = EXPONENTS[currency] ?? ours;
  return { factor: 10n ** BigInt(exponent - ours), exponent };
}

/** The amount for Checkout.com; undefined if it cannot charge exactly this amount. */
export function toCheckout(amount: bigint, currency: string): number | undefined {
  const found = factorOf(currency);
  if (!found) return undefined;
  const value = amount * found.factor;
  const isCoarse = found.exponent === COARSE_EXPONENT && value % 10n !== 0n;
  return isCoarse || value > MOST ? undefined : Number(value);
}

/** An amount of Checkout.com in our minor units. */
export function fromCheckout(amount: unknown, currency: unknown): ReportedAmount {
  const found = typeof currency === 'string' ? factorOf(currency) : undefined;
  if (!found || !Number.isSafeInteger(amount)) return 'invalid';
  const value = BigInt(amount as number);
  return value % found.factor === 0n ? { amount: value / found.factor, currency: currency as string } : 'invalid';
}
