/** Serves the script with which shops show the payment page in a frame of their own pages. */
import type { FastifyInstance } from 'fastify';
import type { Gateway } from '../../core/context.ts';
import { commonHeaders } from '../layout.ts';
import { EMBED_SCRIPTS, type EmbedScript, NEWEST_EMBED_SCRIPT } from './scripts.ts';

const FOREVER = 'public, max-age=31536000, immutable';
const MINUTES = 'public, max-age=300';

export function embedRoutes(app: FastifyInstance, gateway: Gateway): void {
  const serve = (path: string, { source }: EmbedScript, caching: string): void => {
    app.get(path, async (request, reply) => {
      request.action = 'embed';
      return reply
        .headers({
          ...commonHeaders(gateway),
          'content-type': 'text/javascript; charset=utf-8',
          'cache-control': caching,
          'access-control-allow-origin': '*',
          'cross-origin-resource-policy': 'cross-origin',
        })
        .send(source);
    });
  };
  for (const script of EMBED_SCRIPTS) serve(`/embed/${script.version}.js`, script, FOREVER);
  serve('/embed.js', NEWEST_EMBED_SCRIPT, MINUTES);
}
