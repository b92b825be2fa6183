/** The holidays of the installation, which are no business days for settlements. */
import { isObject } from '../../lib/text/json.ts';
import { dateTime } from '../../lib/time/date-time.ts';
import { HOLIDAYS_MOST, type Holiday } from '../../rules/settlement-calendar.ts';
import type { Gateway } from '../context.ts';
import { invalid, readText } from '../ledger/input.ts';
import { auditEntry, type Caller } from '../operators/principal.ts';

export type { Holiday } from '../../rules/settlement-calendar.ts';

/** In the order of their days. */
export const listHolidays = (gateway: Gateway): Promise<Holiday[]> => gateway.holidays.current();

const isDay = (text: string): boolean => /^\d{4}-\d\d-\d\d$/.test(text) && dateTime(text) !== undefined;

function readHolidays(value: unknown): Holiday[] {
  if (!Array.isArray(value) || value.length > HOLIDAYS_MOST)
    throw invalid('holidays', `A list of at most ${HOLIDAYS_MOST} days with their names.`);
  const holidays = value.map((one, index): Holiday => {
    const { day, name } = isObject(one) ? one : {};
    if (typeof day !== 'string' || !isDay(day)) throw invalid(`holidays[${index}].day`, 'A day, such as 2026-12-25.');
    return { day, name: readText(name, `holidays[${index}].name`, 'The name of the holiday.') };
  });
  const seen = new Set<string>();
  for (const [index, { day }] of holidays.entries()) {
    if (seen.has(day)) throw invalid(`holidays[${index}].day`, 'Each day once.');
    seen.add(day);
  }
  return holidays.sort((a, b) => (a.day < b.day ? -1 : 1));
}

/** Replaces the list, for later sales and the next cuts. */
export async function setHolidays(gateway: Gateway, by: Caller, input: { holidays: unknown }): Promise<Holiday[]> {
  const holidays = readHolidays(input.holidays);
  const days = (list: readonly Holiday[]): string[] => list.map(({ day }) => day);
  await gateway.holidays.add((newest) => ({
    change: { validFrom: Math.max(gateway.clock.now(), (newest?.validFrom ?? 0) + 1), holidays },
    audit: auditEntry(gateway, by, 'settlements.set_holidays', {
      before: { holidays: days(newest?.holidays ?? []) },
      after: { holidays: days(holidays) },
    }),
  }));
  return holidays;
}
