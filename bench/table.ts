/** Prints a table of results as Markdown. */

export function printTable(head: string[], body: string[][]): void {
  const widths = head.map((title, column) =>
    Math.max(title.length, ...body.map((line) => (line[column] ?? '').length)),
  );
  const line = (texts: string[]): string =>
    `| ${texts.map((text, column) => (column === 0 ? text.padEnd(widths[column] ?? 0) : text.padStart(widths[column] ?? 0))).join(' | ')} |`;
  const rule = `|${widths.map((width, column) => (column === 0 ? '-'.repeat(width + 2) : `${'-'.repeat(width + 1)}:`)).join('|')}|`;
  console.log([line(head), rule, ...body.map(line)].join('\n'));
}
