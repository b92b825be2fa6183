/** Receives callbacks in Express, Fastify, Next.js and `node:http`, without a dependency on any of them. */
import type { CallbackEvent, RawCallback } from './callbacks.ts';
import { CallbackError } from './errors.ts';

/** Processes a verified callback. If it throws, the response is 500, and the gateway sends the callback again. */
export type Handle = (event: CallbackEvent) => unknown;
/** Gets what a `Handle` threw, where the server has no error handling of its own. */
export type OnError = (error: unknown) => void;
type Verify = (raw: RawCallback) => CallbackEvent;

const BODY_MOST_BYTES = 1024 * 1024;

/** What `node:http` and Express pass as a request. */
export interface NodeRequest extends AsyncIterable<unknown> {
  headers: Readonly<Record<string, string | string[] | undefined>>;
  /** Set by a body parser. */
  body?: unknown;
  readableEnded: boolean;
}

export interface NodeResponse {
  statusCode: number;
  end(): unknown;
}

/** Reads the body as it was received; one that a parser has already replaced is an error of the setup. */
async function rawBody(request: NodeRequest): Promise<Uint8Array> {
  if (request.body instanceof Uint8Array) return request.body;
  if (request.readableEnded) {
    throw new Error(
      'A body parser has read the body of the callback, so its signature cannot be checked. ' +
        "Register the callback route before express.json(), or use express.raw({ type: '*/*' }) for it.",
    );
  }
  const parts: Uint8Array[] = [];
  let length = 0;
  for await (const part of request as AsyncIterable<Uint8Array>) {
    length += part.length;
    if (length > BODY_MOST_BYTES) throw new CallbackError('body', 'The body is too long for a callback.');
    parts.push(part);
  }
  return Buffer.concat(parts);
}

/** The status of the response: 200, or 401 for a callback that is not authentic. What the handler throws is passed on. */
async function receive(verify: Verify, handle: Handle, raw: () => RawCallback | Promise<RawCallback>): Promise<number> {
  let event: CallbackEvent;
  try {
    event = verify(await raw());
  } catch (error) {
    if (error instanceof CallbackError) return 401;
    throw error;
  }
  await handle(event);
  return 200;
}

export function expressHandler(verify: Verify, handle: Handle, onError: OnError = console.error) {
  return async (request: NodeRequest, response: NodeResponse, next?: OnError): Promise<void> => {
    try {
      response.statusCode = await receive(verify, handle, async () => ({
        headers: request.headers,
        body: await rawBody(request),
      }));
    } catch (error) {
      if (next) return next(error);
      onError(error);
      response.statusCode = 500;
    }
    response.end();
  };
}

interface FastifyReply {
  code(status: number): { send(): unknown };
}

/** The part of a Fastify instance that the plugin uses. */
export interface FastifyScope {
  removeAllContentTypeParsers(): unknown;
  addContentTypeParser(
    type: string,
    options: { parseAs: 'buffer' },
    parser: (request: unknown, body: Uint8Array, done: (error: null, body: Uint8Array) => void) => void,
  ): unknown;
  post(
    path: string,
    handler: (request: { headers: NodeRequest['headers']; body: unknown }, reply: FastifyReply) => Promise<unknown>,
  ): unknown;
}

/** The parser applies to the routes of this plugin only. */
export function fastifyPlugin(verify: Verify, handle: Handle, path: string) {
  return async (app: FastifyScope): Promise<void> => {
    app.removeAllContentTypeParsers();
    app.addContentTypeParser('*', { parseAs: 'buffer' }, (_request, body, done) => done(null, body));
    app.post(path, async ({ headers, body }, reply) => {
      const status = await receive(verify, handle, () => ({ headers, body: (body ?? new Uint8Array()) as Uint8Array }));
      return reply.code(status).send();
    });
  };
}

export function webHandler(verify: Verify, handle: Handle) {
  return async (request: Request): Promise<Response> => {
    const status = await receive(verify, handle, async () => ({
      headers: request.headers,
      body: new Uint8Array(await request.arrayBuffer()),
    }));
    return new Response(null, { status });
  };
}
