/** Days and times of day in the time zones of the IANA database, also when clocks change. */
import { utcDay } from './day.ts';

const DAY_MS = 86_400_000;
const MINUTE_MS = 60_000;

/** Days are counted from 1970-01-01. */
export const dayNumber = (text: string): number => Date.parse(text) / DAY_MS;
export const dayText = (day: number): string => utcDay(day * DAY_MS);

const formats = new Map<string, Intl.DateTimeFormat>();

function formatOf(zone: string): Intl.DateTimeFormat {
  const known = formats.get(zone);
  if (known) return known;
  const numbers = { year: 'numeric', month: 'numeric', day: 'numeric', hour: 'numeric', minute: 'numeric' } as const;
  const format = new Intl.DateTimeFormat('en-US', { ...numbers, second: 'numeric', hourCycle: 'h23', timeZone: zone });
  formats.set(zone, format);
  return format;
}

/** A zone by its name, such as Europe/Berlin or UTC. */
export function isTimeZone(name: string): boolean {
  if (!/^[A-Z][\w+-]*(\/[\w+-]+)*$/i.test(name)) return false;
  try {
    formatOf(name);
    return true;
  } catch {
    return false;
  }
}

/** What the clocks of a zone show at a moment, as if it were UTC. */
function localTime(at: number, zone: string): number {
  if (zone === 'UTC') return at;
  const parts = formatOf(zone).formatToParts(at);
  const part = (type: string): number => Number(parts.find((one) => one.type === type)?.value);
  const seconds = Date.UTC(part('year'), part('month') - 1, part('day'), part('hour'), part('minute'), part('second'));
  return seconds + (((at % 1000) + 1000) % 1000);
}

/** The day in a zone, and the minutes since its midnight by the clocks there. */
export function localDay(at: number, zone: string): { day: number; minutes: number } {
  const time = localTime(at, zone);
  const day = Math.floor(time / DAY_MS);
  return { day, minutes: (time - day * DAY_MS) / MINUTE_MS };
}

/**
 * The moment at which the clocks of a zone show a time of a day. A time that they skip in spring is as much later as they
 * are put forward; of a time that they show twice in autumn it is the first.
 */
export function momentIn(zone: string, day: number, minutes: number): number {
  const wanted = day * DAY_MS + minutes * MINUTE_MS;
  const offset = (at: number): number => localTime(at, zone) - at;
  const before = wanted - offset(wanted - DAY_MS);
  const after = wanted - offset(wanted + DAY_MS);
  return localTime(before, zone) !== wanted && localTime(after, zone) === wanted ? after : before;
}
