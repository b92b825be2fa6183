/** The API reference of the docs site: a page for each group of calls of the OpenAPI document. */
import { type Html, html } from '../../lib/html.ts';
import type { Audience } from './chapters.ts';
import { codeBlock } from './code.ts';
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

export const REFERENCE = '/docs/reference';

/** Text with code in backticks. */
const inline = (text: string): Html[] =>
  text.split('`').map((part, index) => (index % 2 === 1 ? html`<code>${part}</code>` : html`${part}`));

function fieldTable(rows: readonly { name: string; type: string; isRequired: boolean; about: string }[]): Html {
  if (rows.length === 0) return html`<p class="soft">No fields.</p>`;
  return html`<div class="scroll" role="region" tabindex="0" aria-label="Fields"><table><thead><tr><th scope="col">Field</th><th scope="col">Type</th><th scope="col">Meaning</th></tr></thead><tbody>${rows.map(
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

function bodyFields(api: OpenApi, schema: Schema, isRequest: boolean): Html {
  const target = resolved(api, schema);
  const alternatives = alternativesOf(target);
  if (!alternatives) {
    return html`${fieldTable(fieldRows(api, target))}${
      isRequest && codeBlock(JSON.stringify(exampleOf(api, target), null, 2), 'json', 'Example of the request')
    }`;
  }
  return html`${alternatives.map(([name, one]) => {
    const of = resolved(api, one);
    // The fields of each brand have their own pages.
    const common = of.discriminator && api.components.schemas[name];
    return html`<details class="alternative"><summary><code>${name}</code></summary>${
      common
        ? html`<p>Each <a href="/docs/brands">brand</a> adds its own fields to these.</p>${bodyFields(api, { ...common, properties: { action: { const: name }, ...common.properties } }, isRequest)}`
        : bodyFields(api, of, isRequest)
    }</details>`;
  })}`;
}

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

function callSection(api: OpenApi, call: Call): Html {
  const { method, path, operation, parameters } = call;
  const content = operation.requestBody?.content;
  const request = firstSchema(content);
  const [status, answer] = Object.entries(operation.responses)[0] ?? [];
  const response = firstSchema(answer?.content);
  return html`<section class="call"><h2 id="${operation.operationId}">${inline(operation.summary)} <a class="anchor" href="#${operation.operationId}" aria-label="Link to ${operation.operationId}">#</a></h2>
<p class="route"><span class="badge method">${method}</span> <code>${path}</code></p>
${operation.description && html`<p>${inline(operation.description)}</p>`}${
  operation.security && html`<p class="soft small">Needs an <a href="/docs/operator/access">API token</a>.</p>`
}
<details class="alternative"><summary>Request and response</summary>${parameterTable(parameters)}${
    request && html`<h3>Request (${Object.keys(content ?? {}).join(' or ')})</h3>${bodyFields(api, request, true)}`
  }
${status && answer && html`<h3>Response ${status}</h3><p>${inline(answer.description)}</p>${response && bodyFields(api, response, false)}`}</details>
${errorsOf(call)}</section>`;
}

const capital = (word: string): string => word.charAt(0).toUpperCase() + word.slice(1);

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
<p>Every call of the gateway, from its OpenAPI document: fields, examples and errors. Download <a href="/openapi.json">openapi.json</a> for code generators, or the <a href="/docs/postman.json">Postman collection</a>, which signs requests by itself: import it, and set its variables <code>url</code>, <code>client_key</code>, <code>merchant_key</code> and <code>password</code>.</p>
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
      headings: list.map(({ operation }) => ({ id: operation.operationId, text: operation.operationId, depth: 2 })),
      entries: list.map(({ method, path: route, operation }) => ({
        path: `${path}#${operation.operationId}`,
        title,
        heading: operation.operationId,
        text: `${method} ${route} ${operation.summary}`,
      })),
      body: String(
        html`<h1>${capital(name)}</h1><p>${inline(description)}</p>${list.map((call) => callSection(api, call))}`,
      ),
    };
  }
}
