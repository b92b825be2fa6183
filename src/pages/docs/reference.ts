/** The API reference of the docs site: a page for each group of calls of the OpenAPI document. */
import { readFileSync } from 'node:fs';
import { type Html, html } from '../../lib/text/html.ts';
import { type ApiOperation, CHECKOUT_OPERATIONS, S2S_OPERATIONS, type S2sAction } from '../../rules/operations.ts';
import type { Audience } from './chapters.ts';
import { LANGUAGES, type Sample, sampleTabs } from './code.ts';
import {
  type Call,
  callsOf,
  exampleOf,
  fieldRows,
  type OpenApi,
  type Parameter,
  refName,
  resolved,
  type Schema,
} from './openapi.ts';
import type { DocsPage } from './page.ts';
import { examplesOf } from './request-examples.ts';
import type { SearchEntry } from './search.ts';

export const REFERENCE = '/docs/reference';

/** Text with code in backticks. */
const inline = (text: string): Html[] =>
  text.split('`').map((part, index) => (index % 2 === 1 ? html`<code>${part}</code>` : html`${part}`));

function fieldTable(rows: readonly { name: string; type: string; isRequired: boolean; about: string }[]): Html {
  if (rows.length === 0) return html`<p class="soft">No fields.</p>`;
  return html`<div class="scroll" role="region" tabindex="0" aria-label="Fields"><table class="fields"><thead><tr><th scope="col">Field</th><th scope="col">Type</th><th scope="col">Meaning</th></tr></thead><tbody>${rows.map(
    ({ name, type, isRequired, about }) =>
      html`<tr><td><code>${name}</code>${isRequired && html` <span class="badge">required</span>`}</td><td>${type}</td><td>${inline(about)}</td></tr>`,
  )}</tbody></table></div>`;
}

const parameterTable = (parameters: readonly Parameter[]): Html | false =>
  parameters.length > 0 &&
  html`<h3>Parameters</h3>${fieldTable(
    parameters.map(({ name, in: place, required = false, schema, description = '' }) => ({
      name,
      type: `${schema.format === 'uuid' ? 'UUID' : String(schema.type ?? 'any')}, in the ${place}`,
      isRequired: required,
      about: [description, schema.enum && `One of ${schema.enum.map((one) => `\`${String(one)}\``).join(', ')}.`]
        .filter(Boolean)
        .join(' '),
    })),
  )}`;

/** The alternatives of a schema with their names; undefined if it has none. */
function alternativesOf(schema: Schema): [string, Schema][] | undefined {
  if (schema.discriminator) {
    return Object.entries(schema.discriminator.mapping).map(([name, $ref]) => [name, { $ref }]);
  }
  if (!schema.oneOf || schema.oneOf.length < 2) return undefined;
  return schema.oneOf.map((one, index) => [one.$ref ? refName(one.$ref) : `Alternative ${index + 1}`, one]);
}

/** The fields of a body; its alternatives one after the other. */
function bodyFields(api: OpenApi, schema: Schema): Html {
  const target = resolved(api, schema);
  const alternatives = alternativesOf(target);
  if (!alternatives) return fieldTable(fieldRows(api, target));
  return html`${alternatives.map(([name, one]) => html`<p><code>${name}</code></p>${bodyFields(api, one)}`)}`;
}

/** A value inside an example; a dot in the name denotes a nested object. */
const valueAt = (body: unknown, name: string): string =>
  String(
    name.split('.').reduce((value: unknown, part) => (value as Record<string, unknown> | undefined)?.[part], body) ??
      '',
  );

const EXAMPLE_ID = '01a1dddf-b95f-7000-abab-314f6daa0084';

/** The samples that are complete programs, by the call that they make. */
const SAMPLES: Readonly<Record<string, string>> = {
  checkoutSession: 'session',
  checkoutStatus: 'status',
  checkoutRefund: 'refund',
};

/** Code that makes a call with this body, in tabs. */
function exampleTabs(
  { method, path, operation: { operationId, security } }: Call,
  group: string,
  body: unknown,
  { isForm = false, signs }: { isForm?: boolean; signs?: readonly string[] | undefined } = {},
): Html {
  const sample = SAMPLES[operationId];
  if (sample !== undefined) return sampleTabs(group, samplesNamed(sample));
  const signed = signs?.map((name) => valueAt(body, name));
  const needsToken = security !== undefined;
  const address = path.replace(/\{\w+\}/g, EXAMPLE_ID);
  const request = { method, path: address, body: body as Record<string, unknown>, isForm, signed, needsToken };
  return sampleTabs(group, examplesOf(request, operationId));
}

const samplesNamed = (name: string): Sample[] =>
  Object.entries(LANGUAGES).map(([language, { extension }]) => {
    const file = language === 'java' ? capital(name) : name;
    const path = new URL(`../../../docs/samples/${language}/${file}.${extension}`, import.meta.url);
    return { language, name, text: readFileSync(path, 'utf8') };
  });

