/** Reads the OpenAPI document: its calls, the fields of a schema as rows, and an example of a request. */

export interface Schema {
  $ref?: string;
  type?: string | readonly string[];
  description?: string;
  const?: unknown;
  enum?: readonly unknown[];
  default?: unknown;
  examples?: readonly unknown[];
  format?: string;
  minimum?: number;
  maximum?: number;
  maxLength?: number;
  properties?: Readonly<Record<string, Schema>>;
  required?: readonly string[];
  items?: Schema;
  allOf?: readonly Schema[];
  anyOf?: readonly Schema[];
  oneOf?: readonly Schema[];
  discriminator?: { propertyName: string; mapping: Readonly<Record<string, string>> };
}

export interface Parameter {
  name: string;
  in: 'path' | 'query' | 'header';
  required?: boolean;
  description?: string;
  schema: Schema;
}

type Content = Readonly<Record<string, { schema: Schema; examples?: Readonly<Record<string, { value: unknown }>> }>>;

export interface Operation {
  operationId: string;
  tags: readonly string[];
  summary: string;
  description?: string;
  security?: readonly object[];
  parameters?: readonly Parameter[];
  requestBody?: { content: Content };
  responses: Readonly<Record<string, { description: string; content?: Content }>>;
}

export interface OpenApi {
  tags: readonly { name: string; description: string }[];
  paths: Readonly<Record<string, Readonly<Record<string, unknown>>>>;
  components: { schemas: Readonly<Record<string, Schema>> };
}

export interface Call {
  method: string;
  path: string;
  operation: Operation;
  parameters: readonly Parameter[];
}

const METHODS = ['get', 'post', 'put', 'patch', 'delete'];

export const callsOf = ({ paths }: OpenApi): Call[] =>
  Object.entries(paths).flatMap(([path, item]) =>
    METHODS.filter((method) => method in item).map((method) => {
      const operation = item[method] as Operation;
      const shared = (item.parameters ?? []) as readonly Parameter[];
      return {
        method: method.toUpperCase(),
        path,
        operation,
        parameters: [...shared, ...(operation.parameters ?? [])],
      };
    }),
  );

export const refName = (ref: string): string => ref.split('/').at(-1) as string;

/** The schema itself, without references and with the members of all its parts. */
export function resolved(api: OpenApi, schema: Schema): Schema {
  if (schema.$ref !== undefined) {
    const target = resolved(api, api.components.schemas[refName(schema.$ref)] ?? {});
    return schema.description === undefined ? target : { ...target, description: schema.description };
  }
  const isNull = ({ type }: Schema): boolean => type === 'null';
  const choices = schema.anyOf?.filter((part) => !isNull(part) && (part.type ?? part.$ref ?? part.properties));
  if (choices?.[0] && choices.length < (schema.anyOf?.length ?? 0)) {
    const { anyOf: _anyOf, ...rest } = schema;
    return { ...resolved(api, choices[0]), ...rest };
  }
  if (!schema.allOf) return schema;
  const parts = [...schema.allOf.map((part) => resolved(api, part)), { ...schema, allOf: [] }];
  return {
    ...schema,
    properties: Object.assign({}, ...parts.map(({ properties }) => properties)),
    required: parts.flatMap(({ required = [] }) => required),
  };
}

export interface FieldRow {
  name: string;
  type: string;
  isRequired: boolean;
  about: string;
}

function typeOf(api: OpenApi, schema: Schema): string {
  const { type, items, enum: choices, const: only, format, anyOf } = resolved(api, schema);
  if (only !== undefined) return 'constant';
  if (choices) return 'choice';
  if (items) return `list of ${typeOf(api, items)}`;
  if (type === undefined && anyOf) return [...new Set(anyOf.map((part) => typeOf(api, part)))].join(' or ');
  if (format === 'uuid') return 'UUID';
  return (Array.isArray(type) ? type.join(' or ') : (type as string)) ?? 'any';
}

function aboutOf(schema: Schema): string {
  const { description, enum: choices, const: only, default: otherwise } = schema;
  return [
    description,
    only !== undefined && `Always \`${String(only)}\`.`,
    choices && `One of ${choices.map((one) => `\`${String(one)}\``).join(', ')}.`,
    otherwise !== undefined && `Default \`${JSON.stringify(otherwise)}\`.`,
  ]
    .filter(Boolean)
    .join(' ');
}

const DEEPEST = 4;

/** The fields of a schema; the name of a nested field has a dot. */
export function fieldRows(api: OpenApi, schema: Schema, prefix = '', depth = 0): FieldRow[] {
  const { properties = {}, required = [], items } = resolved(api, schema);
  if (items) return fieldRows(api, items, `${prefix.replace(/\.$/, '')}[].`, depth);
  return Object.entries(properties).flatMap(([name, field]) => {
    const target = resolved(api, field);
    const row: FieldRow = {
      name: prefix + name,
      type: typeOf(api, target),
      isRequired: required.includes(name),
      about: aboutOf(target),
    };
    const list = target.items && resolved(api, target.items);
    const nested = depth < DEEPEST && (target.properties ?? list?.properties);
    return nested ? [row, ...fieldRows(api, target, `${prefix}${name}.`, depth + 1)] : [row];
  });
}

/** Values of fields in examples, by name. */
const VALUES: Readonly<Record<string, string>> = {
  client_key: 'YOUR_CLIENT_KEY',
  merchant_key: 'YOUR_MERCHANT_KEY',
  brand: 'vcard',
  identifier: 'success@example.com',
  order_id: 'order-1',
  number: 'order-1',
  order_amount: '19.99',
  amount: '19.99',
  order_currency: 'USD',
  currency: 'USD',
  order_description: 'Two teapots',
  description: 'Two teapots',
  payer_ip: '203.0.113.7',
  return_url: 'https://example.com/return',
  success_url: 'https://example.com/thanks',
  operation: 'purchase',
  name: 'Monthly tea',
  interval_unit: 'month',
  hash: '…',
};

/** An example of a request: the required fields, each with a value of its kind. */
export function exampleOf(api: OpenApi, schema: Schema, name = ''): unknown {
  const target = resolved(api, schema);
  const { type, properties, items, const: only, enum: choices, examples, default: otherwise, format } = target;
  if (only !== undefined) return only;
  if (properties) {
    const alternative = target.anyOf?.at(-1)?.required ?? [];
    const needed = new Set([...(target.required ?? []), ...alternative]);
    // An example without required fields is empty, so it shows all of them.
    const names = Object.keys(properties).filter((one) => needed.size === 0 || needed.has(one));
    return Object.fromEntries(names.map((one) => [one, exampleOf(api, properties[one] as Schema, one)]));
  }
  if (VALUES[name] !== undefined && type !== 'integer') return VALUES[name];
  if (examples?.[0] !== undefined) return examples[0];
  if (choices) return choices[0];
  if (items) return [exampleOf(api, items, name)];
  if (otherwise !== undefined) return otherwise;
  if (type === 'integer' || type === 'number') return Math.max(1, target.minimum ?? 1);
  if (type === 'boolean') return true;
  if (type === 'object') return {};
  return format === 'uuid' ? '01a1dddf-b95f-7000-abab-314f6daa0084' : '…';
}
