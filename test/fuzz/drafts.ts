/** Valid requests for every call of the OpenAPI document, which are altered afterwards. */
import { readFileSync } from 'node:fs';
import { CHECKOUT_OPERATIONS, S2S_OPERATIONS } from '../../client/src/generated.ts';
import { sign, signedValues } from '../../client/src/sign.ts';
import { signatureOf } from '../../src/lib/signature.ts';
import { BRAND_EXPECTATIONS } from '../support/brand-expectations.ts';
import { CVV, NUMBERS } from '../support/canaries.ts';
import type { Random } from '../support/chance.ts';
import { below, pick } from './random.ts';
import type { World } from './world.ts';

export type Json = Record<string, unknown>;

interface Call {
  parameters?: Json[];
  requestBody?: { content: Record<string, { schema: Json }> };
  responses: Record<string, { content?: Record<string, { schema: Json }> }>;
}

interface OpenApi {
  paths: Record<string, Record<string, Call>>;
  components: { schemas: Record<string, Json> };
}

export const DOCUMENT = JSON.parse(
  readFileSync(new URL('../../docs/openapi.json', import.meta.url), 'utf8'),
) as OpenApi;

/** A request before it becomes bytes. */
export interface Draft {
  method: string;
  /** The path of the document. */
  route: string;
  path: string;
  query: [string, string][];
  headers: [string, string][];
  /** An object is sent as JSON, or as a form where `isForm`. */
  body: unknown;
  isForm: boolean;
  /** Signs the body, after it was altered. */
  sign: (draft: Draft) => void;
}

const METHODS = new Set(['get', 'post', 'put', 'patch', 'delete']);
/** Calls that are sent more often, because they do more. */
const WEIGHTS: Readonly<Record<string, number>> = { '/post': 25, '/api/v1/session': 6, '/pay/{link}': 12 };

const CALLS = Object.entries(DOCUMENT.paths).flatMap(([route, methods]) =>
  Object.entries(methods)
    .filter(([method]) => METHODS.has(method))
    .flatMap(([method, call]) => Array.from({ length: WEIGHTS[route] ?? 1 }, () => ({ route, method, call }))),
);

/** Values by the name of a field, as far as a schema does not suffice to make valid ones. */
const VALUES: Readonly<Record<string, (random: Random, world: World) => unknown>> = {
  order_id: (random) => `order-${below(random, 2 ** 31)}`,
  number: (random) => `order-${below(random, 2 ** 31)}`,
  order_amount: (random) => `${1 + below(random, 9999)}.00`,
  amount: (random) => `${1 + below(random, 20)}.00`,
  order_currency: () => 'USD',
  currency: () => 'USD',
  identifier: (random) => pick(random, ['success@example.com', 'decline@example.com', '']),
  payer_ip: () => '203.0.113.7',
  client_key: (_, { account }) => account.client_key,
  merchant_key: (_, { account }) => account.merchant_key,
  methods: (random) => pick(random, [['card'], ['vcard'], ['card', 'vcard'], undefined]),
  // A large step would take long.
  advance_seconds: (random) => below(random, 5),
  count: () => 1,
  connector: () => 'upstream',
};
/** Fields with ids that other fields of responses have. */
const SAME: Readonly<Record<string, string>> = {
  trans_id: 'payment_id',
  recurring_first_trans_id: 'payment_id',
  recurring_init_trans_id: 'payment_id',
};

export const poolOf = (name: string): string => SAME[name] ?? name;

function knownValue(random: Random, { known }: World, name: string): string | undefined {
  const pool = known.get(poolOf(name)) ?? [];
  return pool.length > 0 && random() < 0.9 ? pick(random, pool) : undefined;
}

const uuid = (random: Random): string =>
  'xxxxxxxx-xxxx-7xxx-8xxx-xxxxxxxxxxxx'.replaceAll('x', () => below(random, 16).toString(16));

/** A value of a schema. */
function sample(random: Random, world: World, schema: Json, name = ''): unknown {
  if (typeof schema.$ref === 'string') {
    return sample(random, world, DOCUMENT.components.schemas[schema.$ref.split('/').at(-1) ?? ''] ?? {}, name);
  }
  if ('const' in schema) return schema.const;
  if (Object.hasOwn(VALUES, name)) return VALUES[name]?.(random, world);
  const known = knownValue(random, world, name);
  if (known !== undefined) return known;
  if (Array.isArray(schema.enum)) return pick(random, schema.enum);
  if (Array.isArray(schema.examples)) return pick(random, schema.examples);
  const choices = (schema.oneOf ?? schema.anyOf) as Json[] | undefined;
  if (choices) return sample(random, world, pick(random, choices), name);
  if (Array.isArray(schema.allOf)) {
    const parts = (schema.allOf as Json[]).map((part) => sample(random, world, part, name));
    return Object.assign({}, ...parts);
  }
  if (schema.properties) return sampleObject(random, world, schema);
  if (schema.type === 'array') return [sample(random, world, (schema.items ?? {}) as Json)];
  if (schema.type === 'integer' || schema.type === 'number') return Number(schema.minimum ?? 1) + below(random, 3);
  if (schema.type === 'boolean') return random() < 0.5;
  if (schema.type === 'object') return {};
  if (schema.format === 'uuid') return uuid(random);
  if (schema.format === 'uri') return 'https://shop.example/return';
  return schema.format === 'date-time' ? '2030-01-01T00:00:00Z' : 'Text';
}

