/** The OpenAPI document matches the gateway: its tables, paths, requests and responses. */
import { readFileSync } from 'node:fs';
import Fastify from 'fastify';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { EXAMPLES } from '../../src/rules/brand-examples.ts';
import { BRANDS, isWallet } from '../../src/rules/brands.ts';
import { ERRORS } from '../../src/rules/errors.ts';
import { type ApiOperation, CHECKOUT_OPERATIONS, S2S_OPERATIONS } from '../../src/rules/operations.ts';
import { SETTING_NAMES } from '../../src/rules/settings.ts';
import { checkoutStatus, STATE_NAMES } from '../../src/rules/states.ts';
import { createApp } from '../../src/server/app.ts';
import { openApi, openApiRoutes } from '../../src/wire/openapi.ts';
import { type Body, checkoutOf, creditFields, newOrder, sessionFields, signed } from '../support/checkout.ts';
import { type Answer, type Fields, saleFields, sign, startTestGateway, type TestGateway } from '../support/gateway.ts';
import { uploadStatement } from '../support/statements.ts';

// biome-ignore lint/suspicious/noExplicitAny: the test reads all parts of the document
type Json = any;

const ADDRESS = 'https://pay.example.com';
const document: Json = openApi(ADDRESS);
const schemas: Json = document.components.schemas;
const METHODS = ['get', 'post', 'put', 'patch', 'delete'];
const operations: { path: string; method: string; operation: Json }[] = Object.entries(document.paths).flatMap(
  ([path, item]) =>
    Object.entries(item as Json)
      .filter(([method]) => METHODS.includes(method))
      .map(([method, operation]) => ({ path, method, operation })),
);

/** Every object of the document. */
function* objects(value: unknown): Generator<Json> {
  if (typeof value !== 'object' || value === null) return;
  yield value;
  for (const member of Object.values(value)) yield* objects(member);
}

const resolve = (pointer: string): Json =>
  pointer
    .slice(2)
    .split('/')
    .reduce((place, name) => place?.[name], document);

/** Validates a value against the part of JSON Schema that the document uses; returns the problems. */
function schemaProblems(value: Json, schema: Json, at = ''): string[] {
  const problems: string[] = [];
  const fits = (one: Json): boolean => schemaProblems(value, one, at).length === 0;
  if (schema.$ref) problems.push(...schemaProblems(value, resolve(schema.$ref), at));
  if ('const' in schema && value !== schema.const) problems.push(`${at} is not ${schema.const}`);
  if (schema.enum && !schema.enum.includes(value)) problems.push(`${at} is none of ${schema.enum}`);
  if (schema.type && !isOfType(value, schema.type)) problems.push(`${at} is no ${schema.type}`);
  if (schema.pattern && !new RegExp(schema.pattern, 'u').test(value)) problems.push(`${at} is not ${schema.pattern}`);
  if (schema.format === 'uuid' && !/^[\da-f]{8}(-[\da-f]{4}){3}-[\da-f]{12}$/.test(value))
    problems.push(`${at} is no UUID`);
  if (schema.maxLength !== undefined && value.length > schema.maxLength) problems.push(`${at} is too long`);
  for (const one of schema.allOf ?? []) problems.push(...schemaProblems(value, one, at));
  if (schema.anyOf && !schema.anyOf.some(fits)) problems.push(`${at} fits nothing`);
  if (schema.oneOf && schema.oneOf.filter(fits).length !== 1) {
    problems.push(`${at} fits ${schema.oneOf.filter(fits).length} of ${schema.oneOf.length}`);
  }
  for (const name of schema.required ?? []) if (value?.[name] === undefined) problems.push(`${at}.${name} is missing`);
  for (const [name, member] of Object.entries(schema.properties ?? {})) {
    if (value?.[name] !== undefined) problems.push(...schemaProblems(value[name], member, `${at}.${name}`));
  }
  for (const [index, item] of (schema.items && Array.isArray(value) ? value : []).entries()) {
    problems.push(...schemaProblems(item, schema.items, `${at}[${index}]`));
  }
  return problems;
}

