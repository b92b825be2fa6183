/** HTML templates that escape every value, unless it is HTML from a template itself. */

/** Escaped HTML; only the template tag below creates it. */
export class Html {
  readonly #text: string;

  constructor(text: string) {
    this.#text = text;
  }

  toString(): string {
    return this.#text;
  }
}

type Value = string | number | bigint | Html | readonly Value[] | false | null | undefined;

const ESCAPES: Record<string, string> = { '&': '&amp;', '<': '&lt;', '>': '&gt;', '"': '&quot;', "'": '&#39;' };

function write(value: Value): string {
  if (value === false || value === null || value === undefined) return '';
  if (value instanceof Html) return value.toString();
  if (Array.isArray(value)) return value.map(write).join('');
  return String(value).replace(/[&<>"']/g, (character) => ESCAPES[character] as string);
}

/** Template tag. Attribute values must be quoted: escaping covers quotes, not spaces. */
export function html(parts: TemplateStringsArray, ...values: readonly Value[]): Html {
  return new Html(parts.reduce((page, part, index) => page + write(values[index - 1]) + part));
}
