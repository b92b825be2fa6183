/** Every accent colour results in readable text. */
import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { accentOf, contrast, contrastShortfalls, type Scheme } from '../../src/pages/accent.ts';
import { accentStyle } from '../../src/pages/style.ts';

/** The backgrounds of text in each scheme. */
const SURFACES: Record<Scheme, string[]> = { light: ['#ffffff', '#f3f4f6'], dark: ['#0f1216', '#191e24', '#20262d'] };
const colours = fc.integer({ min: 0, max: 0xffffff }).map((number) => `#${number.toString(16).padStart(6, '0')}`);

test.each([
  ['#000000', '#ffffff', 21],
  ['#ffffff', '#ffffff', 1],
  ['#777777', '#ffffff', 4.48],
  ['#0000ff', '#ffffff', 8.59],
  ['#ffffff', '#0000ff', 8.59],
])('the contrast of %s and %s is %d', (one, other, expected) => {
  expect(contrast(one, other)).toBeCloseTo(expected, 2);
});

describe.each(Object.entries(SURFACES) as [Scheme, string[]][])('%s', (scheme, surfaces) => {
  test('text on buttons and text in the accent colour have a contrast of at least 4.5', () => {
    fc.assert(
      fc.property(colours, (colour) => {
        const { fill, onFill, ink } = accentOf(colour, scheme);
        expect(contrast(fill, onFill)).toBeGreaterThanOrEqual(4.5);
        for (const surface of surfaces) expect(contrast(ink, surface), surface).toBeGreaterThanOrEqual(4.5);
      }),
      { numRuns: 500 },
    );
  });

  test('buttons have the unchanged colour', () => {
    expect(accentOf('#FFD400', scheme).fill).toBe('#ffd400');
  });
});

test('changes a colour only as far as the contrast requires', () => {
  expect(accentOf('#0f5c4c', 'light')).toEqual({ fill: '#0f5c4c', onFill: '#ffffff', ink: '#0f5c4c' });
  expect(accentOf('#ffd400', 'dark')).toEqual({ fill: '#ffd400', onFill: '#000000', ink: '#ffd400' });
  const { ink } = accentOf('#ffd400', 'light');
  expect(contrast(ink, '#f3f4f6')).toBeLessThan(5);
});

test('says in which schemes a colour has too little contrast for text', () => {
  expect(contrastShortfalls('#0f5c4c').map(({ scheme }) => scheme)).toEqual(['dark']);
  expect(contrastShortfalls('#ffd400')).toEqual([
    { scheme: 'light', ratio: contrast('#ffd400', '#f3f4f6'), ink: accentOf('#ffd400', 'light').ink },
  ]);
});

test('the style of an account contains only colours', () => {
  expect(accentStyle('#1a7f5a')).toMatch(
    /^:root\{--fill:#1a7f5a;--on-fill:#[0-9a-f]{6};--accent:#[0-9a-f]{6}\}@media\(prefers-color-scheme:dark\)\{:root\{[-a-z:#0-9;]+\}\}$/,
  );
});
