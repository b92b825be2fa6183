/** Sends a file that is composed while it is sent. */
import { Readable } from 'node:stream';
import type { FastifyReply } from 'fastify';
import type { Gateway } from '../../core/context.ts';
import type { Download } from '../../core/exports/download.ts';
import { needs } from '../bearer.ts';

/** What a route with a file needs. Fastify would answer a HEAD request by reading the whole file. */
export const asFile = (...[permission, scope]: Parameters<typeof needs>) => ({
  ...needs(permission, scope),
  exposeHeadRoute: false,
});

/** CSV is an attachment, JSON an answer as any other. */
export const fileSender =
  ({ log }: Pick<Gateway, 'log'>) =>
  (reply: FastifyReply, { filename, mediaType = 'text/csv', chunks }: Download, requestId: string): FastifyReply => {
    const body = Readable.from(chunks);
    body.on('error', (error) => log.error({ err: error, request_id: requestId }, 'export broke off'));
    if (mediaType === 'text/csv') reply.header('content-disposition', `attachment; filename="${filename}"`);
    return reply.type(`${mediaType}; charset=utf-8`).send(body);
  };
