/** Reads an HTTP request whose bytes arrived together, if it is a plain POST; Node's parser reads all others. */

/** A POST request of HTTP/1.1 that can be understood in one way only. */
export interface WholeRequest {
  path: string;
  contentType: string;
  forwardedFor: string | undefined;
  /** Whether the client wants the connection to be closed after the response. */
  isLast: boolean;
  body: Buffer;
}

const HEAD_BYTES_MOST = 8192;
const END_OF_HEAD = Buffer.from('\r\n\r\n');
const REQUEST_LINE = /POST (\/[\w/-]*) HTTP\/1\.1\r\n/y;
/** A value begins with a character that is not blank, so that a long run of blanks is matched in one way only. */
const FIELD = /([\w!#$%&'*+.^`|~-]+):[ \t]*((?:[\x21-\x7e\x80-\xff][\t\x20-\x7e\x80-\xff]*)?)\r\n/y;
const LENGTH = /^\d{1,9}$/;
const TRAILING_SPACE = /[ \t]$/;

/** The header fields that are read. Each may occur once. */
const READ = new Set(['host', 'content-type', 'content-length', 'x-forwarded-for', 'connection']);

/** The header fields that change where a request ends, or how it is answered. */
const LEFT_TO_NODE = new Set(['transfer-encoding', 'trailer', 'expect', 'upgrade', 'proxy-connection']);

/**
 * Returns undefined for everything but one complete request in the usual form. Node's parser understands a request that
 * is returned in the same way.
 */
export function readWholeRequest(bytes: Buffer): WholeRequest | undefined {
  const end = bytes.indexOf(END_OF_HEAD);
  if (end < 0 || end > HEAD_BYTES_MOST) return undefined;
  const head = bytes.toString('latin1', 0, end + 2);
  REQUEST_LINE.lastIndex = 0;
  const path = REQUEST_LINE.exec(head)?.[1];
  if (path === undefined) return undefined;
  const fields = readFields(head, REQUEST_LINE.lastIndex);
  if (fields === undefined) return undefined;

  const { host, 'content-type': contentType, 'content-length': length, 'x-forwarded-for': forwardedFor } = fields;
  const connection = fields.connection?.toLowerCase();
  const isLast = connection === 'close';
  if (!host || !contentType || length === undefined || !LENGTH.test(length)) return undefined;
  if (connection !== undefined && !isLast && connection !== 'keep-alive') return undefined;
  const body = bytes.subarray(end + END_OF_HEAD.length);
  return body.length === Number(length) ? { path, contentType, forwardedFor, isLast, body } : undefined;
}

/** The values of the fields that are read; undefined if Node's parser has to read the request. */
function readFields(head: string, start: number): Record<string, string | undefined> | undefined {
  const fields: Record<string, string | undefined> = {};
  for (FIELD.lastIndex = start; FIELD.lastIndex < head.length; ) {
    const found = FIELD.exec(head);
    if (found === null) return undefined;
    const [, name = '', value = ''] = found;
    const lower = name.toLowerCase();
    if (LEFT_TO_NODE.has(lower)) return undefined;
    if (!READ.has(lower)) continue;
    if (fields[lower] !== undefined || TRAILING_SPACE.test(value)) return undefined;
    fields[lower] = value;
  }
  return fields;
}
