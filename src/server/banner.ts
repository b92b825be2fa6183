/** The start output of the sandbox: addresses, the keys of the demo account, and a curl command for a first payment. */
import { demoCurl, listenCommand } from '../core/accounts/demo-commands.ts';
import type { Account } from '../core/context.ts';

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
                to see them, run ${listenCommand(url)}
                to forward them to your server, add --forward localhost:3000/callback

  For your first payment, run this command in another terminal:

${demoCurl(url, demo)}

`;
}
