/** Serves the logos that accounts uploaded; the address has a digest of the picture, so that it never changes. */
import type { FastifyInstance } from 'fastify';
import type { Gateway } from '../core/context.ts';
import { isUuid } from '../lib/crypto/id.ts';

export function logoRoutes(app: FastifyInstance, gateway: Gateway): void {
  app.get<{ Params: { mid: string; file: string } }>('/logos/:mid/:file', async (request, reply) => {
    request.action = 'logo';
    request.isRead = true;
    const { mid, file } = request.params;
    const [, digest] = /^([\da-f]{16})\.png$/.exec(file) ?? [];
    const image = isUuid(mid) && digest !== undefined ? await gateway.logos.find(mid, digest) : undefined;
    reply.headers({
      'x-content-type-options': 'nosniff',
      'content-security-policy': "default-src 'none'; frame-ancestors 'none'; sandbox",
    });
    if (!image) return reply.code(404).type('text/plain; charset=utf-8').send('There is no such picture.\n');
    return reply.type('image/png').header('cache-control', 'public, max-age=31536000, immutable').send(image);
  });
}
