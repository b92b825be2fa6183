/** Building blocks of the OpenAPI document: schemas, parameters, responses, refusals. */
import { BRANDS, isWallet } from '../../rules/brands.ts';
import { ERRORS, type ErrorName } from '../../rules/errors.ts';
import { envelope } from '../envelope.ts';

export type Json = Readonly<Record<string, unknown>>;

export const ref = (name: string): Json => ({ $ref: `#/components/schemas/${name}` });

export const text: Json = { type: 'string' };
export const uuid: Json = { type: 'string', format: 'uuid' };
export const integer: Json = { type: 'integer' };
export const flag: Json = { type: 'boolean' };
export const date: Json = { type: 'string', pattern: '^\\d{4}-\\d{2}-\\d{2} \\d{2}:\\d{2}:\\d{2}$' };
export const choice = (choices: readonly unknown[]): Json => ({ type: 'string', enum: choices });
export const orNull = (schema: Json): Json => ({ anyOf: [schema, { type: 'null' }] });
export const listOf = (items: Json): Json => ({ type: 'array', items });
export const described = (schema: Json, description: string): Json => ({ ...schema, description });

/** The device wallet of a payment. */
export const digitalWallet = described(
  choice(Object.keys(BRANDS).filter(isWallet)),
  'The device wallet that the payment was made with.',
);

/** An object with required and optional members. */
export const object = (
  members: Readonly<Record<string, Json>>,
  optional: Readonly<Record<string, Json>> = {},
): Json => ({
  type: 'object',
  properties: { ...members, ...optional },
  required: Object.keys(members),
});

/** One page of a list. */
export const pageOf = (items: Json, cursor: Json = uuid): Json =>
  object({ items: listOf(items), next_cursor: orNull(cursor) });

export const json = (schema: Json): Json => ({ 'application/json': { schema } });

export const jsonBody = (schema: Json): Json => ({ required: true, content: json(schema) });

export const answers = (description: string, schema: Json, status = '200'): Json => ({
  [status]: { description, content: json(schema) },
});

/** The error responses of a call, grouped by HTTP status, with an example each. */
export function refusals(...names: readonly ErrorName[]): Json {
  const byStatus = Map.groupBy(names, (name) => String(ERRORS[name].http));
  return Object.fromEntries(
    [...byStatus].map(([status, group]) => [
      status,
      {
        description: group.map((name) => ERRORS[name].message).join(' / '),
        content: {
          'application/json': {
            schema: ref('Error'),
            examples: Object.fromEntries(group.map((name) => [name, { value: envelope(name) }])),
          },
        },
      },
    ]),
  );
}

export const inPath = (name: string, schema: Json, description: string): Json => ({
  name,
  in: 'path',
  required: true,
  schema,
  description,
});

export const inQuery = (name: string, schema: Json, description: string): Json => ({
  name,
  in: 'query',
  schema,
  description,
});
