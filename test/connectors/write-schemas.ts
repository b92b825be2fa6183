/** Writes the JSON Schemas of the requests of each provider from the types of the provider's own SDK. */
import { existsSync, mkdirSync, readdirSync, writeFileSync } from 'node:fs';
import { createGenerator, type Schema } from 'ts-json-schema-generator';

/** The SDKs allow any text besides the values that they list; a schema that does so finds no wrong value. */
const OPEN_ENUM = '#/definitions/OtherString';

function closed(node: unknown): unknown {
  if (Array.isArray(node)) return node.map(closed);
  if (typeof node !== 'object' || node === null) return node;
  const entries = Object.entries(node).map(([name, value]): [string, unknown] => {
    const listed = name === 'anyOf' ? value.filter((each: Schema) => each.$ref !== OPEN_ENUM) : value;
    return [name, closed(listed)];
  });
  return Object.fromEntries(entries);
}

const here = import.meta.dirname;
for (const provider of readdirSync(here)) {
  const path = `${here}/${provider}/requests.ts`;
  if (!existsSync(path)) continue;
  const generator = createGenerator({
    path,
    tsconfig: `${here}/../../tsconfig.json`,
    type: '*',
    jsDoc: 'none',
    additionalProperties: false,
    skipTypeCheck: true,
  });
  mkdirSync(`${here}/${provider}/schemas`, { recursive: true });
  writeFileSync(
    `${here}/${provider}/schemas/requests.json`,
    `${JSON.stringify(closed(generator.createSchema('*')), null, 2)}\n`,
  );
}
