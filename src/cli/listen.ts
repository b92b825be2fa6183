/** The command `listen`: forwards the callbacks of a sandbox to a server on the developer's machine. */
import { setTimeout as pause } from 'node:timers/promises';
import { parseArgs } from 'node:util';
import { isObject } from '../lib/json.ts';
import { StartupError } from '../lib/startup-error.ts';

const HELP = `turnpike listen --forward <address>

Forwards the callbacks of a sandbox account to your own server, with the same bytes and the same signatures.

  --forward <address>       the address on your server, such as http://localhost:3000/callback
  --url <address>           the gateway (default: PUBLIC_URL, or http://127.0.0.1:8080)
  --token <token>           the admin token (default: TURNPIKE_ADMIN_TOKEN)
  --mid <mid>               the account; required when there are several
  --count <number>          exits with code 0 after this many callbacks, or with code 1 at the first response other than 2xx
  --once                    the same as --count 1
  --timeout <seconds>       exits after this time, with code 1 if --count was not reached`;

/** How often, and with which pause, forwarding is attempted while the local server is not running. */
const FORWARD_ATTEMPTS = 5;
const FORWARD_PAUSE_MS = 1000;
const FORWARD_TIMEOUT_MS = 10_000;
const GATEWAY_PAUSE_MS = 1000;
const WAIT_SECONDS = 20;
/** The headers that are forwarded with the body. */
const FORWARDED_HEADERS = /^(content-type|user-agent|webhook-.+|turnpike-.+)$/;

interface Options {
  forward: string;
  url: string;
  token: string;
  mid: string | undefined;
  count: number | undefined;
  timeoutMs: number | undefined;
}

interface Account {
  mid: string;
  name: string;
  environment: string;
  settings: { callback_url: string };
}

interface Received {
  number: number;
  received_at: string;
  headers: Record<string, unknown>;
  body: string;
  fields: Record<string, unknown> | null;
  hash_is_valid: boolean;
  signature_is_valid: boolean;
}

interface InboxPage {
  items: Received[];
  last: number;
  url: string;
}

/** The gateway could not be reached; the call may be repeated. */
class Unreachable extends StartupError {}

type Gateway = ReturnType<typeof createGatewayClient>;

const print = (text: string): void => void process.stdout.write(`${text}\n`);

/** The cause of a failed call: the system's error code where there is one. */
function causeOf(error: unknown): string {
  const { cause, name } = error as Error & { cause?: { code?: string; message?: string } };
  return name === 'TimeoutError' ? 'no answer in time' : (cause?.code ?? cause?.message ?? (error as Error).message);
}

function createGatewayClient(url: string, token: string) {
  return async <Body>(method: string, path: string, body?: unknown, signal?: AbortSignal): Promise<Body> => {
    const limit = AbortSignal.timeout((WAIT_SECONDS + 10) * 1000);
    let response: Response;
    let answer: unknown;
    try {
      response = await fetch(url + path, {
        method,
        headers: {
          authorization: `Bearer ${token}`,
          ...(body === undefined ? {} : { 'content-type': 'application/json' }),
        },
        signal: signal ? AbortSignal.any([signal, limit]) : limit,
        ...(body === undefined ? {} : { body: JSON.stringify(body) }),
      });
      answer = await response.json().catch((error) => {
        if (error instanceof SyntaxError) return undefined;
        throw error;
      });
    } catch (error) {
      throw new Unreachable(
        `The gateway at ${url} cannot be reached (${causeOf(error)}): is it running, and is --url its address?`,
      );
    }
    if (response.ok && isObject(answer)) return answer as Body;
    throw refusal(url, response.status, answer);
  };
}

function refusal(url: string, status: number, answer: unknown): StartupError {
  if (status === 401) {
    return new StartupError(
      'The admin token is missing or wrong: give it with --token or in TURNPIKE_ADMIN_TOKEN. `npm start` prints it when it generates one.',
    );
  }
  if (status >= 500) return new Unreachable(`The gateway at ${url} responded with status ${status}.`);
  if (!isObject(answer))
    return new StartupError(`The server at ${url} is not Turnpike: is --url the gateway's address?`);
  const problems = Array.isArray(answer.errors) ? answer.errors.map((problem) => `; ${problem.error_message}`) : [];
  return new StartupError(`The gateway refused the request: ${answer.error_message}${problems.join('')}`);
}

