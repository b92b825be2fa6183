/** Routes for monitoring: liveness, readiness and metrics. */
import type { FastifyInstance } from 'fastify';
import type { Gateway } from '../core/context.ts';

export function healthRoutes(app: FastifyInstance, gateway: Gateway): void {
  app.get('/health/live', async () => ({ status: 'live' }));
  app.get('/health/ready', async () => {
    // A failed write is an outage, which the error handler answers with 503.
    await gateway.installation.proveWritable();
    return { status: 'ready' };
  });
  app.get('/metrics', async (_request, reply) => {
    reply.type(gateway.metrics.contentType);
    return gateway.metrics.text();
  });
}