const firstSchema = (content: Readonly<Record<string, { schema: Schema }>> | undefined): Schema | undefined =>
  Object.values(content ?? {})[0]?.schema;

function errorsOf({ operation }: Call): Html | false {
  const errors = Object.entries(operation.responses).flatMap(([status, { description, content }]) => {
    if (/^[23]/.test(status)) return [];
    const examples = Object.values(content ?? {})[0]?.examples;
    const codes = Object.values(examples ?? {}).map(
      ({ value }) => value as { error_code: number; error_message: string },
    );
    return codes.length === 0
      ? [{ status, code: '', message: description }]
      : codes.map((one) => ({ status, code: String(one.error_code), message: one.error_message }));
  });
  return (
    errors.length > 0 &&
    html`<details class="alternative"><summary>Errors (${errors.length})</summary><p><a href="/docs/errors">Errors</a> has the cause and the cure of each.</p><div class="scroll" role="region" tabindex="0" aria-label="Errors"><table><thead><tr><th scope="col">HTTP</th><th scope="col">error_code</th><th scope="col">error_message</th></tr></thead><tbody>${errors.map(
      ({ status, code, message }) => html`<tr><td>${status}</td><td>${code}</td><td>${message}</td></tr>`,
    )}</tbody></table></div></details>`
  );
}

/** The actions of `/post` with their schemas; none for other calls. */
function actionsOf(api: OpenApi, { operation }: Call): [string, Schema][] {
  const request = firstSchema(operation.requestBody?.content);
  const target = request && resolved(api, request);
  return (target?.discriminator && alternativesOf(target)) ?? [];
}

/** The schema of an action; that of a sale without the fields of brands, which have their own pages. */
function actionSchema(api: OpenApi, name: string, one: Schema): Schema {
  const of = resolved(api, one);
  const common = of.discriminator && api.components.schemas[name];
  return common ? { ...common, properties: { action: { const: name }, ...common.properties } } : of;
}

/** A link to the sandbox console with this call; `withoutConsole` removes it where there is no console. */
const tryLink = (address: string): Html =>
  html`<p class="try"><a href="${address}">Try it in the sandbox console</a></p>`;

const consoleAddress = (call: string): string =>
  ({ SALE: '/admin/sandbox?protocol=s2s', session: '/admin/sandbox?protocol=checkout' })[call] ??
  `/admin/sandbox/requests?call=${encodeURIComponent(call)}`;

/** The page as an installation without a sandbox shows it. */
export const withoutConsole = (page: string): string => page.replaceAll(/<p class="try">.*?<\/p>/g, '');

/** One action of `/post`: an example, and its fields. */
function actionSection(api: OpenApi, call: Call, name: string, one: Schema): Html {
  const schema = actionSchema(api, name, one);
  const isSale = resolved(api, one).discriminator !== undefined;
  const id = name.toLowerCase();
  // The test brand needs an identifier besides the fields of every sale.
  const sale = isSale && { brand: 'vcard', identifier: 'success@example.com' };
  const body = { ...(exampleOf(api, schema) as object), ...sale, action: name };
  const { signs } = S2S_OPERATIONS[name as S2sAction];
  return html`<h3 id="${id}"><code>${name}</code> <a class="anchor" href="#${id}" aria-label="Link to ${name}">#</a></h3>
${isSale && html`<p>Each <a href="/docs/brands">brand</a> adds its own fields to these.</p>`}
${exampleTabs(call, `example-${id}`, body, { isForm: true, signs })}${tryLink(consoleAddress(name))}
<details class="alternative" open><summary>Fields of ${name}</summary>${fieldTable(fieldRows(api, schema))}</details>`;
}

/** Groups of calls that no program of a reader makes. */
const NO_EXAMPLES: ReadonlySet<string> = new Set(['payers', 'providers']);

const CHECKOUT: Readonly<Record<string, ApiOperation | undefined>> = CHECKOUT_OPERATIONS;

