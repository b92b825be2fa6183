/** Amounts as PayPal writes them: decimal text, without decimals for some currencies. */
import { amountText, minorUnits } from '../../lib/money/money.ts';
import { exponentOf } from '../../rules/currencies.ts';
import type { ReportedAmount } from '../connector.ts';
import type { Money } from './types.ts';

/** The currencies of https://developer.paypal.com/api/rest/reference/currency-codes/. */
const CURRENCIES: ReadonlySet<string> = new Set(
  'AUD BRL CAD CHF CNY CZK DKK EUR GBP HKD HUF ILS JPY MXN MYR NOK NZD PHP PLN SEK SGD THB TWD USD'.split(' '),
);

/** PayPal takes no decimals of these. */
const WHOLE: readonly string[] = ['HUF', 'JPY', 'TWD'];

/** The amount for PayPal; undefined if PayPal cannot charge exactly this amount. */
export function toPaypal(amount: bigint, currency: string): Money | undefined {
  if (!CURRENCIES.has(currency)) return undefined;
  const exponent = exponentOf(currency);
  const value = amountText(amount, exponent);
  if (!WHOLE.includes(currency)) return { currency_code: currency, value };
  return value.endsWith('.00') ? { currency_code: currency, value: value.slice(0, -3) } : undefined;
}

/** An amount of PayPal in our minor units. */
export function fromPaypal(money: Partial<Money> | null | undefined): ReportedAmount {
  const { currency_code: currency, value } = money ?? {};
  if (typeof currency !== 'string' || typeof value !== 'string') return 'invalid';
  const amount = minorUnits(value, exponentOf(currency), 'whole');
  return typeof amount === 'bigint' ? { amount, currency } : 'invalid';
}
