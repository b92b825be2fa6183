/** The admin call on the installation itself: version, database, background work. */
import type { FastifyInstance } from 'fastify';
import type { Gateway } from '../../core/context.ts';
import { listProjections } from '../../core/projections/projections.ts';
import { VERSION } from '../../lib/files/version.ts';
import { needs } from '../bearer.ts';

export function installationRoutes(app: FastifyInstance, gateway: Gateway): void {
  app.get('/installation', needs('installation.view', 'installation'), async () => {
    const { version, sizeBytes, migration } = await gateway.installation.describeDatabase();
    return {
      version: VERSION,
      environment: gateway.environment,
      public_url: gateway.publicUrl,
      has_mail_server: gateway.mailer !== undefined,
      database: { version, size_bytes: sizeBytes, migration },
      projections: (await listProjections(gateway)).map(({ name, secondsBehind, backfilled }) => ({
        name,
        seconds_behind: Math.round(secondsBehind),
        backfilled,
      })),
    };
  });
}