function isOfType(value: Json, type: string): boolean {
  if (type === 'integer') return Number.isInteger(value) || /^\d+$/.test(value);
  if (type === 'array') return Array.isArray(value);
  if (type === 'null') return value === null;
  return type === 'object' ? typeof value === 'object' && value !== null : typeof value === type;
}

/** The operations that answer with 201. */
const CREATING = [
  ...['createAccount', 'createConnection', 'createToken', 'createReconciliation', 'addEvidence'],
  ...['createPricePlan', 'addPriceVersion', 'proposeAdjustment', 'makePayout', 'makeFeeInvoice', 'correctFeeInvoice'],
  ...['inviteOperator', 'createLink', 'createInvoice', 'createTelephoneOrder'],
  ...['createRiskList', 'addRiskListEntries', 'importRiskListEntries', 'createRiskRule', 'startBackTest'],
];

describe('the document', () => {
  test('has the version of the package and the address of the gateway', () => {
    expect(document.openapi).toBe('3.1.0');
    expect(document.servers).toEqual([{ url: ADDRESS }]);
    expect(document.info.version).toBe(
      JSON.parse(readFileSync(new URL('../../package.json', import.meta.url), 'utf8')).version,
    );
  });

  test('resolves every reference', () => {
    const references = [...objects(document)].flatMap(({ $ref, discriminator }) => [
      ...($ref ? [$ref] : []),
      ...Object.values(discriminator?.mapping ?? {}),
    ]);
    expect(references.length).toBeGreaterThan(100);
    for (const pointer of references) expect(resolve(pointer), pointer).toBeTypeOf('object');
  });

  test('uses every schema', () => {
    const text = JSON.stringify(document);
    for (const name of Object.keys(schemas)) expect(text, name).toContain(`"$ref":"#/components/schemas/${name}"`);
  });

  test('has unique operation ids and all path parameters', () => {
    const ids = operations.map(({ operation }) => operation.operationId);
    expect(new Set(ids).size).toBe(ids.length);
    const tags = document.tags.map(({ name }: Json) => name);
    for (const { path, operation } of operations) {
      expect(tags).toContain(operation.tags[0]);
      expect(operation.responses, path).toHaveProperty(CREATING.includes(operation.operationId) ? '201' : '200');
      const named = [...(document.paths[path].parameters ?? []), ...(operation.parameters ?? [])]
        .filter((parameter) => parameter.in === 'path')
        .map(({ name }) => name);
      expect(named, path).toEqual([...path.matchAll(/\{(\w+)\}/g)].map(([, name]) => name));
    }
  });

  test('has the refusals of the error table as examples', () => {
    for (const { path, operation } of operations) {
      for (const [status, response] of Object.entries<Json>(operation.responses)) {
        for (const [name, { value }] of Object.entries<Json>(response.content?.['application/json']?.examples ?? {})) {
          const row = ERRORS[name as keyof typeof ERRORS];
          expect(value, path).toEqual({
            result: 'ERROR',
            error_code: row.code,
            error_message: row.message,
            errors: [],
          });
          expect(status).toBe(String(row.http));
        }
      }
    }
  });
});

