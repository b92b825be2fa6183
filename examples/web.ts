/** The web server of the examples: a few routes, forms, and plain pages. */
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { text } from 'node:stream/consumers';

export const PORT = Number(process.env.PORT ?? 3000);

export const escapeHtml = (value: string): string =>
  value.replace(/[&<>"']/g, (character) => `&#${character.charCodeAt(0)};`);

const STYLE = `
:root { color-scheme: light dark; --line: light-dark(#ddd8ce, #3c3a36); --accent: light-dark(#1f6f54, #6fc7a6) }
body { font: 1.05rem/1.5 system-ui, sans-serif; max-width: 34rem; margin: 0 auto; padding: 2rem 1rem;
  background: light-dark(#faf8f4, #1b1a18); color: light-dark(#23211d, #ece8e0) }
h1 { margin: 0 0 1.5rem; padding-bottom: 0.75rem; border-bottom: 3px solid var(--accent); font-size: 1.5rem }
ul { margin: 1.5rem 0; padding: 0; list-style: none }
li, div:has(form) { display: flex; flex-wrap: wrap; gap: 0.5rem 1rem; align-items: center; justify-content: space-between }
li { padding: 0.75rem 0; border-top: 1px solid var(--line); overflow-wrap: anywhere }
div:has(form) { margin: 0; padding: 1rem; border: 1px solid var(--line); border-radius: 0.75rem }
button { min-height: 2.75rem; padding: 0 1.25rem; border: 0; border-radius: 0.5rem; font: inherit; font-weight: 600;
  background: var(--accent); color: light-dark(#fff, #10201a); cursor: pointer }
a { color: var(--accent) }
svg { width: 16rem; max-width: 100%; background: #fff }`;

/** A page; with `refreshSeconds` the browser loads it again and again. */
export const page = (title: string, body: string, refreshSeconds?: number): string => `<!doctype html>
<html lang="en"><head><meta charset="utf-8"><title>${escapeHtml(title)}</title>
<meta name="viewport" content="width=device-width">
${refreshSeconds ? `<meta http-equiv="refresh" content="${refreshSeconds}">` : ''}
<style>${STYLE}</style></head>
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