function readOptions(args: string[], environment: NodeJS.ProcessEnv): Options | undefined {
  const text = { type: 'string' } as const;
  const flag = { type: 'boolean' } as const;
  const options = {
    forward: text,
    url: text,
    token: text,
    mid: text,
    count: text,
    timeout: text,
    once: flag,
    help: flag,
  };
  let values: ReturnType<typeof parseArgs<{ options: typeof options }>>['values'];
  try {
    ({ values } = parseArgs({ args, options }));
  } catch (error) {
    throw new StartupError(`${(error as Error).message.split('.')[0]}. \`turnpike listen --help\` lists the options.`);
  }
  if (values.help) return undefined;
  const address = (name: 'forward' | 'url', value = ''): string => {
    if (!/^https?:$/.test(URL.parse(value)?.protocol ?? '')) {
      throw new StartupError(`--${name} should be an http address, such as ${EXAMPLES[name]}.`);
    }
    return value;
  };
  const number = (name: 'count' | 'timeout'): number | undefined => {
    const value = values[name];
    if (value === undefined) return undefined;
    if (!/^[1-9]\d{0,5}$/.test(value)) throw new StartupError(`--${name} should be a whole number of 1 or more.`);
    return Number(value);
  };
  const timeout = number('timeout');
  const token = (values.token ?? environment.TURNPIKE_ADMIN_TOKEN ?? '').trim();
  // Checked here, because the error of `fetch` would contain the token.
  if (!/^[!-~]*$/.test(token)) throw new StartupError('The admin token should have no spaces or line breaks.');
  return {
    forward: address('forward', values.forward),
    url: address('url', values.url ?? (environment.PUBLIC_URL || 'http://127.0.0.1:8080')).replace(/\/+$/, ''),
    token,
    mid: values.mid,
    count: number('count') ?? (values.once ? 1 : undefined),
    timeoutMs: timeout && timeout * 1000,
  };
}

const EXAMPLES = { forward: 'http://localhost:3000/callback', url: 'http://127.0.0.1:8080' };

/** The account with this mid, or the only account. */
async function chooseSystemUser(gateway: Gateway, mid: string | undefined): Promise<Account> {
  const account = mid === undefined ? await onlyAccount(gateway) : await gateway<Account>('GET', accountPath(mid));
  if (account.environment === 'sandbox') return account;
  throw new StartupError('This gateway is not a sandbox: `listen` works with sandboxes only.');
}

async function onlyAccount(gateway: Gateway): Promise<Account> {
  const { items, next_cursor } = await gateway<{ items: Account[]; next_cursor: string | null }>(
    'GET',
    '/admin/api/accounts?limit=20',
  );
  const [first] = items;
  if (first && items.length === 1) return first;
  if (!first) throw new StartupError('The gateway has no account yet: create one, and name it with --mid.');
  const names = items.map(({ mid, name }) => `  ${mid}  ${name}`);
  throw new StartupError(
    `The gateway has several accounts: name one with --mid.\n${names.join('\n')}${next_cursor ? '\n  …' : ''}`,
  );
}

const accountPath = (mid: string): string => `/admin/api/accounts/${encodeURIComponent(mid)}`;

const withoutQuery = (url: string): string => url.replace(/\?.*$/s, '');

/** Points the account's callback_url at its callback inbox; returns the function that restores it. */
async function redirectCallbacks(
  gateway: Gateway,
  { mid, settings }: Account,
  url: string,
): Promise<() => Promise<void>> {
  const before = settings.callback_url;
  if (before === url) return async () => undefined;
  await gateway('PATCH', accountPath(mid), { callback_url: url });
  const former = before === '' ? 'empty' : withoutQuery(before);
  print(`callback_url is ${url} while this command runs; it was ${former} before.`);
  return async () => {
    try {
      const now = await gateway<Account>('GET', accountPath(mid));
      // It was changed meanwhile: that value stays.
      if (now.settings.callback_url !== url) return;
      await gateway('PATCH', accountPath(mid), { callback_url: before });
    } catch (error) {
      throw new StartupError(`callback_url is still ${url}, and was ${former} before. ${(error as Error).message}`);
    }
    print(`callback_url is ${former} again.`);
  };
}

