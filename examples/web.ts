/** The web server of the examples: a few routes, forms, and pages without style. */
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { text } from 'node:stream/consumers';

export const PORT = Number(process.env.PORT ?? 3000);

export const escapeHtml = (value: string): string =>
  value.replace(/[&<>"']/g, (character) => `&#${character.charCodeAt(0)};`);

/** A page; with `refreshSeconds` the browser loads it again and again. */
export const page = (title: string, body: string, refreshSeconds?: number): string => `<!doctype html>
<html lang="en"><head><meta charset="utf-8"><title>${escapeHtml(title)}</title>
<meta name="viewport" content="width=device-width">
${refreshSeconds ? `<meta http-equiv="refresh" content="${refreshSeconds}">` : ''}
<style>body { font: 1.1rem/1.5 system-ui, sans-serif; max-width: 36rem; margin: 2rem auto; padding: 0 1rem }
svg { width: 16rem } form { display: inline }</style></head>
<body><h1>${escapeHtml(title)}</h1>${body}</body></html>`;

/** A button that sends its value. */
export const button = (action: string, label: string, order = ''): string =>
  `<form method="post" action="${action}"><button name="order" value="${escapeHtml(order)}">${label}</button></form>`;

/** The page of a route, or the address that it redirects to. */
type Answer = string | { location: string };
export type Route = (fields: URLSearchParams, payerAddress: string) => Answer | Promise<Answer>;

/** Serves the routes, which are named `GET /path`, and callbacks at `POST /callback`; returns the address. */
export async function serve(
  routes: Record<string, Route>,
  callback: (request: IncomingMessage, response: ServerResponse) => unknown,
): Promise<string> {
  const server = createServer(async (request, response) => {
    const url = new URL(request.url ?? '/', 'http://localhost');
    const name = `${request.method} ${url.pathname}`;
    if (name === 'POST /callback') return callback(request, response);
    const route = routes[name];
    if (!route) return response.writeHead(404).end();
    try {
      const fields = request.method === 'POST' ? new URLSearchParams(await text(request)) : url.searchParams;
      const answer = await route(fields, request.socket.remoteAddress ?? '127.0.0.1');
      if (typeof answer !== 'string') return response.writeHead(303, answer).end();
      return response.writeHead(200, { 'content-type': 'text/html; charset=utf-8' }).end(answer);
    } catch (error) {
      console.error(error);
      return response.writeHead(502).end('This did not work. Please try again.');
    }
  });
  await new Promise<void>((resolve) => server.listen(PORT, '127.0.0.1', resolve));
  const address = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  console.log(`Open ${address}`);
  return address;
}
