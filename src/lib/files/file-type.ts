/** Recognises the type of a file by its content, and names a file for a download. */
import { isUtf8 } from 'node:buffer';

const SIGNATURES: readonly (readonly [type: string, start: Buffer])[] = [
  ['application/pdf', Buffer.from('%PDF-')],
  ['image/png', Buffer.from([0x89, 0x50, 0x4e, 0x47, 0x0d, 0x0a, 0x1a, 0x0a])],
  ['image/jpeg', Buffer.from([0xff, 0xd8, 0xff])],
];

/** Control characters that no text has. */
// biome-ignore lint/suspicious/noControlCharactersInRegex: they are what is searched for
const CONTROLS = /[\0-\x08\x0e-\x1f\x7f]/;

/** PDF, PNG, JPEG or text in UTF-8; undefined for any other file, and for an empty one. */
export function fileType(bytes: Buffer): string | undefined {
  const known = SIGNATURES.find(([, start]) => bytes.subarray(0, start.length).equals(start));
  if (known) return known[0];
  return bytes.length > 0 && isUtf8(bytes) && !CONTROLS.test(bytes.toString('utf8')) ? 'text/plain' : undefined;
}

/** The headers of a file that the browser saves and never displays. */
export const attachmentHeaders = (name: string, type: string): Record<string, string> => ({
  'content-type': type === 'text/plain' ? 'text/plain; charset=utf-8' : type,
  'content-disposition': `attachment; filename="${name.replace(/[^\w. -]/g, '_')}"; filename*=UTF-8''${encodeURIComponent(name).replace(/['()*]/g, (sign) => `%${sign.charCodeAt(0).toString(16).toUpperCase()}`)}`,
  'content-security-policy': "default-src 'none'; frame-ancestors 'none'; sandbox",
  'x-content-type-options': 'nosniff',
});
