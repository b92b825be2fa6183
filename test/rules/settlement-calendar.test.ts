/** The calendar of settlements: cycles, cut-offs, time zones, changes of clocks, business days and delays. */
import { describe, expect, test } from 'vitest';
import { isTimeZone, localDay, momentIn } from '../../src/lib/time/zones.ts';
import { availableDay, availableToday, holidaysAt, lastCut, nextCut } from '../../src/rules/settlement-calendar.ts';

const at = (text: string): number => Date.parse(text);
const text = (moment: number | undefined): string | undefined =>
  moment === undefined ? undefined : new Date(moment).toISOString().slice(0, 16);
const UTC = { timeZone: 'UTC', cutOff: 0, businessDays: false };
const BERLIN = { timeZone: 'Europe/Berlin', cutOff: 0, businessDays: false };
const NEW_YORK = { timeZone: 'America/New_York', cutOff: 17 * 60, businessDays: false };
const BUSINESS = { ...UTC, businessDays: true };
const DAILY = { cycle: 'daily', weekday: null, day: null } as const;
const weekly = (weekday: number) => ({ cycle: 'weekly', weekday, day: null }) as const;
const monthly = (day: number) => ({ cycle: 'monthly', weekday: null, day }) as const;
const END = at('2031-01-02T00:00Z');
const NONE: ReadonlySet<string> = new Set();
const CHRISTMAS: ReadonlySet<string> = new Set(['2026-12-25', '2026-12-28', '2027-01-01']);

describe('the last and the next cut', () => {
  test.each([
    [DAILY, UTC, '2026-11-17T13:00', '2026-11-17T00:00', '2026-11-18T00:00'],
    [DAILY, UTC, '2026-11-17T00:00', '2026-11-17T00:00', '2026-11-18T00:00'],
    [weekly(1), UTC, '2026-11-17T13:00', '2026-11-16T00:00', '2026-11-23T00:00'],
    [weekly(7), UTC, '2026-11-17T13:00', '2026-11-15T00:00', '2026-11-22T00:00'],
    // Month ends, and February of a leap year.
    [monthly(1), UTC, '2026-12-31T13:00', '2026-12-01T00:00', '2027-01-01T00:00'],
    [monthly(31), UTC, '2027-02-28T00:00', '2027-02-28T00:00', '2027-03-31T00:00'],
    [monthly(31), UTC, '2028-02-28T23:00', '2028-01-31T00:00', '2028-02-29T00:00'],
    [monthly(30), UTC, '2028-02-29T12:00', '2028-02-29T00:00', '2028-03-30T00:00'],
    [monthly(29), UTC, '2027-02-28T12:00', '2027-02-28T00:00', '2027-03-29T00:00'],
    // Midnight in Berlin is one hour before midnight in UTC in winter, and two in summer.
    [DAILY, BERLIN, '2026-03-28T12:00', '2026-03-27T23:00', '2026-03-28T23:00'],
    [DAILY, BERLIN, '2026-03-29T12:00', '2026-03-28T23:00', '2026-03-29T22:00'],
    [DAILY, BERLIN, '2026-10-25T12:00', '2026-10-24T22:00', '2026-10-25T23:00'],
    [monthly(31), BERLIN, '2026-10-31T12:00', '2026-10-30T23:00', '2026-11-29T23:00'],
    // The day of the zone decides, not that of UTC.
    [weekly(1), NEW_YORK, '2026-11-17T01:00', '2026-11-16T22:00', '2026-11-23T22:00'],
    [weekly(1), NEW_YORK, '2026-11-16T21:59', '2026-11-09T22:00', '2026-11-16T22:00'],
    // The clocks skip 02:30 in spring, and show it twice in autumn.
    [DAILY, { ...BERLIN, cutOff: 150 }, '2026-03-29T12:00', '2026-03-29T01:30', '2026-03-30T00:30'],
    [DAILY, { ...BERLIN, cutOff: 150 }, '2026-10-25T12:00', '2026-10-25T00:30', '2026-10-26T01:30'],
    // Saturday and Sunday are cut on Monday; holidays on the next business day.
    [DAILY, BUSINESS, '2026-11-14T12:00', '2026-11-13T00:00', '2026-11-16T00:00'],
    [DAILY, BUSINESS, '2026-12-26T12:00', '2026-12-24T00:00', '2026-12-29T00:00'],
    [weekly(5), BUSINESS, '2026-12-25T12:00', '2026-12-18T00:00', '2026-12-29T00:00'],
    [weekly(5), BUSINESS, '2026-12-30T12:00', '2026-12-29T00:00', '2027-01-04T00:00'],
    [monthly(1), BUSINESS, '2027-01-02T12:00', '2026-12-01T00:00', '2027-01-04T00:00'],
    [monthly(31), BUSINESS, '2026-11-01T12:00', '2026-09-30T00:00', '2026-11-02T00:00'],
  ] as const)('%j %j at %s', (cycle, days, now, last, next) => {
    const terms = { ...cycle, ...days };
    expect(text(lastCut(terms, at(`${now}Z`), CHRISTMAS))).toBe(last);
    expect(text(nextCut(terms, at(`${now}Z`), CHRISTMAS))).toBe(next);
  });

  test('by hand there are none', () => {
    const terms = { cycle: 'manual', weekday: null, day: null, ...UTC } as const;
    expect(lastCut(terms, 0, NONE)).toBeUndefined();
    expect(nextCut(terms, 0, NONE)).toBeUndefined();
  });

  test.each([
    [{ ...DAILY, ...UTC }, 1825],
    [{ ...weekly(3), ...UTC }, 261],
    [{ ...monthly(30), ...UTC }, 60],
    [{ ...DAILY, ...NEW_YORK }, 1826],
    [{ ...monthly(31), ...BERLIN }, 60],
    // From Monday to Friday, without the three holidays.
    [{ ...DAILY, ...BUSINESS }, 1300],
  ] as const)('in five years %j leaves no cut out: %i', (terms, count) => {
    const cuts = new Set<number>();
    for (let now = at('2026-01-02T00:00Z'); now < END; now += 43_200_000) {
      const [last, next] = [lastCut(terms, now, CHRISTMAS) as number, nextCut(terms, now, CHRISTMAS) as number];
      expect(last).toBeLessThanOrEqual(now);
      expect(next).toBeGreaterThan(now);
      expect(lastCut(terms, next, CHRISTMAS)).toBe(next);
      expect(lastCut(terms, next - 1, CHRISTMAS)).toBe(last);
      if (next < END) cuts.add(next);
    }
    expect(cuts.size).toBe(count);
  });
});

