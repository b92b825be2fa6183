/** Reads a merchant request from the text of its body, as `/post` and Checkout read it, for the hash debugger. */
import { isObject, withoutByteOrderMark } from '../../lib/text/json.ts';
import { invalidField, type Problem } from '../../rules/errors.ts';
import { SENTENCES } from '../../rules/fields.ts';
import {
  type ApiOperation,
  aliasesOf,
  CHECKOUT_OPERATIONS,
  type CheckoutPath,
  DIALECT_OPERATIONS,
  isDialectAction,
  S2S_OPERATIONS,
} from '../../rules/operations.ts';
import { checkoutBody, repeatedFieldProblem } from '../requests/checkout-body.ts';
import { readBody } from '../requests/s2s-body.ts';
import type { Candidate, RequestToExplain } from './explain.ts';

const ACTIONS = Object.keys(S2S_OPERATIONS);
const PATHS = Object.keys(CHECKOUT_OPERATIONS) as CheckoutPath[];
const POST = 'post';

/** The paths of the merchant API. */
export const REQUEST_PATHS: readonly string[] = ['/post', ...PATHS.map((path) => `/api/v1/${path}`)];

const refuse = (sentence: string) => invalidField('request', sentence);

/** Reads a path such as `/api/v1/payment/status`, with or without the address of the gateway. */
export function readPath(path: string): CheckoutPath | typeof POST {
  const name = path
    .trim()
    .replace(/^https?:\/\/[^/]*/i, '')
    .replace(/[?#].*$/s, '')
    .replace(/^\/*(api\/v1\/)?/, '')
    .replace(/\/+$/, '');
  if (name === POST || PATHS.includes(name as CheckoutPath)) return name as CheckoutPath | typeof POST;
  throw invalidField('path', `This is not a path of the merchant API. The paths are ${REQUEST_PATHS.join(', ')}.`);
}

/** Without a path, the operation of a Checkout request is inferred from its fields. */
export function readRequest(sent: string, path: CheckoutPath | typeof POST | undefined): RequestToExplain {
  const text = withoutByteOrderMark(sent);
  if (text.trim() === '') throw refuse(SENTENCES.blank);
  const isJson = /^\s*[{[]/.test(text);
  if (!isJson && path !== undefined && path !== POST)
    throw refuse('A Checkout request should be a JSON object, not a form.');
  if (isJson && path === POST) throw refuse('A request to /post should be a form, not JSON.');
  return isJson ? readCheckout(text, path as CheckoutPath | undefined) : readForm(text);
}

function readForm(text: string): RequestToExplain {
  const body = readBody(...contentOf(text));
  const action = body.value('action');
  if (!ACTIONS.includes(action) && !isDialectAction(action)) {
    const [problem] = body.problems;
    if (action === '' && problem) throw refuse(`${problem.field}: ${problem.sentence}`);
    if (action === '' && body.value('merchant_key') !== '')
      throw refuse('A Checkout request should be JSON, not a form.');
    const sentence = action === '' ? 'The form has no action.' : 'The action of the form is not known.';
    throw refuse(`${sentence} The actions are ${ACTIONS.join(', ')}.`);
  }
  const { value, isNested, isText, texts, problems, cardText } = body;
  const isOfCard = isDialectAction(action) || (action === 'SALE' && value('brand') === '' && cardText !== '');
  const operation: ApiOperation = isOfCard
    ? DIALECT_OPERATIONS[action as keyof typeof DIALECT_OPERATIONS]
    : S2S_OPERATIONS[action as keyof typeof S2S_OPERATIONS];
  return { protocol: 's2s', candidates: [{ action, operation, value, isNested, isText, cardText }], texts, problems };
}

/** The content type and the bytes of a form; a multipart body that was copied may have lost its carriage returns. */
function contentOf(text: string): [contentType: string, bytes: Buffer] {
  const [, boundary] = /^\s*--([^\r\n]{1,70})\r?\n/.exec(text) ?? [];
  if (boundary === undefined) return ['application/x-www-form-urlencoded', Buffer.from(text)];
  const lines = text.trimStart().replace(/\r?\n/g, '\r\n');
  return [`multipart/form-data; boundary="${boundary.trimEnd()}"`, Buffer.from(lines)];
}

function readCheckout(text: string, path: CheckoutPath | undefined): RequestToExplain {
  const json = parse(text);
  const plain = checkoutBody(json);
  if (path === undefined && plain.value('merchant_key') === '' && ACTIONS.includes(plain.value('action'))) {
    throw refuse('A request to /post should be a form, not JSON.');
  }
  const candidates = candidatesOf(json, path, text);
  const repeated = repeatedFieldProblem(text, json);
  const problems: Problem[] = repeated ? [repeated] : [];
  return { protocol: 'checkout', candidates, texts: plain.texts, problems: [...problems, ...plain.problems] };
}

function parse(text: string): Record<string, unknown> {
  let json: unknown;
  try {
    json = JSON.parse(text);
  } catch {
    throw refuse('This value is not valid JSON.');
  }
  if (!isObject(json)) throw refuse('The body should be a JSON object.');
  // Deep nesting and long names are refused, because they make a body expensive to search.
  const [problem] = checkoutBody(json).problems;
  if (problem?.field === 'body') throw refuse(problem.sentence);
  return json;
}

function candidatesOf(
  json: Record<string, unknown>,
  path: CheckoutPath | undefined,
  text: string,
): [Candidate, ...Candidate[]] {
  const ranked = (path === undefined ? PATHS : [path])
    .map((action) => {
      const operation: ApiOperation = CHECKOUT_OPERATIONS[action];
      const { value, isNested, isText } = checkoutBody(json, aliasesOf(operation), text);
      const fields = operation.fields.filter(({ name }) => name !== 'hash');
      const sent = fields.filter(({ name }) => value(name) !== '');
      const missing = fields.filter(({ name, need }) => need === 'must' && value(name) === '');
      return { action, operation, value, isNested, isText, sent: sent.length, missing: missing.length };
    })
    .filter(({ sent }) => path !== undefined || sent > 0)
    .toSorted((a, b) => b.sent - a.sent || a.missing - b.missing);
  const [first, ...others] = ranked;
  if (!first) throw refuse('The operation cannot be inferred from the fields: send the path of the request as path.');
  return [first, ...others.filter(({ missing }) => missing === 0)];
}
