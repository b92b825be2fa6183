/** Writes the result of the growth benchmark into docs/performance.md and docs/growth.svg, and as a table. */
import { readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { utcDay } from '../src/lib/time/day.ts';
import type { Cost, Growth } from './growth.ts';
import { growthChart, MEASURES, ratioOf, sizeText, TOLERANCE } from './growth-chart.ts';

const DOCS = join(import.meta.dirname, '../docs');
const [START, END] = ['<!-- growth: written by `npm run bench -- growth` -->', '<!-- end of growth -->'];

const figure = (value: number): string => (value < 100 ? value.toFixed(1) : Math.round(value).toLocaleString('en'));

function table(head: string[], body: string[][]): string {
  const widths = head.map((title, column) =>
    Math.max(3, title.length, ...body.map((line) => line[column]?.length ?? 0)),
  );
  const line = (cells: string[]): string =>
    `| ${cells.map((cell, column) => (column === 0 ? cell.padEnd(widths[0] ?? 0) : cell.padStart(widths[column] ?? 0))).join(' | ')} |`;
  const rule = `| ${widths.map((width, column) => (column === 0 ? '-'.repeat(width) : `${'-'.repeat(width - 1)}:`)).join(' | ')} |`;
  return [line(head), rule, ...body.map(line)].join('\n');
}

/** The figures at all sizes, such as `100 → 110`. */
const across = (costs: readonly Cost[], name: keyof Cost): string =>
  costs.map((cost) => figure(cost[name])).join(' → ');

/** The shares of figures at the largest size that are at most the tolerated change above those of the empty database. */
export function shareOnTarget({ sizes, rows }: Growth, measure: (typeof MEASURES)[number][0]): number {
  const kept = rows.filter(({ costs }) => ratioOf(costs, sizes.length - 1, measure) <= 1 + TOLERANCE);
  return kept.length / rows.length;
}

export function growthTables({ sizes, rows }: Growth): string {
  const last = sizes.length - 1;
  return [
    table(
      ['', 'gateway, µs', 'PostgreSQL, µs', 'buffers', 'p50, ms', 'p99, ms'],
      rows.map(({ name, costs }) => [
        name,
        ...(['gateway', 'database', 'buffers', 'p50', 'p99'] as const).map((measure) => across(costs, measure)),
      ]),
    ),
    table(
      [`${sizeText(sizes[last] as number)} payments to 0`, ...MEASURES.map(([, title]) => title)],
      rows.map(({ name, costs }) => [name, ...MEASURES.map(([measure]) => ratioOf(costs, last, measure).toFixed(2))]),
    ),
  ].join('\n\n');
}

/** Replaces the generated block, and draws the chart. */
export async function writeGrowth(growth: Growth, command: string, date = new Date()): Promise<void> {
  const page = join(DOCS, 'performance.md');
  const text = await readFile(page, 'utf8');
  const [start, end] = [text.indexOf(START), text.indexOf(END)];
  if (start === -1 || end === -1) throw new Error(`${page} has no block for the growth benchmark.`);
  const sizes = growth.sizes.map(sizeText).join(', ');
  const block = `${START}

\`${command}\`, ${utcDay(date.getTime())}; the figures of ${sizes} payments:

![Cost by size of the database, relative to an empty one](growth.svg)

${growthTables(growth)}

`;
  await writeFile(page, text.slice(0, start) + block + text.slice(end));
  await writeFile(join(DOCS, 'growth.svg'), growthChart(growth));
}