describe('a sale is available', () => {
  test.each([
    [UTC, 2, '2026-11-17T23:59', '2026-11-19'],
    [UTC, 1, '2028-02-28T12:00', '2028-02-29'],
    [UTC, 0, '2026-11-17T23:59', '2026-11-17'],
    // 23:30 in UTC is the next day in Berlin.
    [BERLIN, 1, '2026-11-17T23:30', '2026-11-19'],
    [NEW_YORK, 1, '2026-11-17T21:59', '2026-11-18'],
    // After the cut-off it is a sale of the next day.
    [NEW_YORK, 1, '2026-11-17T22:00', '2026-11-19'],
    // Weekends and holidays do not count.
    [BUSINESS, 1, '2026-11-13T12:00', '2026-11-16'],
    [BUSINESS, 1, '2026-11-14T12:00', '2026-11-16'],
    [BUSINESS, 0, '2026-11-14T12:00', '2026-11-16'],
    [BUSINESS, 2, '2026-12-23T12:00', '2026-12-29'],
    [BUSINESS, 5, '2026-12-23T12:00', '2027-01-04'],
    [{ ...BUSINESS, cutOff: 1020 }, 1, '2026-12-24T18:00', '2026-12-29'],
    // The week in which the clocks change has as many days as others.
    [{ ...BERLIN, businessDays: true }, 3, '2026-03-26T12:00', '2026-03-31'],
    [{ ...BERLIN, businessDays: true }, 3, '2026-10-22T12:00', '2026-10-27'],
  ])('%j with a delay of %i, sold at %s: %s', (days, delayDays, soldAt, expected) => {
    expect(availableDay({ ...days, delayDays }, CHRISTMAS, at(`${soldAt}Z`))).toBe(expected);
  });

  test('by the holidays that were known when it was sold', () => {
    const lists = [
      { validFrom: 10, days: NONE },
      { validFrom: 20, days: CHRISTMAS },
    ];
    expect([9, 10, 19, 20].map((moment) => holidaysAt(lists, moment).size)).toEqual([0, 0, 0, 3]);
  });

  test('today is the later day of UTC and of the zone', () => {
    expect(availableToday(at('2026-11-17T20:00Z'), ['Asia/Tokyo'])).toBe('2026-11-18');
    expect(availableToday(at('2026-11-17T02:00Z'), ['America/New_York'])).toBe('2026-11-17');
  });
});

describe('time zones', () => {
  test.each(['UTC', 'Europe/Berlin', 'America/Argentina/Buenos_Aires', 'Etc/GMT+5'])('%s is one', (zone) => {
    expect(isTimeZone(zone)).toBe(true);
  });
  test.each(['', '+02:00', 'Berlin', 'Europe/Atlantis', 'UTC; drop'])('%s is none', (zone) => {
    expect(isTimeZone(zone)).toBe(false);
  });

  test('each quarter of an hour of five years leads to its moment and back', () => {
    for (const zone of ['Europe/Berlin', 'America/New_York', 'Australia/Lord_Howe', 'Asia/Kathmandu']) {
      for (let moment = at('2026-01-01T00:00Z'); moment < at('2031-01-01T00:00Z'); moment += 37 * 900_000) {
        const { day, minutes } = localDay(moment, zone);
        const found = momentIn(zone, day, minutes);
        // A time that the clocks show twice is the first one.
        if (found !== moment) expect(localDay(found, zone)).toEqual({ day, minutes });
        expect(moment - found === 0 || (moment > found && moment - found <= 3_600_000)).toBe(true);
      }
    }
  });
});