describe('the tables', () => {
  test.each(Object.entries(S2S_OPERATIONS) as [string, ApiOperation][])('%s has its fields', (action, { fields }) => {
    const { properties, required } = schemas[action];
    expect(properties.action).toEqual({ const: action });
    expect(Object.keys(properties)).toEqual(expect.arrayContaining(['client_key', ...fields.map(({ name }) => name)]));
    const needed = fields.filter(({ need }) => need === 'must').map(({ name }) => name);
    expect(required.toSorted()).toEqual(['action', 'client_key', ...needed].toSorted());
    expect(Object.keys(schemas.PostRequest.discriminator.mapping)).toContain(action);
  });

  const CHECKOUT = Object.entries(CHECKOUT_OPERATIONS) as [string, ApiOperation][];
  test.each(CHECKOUT)('/api/v1/%s has its fields', (path, { fields, signs }) => {
    const { requestBody, tags } = document.paths[`/api/v1/${path}`].post;
    const schema = resolve(requestBody.content['application/json'].schema.$ref);
    const needed = new Set(['merchant_key']);
    expect(schema.properties.merchant_key.type).toBe('string');
    for (const { name, need, alias } of fields) {
      const parts = name.split('.');
      parts.reduce((place, part) => {
        expect(place.properties, name).toHaveProperty(part);
        if (need === 'must') expect(place.required, name).toContain(part);
        else if (parts.length === 1) expect(place.required, name).not.toContain(part);
        return place.properties[part];
      }, schema);
      if (need === 'must') needed.add(parts[0] as string);
      if (alias) expect(schema.properties).toHaveProperty(alias);
    }
    expect(schema.required.toSorted()).toEqual([...needed].toSorted());
    for (const name of signs) expect(schema.properties.hash.description).toContain(`\`${name}\``);
    expect(tags).toEqual(['checkout']);
  });

  test('Checkout has its own names of the states', () => {
    expect(schemas.CheckoutPayment.properties.status.enum).toEqual(STATE_NAMES.map(checkoutStatus));
  });

  test.each(Object.entries(BRANDS))('%s has its fields', (label, { fields, about }) => {
    const schema = schemas[`SALE.${label}`];
    const text = JSON.stringify(schema);
    expect(schema.description).toContain(about);
    expect(schemas.AnySale.discriminator.mapping[label]).toBe(`#/components/schemas/SALE.${label}`);
    for (const { name, alias, items = [] } of fields) {
      for (const part of [name, alias ?? name, ...items.map((item) => item.name)]) expect(text).toContain(part);
    }
  });

  test('has every setting', () => {
    for (const name of SETTING_NAMES) {
      const found = name.split('.').reduce((place, part) => place?.properties?.[part], schemas.Settings);
      expect(found?.description, name).toBeTypeOf('string');
    }
  });
});

