/** The admin API for commands: finds the gateway and its token, sends requests, turns refusals into sentences. */
import { isLoopbackHost } from '../lib/address.ts';
import { isObject } from '../lib/json.ts';
import { StartupError, UnreachableError } from '../lib/startup-error.ts';
import { readAdminToken } from '../server/admin-token-file.ts';
import { VARIABLES } from '../server/config.ts';
import { type Call, NotAuthorisedError, type Option, UsageError } from './command.ts';

export const URL_OPTION: Option = {
  name: 'url',
  value: '<address>',
  kind: 'address',
  about: 'the gateway',
  variable: 'PUBLIC_URL',
  fallback: 'http://127.0.0.1:8080',
};

const TIMEOUT_MS = 30_000;

export interface AdminClient {
  url: string;
  request<Answer>(method: string, path: string, body?: unknown, signal?: AbortSignal): Promise<Answer>;
}

/** The cause of a failed call: the system's error code where there is one. */
export function causeOf(error: unknown): string {
  const { cause, name } = error as Error & { cause?: { code?: string; message?: string } };
  return name === 'TimeoutError' ? 'no answer in time' : (cause?.code ?? cause?.message ?? (error as Error).message);
}

/** The address of the gateway. Tokens and payments are not sent in plain text to another machine. */
export function gatewayUrl({ option, environment }: Pick<Call, 'option' | 'environment'>): URL {
  const text = option('url') ?? (environment.PUBLIC_URL || (URL_OPTION.fallback as string));
  const url = URL.parse(text);
  if (!url || !/^https?:$/.test(url.protocol)) throw new UsageError('PUBLIC_URL should be an http or https address.');
  if (url.username !== '' || url.password !== '' || url.search !== '' || url.hash !== '') {
    throw new UsageError('The address of the gateway should have no user, password or query.');
  }
  if (url.protocol === 'http:' && !isLoopbackHost(url.hostname)) {
    throw new UsageError(
      `The admin token is not sent over plain http to another machine (${url.hostname}): use an https address, or a tunnel to 127.0.0.1.`,
    );
  }
  return url;
}

async function tokenFor(url: URL, environment: Call['environment']): Promise<string> {
  // Checked here, because the error of `fetch` would contain the token.
  const token = (environment.TURNPIKE_ADMIN_TOKEN ?? '').trim();
  if (!/^[!-~]*$/.test(token)) throw new UsageError('The admin token should have no spaces or line breaks.');
  if (token !== '') return token;
  // The file belongs to a sandbox on this machine; it is not sent to another one.
  const dataDir = VARIABLES.dataDir.read(environment.DATA_DIR || VARIABLES.dataDir.default) as string;
  const kept = isLoopbackHost(url.hostname) ? await readAdminToken(dataDir) : undefined;
  if (kept !== undefined && /^[!-~]+$/.test(kept)) return kept;
  throw new NotAuthorisedError(
    'The admin token is missing: set TURNPIKE_ADMIN_TOKEN, or DATA_DIR to the data folder of a sandbox on this machine.',
  );
}

export async function connectAdmin(call: Pick<Call, 'option' | 'environment'>): Promise<AdminClient> {
  const parsed = gatewayUrl(call);
  const token = await tokenFor(parsed, call.environment);
  const url = parsed.href.replace(/\/+$/, '');
  return {
    url,
    async request<Answer>(method: string, path: string, body?: unknown, signal?: AbortSignal): Promise<Answer> {
      const { status, answer } = await send(url + path, signal, {
        method,
        headers: {
          authorization: `Bearer ${token}`,
          ...(body === undefined ? {} : { 'content-type': 'application/json' }),
        },
        ...(body === undefined ? {} : { body: JSON.stringify(body) }),
      }).catch((error) => {
        throw new UnreachableError(
          `The gateway at ${url} cannot be reached (${causeOf(error)}): is it running, and is --url its address?`,
        );
      });
      if (status >= 200 && status < 300 && isObject(answer)) return answer as Answer;
      throw refusal(url, status, answer);
    },
  };
}

async function send(
  address: string,
  signal: AbortSignal | undefined,
  init: RequestInit,
): Promise<{ status: number; answer: unknown }> {
  const limit = AbortSignal.timeout(TIMEOUT_MS);
  // A redirect is not followed: it could lead the token elsewhere.
  const response = await fetch(address, {
    ...init,
    redirect: 'manual',
    signal: signal ? AbortSignal.any([signal, limit]) : limit,
  });
  const answer: unknown = await response.json().catch((error) => {
    if (error instanceof SyntaxError) return undefined;
    throw error;
  });
  return { status: response.status, answer };
}

function refusal(url: string, status: number, answer: unknown): StartupError {
  if (status === 401) {
    return new NotAuthorisedError(
      'The admin token is wrong: set TURNPIKE_ADMIN_TOKEN. The first start of a gateway prints it, and `turnpike admin-token` replaces it.',
    );
  }
  if (status === 403) return new NotAuthorisedError('The role of this admin token does not allow the request.');
  if (status >= 500) return new UnreachableError(`The gateway at ${url} responded with status ${status}.`);
  if (!isObject(answer) || typeof answer.error_message !== 'string') {
    return new StartupError(`The server at ${url} is not Turnpike: is --url the gateway's address?`);
  }
  const problems = Array.isArray(answer.errors) ? answer.errors.map((problem) => `; ${problem.error_message}`) : [];
  return new StartupError(`The gateway refused the request: ${answer.error_message}${problems.join('')}`);
}
