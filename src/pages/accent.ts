/** The merchant's colour on our page: as it is on buttons, and as dark or as light as text has to be to be read. */

type Colour = readonly [red: number, green: number, blue: number];

/** What the page needs of a colour in one scheme. */
export interface Accent {
  /** What buttons are filled with, and the text on them. */
  fill: string;
  onFill: string;
  /** Links, marks and borders, which are read against the page. */
  ink: string;
}

/** The surfaces that text stands on, the hardest one for each scheme. */
const SURFACES = { light: '#f3f4f6', dark: '#20262d' } as const;
export type Scheme = keyof typeof SURFACES;

const READABLE = 4.5;
const BLACK: Colour = [0, 0, 0];
const WHITE: Colour = [255, 255, 255];

const parse = (hex: string): Colour => [1, 3, 5].map((at) => Number.parseInt(hex.slice(at, at + 2), 16)) as never;
const written = (colour: Colour): string =>
  `#${colour.map((part) => Math.round(part).toString(16).padStart(2, '0')).join('')}`;

const linear = (part: number): number => {
  const share = part / 255;
  return share <= 0.04045 ? share / 12.92 : ((share + 0.055) / 1.055) ** 2.4;
};

/** Relative luminance as WCAG defines it. */
const luminance = ([red, green, blue]: Colour): number =>
  0.2126 * linear(red) + 0.7152 * linear(green) + 0.0722 * linear(blue);

/** The contrast of two colours as WCAG defines it, from 1 to 21. */
export function contrast(one: string, other: string): number {
  const [darker = 0, lighter = 0] = [luminance(parse(one)), luminance(parse(other))].toSorted((a, b) => a - b);
  return (lighter + 0.05) / (darker + 0.05);
}

const mixed = (colour: Colour, other: Colour, share: number): Colour =>
  colour.map((part, index) => part + ((other[index] as number) - part) * share) as never;

const STEPS = 50;

/** The colour, moved towards black or white no further than it has to be to be read on the surface. */
function readable(hex: string, surface: string, towards: Colour): string {
  for (let step = 0; step < STEPS; step++) {
    const tried = written(mixed(parse(hex), towards, step / STEPS));
    if (contrast(tried, surface) >= READABLE) return tried;
  }
  return written(towards);
}

export function accentOf(hex: string, scheme: Scheme): Accent {
  const fill = hex.toLowerCase();
  return {
    fill,
    // Of black and white, one can always be read.
    onFill: contrast(fill, '#ffffff') >= READABLE ? '#ffffff' : '#000000',
    ink: readable(fill, SURFACES[scheme], scheme === 'light' ? BLACK : WHITE),
  };
}
