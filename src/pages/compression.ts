/** Compresses pages for browsers that accept it, so that a page is small on a slow connection. */
import { promisify } from 'node:util';
import { brotliCompress, constants, gzip } from 'node:zlib';
import type { FastifyInstance } from 'fastify';

const toBrotli = promisify(brotliCompress);
const toGzip = promisify(gzip);

/** The quality at which a page takes about a millisecond. */
const BROTLI = { [constants.BROTLI_PARAM_QUALITY]: 5, [constants.BROTLI_PARAM_MODE]: constants.BROTLI_MODE_TEXT };

export const COMPRESSIONS = {
  br: (text: string): Promise<Buffer> => toBrotli(text, { params: BROTLI }),
  gzip: (text: string): Promise<Buffer> => toGzip(text),
} as const;

export type Encoding = keyof typeof COMPRESSIONS;

/** The encoding that a browser accepts and that compresses best; undefined for none. */
export function acceptedEncoding(header: string | undefined): Encoding | undefined {
  const accepted = (header ?? '')
    .toLowerCase()
    .split(',')
    .map((part) => part.trim().split(/\s*;\s*/))
    .filter(([, quality = '']) => !/^q=0(\.0*)?$/.test(quality))
    .map(([name]) => name);
  return (Object.keys(COMPRESSIONS) as Encoding[]).find((encoding) => accepted.includes(encoding));
}

/**
 * Compresses the pages of these routes that answer a GET.
 *
 * The size of a compressed page tells how much of it repeats. If a page contained a secret and a text that an attacker
 * chose, the attacker could guess the secret bit by bit: have the payer's browser request the page again and again with
 * other texts, and watch the sizes on the network (BREACH). This needs three things, and these pages have none of them:
 *
 * - A request that an attacker can cause. The only authority is the link in the address, which is also the only secret in
 *   the page; a site that does not know it cannot request the page, and one that does has nothing to guess. The cookies
 *   of these pages are not repeated in them.
 * - A text of the request in the page. A page that answers a GET repeats nothing of its query: parameters only select
 *   what is shown. A page that answers a POST repeats what the payer entered; it is not compressed.
 * - Many attempts for one secret. The merchant chooses the texts of an order once, and each session has its own link.
 */
export function compressPages(app: FastifyInstance): void {
  app.addHook('onSend', async (request, reply, payload) => {
    const isPage = String(reply.getHeader('content-type')).startsWith('text/html');
    if (request.method !== 'GET' || !isPage || typeof payload !== 'string' || payload === '') return payload;
    reply.header('vary', 'accept-encoding');
    const encoding = acceptedEncoding(request.headers['accept-encoding']);
    if (encoding === undefined) return payload;
    reply.header('content-encoding', encoding);
    return COMPRESSIONS[encoding](payload);
  });
}
