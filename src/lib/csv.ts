/** Writes CSV by RFC 4180, safe to open in a spreadsheet. */

const NUMBER = /^-?\d+(\.\d+)?$/;

/**
 * One field. A spreadsheet would run a text that begins with one of these characters as a formula, so an apostrophe
 * precedes it; a negative number stays a number.
 */
export function csvField(value: string | number | null): string {
  const text = value === null ? '' : String(value);
  const guarded = /^[=+\-@\t\r]/.test(text) && !NUMBER.test(text) ? `'${text}` : text;
  return /[",\r\n]/.test(guarded) ? `"${guarded.replaceAll('"', '""')}"` : guarded;
}

/** One line with its line end. */
export const csvLine = (values: readonly (string | number | null)[]): string => `${values.map(csvField).join(',')}\r\n`;
