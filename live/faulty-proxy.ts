/** A proxy in front of a provider that loses calls and answers, as a network does. */
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { request as send } from 'undici';
import type { Fault } from '../test/conformance/conforms.ts';

export interface FaultyProxy {
  url: string;
  /** The next call that moves money meets this fault. */
  fault(fault: Fault): void;
  close(): Promise<void>;
}

/** What the provider would answer if it failed, or limited the rate of our calls. */
export type FaultAnswers = Readonly<Record<'error_500' | 'rate_limited', { status: number; body: string }>>;

export async function startFaultyProxy(
  origin: string,
  movesMoney: (method: string, path: string) => boolean,
  answers: FaultAnswers,
  onAnswer: (body: string) => void,
  /** Headers that tell the provider to answer in a certain way. */
  headersFor: (method: string, path: string) => Readonly<Record<string, string>> = () => ({}),
): Promise<FaultyProxy> {
  let armed: Fault | undefined;
  const serve = async (incoming: IncomingMessage, response: ServerResponse): Promise<void> => {
    const { method = 'GET', url = '/', headers } = incoming;
    const parts: Buffer[] = [];
    for await (const part of incoming) parts.push(part);
    const fault = movesMoney(method, url) ? armed : undefined;
    if (fault) armed = undefined;
    if (fault === 'lost_before') return void incoming.socket.destroy();
    if (fault === 'error_500' || fault === 'rate_limited') {
      response.writeHead(answers[fault].status, { 'content-type': 'application/json' }).end(answers[fault].body);
      return;
    }
    const { host: _, connection: __, 'content-length': ___, ...passed } = headers;
    const answer = await send(origin + url, {
      method,
      headers: { ...(passed as Record<string, string>), ...headersFor(method, url) },
      ...(method !== 'GET' && { body: Buffer.concat(parts) }),
    });
    const body = await answer.body.text();
    onAnswer(body);
    if (fault === 'lost_after') return void incoming.socket.destroy();
    const { 'transfer-encoding': ____, connection: _____, ...kept } = answer.headers;
    response.writeHead(answer.statusCode, kept).end(body);
  };
  // A provider that cannot be reached looks the same to the connector.
  const server = createServer((incoming, response) => {
    serve(incoming, response).catch(() => incoming.socket.destroy());
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    fault: (fault) => {
      armed = fault;
    },
    async close() {
      server.closeAllConnections();
      await new Promise((resolve) => server.close(resolve));
    },
  };
}
