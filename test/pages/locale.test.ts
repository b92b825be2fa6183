/** The language of a payer, and the format of amounts, durations and plurals. */
import { describe, expect, test } from 'vitest';
import { localeFor } from '../../src/pages/locale.ts';
import { LANGUAGES } from '../../src/pages/locales/index.ts';

/** Spaces of all widths and directional marks, which vary between versions of the runtime. */
const plain = (text: string): string =>
  text.replace(/[\s\u202f\u00a0]/g, ' ').replace(/[\u200e\u200f\u061c\u2066-\u2069]/g, '');

describe('the language', () => {
  test.each<[accountLocale: string, header: string | undefined, tag: string]>([
    ['', undefined, 'en'],
    ['', '', 'en'],
    ['', 'de', 'de'],
    ['', 'de-AT', 'de-AT'],
    ['', 'de-AT,de;q=0.9,en;q=0.8', 'de-AT'],
    ['', 'en;q=0.8,fr;q=0.9', 'fr'],
    ['', 'fr;q=0.5 , es ;q=0.7', 'es'],
    ['', 'fr;q=0,es;q=0.1', 'es'],
    ['', 'fil,cy-GB,tr', 'tr'],
    ['', 'cy', 'en'],
    ['', '*', 'en'],
    ['', 'PT-br', 'pt-BR'],
    ['', 'sr', 'sr-Latn'],
    ['', 'sr-RS', 'sr-Latn-RS'],
    ['', 'sr-Cyrl-RS', 'sr-Latn-RS'],
    ['', 'zh-CN', 'zh-Hans-CN'],
    ['', 'zh-Hant-TW,en', 'zh-Hans-TW'],
    ['', 'in', 'id'],
    ['', 'ar-EG', 'ar-EG'],
    ['', 'no', 'nb'],
    ['', 'no-NO,en', 'nb-NO'],
    ['', 'nb-NO', 'nb-NO'],
    ['', 'th-TH-u-ca-buddhist-nu-thai', 'th-TH'],
    ['', 'en_GB,--,<script>,vi', 'vi'],
    ['', `${'x'.repeat(600)},de`, 'en'],
    ['', 'fr;q=oops,es', 'es'],
    ['', '__proto__,constructor', 'en'],
    ['es', 'de', 'es'],
    ['pt-BR', 'de', 'pt-BR'],
    ['no', 'de', 'nb'],
    ['fil', 'de', 'de'],
    ['fil', undefined, 'en'],
  ])('account %j, browser %j: %s', (accountLocale, header, tag) => {
    expect(localeFor(accountLocale, header).tag).toBe(tag);
  });

  test('only Arabic has the direction right-to-left', () => {
    const rightToLeft = Object.keys(LANGUAGES).filter((tag) => localeFor(tag, undefined).direction === 'rtl');
    expect(rightToLeft).toEqual(['ar']);
  });
});

describe('amounts', () => {
  test.each<[tag: string, amount: bigint, currency: string, shown: string]>([
    ['en', 1000n, 'USD', '$10.00'],
    ['en', 1n, 'USD', '$0.01'],
    ['en', 100n, 'JPY', '¥100'],
    ['en', 1250n, 'KWD', 'KWD 1.250'],
    ['en', 123456789012345678901234n, 'EUR', '€1,234,567,890,123,456,789,012.34'],
    ['de', 125000n, 'EUR', '1.250,00 €'],
    ['de-AT', 1234567n, 'EUR', '€ 12.345,67'],
    ['fr', 125000n, 'EUR', '1 250,00 €'],
    ['es', 1234567n, 'EUR', '12.345,67 €'],
    ['es-MX', 1234567n, 'MXN', '$12,345.67'],
    ['pt-BR', 125000n, 'BRL', 'R$ 1.250,00'],
    ['tr', 125000n, 'TRY', '₺1.250,00'],
    ['sr', 1250000n, 'RSD', '12.500,00 RSD'],
    // A symbol that other currencies of the region have, too, says which one it is.
    ['en-CA', 1000n, 'USD', 'US$10.00'],
    ['en-CA', 1000n, 'CAD', '$10.00'],
    ['en', 1000n, 'CAD', 'CA$10.00'],
    ['en-AU', 1000n, 'USD', 'USD 10.00'],
    ['zh', 1000n, 'JPY', 'JP¥1,000'],
    ['vi', 50000n, 'VND', '50.000 ₫'],
    ['th', 125000n, 'THB', '฿1,250.00'],
    ['ja', 1250n, 'JPY', '￥1,250'],
    ['id', 125000n, 'IDR', 'Rp 1.250,00'],
    ['hi', 12345600n, 'INR', '₹1,23,456.00'],
    ['sv', 125000n, 'SEK', '1 250,00 kr'],
    ['da', 125000n, 'DKK', '1.250,00 kr.'],
    ['nb', 125000n, 'NOK', '1 250,00 kr'],
    ['fi', 125000n, 'EUR', '1 250,00 €'],
    ['hu', 1250000n, 'HUF', '12 500,00 Ft'],
    // Currencies whose fraction digits differ between the runtime and our currency table.
    ['en', 5n, 'ISK', 'ISK 5'],
    ['en', 12345n, 'HUF', 'HUF 123.45'],
    // Cards and codes have Latin digits, so amounts have them, too.
    ['ar-EG', 125000n, 'EGP', '1,250.00 ج.م.'],
    ['ar-SA', 125000n, 'SAR', '1,250.00 ر.س.'],
  ])('%s formats %d %s as %s', (tag, amount, currency, shown) => {
    const written = plain(localeFor(tag, undefined).formatAmount({ amount, currency })).trim();
    expect(tag.startsWith('ar') ? written.split(' ').toSorted() : written).toEqual(
      tag.startsWith('ar') ? shown.split(' ').toSorted() : shown,
    );
  });
});

