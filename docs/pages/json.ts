/** JSON as the formatter of this repository wants it: a short list of plain values stands on one line. */

const WIDTH = 120;

/** `before` is what stands on the line already. */
export function jsonText(value: unknown, indent = '', before = 0): string {
  if (typeof value !== 'object' || value === null) return JSON.stringify(value);
  const entries = Array.isArray(value)
    ? value.map((item) => ['', item] as const)
    : Object.entries(value).map(([name, item]) => [`${JSON.stringify(name)}: `, item] as const);
  const [open, close] = Array.isArray(value) ? '[]' : '{}';
  if (entries.length === 0) return `${open}${close}`;
  if (Array.isArray(value) && value.every((item) => typeof item !== 'object' || item === null)) {
    const line = `[${value.map((item) => JSON.stringify(item)).join(', ')}]`;
    // One more for the comma that may follow.
    if (before + line.length + 1 <= WIDTH) return line;
  }
  const inner = `${indent}  `;
  const lines = entries.map(([name, item]) => `${inner}${name}${jsonText(item, inner, inner.length + name.length)}`);
  return `${open}\n${lines.join(',\n')}\n${indent}${close}`;
}
