/** The links and sentences of refusals: every link leads to a section of the docs, every example passes its own check. */
import { describe, expect, test } from 'vitest';
import { docsLibrary } from '../../src/pages/docs/index.ts';
import { BRANDS } from '../../src/rules/brands.ts';
import {
  DOCS,
  DOCS_OF_ERROR,
  DOCS_OF_FIELD,
  docsOfAction,
  docsOfBrand,
  docsOfCall,
  docsOfError,
  docsOfPath,
} from '../../src/rules/docs.ts';
import { ERRORS, type ErrorName } from '../../src/rules/errors.ts';
import type { Field, FieldContext } from '../../src/rules/fields.ts';
import { type ApiOperation, CHECKOUT_OPERATIONS, S2S_OPERATIONS } from '../../src/rules/operations.ts';
import { completeSettings, settingsReader } from '../../src/rules/settings.ts';
import { expectedOf } from '../../src/wire/expected.ts';
import { callSection } from '../../src/wire/help.ts';
import { openApi } from '../../src/wire/openapi.ts';

const OPERATIONS: [string, ApiOperation][] = [
  ...Object.entries(S2S_OPERATIONS),
  ...Object.entries(CHECKOUT_OPERATIONS),
];
const ROWS: [where: string, field: Field, brand: string][] = [
  ...OPERATIONS.flatMap(([name, { fields }]) => fields.map((field): [string, Field, string] => [name, field, ''])),
  ...Object.entries(BRANDS).flatMap(([label, { fields }]) =>
    fields
      .flatMap((field) => [field, ...(field.items ?? [])])
      .map((field): [string, Field, string] => [label, field, label]),
  ),
];

const calls = Object.entries(
  openApi('').paths as Record<string, Record<string, { operationId: string; tags: [string] }>>,
)
  .filter(([path]) => /^\/(admin|sandbox)\/api/.test(path))
  .flatMap(([path, methods]) =>
    Object.entries(methods).flatMap(([method, call]) => (call.operationId ? [{ path, method, ...call }] : [])),
  );

test('every link that a refusal can have leads to a page and an anchor of the docs site', async () => {
  const links = [
    ...Object.values(DOCS),
    ...Object.values(DOCS_OF_ERROR),
    ...Object.values(DOCS_OF_FIELD),
    ...(Object.keys(ERRORS) as ErrorName[]).map(docsOfError),
    ...Object.keys(S2S_OPERATIONS).map(docsOfAction),
    ...Object.keys(CHECKOUT_OPERATIONS).map(docsOfPath),
    ...Object.keys(BRANDS).map(docsOfBrand),
    ...calls.map(({ tags, operationId }) => docsOfCall(tags[0], operationId)),
    ...ROWS.flatMap(([, { docs }]) => docs ?? []),
  ];
  const { pages } = await docsLibrary();
  const broken = links.filter((link) => {
    const [path = '', anchor] = link.split('#');
    const page = pages.get(path);
    return !page || (anchor !== undefined && !page.body.includes(` id="${anchor}"`));
  });
  expect(broken).toEqual([]);
  expect(links.length).toBeGreaterThan(150);
});

test('a route of the admin or sandbox API is found by its pattern', () => {
  for (const { path, method, tags, operationId } of calls) {
    const route = path.replaceAll(/\{(\w+)\}/g, ':$1');
    expect(callSection(method.toUpperCase(), route), route).toBe(docsOfCall(tags[0], operationId));
  }
  expect(callSection('GET', '/admin/api/nothing')).toBeUndefined();
});

describe('what is expected', () => {
  const contextOf = (values: Record<string, string> = {}): FieldContext => ({
    value: (name) => values[name] ?? '',
    positions: () => [],
    setting: settingsReader(completeSettings({})),
    allowsHttp: false,
  });

  test('is a sentence for every field that does not accept any text', () => {
    for (const [where, field, brand] of ROWS) {
      const expected = expectedOf(field, contextOf(), brand);
      if (expected === undefined) expect([where, field.name, field.expects]).toEqual([where, field.name, 'text']);
      else expect(expected, `${where} ${field.name}`).toMatch(/^[A-Z\d][^`]*[.?]$/);
    }
  });

  test('has an example that passes the check of the field', () => {
    let examples = 0;
    for (const [where, field, brand] of ROWS) {
      const context = contextOf();
      const [, example] = /, such as (.+?)[.]?$/.exec(expectedOf(field, context, brand) ?? '') ?? [];
      if (example === undefined || /such as/.test(field.expects)) continue;
      examples++;
      expect(field.check(example, context), `${where} ${field.name}: ${example}`).toBeUndefined();
    }
    expect(examples).toBeGreaterThan(50);
  });
});
