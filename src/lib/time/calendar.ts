/** Recurring dates: every n days, weeks or months, in UTC, without drift. */

export interface Rhythm {
  unit: 'day' | 'week' | 'month';
  length: number;
}

const DAY_MS = 24 * 60 * 60 * 1000;

/** The number of days of a month; months count from 0. */
const daysIn = (year: number, month: number): number => new Date(Date.UTC(year, month + 1, 0)).getUTCDate();

/**
 * The moment this many intervals after the anchor, at the same time of day. Monthly intervals fall on the given day, or
 * on the last day of a shorter month. They always count from the anchor, so that a short month does not shift later ones.
 */
export function momentAfter(anchor: number, day: number, { unit, length }: Rhythm, intervals: number): number {
  if (unit !== 'month') return anchor + intervals * length * (unit === 'week' ? 7 : 1) * DAY_MS;
  const date = new Date(anchor);
  const months = date.getUTCFullYear() * 12 + date.getUTCMonth() + intervals * length;
  const [year, month] = [Math.floor(months / 12), months % 12];
  const timeOfDay = anchor - Date.UTC(date.getUTCFullYear(), date.getUTCMonth(), date.getUTCDate());
  return Date.UTC(year, month, Math.min(day, daysIn(year, month))) + timeOfDay;
}
