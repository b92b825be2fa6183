/** The command `listen`: shows the callbacks of a sandbox, and forwards them to a server on the developer's machine. */
import { setTimeout as pause } from 'node:timers/promises';
import { StartupError, UnreachableError } from '../lib/flow/startup-error.ts';
import { type AdminClient, causeOf, connectAdmin } from './admin-client.ts';
import { accountPath, chooseAccount, type SandboxAccount } from './choose-account.ts';
import type { Call } from './command.ts';
import { columns, type Output } from './output.ts';

/** How often, and with which pause, forwarding is attempted while the local server is not running. */
const FORWARD_ATTEMPTS = 5;
const FORWARD_PAUSE_MS = 1000;
const FORWARD_TIMEOUT_MS = 10_000;
const GATEWAY_PAUSE_MS = 1000;
const WAIT_SECONDS = 20;
/** The headers that are forwarded with the body. */
const FORWARDED_HEADERS = /^(content-type|user-agent|webhook-.+|turnpike-.+)$/;

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

/** Messages are part of the text that a person reads; with `--json`, standard output has one line per callback only. */
const say = (output: Output, text: string): void =>
  output.isJson ? output.note(text) : output.result(undefined, text);

const withoutQuery = (url: string): string => url.replace(/\?.*$/s, '');

/** Points the account's callback_url at its callback inbox; returns the function that restores it. */
async function redirectCallbacks(
  { request }: AdminClient,
  { mid, settings }: SandboxAccount,
  url: string,
  output: Output,
): Promise<() => Promise<void>> {
  const before = settings.callback_url;
  if (before === url) return async () => undefined;
  await request('PATCH', accountPath(mid), { callback_url: url });
  const former = before === '' ? 'empty' : withoutQuery(before);
  say(output, `callback_url is ${url} while this command runs; it was ${former} before.`);
  return async () => {
    try {
      const now = await request<SandboxAccount>('GET', accountPath(mid));
      // It was changed meanwhile: that value stays.
      if (now.settings.callback_url !== url) return;
      await request('PATCH', accountPath(mid), { callback_url: before });
    } catch (error) {
      const Kind = error instanceof UnreachableError ? UnreachableError : StartupError;
      throw new Kind(`callback_url is still ${url}, and was ${former} before. ${(error as Error).message}`);
    }
    say(output, `callback_url is ${former} again.`);
  };
}

