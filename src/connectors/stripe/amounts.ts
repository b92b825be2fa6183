/** Amounts as Stripe counts them: in the smallest unit of the currency, with exceptions. */
import { CURRENCIES } from '../../rules/currencies.ts';

/** Where Stripe counts other fraction digits than ISO 4217 (https://docs.stripe.com/currencies). */
const STRIPE_EXPONENTS: Readonly<Record<string, number>> = { ISK: 2, UGX: 2, MGA: 0 };

/** Stripe takes three fraction digits only if the last one is 0. */
const COARSE_EXPONENT = 3;

function exponentsOf(currency: string): { ours: number; stripes: number } | undefined {
  const ours = CURRENCIES[currency]?.exponent;
  return ours === undefined ? undefined : { ours, stripes: STRIPE_EXPONENTS[currency] ?? ours };
}

const scaled = (amount: bigint, from: number, to: number): bigint | undefined => {
  if (to >= from) return amount * 10n ** BigInt(to - from);
  const divisor = 10n ** BigInt(from - to);
  return amount % divisor === 0n ? amount / divisor : undefined;
};

/** Stripe takes amounts of eight digits. */
const MOST = 99_999_999n;

/** The amount for Stripe; undefined if Stripe cannot charge exactly this amount. */
export function toStripe(amount: bigint, currency: string): number | undefined {
  const exponents = exponentsOf(currency);
  const converted = exponents && scaled(amount, exponents.ours, exponents.stripes);
  if (converted === undefined || converted > MOST) return undefined;
  if (exponents?.stripes === COARSE_EXPONENT && converted % 10n !== 0n) return undefined;
  return Number(converted);
}

/** A part of an amount for Stripe, rounded down to what Stripe can charge; zero if it cannot be counted. */
export function shareForStripe(amount: bigint, currency: string, part: bigint, whole: bigint): number {
  const { ours = 0, stripes = 0 } = exponentsOf(currency) ?? {};
  const step = stripes === COARSE_EXPONENT ? 10n : 10n ** BigInt(Math.max(0, ours - stripes));
  const share = (amount * part) / whole;
  return toStripe(share - (share % step), currency) ?? 0;
}

/** An amount of Stripe in our minor units. */
export function fromStripe(amount: unknown, currency: unknown): { amount: bigint; currency: string } | undefined {
  const code = typeof currency === 'string' ? currency.toUpperCase() : '';
  const exponents = exponentsOf(code);
  if (!exponents || !Number.isSafeInteger(amount)) return undefined;
  const converted = scaled(BigInt(amount as number), exponents.stripes, exponents.ours);
  return converted === undefined ? undefined : { amount: converted, currency: code };
}
