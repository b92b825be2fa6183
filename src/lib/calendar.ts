/** Dates that repeat: every so many days, weeks or months, in UTC, without drifting. */

export interface Rhythm {
  unit: 'day' | 'week' | 'month';
  length: number;
}

const DAY_MS = 24 * 60 * 60 * 1000;

/** The number of days in a month, counted from 0. */
const daysIn = (year: number, month: number): number => new Date(Date.UTC(year, month + 1, 0)).getUTCDate();

/**
 * The moment that lies this many intervals after the anchor, at the same time of day. In months it is the given day,
 * or the last one of a month that is shorter; always counted from the anchor, so that a short month shortens no other.
 */
export function momentAfter(anchor: number, day: number, { unit, length }: Rhythm, intervals: number): number {
  if (unit !== 'month') return anchor + intervals * length * (unit === 'week' ? 7 : 1) * DAY_MS;
  const date = new Date(anchor);
  const months = date.getUTCFullYear() * 12 + date.getUTCMonth() + intervals * length;
  const [year, month] = [Math.floor(months / 12), months % 12];
  const timeOfDay = anchor - Date.UTC(date.getUTCFullYear(), date.getUTCMonth(), date.getUTCDate());
  return Date.UTC(year, month, Math.min(day, daysIn(year, month))) + timeOfDay;
}