/** Forwards one callback to the local server; returns whether the server accepted it. */
async function forward(received: Received, url: string, output: Output, signal: AbortSignal): Promise<boolean> {
  const { headers, body } = received;
  const line = describeCallback(received);
  const forwarded = Object.entries(headers).filter(
    ([name, value]) => FORWARDED_HEADERS.test(name) && typeof value === 'string',
  );
  for (let attempt = 1; ; attempt++) {
    const startedAt = performance.now();
    const report = (response: { status: number } | { problem: string }, text: string): void => {
      const { received_at, fields, hash_is_valid, signature_is_valid } = received;
      const tookMs = Math.round(performance.now() - startedAt);
      const facts = { received_at, fields, hash_is_valid, signature_is_valid, attempt, took_ms: tookMs, ...response };
      output.result(facts, `${line} → ${text}`);
    };
    try {
      const response = await fetch(url, {
        method: 'POST',
        headers: Object.fromEntries(forwarded) as Record<string, string>,
        body: Buffer.from(body),
        redirect: 'manual',
        signal: AbortSignal.any([signal, AbortSignal.timeout(FORWARD_TIMEOUT_MS)]),
      });
      await response.arrayBuffer().catch(() => undefined);
      const { status } = response;
      report({ status }, `${status} in ${Math.round(performance.now() - startedAt)} ms`);
      return response.ok;
    } catch (error) {
      if (signal.aborted) return false;
      const isLast = attempt === FORWARD_ATTEMPTS;
      const next = isLast ? 'given up' : `trying again in ${FORWARD_PAUSE_MS / 1000} s`;
      report({ problem: causeOf(error) }, `${url} cannot be reached (${causeOf(error)}), ${next}`);
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

/** Prints a callback with its fields. */
function show(received: Received, output: Output): true {
  const { received_at, fields, hash_is_valid, signature_is_valid } = received;
  const members = columns(Object.entries(fields ?? {}).map(([name, value]) => [`    ${name}`, textOf(value)]));
  output.result(
    { received_at, fields, hash_is_valid, signature_is_valid },
    `${describeCallback(received)}\n${members}`,
  );
  return true;
}

const textOf = (value: unknown): unknown => (typeof value === 'object' ? JSON.stringify(value) : value);

/** What the command was asked for. */
interface Options {
  /** Undefined if callbacks are only shown. */
  forward: string | undefined;
  count: number | undefined;
  /** The address of the callback inbox. */
  path: string;
}

/** The next callbacks in the inbox; while the gateway is unreachable, the request is repeated. */
async function nextCallbacks(
  { request }: AdminClient,
  path: string,
  output: Output,
  signal: AbortSignal,
): Promise<InboxPage> {
  for (let isAway = false; ; isAway = true) {
    try {
      const page = await request<InboxPage>('GET', path, undefined, signal);
      if (isAway) say(output, 'The gateway is back.');
      return page;
    } catch (error) {
      if (signal.aborted || !(error instanceof UnreachableError)) throw error;
      if (!isAway) say(output, 'The gateway does not answer; waiting until it does.');
      await pause(GATEWAY_PAUSE_MS, undefined, { signal });
    }
  }
}

/** Handles callbacks until the signal or the count; returns whether the command succeeded. */
async function handleAll(
  admin: AdminClient,
  { forward: target, count, path }: Options,
  start: number,
  output: Output,
  signal: AbortSignal,
): Promise<boolean> {
  let handled = 0;
  let after = start;
  while (!signal.aborted) {
    const { items } = await nextCallbacks(admin, `${path}?after=${after}&wait=${WAIT_SECONDS}`, output, signal);
    for (const received of items) {
      const isAccepted =
        target === undefined ? show(received, output) : await forward(received, target, output, signal);
      after = received.number;
      if (count === undefined) continue;
      if (!isAccepted) return false;
      if (++handled === count) return true;
    }
  }
  return count === undefined;
}

/** Runs until Ctrl-C, the timeout or the count; the exit code is for CI. */
export async function listen(call: Call): Promise<number | undefined> {
  const { output } = call;
  const count = call.number('count') ?? (call.flag('once') ? 1 : undefined);
  const timeout = call.number('timeout');
  const stopping = new AbortController();
  for (const name of ['SIGINT', 'SIGTERM'] as const) process.on(name, () => stopping.abort());
  const admin = await connectAdmin(call);
  const account = await chooseAccount(admin, call.option('mid'));
  const path = `/sandbox/api/callbacks/${account.mid}`;
  const { last, url } = await admin.request<InboxPage>('GET', `${path}?limit=1`);
  const restoreCallbackUrl = await redirectCallbacks(admin, account, url, output);
  const timer = setTimeout(() => stopping.abort(), timeout === undefined ? 2 ** 31 - 1 : timeout * 1000);
  const options = { forward: call.option('forward'), count, path };
  const { name, mid } = account;
  const use = options.forward === undefined ? 'shown here' : `forwarded to ${options.forward}`;
  say(output, `Ready: callbacks of ${name} (${mid}) are ${use}. Press Ctrl-C to stop.`);
  try {
    const hasSucceeded = await handleAll(admin, options, last, output, stopping.signal).catch((error) => {
      if (stopping.signal.aborted) return count === undefined;
      throw error;
    });
    if (!hasSucceeded && stopping.signal.aborted) say(output, `Ended before ${count} callbacks had arrived.`);
    return hasSucceeded ? undefined : 1;
  } finally {
    clearTimeout(timer);
    await restoreCallbackUrl();
  }
}