describe('the gateway', () => {
  let shop: TestGateway;
  beforeAll(async () => {
    shop = await startTestGateway({ simulator: true });
  });
  afterAll(() => shop.close());

  const expectAsDocumented = (path: string, method: string, { status, body }: Answer): void => {
    const response = document.paths[path][method].responses[status];
    expect(response, `${method} ${path} ${status}`).toBeDefined();
    expect(schemaProblems(body, response.content['application/json'].schema), `${method} ${path}`).toEqual([]);
  };

  test('has exactly the paths of the document', async () => {
    const app = createApp(shop.gateway, {
      isTrustedProxy: () => false,
      takesRequests: true,
      adminTokenDigest: Buffer.alloc(32),
    });
    const routes = new Set<string>();
    app.addHook('onRoute', ({ method, url }) => {
      for (const name of [method].flat()) routes.add(`${name.toLowerCase()} ${url.replace(/:\w+/g, '{}')}`);
    });
    await app.ready();
    await app.close();
    const documented = operations.map(({ path, method }) => `${method} ${path.replace(/\{\w+\}/g, '{}')}`);
    // Another path of /post exists for some accounts only. Pictures, the script for shops, the start page, the docs and the panel are for people;
    // the payment page itself calls those of wallets.
    const isOther = (route: string): boolean =>
      !route.startsWith('head ') &&
      !/ (\/openapi\.json|\/post-va|\/(?:logos|marks)\/.*|\/embed(?:\/\d+)?\.js|\/|\/docs(?:\/.*)?|\/sandbox\/test-payment|\/sandbox\/demo-logo\.svg|\/pay\/\{\}\/wallet(?:-session)?|\/sandbox\/wallets\/.*|\/admin(?!\/api\/).*)$/.test(
        route,
      );
    expect([...routes].filter(isOther).toSorted()).toEqual(documented.filter(isOther).toSorted());
  });

  test('serves the document with its own address', async () => {
    const app = Fastify();
    openApiRoutes(app, shop.gateway);
    const answer = await app.inject('/openapi.json');
    expect(answer.headers['content-type']).toBe('application/json; charset=utf-8');
    expect(answer.json()).toEqual(JSON.parse(JSON.stringify(openApi(shop.url))));
    await app.close();
  });

  const saleOf = (label: string): Fields => ({
    brand: label,
    // The amount that the shell function of the README sends.
    order_amount: '19.99',
    order_currency: EXAMPLES[label]?.currency ?? 'EUR',
    ...EXAMPLES[label]?.fields,
  });

  test.each(Object.keys(BRANDS))('accepts %s and responds as documented', async (label) => {
    const merchant = await shop.newMerchant({ account_uuid: '7d0b6e0a-3f3c-4c55-9b7e-1f7a0c2d9e41' });
    const request = saleFields(merchant, saleOf(label));
    expect(schemaProblems(request, schemas.PostRequest)).toEqual([]);
    const answer = await shop.post(request);
    // The tokens in the examples are not genuine.
    if (isWallet(label)) return expectAsDocumented('/post', 'post', answer);
    expect(answer.status).toBe(200);
    expect(answer.body.redirect_url ?? '', 'no field is missing').not.toContain(`${shop.url}/pay/`);
    expectAsDocumented('/post', 'post', answer);
    expectAsDocumented('/post', 'post', await shop.status(answer.body.trans_id, merchant));
    const { body } = await shop.admin('GET', `/payments/${answer.body.trans_id}`);
    expect(schemaProblems(body, schemas.PaymentWithDetails)).toEqual([]);
    expect(Object.keys(body).toSorted()).toEqual(Object.keys(schemas.PaymentWithDetails.properties).toSorted());
  });

  test('accepts Checkout requests and responds as documented', async () => {
    const checkout = checkoutOf(shop);
    const call = async (path: string, fields: Body): Promise<Answer> => {
      const request = signed(path, fields, shop.merchant);
      const { $ref } = document.paths[`/api/v1/${path}`].post.requestBody.content['application/json'].schema;
      expect(schemaProblems(request, resolve($ref)), path).toEqual([]);
      const answer = await checkout.sendBody(path, request);
      expectAsDocumented(`/api/v1/${path}`, 'post', answer);
      return answer;
    };
    const customer = { name: 'Ada', email: 'ada@example.com', birth_date: '1815-12-10' };
    const lists = { methods: ['vcard'], card_token: ['x'], parameters: { vcard: { a: '1' } }, custom_data: { a: '1' } };
    const options = { session_expiry: '30', auth: 'Y', recurring_init: true, req_token: false, url_target: '_top' };
    const session = sessionFields({ ...options, ...lists, customer, billing_address: { country: 'DE', zip: '1' } });
    expect((await call('session', session)).body.redirect_url).toContain(`${shop.url}/pay/`);
    const paid = await checkout.paid({ recurring_init: true, customer });
    const { recurring_token } = (await call('payment/status', { trans_id: paid.id })).body;
    const [reserved, declined, voided] = [
      await checkout.inState('pending', shop.merchant),
      await checkout.inState('decline', shop.merchant),
      await checkout.inState('pending', shop.merchant),
    ];
    const first = { recurring_init_trans_id: paid.id, recurring_token };
    const calls: [string, Body, number][] = [
      ['payment/status', { payment_id: declined }, 200],
      ['payment/status', { order_id: paid.orderId, size: 5 }, 200],
      ['payment/status', { order_id: 'nothing' }, 400],
      ['payment/capture', { payment_id: reserved, amount: '5.00' }, 200],
      ['payment/capture', { payment_id: reserved }, 400],
      ['payment/void', { payment_id: voided }, 200],
      ['payment/recurring', { ...first, order: newOrder() }, 200],
      ['payment/recurring', { ...first, order: newOrder({ number: paid.orderId }) }, 400],
      ['payment/refund', { payment_id: paid.id, amount: '1.00' }, 200],
      ['payment/refund', { payment_id: declined }, 400],
      ['payment/card/credit', creditFields(), 400],
    ];
    for (const [path, fields, status] of calls) expect((await call(path, fields)).status, path).toBe(status);
    const { body } = await shop.admin('GET', `/payments/${paid.id}`);
    expect(schemaProblems(body, schemas.PaymentWithDetails)).toEqual([]);
  });

  test('responds to admin calls as documented', async () => {
    const created = await shop.admin('POST', '/accounts', { name: 'Tea House', branding: { name: 'Tea' } });
    expectAsDocumented('/admin/api/accounts', 'post', created);
    const { mid } = created.body;
    const at = `/accounts/${mid}`;
    expectAsDocumented('/admin/api/accounts', 'get', await shop.admin('GET', '/accounts'));
    expectAsDocumented('/admin/api/accounts/{mid}', 'get', await shop.admin('GET', at));
    expectAsDocumented('/admin/api/accounts/{mid}', 'patch', await shop.admin('PATCH', at, { locale: 'pt-BR' }));
    expectAsDocumented('/admin/api/accounts/{mid}', 'patch', await shop.admin('PATCH', at, { colour: 'red' }));
    const rotated = await shop.admin('POST', `${at}/rotate-password`);
    expectAsDocumented('/admin/api/accounts/{mid}/rotate-password', 'post', rotated);
    expectAsDocumented('/admin/api/accounts/{mid}', 'get', await shop.admin('GET', '/accounts/nobody'));
    expectAsDocumented('/admin/api/accounts', 'get', await shop.admin('GET', '/accounts', undefined, 'schemaProblems'));
    const explain = (request: string) => shop.admin('POST', '/explain', { mid, request });
    for (const request of ['action=VOID&trans_id=1', 'action=CREATE_SCHEDULE', '{"payment_id":"1"}', 'nothing']) {
      expectAsDocumented('/admin/api/explain', 'post', await explain(request));
    }
    expectAsDocumented('/admin/api/clock', 'get', await shop.admin('GET', `/clock?mid=${mid}`));
    expectAsDocumented('/admin/api/clock', 'post', await shop.admin('POST', '/clock', { advance_seconds: 1, mid }));
    await shop.sale();
    const { parameters } = document.paths['/admin/api/payments'].get;
    const examples: Fields = { status: 'SETTLED', brand: 'vcard', order_id: 'none', from: '2020-01-01', limit: '1' };
    const query = parameters.filter(({ name }: Json) => examples[name]).map(({ name }: Json) => [name, examples[name]]);
    expect(query).toHaveLength(Object.keys(examples).length);
    expectAsDocumented('/admin/api/payments', 'get', await shop.admin('GET', '/payments'));
    expectAsDocumented(
      '/admin/api/payments',
      'get',
      await shop.admin('GET', `/payments?${new URLSearchParams(query)}`),
    );
    for (const attention of parameters.find(({ name }: Json) => name === 'attention').schema.enum) {
      expect((await shop.admin('GET', `/payments?attention=${attention}`)).status).toBe(200);
    }
  });

  test('returns cursors as documented', async () => {
    const { client_key, password } = await shop.newMerchant();
    const terms = { name: 'Tea', interval_length: '1', interval_unit: 'month', payments_count: '2' };
    for (let n = 0; n < 2; n++) {
      await shop.post({ action: 'CREATE_SCHEDULE', client_key, ...terms, hash: sign(password) });
      await shop.sale();
    }
    for (const list of ['accounts', 'payments', 'schedules', 'callbacks']) {
      const first = await shop.admin('GET', `/${list}?limit=1`);
      expectAsDocumented(`/admin/api/${list}`, 'get', first);
      expect(first.body.next_cursor, list).toBeTypeOf('string');
      const { schema } = document.paths[`/admin/api/${list}`].get.parameters.find(
        ({ name }: Json) => name === 'cursor',
      );
      expect(schemaProblems(first.body.next_cursor, schema, list)).toEqual([]);
    }
  });

  test('responds to reports as documented', async () => {
    await shop.sale();
    for (const query of ['', '?from=2026-01-01&to=2026-02-01', '?from=x']) {
      expectAsDocumented('/admin/api/overview', 'get', await shop.admin('GET', `/overview${query}`));
    }
    for (const query of ['', '?group_by=day,mid,brand,currency,connection', '?group_by=x']) {
      expectAsDocumented('/admin/api/reports', 'get', await shop.admin('GET', `/reports${query}`));
    }
    const statement = 'payment_id,amount,currency\nx,1.00,USD';
    const reconciled = await uploadStatement(shop, statement, { from: '2026-01-01', to: '2026-01-02' });
    const one = '/admin/api/reconciliations/{reconciliation_id}';
    const path = `/reconciliations/${reconciled.body.reconciliation_id}`;
    expectAsDocumented('/admin/api/reconciliations', 'post', reconciled);
    expectAsDocumented('/admin/api/reconciliations', 'post', await uploadStatement(shop, statement));
    expectAsDocumented('/admin/api/reconciliations', 'get', await shop.admin('GET', '/reconciliations'));
    expectAsDocumented(`${one}/rows`, 'get', await shop.admin('GET', `${path}/rows`));
    for (const method of ['GET', 'DELETE', 'GET']) {
      expectAsDocumented(one, method.toLowerCase(), await shop.admin(method, path));
    }
    const { responses } = document.paths['/admin/api/reports.csv'].get;
    expect(Object.keys(responses['200'].content)).toEqual(['text/csv']);
    expectAsDocumented('/admin/api/reports.csv', 'get', await shop.admin('GET', '/reports.csv?from=x'));
  });

  test('responds to sandbox calls as documented', async () => {
    const { body: sale } = await shop.sale(saleOf('ips'));
    const path = '/sandbox/api/payments/{trans_id}';
    const runScenario = async (scenario: Json): Promise<Answer> => {
      const body = document.paths[path].post.requestBody.content['application/json'].schema;
      expect(schemaProblems(scenario, body)).toEqual([]);
      const answer = await shop.sandbox('POST', `/payments/${sale.trans_id}`, scenario);
      expectAsDocumented(path, 'post', answer);
      return answer;
    };
    for (const scenario of [{ bank_callback: 'PDNG' }, { provider_status: 'executed' }, { chargeback: true }]) {
      expect((await runScenario(scenario)).status).toBe(200);
    }
    expect((await runScenario({ provider_status: 'rejected' })).status).toBe(400);
    expectAsDocumented(path, 'post', await shop.sandbox('POST', '/payments/nothing', { chargeback: true }));
    const setFault = document.paths['/sandbox/api/faults'].post.requestBody.content['application/json'].schema;
    for (const mode of setFault.properties.mode.enum) {
      const answer = await shop.sandbox('POST', '/faults', { mode, brand: 'hosted-a', count: 2 });
      expect(answer.status, mode).toBe(200);
      expectAsDocumented('/sandbox/api/faults', 'post', answer);
      expectAsDocumented('/sandbox/api/faults', 'get', await shop.sandbox('GET', '/faults'));
    }
    expect((await shop.sandbox('GET', '/ledger')).body.items).not.toHaveLength(0);
    expectAsDocumented('/sandbox/api/ledger', 'get', await shop.sandbox('GET', '/ledger'));
    const attended = await shop.admin('POST', `/payments/${sale.trans_id}/attended`);
    expectAsDocumented('/admin/api/payments/{payment_id}/attended', 'post', attended);
  });

  test('responds to callback calls as documented', async () => {
    const { mid } = shop.merchant;
    const receiver = `/sandbox/callbacks/${mid}`;
    await shop.admin('PATCH', `/accounts/${mid}`, { callback_url: shop.url + receiver });
    const { body: sale } = await shop.sale();
    await shop.gateway.deliverer.drain();
    const call = async (path: string, method: string, answer: Promise<Answer>, status = 200): Promise<Json> => {
      const response = await answer;
      expectAsDocumented(path, method, response);
      expect([path, response.status]).toEqual([path, status]);
      return response.body;
    };
    const found = await call('/admin/api/callbacks', 'get', shop.admin('GET', `/callbacks?mid=${mid}&limit=1`));
    expect(found.items).toMatchObject([{ payment_id: sale.trans_id, state: 'delivered' }]);
    const [{ id }] = found.items;
    await call('/admin/api/callbacks', 'get', shop.admin('GET', '/callbacks?state=x'), 400);
    await call('/admin/api/callbacks/{id}', 'get', shop.admin('GET', `/callbacks/${id}`));
    await call('/admin/api/callbacks/{id}', 'get', shop.admin('GET', '/callbacks/x'), 404);
    await call('/admin/api/callbacks/{id}/resend', 'post', shop.admin('POST', `/callbacks/${id}/resend`));
    await call(
      '/admin/api/callbacks/resend',
      'post',
      shop.admin('POST', '/callbacks/resend', { mid, state: 'parked' }),
    );
    await call('/admin/api/callbacks/resend', 'post', shop.admin('POST', '/callbacks/resend', {}), 400);
    await call('/admin/api/payments/{payment_id}', 'get', shop.admin('GET', `/payments/${sale.trans_id}`));
    const rotate = '/admin/api/accounts/{mid}/rotate-callback-secret';
    await call(rotate, 'post', shop.admin('POST', `/accounts/${mid}/rotate-callback-secret`));
    const testCallback = '/admin/api/accounts/{mid}/test-callback';
    await call(testCallback, 'post', shop.admin('POST', `/accounts/${mid}/test-callback`));
    const received = '/sandbox/api/callbacks/{mid}';
    const { items } = await call(received, 'get', shop.sandbox('GET', `/callbacks/${mid}?limit=1&wait=1`));
    expect(items).toHaveLength(1);
    await call(received, 'get', shop.sandbox('GET', '/callbacks/nobody'), 404);
    await call(received, 'post', shop.sandbox('POST', `/callbacks/${mid}`, { answer: 500 }));
    await call(received, 'delete', shop.sandbox('DELETE', `/callbacks/${mid}`));
    const response = await fetch(shop.url + receiver, { method: 'POST', body: 'a=1' });
    const answer = { status: response.status, body: await response.json(), headers: response.headers };
    await call('/sandbox/callbacks/{mid}', 'post', Promise.resolve(answer));
  });

  test('responds to health checks, notifications and unknown actions as documented', async () => {
    const send = async (path: string, init?: RequestInit): Promise<Answer> => {
      const response = await fetch(shop.url + path, init);
      return { status: response.status, body: await response.json(), headers: response.headers };
    };
    expectAsDocumented('/health/live', 'get', await send('/health/live'));
    expectAsDocumented('/health/ready', 'get', await send('/health/ready'));
    const inbound = '/inbound/{connector}';
    expectAsDocumented(inbound, 'post', await send('/inbound/upstream', { method: 'POST', body: '{}' }));
    expectAsDocumented(inbound, 'post', await send('/inbound/nobody', { method: 'POST', body: '{}' }));
    const refused = await shop.post({ action: 'REFUND' });
    expect(refused.status).toBe(404);
    expectAsDocumented('/post', 'post', refused);
  });
});