function callExample(api: OpenApi, call: Call): Html | false {
  const { path, operation } = call;
  const { operationId, requestBody, tags } = operation;
  const isJson = !requestBody || 'application/json' in requestBody.content;
  if (NO_EXAMPLES.has(tags[0] as string) || !isJson) return false;
  const request = firstSchema(requestBody?.content);
  const name = path.replace(/^\/api\/v1\//, '');
  const signs = CHECKOUT[name]?.signs;
  return html`${exampleTabs(call, `example-${operationId}`, request && exampleOf(api, request), { signs })}${
    signs !== undefined && tryLink(consoleAddress(name))
  }`;
}

function callSection(api: OpenApi, call: Call): Html {
  const { method, path, operation, parameters } = call;
  const { operationId: id, summary, description, security, requestBody, responses } = operation;
  const actions = actionsOf(api, call);
  const request = actions.length > 0 ? undefined : firstSchema(requestBody?.content);
  const [status, answer] = Object.entries(responses)[0] ?? [];
  const response = firstSchema(answer?.content);
  return html`<section class="call"><h2 id="${id}">${titleOf(id)} <a class="anchor" href="#${id}" aria-label="Link to ${id}">#</a></h2>
<p class="route"><span class="badge method">${method}</span> <code>${path}</code></p>
<p>${inline(summary)}${description && html` ${inline(description)}`}${security && html` Needs an <a href="/docs/operator/access">API token</a>.`}</p>
${callExample(api, call)}${actions.map(([name, one]) => actionSection(api, call, name, one))}
${
  (parameters.length > 0 || request) &&
  html`<details class="alternative" open><summary>Request</summary>${parameterTable(parameters)}${request && bodyFields(api, request)}</details>`
}
${
  status &&
  answer &&
  html`<details class="alternative"><summary>Response ${status}</summary><p>${inline(answer.description)}</p>${
    response && bodyFields(api, response)
  }</details>`
}
${errorsOf(call)}</section>`;
}

/** The names and meanings of the fields, for the search. */
const wordsOfFields = (api: OpenApi, schema: Schema | undefined): string =>
  schema === undefined
    ? ''
    : fieldRows(api, schema)
        .map(({ name, about }) => `${name} ${about.replaceAll('`', '')}`)
        .join(' ');

/** `checkoutSession` as people write it. */
const titleOf = (operationId: string): string =>
  capital(operationId.replace(/[A-Z]/g, (letter) => ` ${letter.toLowerCase()}`));

const capital = (word: string): string => word.charAt(0).toUpperCase() + word.slice(1);

/** A call, and each of its actions, for the search. */
function entriesOf(api: OpenApi, call: Call, page: string, title: string): SearchEntry[] {
  const { method, path, operation } = call;
  const { operationId, summary, requestBody } = operation;
  const words = wordsOfFields(api, firstSchema(requestBody?.content));
  return [
    {
      path: `${page}#${operationId}`,
      title,
      heading: titleOf(operationId),
      text: `${operationId} ${method} ${path} ${summary} ${words}`,
    },
    ...actionsOf(api, call).map(([action, one]) => ({
      path: `${page}#${action.toLowerCase()}`,
      title,
      heading: action,
      text: `${method} ${path} ${wordsOfFields(api, actionSchema(api, action, one))}`,
    })),
  ];
}

/** The reference: an overview, and a page for each group. */
export function* referencePages(audience: Audience, api: OpenApi): Generator<DocsPage> {
  const calls = callsOf(api);
  const groups = api.tags.map(({ name, description }) => ({
    name,
    description,
    path: `${REFERENCE}/${name}`,
    calls: calls.filter(({ operation }) => operation.tags[0] === name),
  }));
  const overview: DocsPage = {
    path: REFERENCE,
    title: 'API reference',
    audience,
    headings: [],
    entries: [
      { path: REFERENCE, title: 'API reference', heading: 'API reference', text: 'OpenAPI Postman collection' },
    ],
    body: String(html`<h1>API reference</h1>
<p>Every call of the gateway, from its OpenAPI document: examples in several languages, fields and errors. The examples read <code>TURNPIKE_PASSWORD</code> and <code>TURNPIKE_ADMIN_TOKEN</code> from the environment; <a href="/docs/merchant/sign-requests">Sign requests</a> explains the hash. Download <a href="/openapi.json">openapi.json</a> for code generators, or the <a href="/docs/postman.json">Postman collection</a>, which signs requests by itself: import it, and set its variables <code>url</code>, <code>client_key</code>, <code>merchant_key</code> and <code>password</code>.</p>
${groups.map(
  ({ name, description, path, calls: list }) =>
    html`<h2 id="${name}"><a href="${path}">${capital(name)}</a></h2><p>${inline(description)}</p><ul class="calls">${list.map(
      ({ method, path: route, operation }) =>
        html`<li><span class="badge method">${method}</span> <a href="${path}#${operation.operationId}"><code>${route}</code></a> <span class="soft">${inline(operation.summary)}</span></li>`,
    )}</ul>`,
)}`),
  };
  yield overview;
  for (const { name, description, path, calls: list } of groups) {
    const title = `API reference: ${name}`;
    yield {
      path,
      title: capital(name),
      audience,
      parent: overview,
      headings: list.flatMap((call) => [
        { id: call.operation.operationId, text: titleOf(call.operation.operationId), depth: 2 },
        ...actionsOf(api, call).map(([action]) => ({ id: action.toLowerCase(), text: action, depth: 3 })),
      ]),
      entries: list.flatMap((call) => entriesOf(api, call, path, title)),
      body: String(
        html`<h1>${capital(name)}</h1><p>${inline(description)}</p>${list.map((call) => callSection(api, call))}`,
      ),
    };
  }
}
