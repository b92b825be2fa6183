/** Asks the vendor of wallet-a for a merchant session: a call with the merchant's TLS client certificate. */
import { Agent, request } from 'undici';
import { isObject } from '../lib/text/json.ts';
import { LIMITS } from '../rules/limits.ts';
import { guardedConnector, type ReceiverOptions } from './receiver.ts';

/** The vendor's servers: `apple-pay-gateway` and those of its data centres, also for China (`cn-`). */
const VENDOR_HOST = /^(?:cn-)?apple-pay-gateway(?:-[a-z0-9]+)*\.apple\.com$/;

/** Whether a validation address that a browser sent is one of the vendor's: the certificate is shown nowhere else. */
export function isVendorAddress(text: string): boolean {
  const url = URL.parse(text);
  if (!url || text.length > LIMITS.callbackUrlLength) return false;
  const { protocol, hostname, port, username, password, pathname } = url;
  return (
    protocol === 'https:' &&
    port === '' &&
    username === '' &&
    password === '' &&
    VENDOR_HOST.test(hostname) &&
    pathname.startsWith('/paymentservices/')
  );
}

export interface MerchantSessionRequest {
  merchantIdentifier: string;
  displayName: string;
  initiative: 'web';
  /** The host of the payment page. */
  initiativeContext: string;
}

/** The vendor's session object, which only the browser reads; throws if there is none. */
export async function requestMerchantSession(
  url: string,
  content: MerchantSessionRequest,
  options: ReceiverOptions,
): Promise<Record<string, unknown>> {
  const dispatcher = new Agent({ connect: guardedConnector(options), allowH2: false });
  try {
    const { statusCode, body } = await request(url, {
      dispatcher,
      method: 'POST',
      headers: { 'content-type': 'application/json' },
      body: JSON.stringify(content),
      signal: AbortSignal.timeout(options.totalMs ?? LIMITS.merchantSessionMs),
    });
    const parts: Buffer[] = [];
    let length = 0;
    for await (const chunk of body) {
      parts.push(chunk);
      length += chunk.length;
      if (length > LIMITS.merchantSessionBytes) throw new Error('The merchant session is too large.');
    }
    const session: unknown = statusCode === 200 ? JSON.parse(Buffer.concat(parts).toString()) : undefined;
    if (!isObject(session)) throw new Error(`The vendor of wallet-a answered with status ${statusCode}.`);
    return session;
  } finally {
    await dispatcher.destroy();
  }
}
