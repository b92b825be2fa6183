/** Draws docs/growth.svg: each figure at each size of the database, relative to that of an empty one. */
import type { Cost, Growth } from './growth.ts';

type Measure = keyof Pick<Cost, 'gateway' | 'database' | 'buffers'>;

export const MEASURES: readonly [Measure, string][] = [
  ['gateway', 'CPU of the gateway'],
  ['database', 'CPU of PostgreSQL'],
  ['buffers', 'buffers'],
];

/** The tolerated change. */
export const TOLERANCE = 0.15;

const [NAMES, COLUMN, ROW, TOP, MARGIN] = [270, 210, 26, 78, 20];
/** The range of ratios that the axis shows; a dot outside it is drawn at its end. */
const [LOW, HIGH] = [0.5, 2];
const COLOURS = ['#7a8794', '#2f6fde', '#c25a0c'];

const round = (value: number): number => Math.round(value * 10) / 10;
const escapeText = (text: string): string => text.replaceAll('&', '&amp;').replaceAll('<', '&lt;');

export const sizeText = (payments: number): string =>
  payments >= 1e6 ? `${payments / 1e6} million` : payments.toLocaleString('en');

export const ratioOf = (costs: readonly Cost[], index: number, measure: Measure): number =>
  (costs[index] as Cost)[measure] / (costs[0] as Cost)[measure];

/** On a logarithmic axis, so that half and double are equally far from 1. */
const place = (ratio: number): number =>
  (Math.log(Math.min(HIGH, Math.max(LOW, ratio)) / LOW) / Math.log(HIGH / LOW)) * (COLUMN - 40) + 20;

/** A circle for the first size and a diamond for the next: sizes differ in more than their colour. */
const dot = (x: number, y: number, size: number): string => {
  const colour = `fill="${COLOURS[size % COLOURS.length]}" fill-opacity="0.85"`;
  return size % 2 === 1
    ? `<circle cx="${round(x)}" cy="${y}" r="5" ${colour}/>`
    : `<path d="M${round(x)} ${y - 6}l6 6l-6 6l-6 -6z" ${colour}/>`;
};

const text = (x: number, y: number, content: string, more = ''): string =>
  `<text class="state" x="${round(x)}" y="${round(y)}" font-size="13" fill="#14181d" ${more}>${escapeText(content)}</text>`;

function column({ sizes, rows }: Growth, [measure, title]: (typeof MEASURES)[number], index: number): string {
  const left = MARGIN + NAMES + index * COLUMN;
  const bottom = TOP + rows.length * ROW;
  const [from, to] = [1 - TOLERANCE, 1 + TOLERANCE].map(place) as [number, number];
  const band = `<rect class="band" x="${round(left + from)}" y="${TOP}" width="${round(to - from)}" height="${rows.length * ROW}" fill="#e5f4ec"/>`;
  const ticks = [LOW, 1, HIGH].map((ratio) => {
    const x = round(left + place(ratio));
    return `<path class="line" d="M${x} ${TOP}V${bottom}" stroke="#c9ced6" stroke-width="1"/>${text(x, bottom + 18, `× ${ratio}`, 'text-anchor="middle"')}`;
  });
  const dots = rows.flatMap(({ costs }, row) =>
    sizes
      .slice(1)
      .map((_, later) => dot(left + place(ratioOf(costs, later + 1, measure)), TOP + row * ROW + ROW / 2, later + 1)),
  );
  const heading = text(left + COLUMN / 2, TOP - 14, title, 'text-anchor="middle" font-weight="600"');
  return [band, ...ticks, ...dots, heading].join('\n');
}

export function growthChart(growth: Growth): string {
  const { sizes, rows } = growth;
  const width = MARGIN * 2 + NAMES + COLUMN * MEASURES.length;
  const height = TOP + rows.length * ROW + 44;
  const words = rows.map(({ name, costs }) => {
    const parts = MEASURES.map(
      ([measure, title]) =>
        `${title} ${sizes
          .slice(1)
          .map((_, later) => ratioOf(costs, later + 1, measure).toFixed(2))
          .join(', ')}`,
    );
    return `${name}: ${parts.join('; ')}.`;
  });
  const legend = sizes.slice(1).map((size, index) => {
    const x = MARGIN + NAMES + index * COLUMN + 24;
    return `${dot(x, 26, index + 1)}${text(x + 12, 31, `${sizeText(size)} payments`)}`;
  });
  return `<svg class="diagram" xmlns="http://www.w3.org/2000/svg" viewBox="0 0 ${width} ${height}" role="img" aria-labelledby="growth-title growth-words" font-family="system-ui, sans-serif">
<title id="growth-title">Cost by size of the database, relative to an empty one</title>
<desc id="growth-words">${escapeText(words.join(' '))}</desc>
<rect class="ground" width="${width}" height="${height}" rx="12" fill="#fff"/>
${legend.join('\n')}
${MEASURES.map((measure, index) => column(growth, measure, index)).join('\n')}
${rows.map(({ name }, row) => text(MARGIN, TOP + row * ROW + ROW / 2 + 5, name)).join('\n')}
</svg>
`;
}
