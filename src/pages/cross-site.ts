/** Whether another site sent a form. */
import type { IncomingHttpHeaders } from 'node:http';

/** `Sec-Fetch-Site` decides. A browser without it sends `Origin`, and a program may send neither, which is accepted. */
export function isCrossSite(headers: IncomingHttpHeaders, ownOrigins: readonly string[]): boolean {
  const { origin, 'sec-fetch-site': site } = headers;
  // `none` is a request that the user started; `same-site` is another host of the same domain, which is not trusted.
  if (site !== undefined) return site !== 'same-origin' && site !== 'none';
  return origin !== undefined && !ownOrigins.includes(origin);
}
