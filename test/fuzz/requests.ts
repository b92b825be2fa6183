/** Sends altered requests to a gateway process and judges its responses. */
import { connect } from 'node:net';
import { Ajv2020, type ValidateFunction } from 'ajv/dist/2020.js';
import { found, hasCode } from '../support/canaries.ts';
import type { Random } from '../support/chance.ts';
import { type WrittenRequest, writeAltered } from './alter.ts';
import { DOCUMENT, type Draft, draftOf, type Json, poolOf } from './drafts.ts';
import type { World } from './world.ts';

interface Response {
  status: number;
  headers: Map<string, string>;
  text: string;
}

/** A request whose response is wrong. */
export class WrongResponse extends Error {}

const ANSWER_MS = 60_000;
/** How long a request that the server cannot finish reading is left waiting. */
const UNFRAMED_MS = 250;
const KEPT = 60;

/** The response, or undefined if the connection was closed without one. */
function exchange({ host, port }: World, bytes: Buffer, isFramed: boolean): Promise<Response | undefined> {
  return new Promise((resolve, reject) => {
    const socket = connect(port, host);
    const parts: Buffer[] = [];
    let isLate = false;
    const timer = setTimeout(
      () => {
        isLate = isFramed;
        socket.destroy();
      },
      isFramed ? ANSWER_MS : UNFRAMED_MS,
    );
    socket.on('data', (part: Buffer) => parts.push(part));
    // A server may refuse a long body before all of it was sent.
    socket.on('error', (error) => {
      if ((error as NodeJS.ErrnoException).code === 'ECONNREFUSED') reject(error);
    });
    socket.on('close', () => {
      clearTimeout(timer);
      if (isLate) reject(new WrongResponse('There was no answer in time.'));
      else resolve(parse(Buffer.concat(parts)));
    });
    socket.write(bytes);
  });
}

function parse(bytes: Buffer): Response | undefined {
  let head = '';
  let rest = bytes;
  // Before the response there may be a `100 Continue`.
  do {
    const end = rest.indexOf('\r\n\r\n');
    head = rest.subarray(0, end === -1 ? rest.length : end).toString('latin1');
    rest = end === -1 ? Buffer.alloc(0) : rest.subarray(end + 4);
  } while (/^HTTP\/1\.1 1\d\d/.test(head) && rest.length > 0);
  if (head === '' || /^HTTP\/1\.1 1\d\d/.test(head)) return undefined;
  const [first = '', ...lines] = head.split('\r\n');
  const headers = new Map(
    lines.map((line): [string, string] => {
      const colon = line.indexOf(':');
      return [line.slice(0, colon).toLowerCase(), line.slice(colon + 1).trim()];
    }),
  );
  // An altered head can make two requests of one; the second response is left out.
  const length = Number(headers.get('content-length') ?? rest.length);
  const body = headers.get('transfer-encoding') === 'chunked' ? unchunked(rest) : rest.subarray(0, length);
  return { status: Number(first.split(' ')[1]), headers, text: body.toString() };
}

function unchunked(bytes: Buffer): Buffer {
  const parts: Buffer[] = [];
  for (let at = 0; at < bytes.length; ) {
    const end = bytes.indexOf('\r\n', at);
    const size = Number.parseInt(bytes.toString('latin1', at, end), 16);
    if (!(size > 0)) break;
    parts.push(bytes.subarray(end + 2, end + 2 + size));
    at = end + 4 + size;
  }
  return Buffer.concat(parts);
}

const ajv = new Ajv2020({ strict: false, validateFormats: false });
ajv.addSchema({ ...DOCUMENT, $id: 'document' } as Json);
const validators = new Map<string, ValidateFunction | undefined>();

/** The schema of a documented response; undefined if the document has none. */
function validatorOf(route: string, method: string, status: number): ValidateFunction | undefined {
  const key = `${route} ${method} ${status}`;
  if (!validators.has(key)) {
    const schema = DOCUMENT.paths[route]?.[method.toLowerCase()]?.responses[status]?.content?.['application/json'];
    const pointer = [route, method.toLowerCase(), 'responses', String(status), 'content', 'application/json', 'schema']
      .map((part) => encodeURIComponent(part.replaceAll('~', '~0').replaceAll('/', '~1')))
      .join('/');
    validators.set(key, schema && ajv.compile({ $ref: `document#/paths/${pointer}` }));
  }
  return validators.get(key);
}

