/** Sends a list as CSV, and takes files of CSV as bodies. */
import type { FastifyInstance, FastifyReply } from 'fastify';
import { type CsvValue, csvRows } from '../../../lib/text/csv.ts';

/** More rows are read page by page from the JSON call. */
export const CSV_ROWS_MOST = 100_000;

export function sendCsv(
  reply: FastifyReply,
  filename: string,
  header: readonly string[],
  rows: readonly (readonly CsvValue[])[],
): string {
  reply.type('text/csv; charset=utf-8').header('content-disposition', `attachment; filename="${filename}"`);
  return csvRows([header, ...rows]);
}

/** Routes whose body is a file, under any content type. */
export function withFiles(app: FastifyInstance, register: (uploads: FastifyInstance) => void): void {
  app.register(async (uploads) => {
    uploads.removeAllContentTypeParsers();
    uploads.addContentTypeParser('*', { parseAs: 'buffer' }, (_request, body, done) => done(null, body));
    register(uploads);
  });
}

export const bytesOf = (body: unknown): Buffer => (Buffer.isBuffer(body) ? body : Buffer.alloc(0));
