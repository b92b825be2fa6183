/** Generates docs/postman.json: a Postman collection of every API call, which signs the requests of merchants itself. */

import { type Call, callsOf, exampleOf, type OpenApi, type Schema } from '../../src/pages/docs/openapi.ts';
import { type ApiOperation, CHECKOUT_OPERATIONS, S2S_OPERATIONS } from '../../src/rules/operations.ts';

type Json = Readonly<Record<string, unknown>>;

/** Values of the collection in place of those of the examples. */
const VARIABLES: Readonly<Record<string, string>> = {
  client_key: '{{client_key}}',
  merchant_key: '{{merchant_key}}',
  order_id: '{{order_id}}',
  number: '{{order_id}}',
  trans_id: '{{payment_id}}',
  payment_id: '{{payment_id}}',
  hash: '{{hash}}',
};

function withVariables(value: unknown): unknown {
  if (typeof value !== 'object' || value === null || Array.isArray(value)) return value;
  return Object.fromEntries(
    Object.entries(value).map(([name, item]) => [name, VARIABLES[name] ?? withVariables(item)]),
  );
}

/** The script that signs a request before it is sent. A call that makes a payment gets a new order number. */
const signing = (of: ApiOperation): Json => ({
  listen: 'prerequest',
  script: {
    type: 'text/javascript',
    exec: [
      ...(of.opensPayment ? ["pm.collectionVariables.set('order_id', 'order-' + Date.now());"] : []),
      'const { mode, raw, urlencoded } = pm.request.body;',
      "const fields = mode === 'raw' ? JSON.parse(pm.variables.replaceIn(raw)) : urlencoded.toObject();",
      "const valueOf = (name) => name.split('.').reduce((part, key) => (part || {})[key], fields) || '';",
      `const values = ${JSON.stringify(of.signs)}.map(valueOf).map((value) => pm.variables.replaceIn(value));`,
      "const text = values.join('') + pm.variables.get('password');",
      'const upper = text.replace(/[a-z]/g, (letter) => letter.toUpperCase());',
      "pm.variables.set('hash', CryptoJS.SHA1(CryptoJS.MD5(upper).toString()).toString());",
    ],
  },
});

/** Keeps the id of the payment for the calls that follow. */
const KEEPING: Json = {
  listen: 'test',
  script: {
    type: 'text/javascript',
    exec: [
      'const { trans_id, payment_id = trans_id } = pm.response.json();',
      "if (payment_id) pm.collectionVariables.set('payment_id', payment_id);",
    ],
  },
};

const addressOf = (path: string): string => `{{url}}${path.replace(/\{(\w+)\}/g, '{{$1}}')}`;

const jsonBody = (value: unknown): Json => ({
  mode: 'raw',
  raw: JSON.stringify(value, null, 2),
  options: { raw: { language: 'json' } },
});

function formItem(api: OpenApi, [action, operation]: [string, ApiOperation]): Json {
  const schema = api.components.schemas[action] as Schema;
  const fields = withVariables({ action, ...(exampleOf(api, schema) as Json) }) as Json;
  const sent = action === 'SALE' ? { ...fields, brand: 'vcard', identifier: 'success@example.com' } : fields;
  return {
    name: action,
    event: [signing(operation), KEEPING],
    request: {
      method: 'POST',
      url: '{{url}}/post',
      body: {
        mode: 'urlencoded',
        urlencoded: Object.entries(sent).map(([key, value]) => ({ key, value: String(value) })),
      },
    },
  };
}

function item(api: OpenApi, { method, path, operation, parameters }: Call): Json {
  const schema = operation.requestBody?.content['application/json']?.schema;
  const signed = (CHECKOUT_OPERATIONS as Readonly<Record<string, ApiOperation>>)[path.replace('/api/v1/', '')];
  const query = parameters.filter((one) => one.in === 'query');
  return {
    name: operation.summary.replaceAll('`', ''),
    ...(signed && { event: [signing(signed), KEEPING] }),
    request: {
      method,
      ...(operation.security && {
        auth: { type: 'bearer', bearer: [{ key: 'token', value: '{{admin_token}}', type: 'string' }] },
      }),
      url:
        query.length === 0
          ? addressOf(path)
          : {
              raw: addressOf(path),
              host: ['{{url}}'],
              path: addressOf(path).replace('{{url}}/', '').split('/'),
              query: query.map(({ name, description }) => ({ key: name, value: '', description, disabled: true })),
            },
      ...(schema && { body: jsonBody(withVariables(exampleOf(api, schema))) }),
    },
  };
}

/** The groups of the collection; pages for payers and calls of providers are no calls of an API client. */
const GROUPS_LEFT_OUT = ['payers', 'providers'];

export function postman(api: OpenApi): Json {
  const calls = callsOf(api);
  const groups = api.tags.filter(({ name }) => !GROUPS_LEFT_OUT.includes(name));
  return {
    info: {
      name: 'Turnpike',
      description:
        'Set the variables url, client_key, merchant_key and password. Requests are signed before they are sent.',
      schema: 'https://schema.getpostman.com/json/collection/v2.1.0/collection.json',
    },
    variable: [
      { key: 'url', value: 'http://127.0.0.1:8080' },
      ...['client_key', 'merchant_key', 'password', 'admin_token', 'order_id', 'payment_id', 'mid'].map((key) => ({
        key,
        value: '',
      })),
    ],
    item: groups.map(({ name, description }) => ({
      name,
      description,
      item:
        name === 'merchants'
          ? (Object.entries(S2S_OPERATIONS) as [string, ApiOperation][]).map((entry) => formItem(api, entry))
          : calls.filter(({ operation }) => operation.tags[0] === name).map((call) => item(api, call)),
    })),
  };
}
