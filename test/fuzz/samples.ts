/** Plausible values of fields, by their name or by their schema in the OpenAPI document. */
import { readFileSync } from 'node:fs';
import { CVV, NUMBERS } from '../support/canaries.ts';
import type { Random } from '../support/chance.ts';
import type { World } from './model.ts';
import { below, fork, pick } from './random.ts';

export type Json = Record<string, unknown>;

export interface Call {
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

/** What the requests carry as a password, a key or a token of others; no response and no log line may contain it. */
export const PLANTED = 'Pl4nted-Zr8qVw2mTx6y';

/** Values by the name of a field, as far as a schema does not suffice to make valid ones. */
const VALUES: Readonly<Record<string, (random: Random, world: World) => unknown>> = {
  order_id: (random) => `order-${below(random, 2 ** 31)}`,
  number: (random) => `order-${below(random, 2 ** 31)}`,
  // Below the security code that is searched for.
  order_amount: (random) => `${1 + below(random, Number(CVV) - 1)}.00`,
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
  by: () => '0.01',
  unit: () => 'minutes',
  count: () => 1,
  connector: (random) => pick(random, ['upstream', 'stripe', 'stripe-hosted', 'adyen', 'mollie', 'paypal', 'checkout']),
  email: (random) => `ada-${below(random, 1000)}@example.com`,
  card_number: (random) => pick(random, NUMBERS),
  card_cvv: () => CVV,
};

const SECRET = /password|secret|api_?key|hmac|private_key/i;

/** Fields with ids that other fields of responses have. */
const SAME: Readonly<Record<string, string>> = {
  trans_id: 'payment_id',
  recurring_first_trans_id: 'payment_id',
  recurring_init_trans_id: 'payment_id',
  reference: 'payment_id',
};

/** The pool of ids for a field or a path parameter: `paymentId` and `payment_id` share one. */
export const poolOf = (name: string): string => {
  const snake = name.replace(/[A-Z]/g, (letter) => `_${letter.toLowerCase()}`);
  return SAME[snake] ?? snake;
};

/** Takes the same number of random numbers whatever is known, so that a request can be repeated in another run. */
export function knownValue(random: Random, { known }: World, name: string): string | undefined {
  const isKnown = random() < 0.9;
  const at = random();
  const pool = known.get(poolOf(name)) ?? [];
  return isKnown ? pool[Math.floor(at * pool.length)] : undefined;
}

export const uuid = (random: Random): string =>
  'xxxxxxxx-xxxx-7xxx-8xxx-xxxxxxxxxxxx'.replaceAll('x', () => below(random, 16).toString(16));

/** A value for a field of this name; undefined if any will do. */
export function named(random: Random, world: World, name: string): unknown {
  if (Object.hasOwn(VALUES, name)) return VALUES[name]?.(random, world);
  return SECRET.test(name) && name !== 'secret' ? PLANTED : knownValue(random, world, name);
}

/** A value of a schema. */
export function sample(random: Random, world: World, schema: Json, name = ''): unknown {
  if (typeof schema.$ref === 'string') {
    return sample(random, world, DOCUMENT.components.schemas[schema.$ref.split('/').at(-1) ?? ''] ?? {}, name);
  }
  if ('const' in schema) return schema.const;
  const value = named(random, world, name);
  if (value !== undefined || Object.hasOwn(VALUES, name)) return value;
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
  // Few of many optional fields, so that some objects with many of them are valid.
  const share = Math.min(0.2, 4 / Object.keys(properties as Json).length);
  const isSent = (name: string): boolean => random() < share || (required as string[]).includes(name);
  return Object.fromEntries(
    Object.entries(properties as Record<string, Json>)
      .filter(([name]) => isSent(name))
      .map(([name, schema]) => [name, sample(fork(random), world, schema, name)]),
  );
}
