/** Recurring dates: short months, no drift, and a second implementation that agrees. */
import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { momentAfter, type Rhythm } from '../../../src/lib/time/calendar.ts';

const DAY_MS = 86_400_000;
const at = (text: string): number => Date.parse(`${text}Z`);
const written = (ms: number): string => new Date(ms).toISOString().slice(0, -1);
const every = (length: number, unit: Rhythm['unit']): Rhythm => ({ unit, length });

/** The days of the first occurrences after a start at noon. */
function daysAfter(first: string, rhythm: Rhythm, count: number, day = Number(first.slice(8))): string[] {
  const anchor = at(`${first}T12:00:00.000`);
  return Array.from({ length: count }, (_, n) => written(momentAfter(anchor, day, rhythm, n + 1)).slice(0, 10));
}

// A second implementation of the calendar, without date functions.
const isLeap = (year: number): boolean => (year % 4 === 0 && year % 100 !== 0) || year % 400 === 0;
const lengthOf = (year: number, month: number): number =>
  [31, isLeap(year) ? 29 : 28, 31, 30, 31, 30, 31, 31, 30, 31, 30, 31][month - 1] as number;
interface Day {
  year: number;
  month: number;
  day: number;
}
function dayAfter({ year, month, day }: Day): Day {
  if (day < lengthOf(year, month)) return { year, month, day: day + 1 };
  return month < 12 ? { year, month: month + 1, day: 1 } : { year: year + 1, month: 1, day: 1 };
}
const monthAfter = ({ year, month, day }: Day): Day =>
  month < 12 ? { year, month: month + 1, day } : { year: year + 1, month: 1, day };
const two = (n: number): string => String(n).padStart(2, '0');
const textOf = ({ year, month, day }: Day): string => `${year}-${two(month)}-${two(day)}`;

/** Steps through the calendar day by day, or month by month and then to the requested day. */
function walk(first: Day, dayOfMonth: number, { unit, length }: Rhythm, intervals: number): Day {
  let day = first;
  if (unit === 'month') {
    for (let n = 0; n < intervals * length; n++) day = monthAfter(day);
    return { ...day, day: Math.min(dayOfMonth, lengthOf(day.year, day.month)) };
  }
  for (let n = 0; n < intervals * length * (unit === 'week' ? 7 : 1); n++) day = dayAfter(day);
  return day;
}

describe('a short month does not shift later ones', () => {
  const THE_31ST = [
    '2027-02-28',
    '2027-03-31',
    '2027-04-30',
    '2027-05-31',
    '2027-06-30',
    '2027-07-31',
    '2027-08-31',
    '2027-09-30',
    '2027-10-31',
    '2027-11-30',
    '2027-12-31',
    '2028-01-31',
    '2028-02-29',
    '2028-03-31',
  ];
  test.each<[string, string[]]>([
    ['2027-01-31', THE_31ST],
    ['2027-01-30', ['2027-02-28', '2027-03-30', '2027-04-30', '2027-05-30']],
    ['2027-01-29', ['2027-02-28', '2027-03-29', '2027-04-29', '2027-05-29']],
    ['2027-01-28', ['2027-02-28', '2027-03-28', '2027-04-28', '2027-05-28']],
    ['2028-01-31', ['2028-02-29', '2028-03-31', '2028-04-30', '2028-05-31']],
    ['2028-01-30', ['2028-02-29', '2028-03-30', '2028-04-30', '2028-05-30']],
    ['2028-01-29', ['2028-02-29', '2028-03-29', '2028-04-29', '2028-05-29']],
    ['2027-12-31', ['2028-01-31', '2028-02-29', '2028-03-31']],
    ['2027-11-30', ['2027-12-30', '2028-01-30', '2028-02-29', '2028-03-30']],
  ])('every month from %s', (first, days) => {
    expect(daysAfter(first, every(1, 'month'), days.length)).toEqual(days);
  });

  test.each<[string, number, string[]]>([
    ['2027-01-31', 3, ['2027-04-30', '2027-07-31', '2027-10-31', '2028-01-31', '2028-04-30']],
    ['2027-08-31', 6, ['2028-02-29', '2028-08-31', '2029-02-28', '2029-08-31']],
    ['2028-02-29', 12, ['2029-02-28', '2030-02-28', '2031-02-28', '2032-02-29', '2033-02-28']],
    ['2027-10-31', 13, ['2028-11-30', '2029-12-31', '2031-01-31', '2032-02-29', '2033-03-31']],
    ['2027-01-31', 365, ['2057-06-30', '2087-11-30', '2118-04-30']],
  ])('from %s every %i months', (first, length, days) => {
    expect(daysAfter(first, every(length, 'month'), days.length)).toEqual(days);
  });

  test.each<[string, string]>([
    ['2000-01-31', '2000-02-29'],
    ['2026-01-31', '2026-02-28'],
    ['2028-01-31', '2028-02-29'],
    ['2096-01-31', '2096-02-29'],
    ['2100-01-31', '2100-02-28'],
    ['2104-01-31', '2104-02-29'],
    ['2400-01-31', '2400-02-29'],
  ])('a month after %s is %s', (first, day) => {
    expect(daysAfter(first, every(1, 'month'), 1)).toEqual([day]);
  });
});

