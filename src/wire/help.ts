/** Completes a refusal for its caller: the names that the caller used, and the sections of the docs that help. */
import type { Gateway, MerchantCall } from '../core/context.ts';
import { counterpartsOf } from '../core/requests/misspelt.ts';
import { BRANDS, brandLabel } from '../rules/brands.ts';
import {
  DOCS,
  DOCS_OF_ERROR,
  DOCS_OF_FIELD,
  docsOfAction,
  docsOfBrand,
  docsOfCall,
  docsOfError,
  docsOfPath,
} from '../rules/docs.ts';
import type { Problem, Refusal } from '../rules/errors.ts';
import type { Field } from '../rules/fields.ts';
import { type Envelope, entryOf, envelope } from './envelope.ts';
import { fieldNamed } from './expected.ts';
import { openApi } from './openapi.ts';
import { unknownRouteHint } from './unknown-route.ts';

/** What the help depends on. */
export interface RefusedRequest {
  /** Set on the routes of merchants. */
  call: MerchantCall | undefined;
  method?: string;
  url?: string;
  routeOptions?: { url?: string | undefined };
  /** The methods of the address, for a request with another one. */
  allow?: readonly string[] | undefined;
}

/** A longer response would make the gateway an amplifier for attacks. */
const ENTRIES_MOST = 100;

/** The body of the response to a refused request. */
export function answerOf(gateway: Gateway, refusal: Refusal, request: RefusedRequest): Envelope {
  const { call } = request;
  const entries = refusal.problems.slice(0, ENTRIES_MOST).map((problem) => {
    const param = call ? nameAsSent(call, problem.field) : problem.field;
    return entryOf(problem, param, gateway.publicUrl + sectionOf(refusal, problem, request));
  });
  const answer = envelope(refusal.error, entries);
  if (refusal.error !== 'unknownRoute') return answer;
  const docs = call?.body ? docsOfError(refusal.error) : DOCS.reference;
  return { ...answer, hint: unknownRouteHint(request), link: gateway.publicUrl + docs };
}

/** The section about an error itself, for the header `link`. */
export const helpLink = ({ publicUrl }: Gateway, { error }: Pick<Refusal, 'error'>): string =>
  `<${publicUrl}${docsOfError(error)}>; rel="help"`;

/** The brand of a sale and its fields. */
function brandOf({ action, body, account }: MerchantCall): { label: string; fields: readonly Field[] } | undefined {
  if (action !== 'SALE' || !body || !account) return undefined;
  const label = brandLabel(body.value('brand'), account.settings, () => true);
  return label === undefined ? undefined : { label, fields: BRANDS[label]?.fields ?? [] };
}

/** A field has an alias in some requests, and another name in the other protocol. */
export function nameAsSent(call: MerchantCall, name: string): string {
  const { operation, body } = call;
  if (!operation || !body) return name;
  const fields = [...operation.fields, ...(brandOf(call)?.fields ?? [])];
  const row = fieldNamed(fields, name);
  if (!row) return counterpartsOf(name).find((other) => fieldNamed(fields, other)) ?? name;
  if (row.alias === undefined) return name;
  const names = new Set(body.names());
  return !names.has(name) && names.has(row.alias) ? row.alias : name;
}

function sectionOf(
  { error }: Refusal,
  { field, docs }: Problem,
  { call, method = '', routeOptions }: RefusedRequest,
): string {
  const ofField = call && Object.hasOwn(DOCS_OF_FIELD, field) ? DOCS_OF_FIELD[field] : undefined;
  const own = docs ?? DOCS_OF_ERROR[error] ?? ofField;
  if (own !== undefined) return own;
  if (!call) return callSection(method, routeOptions?.url ?? '') ?? docsOfError(error);
  if (field === 'body' || field === 'content-type') return call.protocol === 's2s' ? DOCS.forms : DOCS.json;
  if (call.action === undefined) return docsOfError(error);
  if (call.protocol === 'checkout') return docsOfPath(call.action);
  const brand = brandOf(call);
  return brand && fieldNamed(brand.fields, field) ? docsOfBrand(brand.label) : docsOfAction(call.action);
}

interface Operation {
  operationId: string;
  tags: readonly [string];
}

let paths: Record<string, Record<string, Operation>> | undefined;

/** The section of the reference about a route of the admin or sandbox API. */
export function callSection(method: string, route: string): string | undefined {
  paths ??= openApi('').paths as Record<string, Record<string, Operation>>;
  const shape = (path: string): string => path.replace(/:\w+|\{\w+\}/g, '{}');
  const path = Object.keys(paths).find((each) => shape(each) === shape(route));
  const operation = path === undefined ? undefined : paths[path]?.[method.toLowerCase()];
  return operation && docsOfCall(operation.tags[0], operation.operationId);
}