function sampleObject(random: Random, world: World, { properties, required = [] }: Json): Json {
  const isSent = (name: string): boolean => (required as string[]).includes(name) || random() < 0.2;
  return Object.fromEntries(
    Object.entries(properties as Record<string, Json>)
      .filter(([name]) => isSent(name))
      .map(([name, schema]) => [name, sample(random, world, schema, name)]),
  );
}

const signForm = (draft: Draft, password: string): void => {
  const body = draft.body as Json;
  const operation = S2S_OPERATIONS[body.action as keyof typeof S2S_OPERATIONS];
  body.hash = sign(signedValues(body, operation?.signs ?? []), password);
};

/** The form of the payment page. */
const payerForm = (random: Random): Json =>
  pick(random, [
    {
      ...{ method: 'card', card_number: pick(random, NUMBERS), card_cvv: CVV, card_holder: 'Ada Byron' },
      card_expiry: pick(random, ['01/38', '02/38', '05/38', '12/39']),
    },
    { method: 'vcard', identifier: 'success@example.com' },
    { method: 'card' },
  ]);

const NOTHING = (): void => undefined;
const NO_SIGNATURE: ReadonlySet<string> = new Set(['/pay/{link}', '/return/{link}', '/3ds/{link}']);

export function draftOf(random: Random, world: World): Draft {
  const { route, method, call } = pick(random, CALLS);
  const shared = (DOCUMENT.paths[route]?.parameters ?? []) as unknown as Json[];
  const parameters = [...shared, ...(call.parameters ?? [])];
  const textFor = ({ name, schema }: Json): string =>
    String(sample(random, world, (schema ?? {}) as Json, String(name)) ?? '');
  const path = route.replace(/\{(\w+)\}/g, (_, name) =>
    encodeURIComponent(textFor(parameters.find((parameter) => parameter.name === name) ?? { name })),
  );
  const isOptional = (parameter: Json): boolean => parameter.in === 'query' && random() < 0.3;
  const query = parameters
    .filter(isOptional)
    .map((parameter): [string, string] => [String(parameter.name), textFor(parameter)]);
  const [[type, { schema }] = ['', { schema: {} }]] = Object.entries(call.requestBody?.content ?? {});
  const draft: Draft = {
    method: method.toUpperCase(),
    route,
    path,
    query,
    headers: [],
    body: call.requestBody ? sample(random, world, schema) : undefined,
    isForm: type === 'application/x-www-form-urlencoded',
    sign: NOTHING,
  };
  complete(random, world, draft);
  return draft;
}

/** What the schema does not say: tokens, signatures, fields of brands, forms of payers. */
function complete(random: Random, world: World, draft: Draft): void {
  const { route } = draft;
  if (route === '/post') {
    const body = draft.body as Json;
    if (body.action === 'SALE') {
      const brand = pick(random, ['vcard', 'vcard', 'pin-a', ...Object.keys(BRAND_EXPECTATIONS)]);
      draft.body = { ...body, brand, return_url: 'https://shop.example/', ...BRAND_EXPECTATIONS[brand]?.complete };
    }
    draft.sign = (altered) => signForm(altered, world.account.password);
  } else if (route.startsWith('/api/v1/')) {
    const operation = CHECKOUT_OPERATIONS[route.slice('/api/v1/'.length) as keyof typeof CHECKOUT_OPERATIONS];
    draft.sign = ({ body }) => {
      (body as Json).hash = sign(signedValues(body as Json, operation.signs), world.account.password);
    };
  } else if (route.startsWith('/inbound/')) {
    draft.sign = (altered) => {
      const id = uuid(random);
      altered.headers.push(
        ...Object.entries(signatureOf(id, Date.now(), JSON.stringify(altered.body), [world.notificationSecret])),
      );
    };
  } else if (NO_SIGNATURE.has(route)) {
    if (draft.method === 'POST') Object.assign(draft, { body: payerForm(random), isForm: true });
  } else {
    draft.headers.push(['authorization', `Bearer ${world.adminToken}`]);
  }
}