/** Forwards one callback to the local server; returns whether the server accepted it. */
async function forward({ headers, body }: Received, url: string, line: string, signal: AbortSignal): Promise<boolean> {
  const forwarded = Object.entries(headers).filter(
    ([name, value]) => FORWARDED_HEADERS.test(name) && typeof value === 'string',
  );
  for (let attempt = 1; ; attempt++) {
    const startedAt = performance.now();
    try {
      const response = await fetch(url, {
        method: 'POST',
        headers: Object.fromEntries(forwarded) as Record<string, string>,
        body: Buffer.from(body),
        redirect: 'manual',
        signal: AbortSignal.any([signal, AbortSignal.timeout(FORWARD_TIMEOUT_MS)]),
      });
      await response.arrayBuffer().catch(() => undefined);
      print(`${line} → ${response.status} in ${Math.round(performance.now() - startedAt)} ms`);
      return response.ok;
    } catch (error) {
      if (signal.aborted) return false;
      const isLast = attempt === FORWARD_ATTEMPTS;
      const next = isLast ? 'given up' : `trying again in ${FORWARD_PAUSE_MS / 1000} s`;
      print(`${line} → ${url} cannot be reached (${causeOf(error)}), ${next}`);
      if (isLast) return false;
      await pause(FORWARD_PAUSE_MS, undefined, { signal }).catch(() => undefined);
    }
  }
}

/** One line that describes a callback. */
function describeCallback({ received_at, fields, hash_is_valid, signature_is_valid }: Received): string {
  const valuesOf = (...names: string[]): string => names.flatMap((name) => fields?.[name] ?? []).join(' ');
  const event = valuesOf('action', 'result', 'type') || 'unknown';
  const order = valuesOf('order_id', 'order_number');
  const checks = `signature ${signature_is_valid ? 'ok' : 'WRONG'}, hash ${hash_is_valid ? 'ok' : 'WRONG'}`;
  return `${received_at.slice(11)}  ${event}  ${order}  ${valuesOf('status')}  ${checks}`;
}

/** The next callbacks in the inbox; while the gateway is unreachable, the request is repeated. */
async function nextCallbacks(gateway: Gateway, path: string, after: number, signal: AbortSignal): Promise<InboxPage> {
  for (let isAway = false; ; isAway = true) {
    try {
      const page = await gateway<InboxPage>('GET', `${path}?after=${after}&wait=${WAIT_SECONDS}`, undefined, signal);
      if (isAway) print('The gateway is back.');
      return page;
    } catch (error) {
      if (signal.aborted || !(error instanceof Unreachable)) throw error;
      if (!isAway) print('The gateway does not answer; waiting until it does.');
      await pause(GATEWAY_PAUSE_MS, undefined, { signal });
    }
  }
}

/** Forwards callbacks until the signal or the count; returns whether the command succeeded. */
async function forwardAll(
  gateway: Gateway,
  path: string,
  options: Options,
  start: number,
  signal: AbortSignal,
): Promise<boolean> {
  let forwarded = 0;
  let after = start;
  while (!signal.aborted) {
    const { items } = await nextCallbacks(gateway, path, after, signal);
    for (const received of items) {
      const isAccepted = await forward(received, options.forward, describeCallback(received), signal);
      after = received.number;
      if (options.count === undefined) continue;
      if (!isAccepted) return false;
      if (++forwarded === options.count) return true;
    }
  }
  return options.count === undefined;
}

/** Runs until Ctrl-C, the timeout or the count; the exit code is for CI. */
export async function listen(args: string[], environment: NodeJS.ProcessEnv): Promise<void> {
  const options = readOptions(args, environment);
  if (!options) return print(HELP);
  const stopping = new AbortController();
  for (const name of ['SIGINT', 'SIGTERM'] as const) process.on(name, () => stopping.abort());
  const gateway = createGatewayClient(options.url, options.token);
  const account = await chooseSystemUser(gateway, options.mid);
  const path = `/sandbox/api/callbacks/${account.mid}`;
  const { last, url } = await gateway<InboxPage>('GET', `${path}?limit=1`);
  const restoreCallbackUrl = await redirectCallbacks(gateway, account, url);
  const timer = setTimeout(() => stopping.abort(), options.timeoutMs ?? 2 ** 31 - 1);
  print(
    `Ready: callbacks of ${account.name} (${account.mid}) are forwarded to ${options.forward}. Press Ctrl-C to stop.`,
  );
  try {
    const hasSucceeded = await forwardAll(gateway, path, options, last, stopping.signal).catch((error) => {
      if (stopping.signal.aborted) return options.count === undefined;
      throw error;
    });
    if (!hasSucceeded) process.exitCode = 1;
    if (!hasSucceeded && stopping.signal.aborted) print(`Ended before ${options.count} callbacks had arrived.`);
  } finally {
    clearTimeout(timer);
    await restoreCallbackUrl();
  }
}
