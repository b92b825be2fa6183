/** Whatever a value says, it stays text: it can open no tag, end no attribute, and is escaped once. */
import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { Html, html } from '../../src/lib/html.ts';

const anyText = fc.oneof(
  fc.string({ unit: 'binary' }),
  fc.string({ unit: fc.constantFrom('<', '>', '"', "'", '&', ';', '/', 'script', 'amp', 'lt', ' ', '=', '`') }),
);

/** What a browser shows for an escaped text, written apart from the code that escapes. */
const NAMED: Record<string, string> = { lt: '<', gt: '>', quot: '"', '#39': "'", amp: '&' };
const shown = (escaped: string): string => escaped.replace(/&(lt|gt|quot|#39|amp);/g, (_, name) => NAMED[name] ?? '');

describe('a value', () => {
  test.each([
    ['<script>alert(1)</script>', '&lt;script&gt;alert(1)&lt;/script&gt;'],
    ['" onclick="alert(1)', '&quot; onclick=&quot;alert(1)'],
    ["' onclick='alert(1)", '&#39; onclick=&#39;alert(1)'],
    ['Tea & Coffee', 'Tea &amp; Coffee'],
    ['&lt;', '&amp;lt;'],
    ['</style>', '&lt;/style&gt;'],
    ['plain čaj 茶', 'plain čaj 茶'],
    ['', ''],
  ])('%j is written as %j', (value, written) => {
    expect(String(html`${value}`)).toBe(written);
  });

  test('no character that means something in a page survives, and all of the text does', () => {
    fc.assert(
      fc.property(anyText, (value) => {
        const written = String(html`${value}`);
        expect(written).not.toMatch(/[<>"']/);
        expect(written).not.toMatch(/&(?!(?:lt|gt|quot|#39|amp);)/);
        expect(shown(written)).toBe(value);
      }),
    );
  });

  test('cannot leave the quotes of its attribute, nor the place between two tags', () => {
    fc.assert(
      fc.property(anyText, anyText, (title, body) => {
        const written = String(html`<p title="${title}">${body}</p>`);
        const [, quoted, between] = /^<p title="([^"]*)">([^<]*)<\/p>$/.exec(written) ?? [];
        expect([shown(quoted ?? '\0'), shown(between ?? '\0')]).toEqual([title, body]);
      }),
    );
  });

  test.each<[number | bigint | false | null | undefined, string]>([
    [7, '7'],
    [0, '0'],
    [-1.5, '-1.5'],
    [12_345_678_901_234_567_890n, '12345678901234567890'],
    [false, ''],
    [null, ''],
    [undefined, ''],
  ])('%s is written as %j', (value, written) => {
    expect(String(html`[${value}]`)).toBe(`[${written}]`);
  });
});

describe('a piece of a page', () => {
  test('is put into another one as it is', () => {
    const inner = html`<b>${'<i>'}</b>`;
    expect(String(html`<p>${inner}</p>`)).toBe('<p><b>&lt;i&gt;</b></p>');
  });

  test('however deep it is nested, its values are escaped once', () => {
    fc.assert(
      fc.property(anyText, fc.integer({ min: 0, max: 8 }), (value, depth) => {
        let piece = html`${value}`;
        for (let level = 0; level < depth; level++) piece = html`${piece}`;
        expect(shown(String(piece))).toBe(value);
      }),
    );
  });

  test('a list of values and pieces is written without anything between them', () => {
    expect(String(html`(${['<', html`<br>`, ['&', html`<hr>`], 3, false]})`)).toBe('(&lt;<br>&amp;<hr>3)');
    expect(String(html`(${[]})`)).toBe('()');
  });

  test('cannot be made by an object that only looks like one', () => {
    const impostor = { toString: () => '<script>' } as unknown as string;
    expect(String(html`${impostor}`)).toBe('&lt;script&gt;');
    expect(Object.keys(new Html('<b>'))).toEqual([]);
    expect(JSON.stringify(new Html('<b>'))).toBe('{}');
  });
});

test('the fixed parts of a template are left alone', () => {
  expect(String(html`<!doctype html><a href="/?a=1&amp;b=2">'</a>`)).toBe(
    `<!doctype html><a href="/?a=1&amp;b=2">'</a>`,
  );
});
