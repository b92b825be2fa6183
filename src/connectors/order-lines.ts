/** The lines of an order for providers that demand them, such as for pay-later methods. */
import type { Submission } from './connector.ts';

/** Amounts in minor units; a discount is negative. */
export interface ProviderLine {
  kind: 'item' | 'shipping' | 'tax' | 'discount';
  name: string;
  quantity: number;
  unitAmount: bigint;
}

const EXTRAS = { shipping: 'Shipping', tax: 'Tax', discount: 'Discount' } as const;

/** The lines that the merchant sent, or else one for the whole order. They add up to the amount of the payment. */
export function linesOf({ lines, amount, description, reference }: Submission): ProviderLine[] {
  if (!lines) return [{ kind: 'item', name: description || reference, quantity: 1, unitAmount: amount }];
  const items = lines.items.map(({ name, quantity, unitAmount, amount: total }): ProviderLine => {
    if (unitAmount !== undefined) return { kind: 'item', name, quantity, unitAmount: BigInt(unitAmount) };
    // The total need not be divisible.
    const counted = quantity === 1 ? name : `${quantity} × ${name}`;
    return { kind: 'item', name: counted, quantity: 1, unitAmount: BigInt(total) };
  });
  const extras = Object.entries(EXTRAS).map(([kind, name]): ProviderLine => {
    const units = BigInt(lines[kind as keyof typeof EXTRAS] ?? 0);
    return { kind: kind as keyof typeof EXTRAS, name, quantity: 1, unitAmount: kind === 'discount' ? -units : units };
  });
  return [...items, ...extras.filter(({ unitAmount }) => unitAmount !== 0n)];
}
