/** Alters a request at its fields, types, sizes, encodings, method, headers and bytes, and writes its bytes. */

import type { Random } from '../support/chance.ts';
import type { Draft } from './model.ts';
import { altered, alteredBytes, below, fork, oddValue, pick } from './random.ts';
import type { Json } from './samples.ts';

const METHODS = ['GET', 'POST', 'PUT', 'PATCH', 'DELETE', 'HEAD', 'OPTIONS', 'TRACE', 'PROPFIND'];
const TYPES = [
  ...['application/json', 'application/x-www-form-urlencoded', 'multipart/form-data; boundary=b', 'text/plain', ''],
  ...['application/json; charset=utf-16', 'application/x-www-form-urlencoded; charset=iso-8859-1', 'text/csv', '*/*'],
  ...['multipart/form-data', 'application/xml', 'application/json;;;', 'a'.repeat(3000), 'image/png'],
];
const HEADERS: readonly [string, string][] = [
  ['content-encoding', 'gzip'],
  ['content-encoding', 'br'],
  ['accept', 'text/html'],
  ['accept-encoding', 'br, gzip;q=0'],
  ['accept-language', 'ar,de;q=0.9,*;q=x'],
  ['expect', '100-continue'],
  ['expect', 'something'],
  ['x-forwarded-for', '::1, 10.0.0.1, nonsense'],
  ['origin', 'https://evil.example'],
  ['sec-fetch-site', 'cross-site'],
  ['cookie', 'a=b; turnpike=%00; __Host-session=x'],
  ['authorization', 'Bearer nonsense'],
  ['authorization', 'Basic Og=='],
  ['host', 'evil.example:99999'],
  ['range', 'bytes=0-1'],
  ['if-none-match', '*'],
  ['x-http-method-override', 'DELETE'],
  ['upgrade', 'websocket'],
  ['x-long', 'x'.repeat(20_000)],
  ['x-bytes', '\u00ff\u0080\u00fe'],
];
const PIECES = ['%00', '%', '%ff', '%2e%2e/', '//', '/../', '\u00e9', '?', '#', ';', '%5c', 'A'.repeat(300)];
const LARGE = [1000, 100_000, 1_100_000, 4_000_000];

/** A request as bytes; `isFramed` is false if the server may wait for more of it, or not understand where it ends. */
export interface WrittenRequest {
  bytes: Buffer;
  method: string;
  isFramed: boolean;
  /** Whether the connection stays open after the response. */
  isKept: boolean;
  /** Whether method and path are still those of the document. */
  isRouted: boolean;
}

const text = (value: unknown): string => (typeof value === 'string' ? value : (JSON.stringify(value) ?? ''));

/** Changes one member of an object; forms have one level. */
function alterBody(random: Random, draft: Draft): void {
  const { body } = draft;
  if (typeof body !== 'object' || body === null) draft.body = random() < 0.5 ? oddValue(random) : {};
  else if (!draft.isForm) draft.body = altered(random, body);
  else {
    const names = Object.keys(body);
    const name = pick(random, names) ?? 'action';
    const fields = body as Json;
    const change = below(random, 6);
    if (change === 0) delete fields[name];
    else if (change === 1) fields[name] = oddValue(random);
    else if (change === 2) fields[`${name}[${pick(random, ['', '0', 'x', '__proto__', '99999'])}]`] = 'Text';
    else if (change === 3) fields[name] = text(fields[name]).repeat(1 + below(random, 400));
    else if (change === 4) fields[pick(random, ['__proto__', 'constructor', 'x', ''])] = 'Text';
    else fields[name] = alteredBytes(random, Buffer.from(text(fields[name]))).toString();
  }
}

const isObject = (value: unknown): boolean => typeof value === 'object' && value !== null && !Array.isArray(value);

function bodyBytes(random: Random, { body, isForm, file }: Draft): { bytes: Buffer; type: string } {
  const isMultipart = random() < (file ? 0.95 : 0.1);
  if (body === undefined) return { bytes: Buffer.alloc(0), type: '' };
  if (!isForm || !isObject(body)) return { bytes: Buffer.from(JSON.stringify(body) ?? ''), type: 'application/json' };
  const fields = Object.entries(body as Json).map(([name, value]): [string, string] => [name, text(value)]);
  if (isMultipart) {
    const part = (head: string, value: string): string =>
      `--b\r\ncontent-disposition: form-data; ${head}\r\n\r\n${value}\r\n`;
    const parts = fields.map(([name, value]) => part(`name="${name}"`, value));
    if (file) parts.push(part(`name="${file.field}"; filename="${file.name}"`, file.content));
    return { bytes: Buffer.from(`${parts.join('')}--b--\r\n`), type: 'multipart/form-data; boundary=b' };
  }
  return { bytes: Buffer.from(new URLSearchParams(fields).toString()), type: 'application/x-www-form-urlencoded' };
}

