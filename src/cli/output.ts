/** What a command prints: its result on standard output, messages and progress on standard error. */

export interface Output {
  isJson: boolean;
  /** Prints the result: as JSON with `--json`, otherwise as text. */
  result(value: unknown, text: string | (() => string)): void;
  /** Prints a message for the person at the terminal. */
  note(text: string): void;
  /** Prints the state of long work: on a terminal one line that is updated, otherwise a line per second. */
  progress(line: string, isLast?: boolean): void;
}

export interface OutputStream {
  write(text: string): unknown;
  isTTY?: boolean;
}

const LINE_MS = 1000;

export function createOutput(isJson: boolean, stdout: OutputStream, stderr: OutputStream): Output {
  let shownAt = Number.NEGATIVE_INFINITY;
  return {
    isJson,
    result: (value, text) =>
      void stdout.write(`${isJson ? JSON.stringify(value) : typeof text === 'string' ? text : text()}\n`),
    note: (text) => void stderr.write(`${text}\n`),
    progress(line, isLast = false) {
      const now = performance.now();
      if (!isLast && now - shownAt < (stderr.isTTY ? LINE_MS / 10 : LINE_MS)) return;
      shownAt = isLast ? Number.NEGATIVE_INFINITY : now;
      stderr.write(stderr.isTTY ? `\r\u001b[K${line}${isLast ? '\n' : ''}` : `${line}\n`);
    },
  };
}

/** Without control characters, which a terminal would interpret: a merchant chose the text. */
// biome-ignore lint/suspicious/noControlCharactersInRegex: these are the characters to replace
const printable = (value: unknown): string => String(value ?? '').replace(/[\u0000-\u001f\u007f-\u009f]/g, '�');

/** Rows in aligned columns. */
export function columns(rows: readonly (readonly unknown[])[]): string {
  const texts = rows.map((row) => row.map(printable));
  const widths = (texts[0] ?? []).map((_, n) => Math.max(...texts.map((row) => row[n]?.length ?? 0)));
  return texts
    .map((row) =>
      row
        .map((text, n) => text.padEnd(widths[n] ?? 0))
        .join('  ')
        .trimEnd(),
    )
    .join('\n');
}

/** The members of an object, one per line; nested values as JSON. */
export const members = (object: object): string =>
  columns(
    Object.entries(object).map(([name, value]) => [
      name,
      typeof value === 'object' && value !== null ? JSON.stringify(value) : value,
    ]),
  );
