/** The one way in which people read amounts: on the payment page, on receipts, in e-mails and in the panel. */
import { amountText } from '../lib/money.ts';
import { CURRENCIES } from '../rules/currencies.ts';

/** Every language is written with the digits that cards and codes have, whatever the region prefers. */
export const DIGITS = { numberingSystem: 'latn' } as const;

export interface Amount {
  /** In minor units. */
  amount: bigint;
  currency: string;
}

/** Creating a format costs more than rendering a page, so formats are cached. */
const formats = new Map<string, Intl.NumberFormat>();
const MAX_CACHED = 2000;

function formatOf(tag: string, currency: string, exponent: number): Intl.NumberFormat {
  const key = `${tag} ${currency}`;
  const cached = formats.get(key);
  if (cached) return cached;
  if (formats.size >= MAX_CACHED) formats.clear();
  const format = new Intl.NumberFormat(tag, {
    ...DIGITS,
    style: 'currency',
    currency,
    currencyDisplay: 'code',
    // The fraction digits come from our currency table, which differs from that of the runtime.
    minimumFractionDigits: exponent,
    maximumFractionDigits: exponent,
  });
  formats.set(key, format);
  return format;
}

/** An amount with its currency in the language of this tag. */
export function formatAmount(tag: string, { amount, currency }: Amount): string {
  const exponent = CURRENCIES[currency]?.exponent ?? 2;
  // Formats the decimal string: a JavaScript number could round it.
  return formatOf(tag, currency, exponent).format(amountText(amount, exponent) as unknown as number);
}