/** Signs a request, unless a signed field has become something that has no text. */
function signWell(draft: Draft): void {
  try {
    draft.sign(draft);
  } catch (error) {
    if (!(error instanceof TypeError)) throw error;
  }
}

/** Makes up to four changes and writes the request. */
export function writeAltered(streams: Record<'changes' | 'frame', Random>, draft: Draft): WrittenRequest {
  const random = streams.changes;
  const changes = new Set(Array.from({ length: below(random, 4) }, () => below(random, 12)));
  // Most changes are at the fields, with a signature that fits.
  if (changes.has(0) || changes.has(1) || changes.has(2)) alterBody(fork(random), draft);
  if (random() < 0.85 && isObject(draft.body)) signWell(draft);
  if (changes.has(3) && random() < 0.5) alterBody(fork(random), draft);
  const route = `${draft.method} ${draft.path}`;
  if (changes.has(4)) draft.method = pick(random, METHODS);
  if (changes.has(5)) {
    const at = below(random, draft.path.length + 1);
    draft.path = draft.path.slice(0, at) + pick(random, PIECES) + draft.path.slice(at);
  }
  if (changes.has(6)) draft.query.push([pick(random, ['x', 'limit', 'cursor', 'from', 'q']), text(oddValue(random))]);
  for (const pair of draft.query) if (changes.has(7)) pair[1] = text(oddValue(random));
  if (changes.has(8)) draft.headers.push(pick(random, HEADERS));

  let { bytes: body, type } = bodyBytes(random, draft);
  if (changes.has(9)) type = pick(random, TYPES);
  if (changes.has(10)) body = alteredBytes(random, body);
  if (changes.has(11) && random() < 0.1) body = Buffer.concat([body, Buffer.alloc(pick(random, LARGE), 'x')]);
  return frame(streams.frame, draft, body, type, `${draft.method} ${draft.path}` === route);
}

function frame(random: Random, draft: Draft, body: Buffer, type: string, isRouted: boolean): WrittenRequest {
  const query = draft.query.map(([name, value]) => `${name}=${encodeURIComponent(value.toWellFormed())}`).join('&');
  const target = query === '' ? draft.path : `${draft.path}?${query}`;
  const lines = [
    `${draft.method} ${target} HTTP/1.1`,
    ...(draft.headers.some(([name]) => name === 'host') ? [] : ['host: localhost']),
    ...(type === '' ? [] : [`content-type: ${type}`]),
    ...draft.headers.map(([name, value]) => `${name}: ${value}`),
  ];
  const kind = random();
  let isFramed = !draft.headers.some(([name]) => name === 'expect' || name === 'upgrade');
  let sent = body;
  if (kind < 0.02) {
    lines.push(`content-length: ${pick(random, [body.length + 1, body.length - 1, -1, 'x', '1, 2', 1e20])}`);
    isFramed = false;
  } else if (kind < 0.05) {
    lines.push('transfer-encoding: chunked');
    sent = Buffer.concat([Buffer.from(`${body.length.toString(16)}\r\n`), body, Buffer.from('\r\n0\r\n\r\n')]);
    // A chunk of no bytes ends the body.
    if (body.length === 0) sent = Buffer.from('0\r\n\r\n');
  } else if (body.length > 0 || draft.method === 'POST') lines.push(`content-length: ${body.length}`);
  const isBroken = random() < 0.02;
  if (isBroken) isFramed = false;
  const isKept = random() < 0.9 && isFramed;
  if (!isKept) lines.push('connection: close');
  const head = Buffer.from(`${lines.join('\r\n')}\r\n\r\n`, 'latin1');
  return {
    bytes: Buffer.concat([isBroken ? alteredBytes(random, head) : head, sent]),
    method: draft.method,
    isFramed,
    isKept,
    isRouted: isRouted && isFramed,
  };
}
