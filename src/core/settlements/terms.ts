/** The terms by which an account is paid: delay, cycle, minimum, reserve and hold, for each currency. */
import { scaledDecimal } from '../../lib/money/decimal.ts';
import { isObject } from '../../lib/text/json.ts';
import { isTimeZone } from '../../lib/time/zones.ts';
import { PERCENT_DIGITS } from '../../rules/pricing.ts';
import { nextCut } from '../../rules/settlement-calendar.ts';
import { CYCLES, DELAY_DAYS_MOST, RESERVE_DAYS_MOST, type SettlementTerms } from '../../rules/settlements.ts';
import type { Gateway } from '../context.ts';
import { invalid, readAmount, readCurrency, readText, readWholeNumber } from '../ledger/input.ts';
import { auditEntry, type Caller } from '../operators/principal.ts';
import { cutCycles } from './cuts.ts';

export type { SettlementTerms } from '../../rules/settlements.ts';

/** As the caller sent them. */
export type TermsInput = Readonly<Record<(typeof TERMS_FIELDS)[number], unknown>>;
export const TERMS_FIELDS = [
  ...(['currency', 'cycle', 'weekday', 'day', 'delay_days', 'minimum', 'reserve', 'hold'] as const),
  ...(['time_zone', 'cut_off', 'business_days'] as const),
];

const isNone = (value: unknown): boolean => value === undefined || value === null;

function readReserve(value: unknown): Pick<SettlementTerms, 'reservePercent' | 'reserveDays'> {
  if (isNone(value)) return { reservePercent: null, reserveDays: null };
  const { percent, days } = isObject(value) ? value : {};
  const scaled =
    typeof percent === 'string' && /^\d{1,3}(\.\d{1,4})?$/.test(percent)
      ? scaledDecimal(percent, PERCENT_DIGITS)
      : undefined;
  if (
    typeof percent !== 'string' ||
    scaled === undefined ||
    scaled <= 0n ||
    scaled > 100n * 10n ** BigInt(PERCENT_DIGITS)
  )
    throw invalid('reserve.percent', 'A number above 0, at most 100, with at most four decimals, as a text.');
  return { reservePercent: percent, reserveDays: readWholeNumber(days, 'reserve.days', 1, RESERVE_DAYS_MOST) };
}

/** Of a time of day, such as 17:30. */
function readCutOff(value: unknown): number {
  if (isNone(value)) return 0;
  const [, hours, minutes] = (typeof value === 'string' && /^([01]\d|2[0-3]):([0-5]\d)$/.exec(value)) || [];
  if (hours === undefined) throw invalid('cut_off', 'A time of day from 00:00 to 23:59, such as 17:30.');
  return Number(hours) * 60 + Number(minutes);
}

function readTimeZone(value: unknown): string {
  if (isNone(value)) return 'UTC';
  if (typeof value === 'string' && isTimeZone(value)) return value;
  throw invalid('time_zone', 'The name of a time zone, such as Europe/Berlin or UTC.');
}

function readBusinessDays(value: unknown): boolean {
  if (isNone(value)) return false;
  if (typeof value === 'boolean') return value;
  throw invalid('business_days', 'true or false.');
}

function readTerms(input: TermsInput): Omit<SettlementTerms, 'validFrom'> {
  const currency = readCurrency(input.currency);
  const cycle = CYCLES.find((one) => one === input.cycle);
  if (!cycle) throw invalid('cycle', `One of ${CYCLES.join(', ')}.`);
  /** A member that only one cycle has. */
  const only = (field: 'weekday' | 'day', owner: string, most: number): number | null => {
    if (cycle === owner) return readWholeNumber(input[field], field, 1, most);
    if (isNone(input[field])) return null;
    throw invalid(field, `Only with cycle ${owner}.`);
  };
  return {
    currency,
    cycle,
    weekday: only('weekday', 'weekly', 7),
    day: only('day', 'monthly', 31),
    timeZone: readTimeZone(input.time_zone),
    cutOff: readCutOff(input.cut_off),
    businessDays: readBusinessDays(input.business_days),
    delayDays: readWholeNumber(input.delay_days, 'delay_days', 0, DELAY_DAYS_MOST),
    minimum: isNone(input.minimum) ? null : readAmount(input.minimum, currency, 'minimum'),
    ...readReserve(input.reserve),
    hold: isNone(input.hold) ? null : readText(input.hold, 'hold', 'Why nothing is paid, in words, or null.'),
  };
}

/** The terms of an account in each currency that has any. */
export const listTerms = (gateway: Gateway, mid: string): Promise<SettlementTerms[]> => gateway.terms.current(mid);

const audited = ({ validFrom: _, minimum, ...terms }: SettlementTerms) => ({
  ...terms,
  minimum: minimum === null ? null : String(minimum),
});

/** Sets the terms of later sales, and of the next cut. A cut that is due is made first, by the terms until now. */
export async function setTerms(gateway: Gateway, by: Caller, mid: string, input: TermsInput): Promise<SettlementTerms> {
  const wanted = readTerms(input);
  const owner = { mid, currency: wanted.currency };
  for (;;) {
    const set = await gateway.terms.add(owner, ({ newest, holidays, dueAt }) => {
      const now = gateway.clock.now(mid);
      // One that failed is due again later, but before the next one.
      if (newest && dueAt !== null && dueAt < (nextCut(newest, now, holidays) ?? 0)) return undefined;
      const terms = { ...wanted, validFrom: Math.max(now, (newest?.validFrom ?? 0) + 1) };
      return {
        change: { ...terms, dueAt: nextCut(terms, now, holidays) ?? null },
        audit: auditEntry(gateway, by, 'settlements.set_terms', {
          mid,
          before: newest ? audited(newest) : null,
          after: audited(terms),
        }),
      };
    });
    if (set) return set;
    await cutCycles(gateway, [owner]);
  }
}
