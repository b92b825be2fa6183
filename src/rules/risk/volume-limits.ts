/** The volume limits of an account: how much it may take per payment, day and month. */
import { minorUnits } from '../../lib/money/money.ts';
import { isObject } from '../../lib/text/json.ts';
import { BRANDS, CARD } from '../brands.ts';
import { CURRENCIES, exponentOf } from '../currencies.ts';
import { LIMITS } from '../limits.ts';

export const VOLUME_PERIODS = ['payment', 'day', 'month'] as const;
export type VolumePeriod = (typeof VOLUME_PERIODS)[number];

export interface VolumeLimit {
  per: VolumePeriod;
  currency: string;
  /** Empty for all. */
  brands: string[];
  amount?: string;
  count?: number;
}

const KNOWN = ['per', 'currency', 'brands', 'amount', 'count'];
const LIMITS_MOST = 50;
const COUNT_MOST = 10_000_000;

/** How long before its decision a payment may have been opened, at most: longer than any session. */
export const OPENED_BEFORE_MS = LIMITS.dayMs;

export const limitUnits = ({ amount, currency }: VolumeLimit): bigint | undefined => {
  const units = amount === undefined ? 'malformed' : minorUnits(amount, exponentOf(currency));
  return units === 'zero' ? 0n : units === 'malformed' ? undefined : units;
};

export function isVolumeLimit(value: unknown): value is VolumeLimit {
  if (!isObject(value) || Object.keys(value).some((name) => !KNOWN.includes(name))) return false;
  const { per, currency, brands, amount, count } = value as unknown as VolumeLimit;
  const isBrand = (label: unknown): boolean =>
    label === CARD || (typeof label === 'string' && Object.hasOwn(BRANDS, label));
  const isCurrency = typeof currency === 'string' && CURRENCIES[currency] !== undefined;
  return (
    VOLUME_PERIODS.includes(per) &&
    isCurrency &&
    Array.isArray(brands) &&
    brands.every(isBrand) &&
    (amount !== undefined || count !== undefined) &&
    (amount === undefined ||
      (typeof amount === 'string' && minorUnits(amount, exponentOf(currency)) !== 'malformed')) &&
    (count === undefined || (per !== 'payment' && Number.isInteger(count) && count >= 0 && count <= COUNT_MOST))
  );
}

export const areVolumeLimits = (value: unknown): value is VolumeLimit[] =>
  Array.isArray(value) && value.length <= LIMITS_MOST && value.every(isVolumeLimit);

/** The start of the period by UTC, and of the next one. */
export function periodOf(per: VolumePeriod, now: number): { since: number; until: number } {
  const date = new Date(now);
  const [year, month, day] = [date.getUTCFullYear(), date.getUTCMonth(), date.getUTCDate()];
  return per === 'month'
    ? { since: Date.UTC(year, month), until: Date.UTC(year, month + 1) }
    : { since: Date.UTC(year, month, day), until: Date.UTC(year, month, day + 1) };
}
