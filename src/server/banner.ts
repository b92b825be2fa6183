/** The start output of the sandbox: addresses, the keys of the demo account, and a curl command for a first payment. */
import type { Account } from '../core/context.ts';
import { wireHash } from '../lib/hash.ts';

export interface BannerFacts {
  url: string;
  /** The console of the provider simulator. */
  simulatorUrl: string | undefined;
  dataDir: string;
  tookMs: number;
  demo: Account;
  /** An admin token that was generated at this start; it is not printed again. */
  newAdminToken: string | undefined;
  isAdminTokenSet: boolean;
  /** The address of the panel, or the one-time link that creates its first owner. */
  panel: { url: string; isInvitation: boolean };
}

/** A curl command that makes a vcard payment. */
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
  panel,
}: BannerFacts): string {
  const existingToken = isAdminTokenSet
    ? 'the value of TURNPIKE_ADMIN_TOKEN'
    : 'as shown at the first start (for a new one: bin/turnpike admin-token)';
  // The default of `listen --url`.
  const urlOption = url === 'http://127.0.0.1:8080' ? '' : ` --url ${url}`;
  const orderId = `demo-${Date.now().toString(36)}`;
  return `
  Turnpike sandbox, ready in ${(tookMs / 1000).toFixed(1)} s

  Gateway       ${url}/post and ${url}/api/v1/
  Admin API     ${url}/admin/api
  Panel         ${panel.url}${panel.isInvitation ? '\n                open this link once to create the first owner' : ''}
  Simulator     ${simulatorUrl ?? '(none)'}
  Health        ${url}/health/ready
  Metrics       ${url}/metrics
  Data          ${dataDir}

  Admin token   ${newAdminToken ? `${newAdminToken}\n                shown only this once` : existingToken}

  Demo account  ${demo.name}
  mid           ${demo.mid}
  client_key    ${demo.clientKey}
  merchant_key  ${demo.merchantKey}
  password      ${demo.passwords()[0]}
  callbacks     signed with ${demo.callbackSecrets()[0]}
                to forward them to your server, run
                bin/turnpike listen${urlOption} --forward http://localhost:3000/callback

  For your first payment, run this command in another terminal:

${demoCurl(url, demo, orderId)}

`;
}
