/** Sends altered requests to a gateway process and judges its responses. */
import { Ajv2020, type ValidateFunction } from 'ajv/dist/2020.js';
import { aroundCode, found, hasCode } from '../support/canaries.ts';
import { type WrittenRequest, writeAltered } from './alter.ts';
import { draftOf } from './drafts.ts';
import { exchange, type OpenConnections, type Response, WrongResponse } from './exchange.ts';
import { learnJson, learnPage } from './learn.ts';
import type { Draft, World } from './model.ts';
import { streamsAt } from './random.ts';
import { DOCUMENT, type Json } from './samples.ts';

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

/** Whether a route answers programs, with JSON; the others show pages. */
const isApi = (path: string): boolean =>
  /^\/(post|api|admin\/api|sandbox\/api|inbound|health|metrics|openapi)\b/.test(path);

const INTERNALS =
  /\bat \S+ \(?(file|node):|node_modules|\bSQLSTATE\b|violates [\w-]+ constraint|(syntax error at or near|relation|column) "/;

function searchForSecrets(draft: Draft, world: World, { headers, text }: Response): string | undefined {
  const whole = `${JSON.stringify([...headers])}\n${text}`;
  if (found(whole).length > 0) return 'A card number is in the response.';
  // A metric may have the value of the security code.
  if (draft.route.path !== '/metrics' && hasCode(whole)) {
    return `A security code is in the response: ${aroundCode(whole)}.`;
  }
  if (world.secrets.foundIn(whole).length > 0) return 'A secret is in the response.';
  const isDocs = draft.route.path.startsWith('/docs') || draft.route.path === '/openapi.json';
  if ((!isDocs && INTERNALS.test(whole)) || world.folders.some((folder) => whole.includes(folder))) {
    return 'Internals are in the response.';
  }
  return undefined;
}

function judge(draft: Draft, written: WrittenRequest, world: World, response: Response): void {
  const { method, isFramed, isRouted } = written;
  const { status, headers, text } = response;
  const demand = (isMet: boolean, sentence: string): void => {
    if (isMet) return;
    const id = headers.get('x-request-id');
    throw new WrongResponse(
      `${sentence} Status ${status}, request ${id}: ${text.slice(0, 2000)}`,
      `${sentence.split(':')[0]} ${status}`,
    );
  };
  if (draft.route.server === 'simulator') {
    // The simulated provider is out of order when a request has asked for it.
    demand(status < 500 || text.includes('is out of order'), 'The simulator failed.');
    return;
  }
  const isBusy = status === 503 && headers.has('retry-after');
  // The callback inbox answers with the status that a request sets.
  const isChosen = draft.route.path === '/sandbox/callbacks/:mid';
  demand(status >= 200 && (status < 500 || isBusy || isChosen), 'The status is wrong.');
  demand(!response.hasMore, 'There is more than one response.');
  const leak = searchForSecrets(draft, world, response);
  demand(leak === undefined, leak ?? '');
  // Node.js itself answers a request without a host, or with an expectation.
  if (method === 'HEAD' || status === 204 || status === 304 || !isFramed) return;
  const isJson = headers.get('content-type')?.includes('json') === true;
  const body: unknown = isJson ? JSON.parse(text) : undefined;
  const isPage = headers.get('content-type')?.startsWith('text/html') === true;
  if (status >= 400 && !isChosen) {
    const isOfPages = !isApi(draft.route.path);
    // A missing picture needs no explanation: an image element shows none.
    const isPicture = /^\/(?:logos|marks)\//.test(draft.route.path);
    const isExplained = isJson ? isOfPages || isError(body) : isPage && (isOfPages || !isRouted);
    demand(isPicture || isExplained, 'The envelope is missing.');
  } else if (isJson && isRouted && !isChosen && draft.documented !== undefined) {
    const isValid = validatorOf(draft.documented, method, status);
    demand(!isValid || isValid(body), `The response is not as documented: ${ajv.errorsText(isValid?.errors)}.`);
  }
  if (status >= 400) return;
  if (isJson) learnJson(world, body);
  else if (isPage && isRouted) learnPage(world, text, draft.path);
}

/** An operator who was signed out, or has to prove who it is again, is replaced. */
async function renewSession(draft: Draft, world: World, { status, headers }: Response): Promise<void> {
  const cookie = draft.headers.find(([name]) => name === 'cookie')?.[1].split('=')[1];
  const isOver = status === 303 && /^\/admin\/(sign-in|confirm)/.test(headers.get('location') ?? '');
  if (!isOver || cookie === undefined) return;
  for (const [role, session] of world.sessions) if (session.cookie === cookie) await world.renew(role);
}

/** Sends one altered request; returns the status of the response, or 0 if there was none. */
export async function fuzzRequest(seed: number, number: number, world: World, open: OpenConnections): Promise<number> {
  const streams = streamsAt(seed, number);
  const draft = draftOf(streams.draft, world);
  const written = writeAltered(streams, draft);
  const { bytes, isFramed } = written;
  const shown = (): string =>
    `${bytes.subarray(0, 3000).toString('latin1')}\n(${bytes.length} bytes, ${draft.route.key})`;
  try {
    const isOurs = draft.route.server === 'gateway';
    const port = isOurs ? world.port : world.simulator.port;
    const response = await exchange(open, world.host, port, written);
    // The simulated provider does not answer when a request has asked for it.
    if (!response && isFramed && isOurs) throw new WrongResponse('The connection was closed without a response.');
    if (response) {
      judge(draft, written, world, response);
      await renewSession(draft, world, response);
    }
    return response?.status ?? 0;
  } catch (error) {
    const { message, kind = message } = error as WrongResponse;
    throw new WrongResponse(`${message}\n\n${shown()}`, `${kind} ${draft.route.key}`);
  }
}
