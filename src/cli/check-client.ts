/** The command `check-client`: passes the requests of a client on to the sandbox, and says which settings it needs. */
import { appendFile } from 'node:fs/promises';
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { buffer } from 'node:stream/consumers';
import { type NeededSetting, neededSettings, type SeenSale, saleIn } from '../core/explain/needed-settings.ts';
import { StartupError } from '../lib/flow/startup-error.ts';
import { isObject } from '../lib/text/json.ts';
import { urlOption } from './admin-client.ts';
import type { Call } from './command.ts';
import { columns } from './output.ts';

/** The headers of a connection, which are not those of its messages. */
const OF_CONNECTION = new Set(['host', 'connection', 'content-length', 'transfer-encoding', 'expect', 'keep-alive']);
const LIVE_KEY = /live_[\da-f]{16}/;

interface Report {
  requests: number;
  settings: Record<string, unknown>;
  reasons: Record<string, string>;
}

/** Collects what the requests need; several values of a list are joined. */
function createReport(): Report & { add(needs: readonly NeededSetting[]): string[] } {
  const report: Report = { requests: 0, settings: {}, reasons: {} };
  return Object.assign(report, {
    add(needs: readonly NeededSetting[]): string[] {
      report.requests++;
      return needs.flatMap(({ setting, value, because }) => {
        const before = report.settings[setting];
        const joined = Array.isArray(value) ? [...new Set([...((before as unknown[]) ?? []), ...value])] : value;
        report.settings[setting] = joined;
        if (before !== undefined) return [];
        report.reasons[setting] = because;
        return [`${setting} = ${JSON.stringify(value)}, because of ${because}`];
      });
    },
  });
}

export async function checkClient(call: Call): Promise<undefined> {
  const target = new URL(urlOption(call));
  const password = call.environment.TURNPIKE_PASSWORD;
  const file = call.option('record');
  const most = call.number('count') ?? Number.POSITIVE_INFINITY;
  const report = createReport();
  const sales = new Map<string, SeenSale>();
  const ended = Promise.withResolvers<void>();

  const pass = async (request: IncomingMessage, response: ServerResponse): Promise<void> => {
    const body = await buffer(request);
    if (LIVE_KEY.test(body.toString('latin1'))) {
      response.writeHead(400, { 'content-type': 'text/plain' });
      response.end('check-client takes requests with keys of the sandbox only.\n');
      return;
    }
    const headers = Object.entries(request.headers).filter(([name]) => !OF_CONNECTION.has(name)) as [string, string][];
    const path = request.url ?? '/';
    const contentType = request.headers['content-type'] ?? '';
    const answer = await fetch(new URL(path, target), {
      method: request.method ?? 'POST',
      headers,
      redirect: 'manual',
      ...(body.length > 0 && { body: new Uint8Array(body) }),
    });
    const text = await answer.text();
    if (request.method === 'POST') {
      const { pathname } = new URL(path, target);
      const needs = neededSettings({ path: pathname, contentType, body, password, sales });
      for (const line of report.add(needs)) call.output.note(line);
      if (file !== undefined) {
        const entry = { path: pathname, status: answer.status, needs };
        await appendFile(file, `${JSON.stringify(entry)}\n`, { mode: 0o600 });
      }
      remember(text, contentType, body);
    }
    body.fill(0);
    response.writeHead(answer.status, { 'content-type': answer.headers.get('content-type') ?? 'application/json' });
    response.end(text);
    if (report.requests >= most) ended.resolve();
  };

  /** Later requests sign the payer and the card of a sale; only the digits that a hash covers are remembered. */
  const remember = (text: string, contentType: string, body: Buffer): void => {
    const answer: unknown = text.startsWith('{') ? JSON.parse(text) : undefined;
    if (!isObject(answer) || typeof answer.trans_id !== 'string' || contentType.includes('json')) return;
    const sale = saleIn(contentType, body);
    if (sale.card === '') return;
    for (const id of [answer.trans_id, answer.order_id]) if (typeof id === 'string') sales.set(id, sale);
  };

  // A file that cannot be written is reported before the client sends anything.
  if (file !== undefined) {
    await appendFile(file, '', { mode: 0o600 }).catch((error) => {
      throw new StartupError(`The file ${file} cannot be written (${error.code}).`);
    });
  }
  const server = createServer((request, response) => {
    pass(request, response).catch(() => {
      response.writeHead(502, { 'content-type': 'text/plain' });
      response.end('The gateway cannot be reached.\n');
    });
  });
  await new Promise<void>((resolve, reject) => {
    server.once('error', (error: NodeJS.ErrnoException) => {
      reject(new StartupError(`The port cannot be used (${error.code}).`));
    });
    server.listen(call.number('port') ?? 0, '127.0.0.1', resolve);
  });
  const { port } = server.address() as AddressInfo;
  call.output.note(`Point the client at http://127.0.0.1:${port}; its requests go on to ${target.origin}.`);
  const stop = (): void => ended.resolve();
  for (const signal of ['SIGINT', 'SIGTERM'] as const) process.once(signal, stop);
  const timer = setTimeout(stop, (call.number('timeout') ?? 24 * 60 * 60) * 1000);
  await ended.promise;
  clearTimeout(timer);
  for (const signal of ['SIGINT', 'SIGTERM'] as const) process.off(signal, stop);
  server.closeAllConnections();
  await new Promise((resolve) => server.close(resolve));
  const { requests, settings, reasons } = report;
  const lines = Object.entries(settings).map(([name, value]) => [
    `  ${name}`,
    JSON.stringify(value),
    reasons[name] ?? '',
  ]);
  call.output.result({ requests, settings, reasons }, () =>
    lines.length === 0
      ? `${requests} requests: the client needs no further settings.`
      : [`${requests} requests: the client needs these settings.`, columns(lines)].join('\n'),
  );
}
