/** The pieces that the generated pages are made of. */

export const code = (text: string | number): string => `\`${text}\``;
const cell = (text: string): string => text.replaceAll('|', '\\|').replaceAll('\n', ' ');

/** A table with its columns padded to one width, as the formatter of this repository wants it. */
export function table(head: readonly string[], rows: readonly (readonly string[])[]): string {
  const cells = [head, ...rows].map((row) => row.map(cell));
  const widths = head.map((_, column) => Math.max(3, ...cells.map((row) => row[column]?.length ?? 0)));
  const line = (row: readonly string[]) =>
    `| ${row.map((text, column) => text.padEnd(widths[column] ?? 0)).join(' | ')} |`;
  const [first = [], ...rest] = cells;
  return [line(first), line(widths.map((width) => '-'.repeat(width))), ...rest.map(line)].join('\n');
}

export function page(title: string, source: string, ...blocks: string[]): string {
  const note = `<!-- Written by \`npm run docs\` from ${source}. Change the table there, not this file. -->`;
  return `${[note, `# ${title}`, ...blocks.map((block) => block.trim())].join('\n\n')}\n`;
}

/** A pause or a window as people say it. */
export function duration(ms: number): string {
  const [count, unit] =
    ms % 3_600_000 === 0
      ? [ms / 3_600_000, 'hour']
      : ms % 60_000 === 0
        ? [ms / 60_000, 'minute']
        : [ms / 1000, 'second'];
  return `${count} ${unit}${count === 1 ? '' : 's'}`;
}
