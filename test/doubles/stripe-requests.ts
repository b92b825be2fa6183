/** Reads requests to Stripe's API, and validates them against the schemas of Stripe's SDK. */
import { readFileSync } from 'node:fs';
import { Ajv } from 'ajv';

type Json = Record<string, unknown>;

const path = new URL('../connectors/stripe/schemas/requests.json', import.meta.url);
const ajv = new Ajv({ strict: true, allowUnionTypes: true, coerceTypes: true, allErrors: true });
ajv.addSchema(JSON.parse(readFileSync(path, 'utf8')), 'requests');

/** Each form of request, and the schema of its fields. */
const SCHEMAS: readonly [method: string, path: RegExp, schema: string][] = [
  ['GET', /^\/v1\/balance$/, 'Balance'],
  ['GET', /^\/v1\/payment_method_configurations$/, 'MethodConfigurationList'],
  ['POST', /^\/v1\/customers$/, 'CustomerCreate'],
  ['POST', /^\/v1\/payment_methods$/, 'PaymentMethodCreate'],
  ['POST', /^\/v1\/payment_intents$/, 'PaymentIntentCreate'],
  ['GET', /^\/v1\/payment_intents\/search$/, 'PaymentIntentSearch'],
  ['GET', /^\/v1\/payment_intents\/pi_\w+$/, 'PaymentIntentRetrieve'],
  ['POST', /^\/v1\/payment_intents\/pi_\w+\/confirm$/, 'PaymentIntentConfirm'],
  ['POST', /^\/v1\/payment_intents\/pi_\w+\/capture$/, 'PaymentIntentCapture'],
  ['POST', /^\/v1\/payment_intents\/pi_\w+\/cancel$/, 'PaymentIntentCancel'],
  ['POST', /^\/v1\/refunds$/, 'RefundCreate'],
  ['GET', /^\/v1\/refunds$/, 'RefundList'],
  ['GET', /^\/v1\/refunds\/re_\w+$/, 'RefundRetrieve'],
  ['POST', /^\/v1\/checkout\/sessions$/, 'SessionCreate'],
  ['GET', /^\/v1\/checkout\/sessions\/cs_\w+$/, 'SessionRetrieve'],
  ['POST', /^\/v1\/checkout\/sessions\/cs_\w+\/expire$/, 'SessionExpire'],
];

/** The fields of a form with names such as `line_items[0][quantity]`. */
export function readForm(text: string): Json {
  const fields: Json = {};
  for (const [name, value] of new URLSearchParams(text)) {
    const parts = name.split(/[[\]]+/).filter((part) => part !== '');
    let node = fields;
    for (const part of parts.slice(0, -1)) {
      node[part] ??= {};
      node = node[part] as Json;
    }
    node[parts.at(-1) as string] = value;
  }
  return withLists(fields) as Json;
}

function withLists(node: unknown): unknown {
  if (typeof node !== 'object' || node === null) return node;
  const entries = Object.entries(node).map(([name, value]): [string, unknown] => [name, withLists(value)]);
  const isList = entries.length > 0 && entries.every(([name], index) => name === String(index));
  return isList ? entries.map(([, value]) => value) : Object.fromEntries(entries);
}

export interface CheckedRequest {
  /** The name of the schema; undefined if the API has no such path. */
  kind: string | undefined;
  /** The fields, with numbers and booleans where the schema has them. */
  fields: Json;
  /** What the schema refuses. */
  problems: string[];
}

export function checkRequest(method: string, pathname: string, form: string): CheckedRequest {
  const fields = readForm(form);
  const kind = SCHEMAS.find(([verb, pattern]) => verb === method && pattern.test(pathname))?.[2];
  if (kind === undefined) return { kind, fields, problems: [`no such call: ${method} ${pathname}`] };
  const validate = ajv.getSchema(`requests#/definitions/${kind}`);
  validate?.(fields);
  const problems = (validate?.errors ?? []).map(
    ({ instancePath, message, params }) => `${kind}${instancePath}: ${message} ${JSON.stringify(params)}`,
  );
  return { kind, fields, problems };
}
