/** The exemption of low amounts: how much a card may pay by it before its bank wants to authenticate the payer again. */
import { minorUnits } from '../../lib/money/money.ts';
import { exponentOf } from '../currencies.ts';

/** What a card has paid by the exemption since its last payment without one. */
export interface LowValueUse {
  count: number;
  /** In the currency of the payment. */
  amount: bigint;
}

export const NO_LOW_VALUE_USE: LowValueUse = { count: 0, amount: 0n };

/** Consecutive payments, by Article 16 of the technical standards on strong customer authentication. */
const COUNT_MOST = 5;

/** The most of one payment and of all. In dollars they are below the euros of the article; other currencies have no exemption. */
const AMOUNTS: Readonly<Record<string, { payment: string; total: string }>> = {
  EUR: { payment: '30.00', total: '100.00' },
  GBP: { payment: '25.00', total: '85.00' },
  USD: { payment: '30.00', total: '100.00' },
};

const unitsOf = (amount: string, currency: string): bigint => minorUnits(amount, exponentOf(currency)) as bigint;

/** Whether a payment may still ask for the exemption. */
export function isLowValue(amount: bigint, currency: string, used: LowValueUse): boolean {
  const most = AMOUNTS[currency];
  if (!most || used.count >= COUNT_MOST) return false;
  return amount <= unitsOf(most.payment, currency) && used.amount + amount <= unitsOf(most.total, currency);
}
