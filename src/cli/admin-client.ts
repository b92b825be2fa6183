/** The admin API for commands: finds the gateway and its token, sends requests, turns refusals into sentences. */

import { StartupError, UnreachableError } from '../lib/flow/startup-error.ts';
import { isLoopbackHost } from '../lib/http/address.ts';
import { isObject } from '../lib/text/json.ts';
import { readAdminToken } from '../server/admin-token-file.ts';
import { VARIABLES } from '../server/config.ts';
import { type Call, NotAuthorisedError, type Option, UsageError } from './command.ts';
import { type Profile, readProfiles } from './profile-file.ts';

export const URL_OPTION: Option = {
  name: 'url',
  value: '<address>',
  kind: 'address',
  about: 'the gateway',
  variable: 'PUBLIC_URL',
  fallback: 'http://127.0.0.1:8080',
};

const PROFILE_OPTION: Option = {
  name: 'profile',
  value: '<name>',
  about: 'the gateway of this profile, with its token, in place of --url',
  variable: 'TURNPIKE_PROFILE',
};

/** The options of commands over the admin API. */
export const GATEWAY_OPTIONS: readonly Option[] = [URL_OPTION, PROFILE_OPTION];

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

type Asked = Pick<Call, 'option' | 'environment'>;

/** The profile that the command line or the environment names; `--url` names a gateway without one. */
async function profileOf({ option, environment }: Asked): Promise<Profile | undefined> {
  const name = option('profile') ?? (option('url') === undefined ? environment.TURNPIKE_PROFILE : '');
  if (!name) return undefined;
  if (option('url') !== undefined)
    throw new UsageError('Name the gateway with --url or with --profile, not with both.');
  const profile = (await readProfiles(environment)).get(name);
  if (profile) return profile;
  throw new UsageError(`There is no profile ${name}: \`turnpike profile add ${name} --url <address>\` makes it.`);
}

/** The value of `--url`, or what counts without it. */
export const urlOption = ({ option, environment }: Asked): string =>
  option('url') ?? (environment.PUBLIC_URL || (URL_OPTION.fallback as string));

/** The address of the gateway. Tokens and payments are not sent in plain text to another machine. */
function gatewayUrl(text: string): URL {
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

/** A token, and where it is from. */
interface Token {
  value: string;
  source: string;
}

async function tokenFor(url: URL, environment: Call['environment']): Promise<Token> {
  // Checked here, because the error of `fetch` would contain the token.
  const token = (environment.TURNPIKE_ADMIN_TOKEN ?? '').trim();
  if (!/^[!-~]*$/.test(token)) throw new UsageError('The admin token should have no spaces or line breaks.');
  if (token !== '') return { value: token, source: 'of TURNPIKE_ADMIN_TOKEN' };
  // The file belongs to a sandbox on this machine; it is not sent to another one.
  const dataDir = VARIABLES.dataDir.read(environment.DATA_DIR || VARIABLES.dataDir.default) as string;
  const kept = isLoopbackHost(url.hostname) ? await readAdminToken(dataDir) : undefined;
  if (kept !== undefined && /^[!-~]+$/.test(kept)) return { value: kept, source: `in the data folder ${dataDir}` };
  throw new NotAuthorisedError(
    'The admin token is missing: set TURNPIKE_ADMIN_TOKEN, or DATA_DIR to the data folder of a sandbox on this machine, or make a profile with `turnpike profile add`.',
  );
}

export async function connectAdmin(call: Asked): Promise<AdminClient> {
  const { environment } = call;
  const profile = await profileOf(call);
  const parsed = gatewayUrl(profile?.url ?? urlOption(call));
  const token = profile ? { value: profile.token, source: 'of the profile' } : await tokenFor(parsed, environment);
  const url = parsed.href.replace(/\/+$/, '');
  return {
    url,
    async request<Answer>(method: string, path: string, body?: unknown, signal?: AbortSignal): Promise<Answer> {
      const { status, answer } = await send(url + path, signal, {
        method,
        headers: {
          authorization: `Bearer ${token.value}`,
          ...(body === undefined ? {} : { 'content-type': 'application/json' }),
        },
        ...(body === undefined ? {} : { body: JSON.stringify(body) }),
      }).catch((error) => {
        throw new UnreachableError(
          `The gateway at ${url} cannot be reached (${causeOf(error)}): is it running, and is --url its address?`,
        );
      });
      if (status >= 200 && status < 300 && isObject(answer)) return answer as Answer;
      throw refusal(url, status, answer, token);
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

function refusal(url: string, status: number, answer: unknown, { source }: Token): StartupError {
  if (status === 401) {
    return new NotAuthorisedError(
      `The admin token is wrong: the gateway at ${url} does not know the one ${source}. Set TURNPIKE_ADMIN_TOKEN, or use --profile. The first start of a gateway prints its token, and \`turnpike admin-token\` replaces it.`,
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
