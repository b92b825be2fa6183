/** Formats JSON like the formatter of this repository: a short list of plain values stays on one line. */

const WIDTH = 120;

/** `taken` is the width that the line already uses: the indentation, the name and a possible comma. */
export function jsonText(value: unknown, indent = '', taken = 0): string {
  if (typeof value !== 'object' || value === null) return JSON.stringify(value);
  const entries = Array.isArray(value)
    ? value.map((item) => ['', item] as const)
    : Object.entries(value).map(([name, item]) => [`${JSON.stringify(name)}: `, item] as const);
  const [open, close] = Array.isArray(value) ? '[]' : '{}';
  if (entries.length === 0) return `${open}${close}`;
  if (Array.isArray(value) && value.every((item) => typeof item !== 'object' || item === null)) {
    const line = `[${value.map((item) => JSON.stringify(item)).join(', ')}]`;
    if (taken + line.length <= WIDTH) return line;
  }
  const inner = `${indent}  `;
  const lines = entries.map(([name, item], index) => {
    const comma = index < entries.length - 1 ? 1 : 0;
    return `${inner}${name}${jsonText(item, inner, inner.length + name.length + comma)}`;
  });
  return `${open}\n${lines.join(',\n')}\n${indent}${close}`;
}
