/** Serves the marks that the operator has placed in a folder to payers' browsers. */
import type { FastifyInstance } from 'fastify';
import type { Gateway } from '../../core/context.ts';
import { commonHeaders } from '../layout.ts';

export function markRoutes(app: FastifyInstance, gateway: Gateway): void {
  app.get('/marks/:version/:file', async (request, reply) => {
    const mark = [...gateway.marks.values()].find(({ path }) => path === request.url);
    if (!mark) return reply.code(404).headers(commonHeaders(gateway)).type('text/plain').send('');
    return reply
      .headers({
        ...commonHeaders(gateway),
        'content-type': mark.type,
        // The address changes with the picture. A picture that is opened on its own runs nothing.
        'cache-control': 'public, max-age=31536000, immutable',
        'content-security-policy': "default-src 'none'; style-src 'unsafe-inline'; sandbox",
      })
      .send(mark.bytes);
  });
}
