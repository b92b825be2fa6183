/** Derives the colours of a payment page from the accent colour of the account, with sufficient contrast. */

type Colour = readonly [red: number, green: number, blue: number];

/** The colours of one colour scheme. */
export interface Accent {
  /** The background of buttons, and the colour of text on it. */
  fill: string;
  onFill: string;
  /** The colour of links, icons and borders on the page background. */
  ink: string;
}

/** The background with the lowest contrast to text in each scheme. */
const SURFACES = { light: '#f3f4f6', dark: '#20262d' } as const;
export type Scheme = keyof typeof SURFACES;

const MIN_CONTRAST = 4.5;
const BLACK: Colour = [0, 0, 0];
const WHITE: Colour = [255, 255, 255];

const parseHex = (hex: string): Colour => [1, 3, 5].map((at) => Number.parseInt(hex.slice(at, at + 2), 16)) as never;
const toHex = (colour: Colour): string =>
  `#${colour.map((part) => Math.round(part).toString(16).padStart(2, '0')).join('')}`;

const linear = (part: number): number => {
  const share = part / 255;
  return share <= 0.04045 ? share / 12.92 : ((share + 0.055) / 1.055) ** 2.4;
};

/** Relative luminance as WCAG defines it. */
const luminance = ([red, green, blue]: Colour): number =>
  0.2126 * linear(red) + 0.7152 * linear(green) + 0.0722 * linear(blue);

/** The contrast of two colours as WCAG defines it, from 1 to 21. */
export function contrast(first: string, second: string): number {
  const [darker = 0, lighter = 0] = [luminance(parseHex(first)), luminance(parseHex(second))].toSorted((a, b) => a - b);
  return (lighter + 0.05) / (darker + 0.05);
}

const mix = (colour: Colour, other: Colour, share: number): Colour =>
  colour.map((part, index) => part + ((other[index] as number) - part) * share) as never;

const STEPS = 50;

/** The colour, moved towards black or white only as far as the contrast requires. */
function readableColour(hex: string, surface: string, towards: Colour): string {
  for (let step = 0; step < STEPS; step++) {
    const candidate = toHex(mix(parseHex(hex), towards, step / STEPS));
    if (contrast(candidate, surface) >= MIN_CONTRAST) return candidate;
  }
  return toHex(towards);
}

export function accentOf(hex: string, scheme: Scheme): Accent {
  const fill = hex.toLowerCase();
  return {
    fill,
    // Black or white always has sufficient contrast.
    onFill: contrast(fill, '#ffffff') >= MIN_CONTRAST ? '#ffffff' : '#000000',
    ink: readableColour(fill, SURFACES[scheme], scheme === 'light' ? BLACK : WHITE),
  };
}

/** The schemes in which text in this colour would have too little contrast, and the colour that is used there instead. */
export const contrastShortfalls = (hex: string): { scheme: Scheme; ratio: number; ink: string }[] =>
  (Object.keys(SURFACES) as Scheme[])
    .map((scheme) => ({ scheme, ratio: contrast(hex, SURFACES[scheme]), ink: accentOf(hex, scheme).ink }))
    .filter(({ ratio }) => ratio < MIN_CONTRAST);
