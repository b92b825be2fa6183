/** What the sandbox shows the person who starts it: where it is, the demo keys, and a payment to paste. */
import type { Account } from '../core/context.ts';
import { wireHash } from '../lib/hash.ts';

export interface BannerFacts {
  url: string;
  /** Where the provider simulator shows what it does. */
  simulatorUrl: string | undefined;
  dataDir: string;
  tookMs: number;
  demo: Account;
  /** An admin token that was made just now and is not shown again. */
  newAdminToken: string | undefined;
  isAdminTokenSet: boolean;
}

/** A curl line that settles a vcard payment when it is pasted. */
export function demoCurl(url: string, demo: Account, orderId: string): string {
  const sale: Record<string, string> = {
    action: 'SALE',
    client_key: demo.clientKey,
    brand: 'vcard',
    identifier: 'success@example.com',
    order_id: orderId,
    order_amount: '19.99',
    order_currency: 'USD',
    order_description: 'My first payment',
    payer_ip: '203.0.113.7',
    return_url: 'https://example.com/return',
  };
  const signed = ['identifier', 'order_id', 'order_amount', 'order_currency'].map((name) => sale[name] as string);
  const body = new URLSearchParams({ ...sale, hash: wireHash(signed, demo.passwords()[0] as string) });
  return `curl ${url}/post -d '${body}'`;
}

export function banner({
  url,
  simulatorUrl,
  dataDir,
  tookMs,
  demo,
  newAdminToken,
  isAdminTokenSet,
}: BannerFacts): string {
  const known = isAdminTokenSet
    ? 'as TURNPIKE_ADMIN_TOKEN says'
    : 'as shown at the first start (a new one: npm run turnpike -- admin-token)';
  // What `listen` asks when nobody tells it where the gateway is.
  const at = url === 'http://127.0.0.1:8080' ? '' : ` --url ${url}`;
  const orderId = `demo-${Date.now().toString(36)}`;
  return `
  Turnpike sandbox, ready in ${(tookMs / 1000).toFixed(1)} s

  Gateway       ${url}/post and ${url}/api/v1/
  Admin API     ${url}/admin/api
  Provider simulator ${simulatorUrl ?? '(none)'}
  Health        ${url}/health/ready
  Metrics       ${url}/metrics
  Data          ${dataDir}

  Admin token   ${newAdminToken ? `${newAdminToken}\n                shown only this once` : known}

  Demo account  ${demo.name}
  mid           ${demo.mid}
  client_key    ${demo.clientKey}
  merchant_key  ${demo.merchantKey}
  password      ${demo.passwords()[0]}
  callbacks     signed with ${demo.callbackSecrets()[0]}
                to bring them to your server, with the admin token in TURNPIKE_ADMIN_TOKEN:
                npx turnpike listen${at} --forward http://localhost:3000/callback

  Your first payment: paste this line into another terminal.

${demoCurl(url, demo, orderId)}

`;
}
