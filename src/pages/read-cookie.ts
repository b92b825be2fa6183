/** Reads one cookie of a request. */
import type { IncomingHttpHeaders } from 'node:http';

/** The value of the first cookie of this name that has the pattern; undefined if there is none. */
export function readCookie({ cookie }: IncomingHttpHeaders, name: string, pattern: RegExp): string | undefined {
  for (const pair of cookie?.split(';') ?? []) {
    const [found, value] = pair.trim().split('=', 2);
    if (found === name && value !== undefined && pattern.test(value)) return value;
  }
  return undefined;
}