describe('with day_of_month', () => {
  test.each<[string, number, string[]]>([
    ['2027-01-15', 1, ['2027-02-01', '2027-03-01', '2027-04-01']],
    ['2027-01-15', 15, ['2027-02-15', '2027-03-15', '2027-04-15']],
    ['2027-01-15', 31, ['2027-02-28', '2027-03-31', '2027-04-30']],
    ['2027-01-31', 1, ['2027-02-01', '2027-03-01', '2027-04-01']],
    ['2027-12-01', 30, ['2028-01-30', '2028-02-29', '2028-03-30']],
  ])('a first payment on %s, then on day %i', (first, day, days) => {
    expect(daysAfter(first, every(1, 'month'), days.length, day)).toEqual(days);
  });

  test.each(Array.from({ length: 31 }, (_, n) => n + 1))(
    'day %i, or the last one, in each month of four years',
    (day) => {
      const expected = [2027, 2028, 2029, 2030].flatMap((year) =>
        Array.from({ length: 12 }, (_, n) => textOf({ year, month: n + 1, day: Math.min(day, lengthOf(year, n + 1)) })),
      );
      expect(daysAfter('2026-12-10', every(1, 'month'), 48, day)).toEqual(expected);
    },
  );

  test.each<Rhythm['unit']>(['day', 'week'])('is ignored for intervals of a %s', (unit) => {
    expect(daysAfter('2027-01-15', every(1, unit), 5, 31)).toEqual(daysAfter('2027-01-15', every(1, unit), 5));
  });
});

test.each<[string, number, 'day' | 'week', string[]]>([
  ['2027-12-30', 1, 'day', ['2027-12-31', '2028-01-01', '2028-01-02']],
  ['2028-02-27', 1, 'day', ['2028-02-28', '2028-02-29', '2028-03-01']],
  ['2027-02-27', 1, 'day', ['2027-02-28', '2027-03-01', '2027-03-02']],
  ['2027-01-01', 30, 'day', ['2027-01-31', '2027-03-02', '2027-04-01']],
  ['2027-01-01', 365, 'day', ['2028-01-01', '2028-12-31', '2029-12-31']],
  ['2027-12-27', 1, 'week', ['2028-01-03', '2028-01-10', '2028-01-17']],
  ['2028-02-15', 2, 'week', ['2028-02-29', '2028-03-14']],
  ['2027-01-01', 52, 'week', ['2027-12-31', '2028-12-29']],
  ['2027-01-01', 365, 'week', ['2033-12-30']],
])('from %s every %i %s', (first, length, unit, days) => {
  expect(daysAfter(first, every(length, unit), days.length)).toEqual(days);
});

// Some countries set their clocks forward on the last Sunday of March; UTC does not.
test.each(['00:00:00.000', '00:00:00.001', '02:30:00.000', '12:34:56.789', '23:59:59.999'])(
  'the time of day stays %s',
  (time) => {
    for (const unit of ['day', 'week', 'month'] as const) {
      for (let n = 0; n <= 40; n++) {
        expect(written(momentAfter(at(`2027-03-27T${time}`), 27, every(1, unit), n)).slice(11)).toBe(time);
      }
    }
  },
);

test.each<Rhythm['unit']>(['day', 'week', 'month'])(
  'every length from 1 to 365 of a %s, from a month’s end',
  (unit) => {
    const first = { year: 2027, month: 1, day: 31 };
    for (let length = 1; length <= 365; length++) {
      const moment = momentAfter(at('2027-01-31T08:00:00.000'), 31, every(length, unit), 1);
      expect(written(moment)).toBe(`${textOf(walk(first, 31, every(length, unit), 1))}T08:00:00.000`);
    }
  },
);

describe('for any start, day, unit and length', () => {
  const SPAN = 230 * 365;
  const anchors = fc.integer({ min: 0, max: SPAN * DAY_MS }).map((ms) => at('1970-01-01T00:00:00.000') + ms);
  const days = fc.integer({ min: 1, max: 31 });
  const rhythms = fc.record({
    unit: fc.constantFrom<Rhythm['unit']>('day', 'week', 'month'),
    length: fc.integer({ min: 1, max: 365 }),
  });
  const partsOf = (ms: number): Day => {
    const [year = 0, month = 0, day = 0] = written(ms).slice(0, 10).split('-').map(Number);
    return { year, month, day };
  };

  test('each date is later than the previous one', () => {
    fc.assert(
      fc.property(anchors, days, rhythms, fc.integer({ min: 0, max: 1200 }), (anchor, day, rhythm, n) => {
        expect(momentAfter(anchor, day, rhythm, n + 1)).toBeGreaterThan(momentAfter(anchor, day, rhythm, n));
      }),
    );
  });

  test('the second implementation has the same result', () => {
    fc.assert(
      fc.property(anchors, days, rhythms, fc.integer({ min: 0, max: 12 }), (anchor, day, rhythm, n) => {
        const moment = written(momentAfter(anchor, day, rhythm, n));
        expect(moment.slice(0, 10)).toBe(textOf(walk(partsOf(anchor), day, rhythm, n)));
        expect(moment.slice(11)).toBe(written(anchor).slice(11));
      }),
    );
  });

  test('a monthly date is never in another month, and only a short month changes the day', () => {
    const many = fc.integer({ min: 0, max: 1200 });
    fc.assert(
      fc.property(anchors, days, fc.integer({ min: 1, max: 12 }), many, (anchor, dayOfMonth, length, n) => {
        const first = partsOf(anchor);
        const { year, month, day } = partsOf(momentAfter(anchor, dayOfMonth, every(length, 'month'), n));
        expect(year * 12 + month).toBe(first.year * 12 + first.month + n * length);
        expect(day).toBe(Math.min(dayOfMonth, lengthOf(year, month)));
      }),
    );
  });

  test('counting in two steps has the same result as in one', () => {
    fc.assert(
      fc.property(anchors, days, rhythms, days, days, (anchor, day, rhythm, m, n) => {
        const halfway = momentAfter(anchor, day, rhythm, m);
        expect(momentAfter(halfway, day, rhythm, n)).toBe(momentAfter(anchor, day, rhythm, m + n));
      }),
    );
  });
});