test.each(['ar-EG', 'ar-SA', 'ar', 'th', 'fa-IR', 'ja', 'zh', 'hi', 'hi-IN'])(
  '%s writes dates, times, durations and counts with Latin digits',
  (tag) => {
    const { formatDate, formatDateTime, formatDuration, formatCount, formatInterval } = localeFor(tag, undefined);
    const at = Date.UTC(2026, 10, 16, 8, 5);
    const written = [
      formatDate(at),
      formatDateTime(at),
      formatDuration(900_000),
      formatCount(1234),
      formatInterval('day', 7),
    ];
    for (const text of written) expect(text).not.toMatch(/(?![0-9])\p{Nd}/u);
    expect(formatDateTime(at)).toMatch(/2026.* UTC$/);
  },
);

describe('durations and plurals', () => {
  test.each<[tag: string, ms: number, shown: string]>([
    ['en', 900_000, '15 minutes'],
    ['en', 60_000, '1 minute'],
    ['en', 60_001, '2 minutes'],
    ['en', 59_999, '60 seconds'],
    ['en', 1000, '1 second'],
    ['en', 0, '0 seconds'],
    ['en', 43_200_000, '12 hours'],
    ['en', 43_199_000, '11 hours'],
    ['de', 120_000, '2 Minuten'],
    ['sr', 300_000, '5 minuta'],
    ['fr', 60_000, '1 minute'],
  ])('%s formats %d ms as %s', (tag, ms, shown) => {
    expect(plain(localeFor(tag, undefined).formatDuration(ms))).toBe(shown);
  });

  test.each<[tag: string, count: number, shown: string]>([
    ['en', 1, 'the marked field.'],
    ['en', 2, 'the 2 marked fields.'],
    ['sr', 1, '1 označeno polje'],
    ['sr', 3, '3 označena polja'],
    ['sr', 5, '5 označenih polja'],
    ['sr', 21, '21 označeno polje'],
    ['ar', 2, 'الحقلين'],
    ['ar', 4, '4 حقول'],
    ['ar', 11, '11 حقلًا'],
    ['fr', 1, 'le champ signalé'],
    ['vi', 1, '1 ô'],
    ['ja', 1, '1か所'],
    ['hi', 1, 'कृपया चिह्नित फ़ील्ड'],
    ['hi', 2, 'चिह्नित 2 फ़ील्ड'],
    ['fi', 1, 'merkitty kenttä.'],
    ['fi', 2, '2 merkittyä kenttää.'],
    ['ru', 21, '21 отмеченное поле.'],
    ['ru', 2, '2 отмеченных поля.'],
    ['ru', 5, '5 отмеченных полей.'],
    ['uk', 3, '3 позначені поля.'],
    ['uk', 11, '11 позначених полів.'],
    ['bg', 1, 'отбелязаното поле.'],
    ['el', 2, 'τα 2 επισημασμένα πεδία.'],
    ['hr', 4, '4 označena polja.'],
    ['hr', 5, '5 označenih polja.'],
  ])('%s has the plural form of %d: %s', (tag, count, shown) => {
    const { messages, formatPlural } = localeFor(tag, undefined);
    expect(plain(formatPlural(messages.checkMarked, count))).toContain(shown);
  });

  test('isolates left-to-right values in Arabic messages', () => {
    const { formatMessage, messages } = localeFor('ar', undefined);
    expect(formatMessage(messages.backTo, { merchant: 'Tea & Co.' })).toContain('\u2068Tea & Co.\u2069');
    expect(localeFor('en', undefined).formatMessage('Back to {merchant}', { merchant: 'A{order}$&' })).toBe(
      'Back to A{order}$&',
    );
  });
});
