/** HTML templates: a value cannot open a tag or end an attribute, and is escaped once. */
import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { Html, html } from '../../../src/lib/text/html.ts';

const anyText = fc.oneof(
  fc.string({ unit: 'binary' }),
  fc.string({ unit: fc.constantFrom('<', '>', '"', "'", '&', ';', '/', 'script', 'amp', 'lt', ' ', '=', '`') }),
);

/** Unescapes a text as a browser does, independently of the code under test. */
const NAMED: Record<string, string> = { lt: '<', gt: '>', quot: '"', '#39': "'", amp: '&' };
const unescaped = (escaped: string): string =>
  escaped.replace(/&(lt|gt|quot|#39|amp);/g, (_, name) => NAMED[name] ?? '');

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

  test('property: every special character is escaped, and the text is preserved', () => {
    fc.assert(
      fc.property(anyText, (value) => {
        const written = String(html`${value}`);
        expect(written).not.toMatch(/[<>"']/);
        expect(written).not.toMatch(/&(?!(?:lt|gt|quot|#39|amp);)/);
        expect(unescaped(written)).toBe(value);
      }),
    );
  });

  test('cannot leave its attribute or element', () => {
    fc.assert(
      fc.property(anyText, anyText, (title, body) => {
        const written = String(html`<p title="${title}">${body}</p>`);
        const [, quoted, between] = /^<p title="([^"]*)">([^<]*)<\/p>$/.exec(written) ?? [];
        expect([unescaped(quoted ?? '\0'), unescaped(between ?? '\0')]).toEqual([title, body]);
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

describe('HTML from a template', () => {
  test('is inserted into another one unchanged', () => {
    const inner = html`<b>${'<i>'}</b>`;
    expect(String(html`<p>${inner}</p>`)).toBe('<p><b>&lt;i&gt;</b></p>');
  });

  test('escapes its values once at any depth of nesting', () => {
    fc.assert(
      fc.property(anyText, fc.integer({ min: 0, max: 8 }), (value, depth) => {
        let piece = html`${value}`;
        for (let level = 0; level < depth; level++) piece = html`${piece}`;
        expect(unescaped(String(piece))).toBe(value);
      }),
    );
  });

  test('a list of values and HTML is written without separators', () => {
    expect(String(html`(${['<', html`<br>`, ['&', html`<hr>`], 3, false]})`)).toBe('(&lt;<br>&amp;<hr>3)');
    expect(String(html`(${[]})`)).toBe('()');
  });

  test('cannot be imitated by another object', () => {
    const impostor = { toString: () => '<script>' } as unknown as string;
    expect(String(html`${impostor}`)).toBe('&lt;script&gt;');
    expect(Object.keys(new Html('<b>'))).toEqual([]);
    expect(JSON.stringify(new Html('<b>'))).toBe('{}');
  });
});

test('the fixed parts of a template are not escaped', () => {
  expect(String(html`<!doctype html><a href="/?a=1&amp;b=2">'</a>`)).toBe(
    `<!doctype html><a href="/?a=1&amp;b=2">'</a>`,
  );
});
