/** The calendar of settlements: business days, the cuts of a cycle in the account's time zone, and when a sale is available. */
import { dayNumber, dayText, localDay, momentIn } from '../lib/time/zones.ts';
import type { SettlementTerms } from './settlements.ts';

export interface Holiday {
  /** Such as 2026-12-25. */
  day: string;
  name: string;
}

/** The holidays of the installation, from a time on. */
export interface HolidayList {
  validFrom: number;
  days: ReadonlySet<string>;
}

export const HOLIDAYS_MOST = 1000;
const NO_HOLIDAYS: ReadonlySet<string> = new Set();

/** The holidays as they were known at a moment; the lists are in the order of their times. */
export const holidaysAt = (lists: readonly HolidayList[], at: number): ReadonlySet<string> =>
  lists.findLast(({ validFrom }) => validFrom <= at)?.days ?? NO_HOLIDAYS;

/** From 1, Monday, to 7; the first day of 1970 was a Thursday. */
const weekdayOf = (day: number): number => ((((day + 3) % 7) + 7) % 7) + 1;

const isBusinessDay = (day: number, holidays: ReadonlySet<string>): boolean =>
  weekdayOf(day) <= 5 && !holidays.has(dayText(day));

/** This day, or the first business day after it. */
function businessDayFrom(day: number, holidays: ReadonlySet<string>): number {
  let found = day;
  while (!isBusinessDay(found, holidays)) found++;
  return found;
}

type Days = Pick<SettlementTerms, 'timeZone' | 'cutOff' | 'businessDays'>;

/** The day from which a sale is available. After the cut-off it counts as a sale of the next day. */
export function availableDay(
  { timeZone, cutOff, businessDays, delayDays }: Days & Pick<SettlementTerms, 'delayDays'>,
  holidays: ReadonlySet<string>,
  postedAt: number,
): string {
  const { day, minutes } = localDay(postedAt, timeZone);
  const soldOn = cutOff > 0 && minutes >= cutOff ? day + 1 : day;
  if (!businessDays) return dayText(soldOn + delayDays);
  let found = delayDays === 0 ? businessDayFrom(soldOn, holidays) : soldOn;
  for (let left = delayDays; left > 0; left--) found = businessDayFrom(found + 1, holidays);
  return dayText(found);
}

/** The day of a moment in the account's time zone. */
export const settlementDay = (at: number, timeZone = 'UTC'): string => dayText(localDay(at, timeZone).day);

/** The day whose postings are available: the later one of UTC, in which debits are dated, and of the account's time zones. */
export const availableToday = (at: number, timeZones: readonly string[]): string =>
  ['UTC', ...timeZones]
    .map((zone) => settlementDay(at, zone))
    .sort()
    .at(-1) as string;

type Cycle = Days & Pick<SettlementTerms, 'cycle' | 'weekday' | 'day'>;

/** The day in a month, or its last day; months are counted from January 1970. */
function dayOfMonth(month: number, day: number): number {
  const first = (of: number): number => dayNumber(new Date(Date.UTC(1970, of)).toISOString());
  return Math.min(first(month) + day, first(month + 1)) - 1;
}

const monthOf = (day: number): number => {
  const [year = 0, month = 0] = dayText(day).split('-').map(Number);
  return (year - 1970) * 12 + month - 1;
};

/** The last day of a cycle that is not after this one, whether or not it is a business day. */
function cycleDay({ cycle, weekday, day: wanted }: Cycle, day: number): number {
  if (cycle === 'weekly') return day - ((weekdayOf(day) - (weekday ?? 1) + 7) % 7);
  if (cycle !== 'monthly') return day;
  const found = dayOfMonth(monthOf(day), wanted ?? 1);
  return found <= day ? found : dayOfMonth(monthOf(day) - 1, wanted ?? 1);
}

function nextCycleDay({ cycle, day: wanted }: Cycle, day: number): number {
  if (cycle === 'monthly') return dayOfMonth(monthOf(day) + 1, wanted ?? 1);
  return day + (cycle === 'weekly' ? 7 : 1);
}

/** When a day of a cycle is cut: if it is not a business day, on the next one. */
const cutOfDay = ({ timeZone, cutOff, businessDays }: Cycle, day: number, holidays: ReadonlySet<string>): number =>
  momentIn(timeZone, businessDays ? businessDayFrom(day, holidays) : day, cutOff);

function lastCycleDay(terms: Cycle, at: number, holidays: ReadonlySet<string>): number {
  let day = cycleDay(terms, localDay(at, terms.timeZone).day);
  while (cutOfDay(terms, day, holidays) > at) day = cycleDay(terms, day - 1);
  return day;
}

/** The last cut of a cycle that is not after this moment; undefined by hand. */
export const lastCut = (terms: Cycle, at: number, holidays: ReadonlySet<string>): number | undefined =>
  terms.cycle === 'manual' ? undefined : cutOfDay(terms, lastCycleDay(terms, at, holidays), holidays);

/** The first cut of a cycle after this moment. */
export function nextCut(terms: Cycle, at: number, holidays: ReadonlySet<string>): number | undefined {
  if (terms.cycle === 'manual') return undefined;
  let day = lastCycleDay(terms, at, holidays);
  while (cutOfDay(terms, day, holidays) <= at) day = nextCycleDay(terms, day);
  return cutOfDay(terms, day, holidays);
}