const isError = ajv.compile({ $ref: 'document#/components/schemas/Error' });

/** Whether payers see the responses, which are pages then. */
const isForPayers = (route: string): boolean => /^\/(pay|return|3ds)\//.test(route);

function judge(draft: Draft, written: WrittenRequest, world: World, response: Response): void {
  const { method, isFramed, isRouted } = written;
  const { status, headers, text } = response;
  const demand = (isMet: boolean, sentence: string): void => {
    if (!isMet) throw new WrongResponse(`${sentence} Status ${status}: ${text.slice(0, 2000)}`);
  };
  const isBusy = status === 503 && headers.has('retry-after');
  // The callback inbox answers with the status that a request sets.
  const isChosen = draft.route === '/sandbox/callbacks/{mid}';
  demand(status >= 200 && (status < 500 || isBusy || isChosen), 'The status is wrong.');
  const whole = `${JSON.stringify([...headers])}${text}`;
  demand(found(whole).length === 0 && !hasCode(text), 'A card number or security code is in the response.');
  demand(!world.secrets.some((secret) => whole.includes(secret)), 'A secret is in the response.');
  demand(!/\bat \S+ \(?(file|node):|node_modules|\bSQLSTATE\b/.test(text), 'Internals are in the response.');
  // Node.js itself answers a request without a host, or with an expectation.
  if (method === 'HEAD' || status === 204 || status === 304 || !isFramed) return;
  const isJson = headers.get('content-type')?.includes('json') === true;
  const body: unknown = isJson ? JSON.parse(text) : undefined;
  if (status >= 400 && !isChosen) {
    const isPage = headers.get('content-type')?.startsWith('text/html') === true;
    const isPayers = isForPayers(draft.route);
    demand(isJson ? isPayers || isError(body) : isPage && (isPayers || !isRouted), 'The envelope is missing.');
  } else if (isJson && isRouted && !isChosen) {
    const isValid = validatorOf(draft.route, method, status);
    demand(!isValid || isValid(body), `The response is not as documented: ${ajv.errorsText(isValid?.errors)}.`);
  }
  if (isJson && status < 400) learn(world, body);
}

const LEARNED =
  /^(payment_id|trans_id|schedule_id|recurring_token|card_token|connection_id|reconciliation_id|id|token_id)$/;

/** Keeps the ids of a response for later requests. */
function learn({ known }: World, body: unknown): void {
  if (typeof body !== 'object' || body === null) return;
  for (const [name, value] of Object.entries(body)) {
    if (typeof value === 'object') learn({ known } as World, value);
    if (typeof value !== 'string') continue;
    const link = name === 'redirect_url' ? /\/(?:pay|3ds|return)\/([^/?]+)/.exec(value)?.[1] : undefined;
    if (link) keep(known, 'link', link);
    else if (LEARNED.test(name)) keep(known, poolOf(name), value);
  }
}

function keep(known: World['known'], name: string, value: string): void {
  const pool = known.get(name) ?? [];
  known.set(name, pool);
  if (!pool.includes(value)) pool.push(value);
  if (pool.length > KEPT) pool.shift();
}

/** Sends one altered request; returns the status of the response, or 0 if there was none. */
export async function fuzzRequest(random: Random, world: World): Promise<number> {
  const draft = draftOf(random, world);
  const written = writeAltered(random, draft);
  const { bytes, isFramed } = written;
  const shown = (): string => `${bytes.subarray(0, 3000).toString('latin1')}\n(${bytes.length} bytes, ${draft.route})`;
  try {
    const response = await exchange(world, bytes, isFramed);
    if (!response && isFramed) throw new WrongResponse('The connection was closed without a response.');
    if (response) judge(draft, written, world, response);
    return response?.status ?? 0;
  } catch (error) {
    throw new WrongResponse(`${error instanceof Error ? error.message : error}\n\n${shown()}`);
  }
}
