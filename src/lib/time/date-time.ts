/** Reads dates and times as operators and providers write them. */

const EARLIEST = Date.parse('0001-01-01T00:00Z');
export const LATEST_TIME = Date.parse('9999-12-31T23:59:59.999Z');

/** Parses a date, or a date and a time separated by `T` or a space; without a zone it is UTC. */
export function dateTime(text: string): number | undefined {
  const parts = /^(\d{4}-\d{2}-\d{2})(?:[T ](\d{2}:\d{2}(?::\d{2}(?:\.\d{1,3})?)?)(Z|[+-]\d{2}:\d{2})?)?$/.exec(text);
  if (!parts) return undefined;
  const [, day, time = '00:00', zone = 'Z'] = parts;
  const ms = Date.parse(`${day}T${time}${zone}`);
  // Date.parse reads February 30 as a day in March, and PostgreSQL has no year 0.
  const isDay = new Date(`${day}T00:00Z`).toJSON()?.startsWith(day as string);
  return isDay && ms >= EARLIEST && ms <= LATEST_TIME ? ms : undefined;
}
