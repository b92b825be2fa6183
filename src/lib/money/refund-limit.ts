/** Limits of refunds: decimal numbers that hold for every currency. */

/** Digits below four decimals have no meaning in any currency. */
const LIMIT = /^(\d{1,12})(?:\.(\d{1,4}))?$/;

export const isRefundLimit = (text: string): boolean => LIMIT.test(text);

/** The limit in minor units of a currency; what is below the minor unit is dropped. */
export function limitUnits(limit: string, exponent: number): bigint {
  const [, whole = '0', fraction = ''] = LIMIT.exec(limit) ?? [];
  return BigInt(whole + fraction.slice(0, exponent).padEnd(exponent, '0'));
}

/** Whether a limit allows nothing that another one does not; null means no limit. */
export const isWithinLimit = (limit: string | null, other: string | null): boolean =>
  other === null || (limit !== null && limitUnits(limit, 4) <= limitUnits(other, 4));
