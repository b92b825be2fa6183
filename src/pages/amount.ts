/** The one way in which people read amounts: with a symbol on the payment page, receipts and e-mails, with a code in the panel. */
import { amountText } from '../lib/money/money.ts';
import { exponentOf } from '../rules/currencies.ts';

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

/** `code` is the same everywhere; `symbol` is what people of a region write, such as `$`, and longer where that is ambiguous. */
export type CurrencyDisplay = 'code' | 'symbol';

function formatOf(tag: string, currency: string, exponent: number, display: CurrencyDisplay): Intl.NumberFormat {
  const key = `${tag} ${currency} ${display}`;
  const cached = formats.get(key);
  if (cached) return cached;
  if (formats.size >= MAX_CACHED) formats.clear();
  const format = new Intl.NumberFormat(tag, {
    ...DIGITS,
    style: 'currency',
    currency,
    currencyDisplay: display,
    // The fraction digits come from our currency table, which differs from that of the runtime.
    minimumFractionDigits: exponent,
    maximumFractionDigits: exponent,
  });
  formats.set(key, format);
  return format;
}

/** An amount with its currency in the language of this tag. */
export function formatAmount(tag: string, { amount, currency }: Amount, display: CurrencyDisplay = 'code'): string {
  const exponent = exponentOf(currency);
  // Formats the decimal string: a JavaScript number could round it.
  return formatOf(tag, currency, exponent, display).format(amountText(amount, exponent) as unknown as number);
}
