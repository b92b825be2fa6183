/** The account of a command that works on one account: the named one, or the only one. */
import { StartupError } from '../lib/flow/startup-error.ts';
import type { AdminClient } from './admin-client.ts';
import { UsageError } from './command.ts';
import { columns } from './output.ts';

export interface SandboxAccount {
  mid: string;
  name: string;
  environment: string;
  client_key: string;
  settings: { callback_url: string };
}

export const accountPath = (mid: string): string => `/admin/api/accounts/${encodeURIComponent(mid)}`;

/** Refuses a gateway that is not a sandbox. */
export async function chooseAccount(admin: AdminClient, mid: string | undefined): Promise<SandboxAccount> {
  const account =
    mid === undefined
      ? await onlyAccount(admin, '--mid')
      : await admin.request<SandboxAccount>('GET', accountPath(mid));
  if (account.environment === 'sandbox') return account;
  throw new StartupError('This gateway is not a sandbox: the command works with sandboxes only.');
}

/** The account of a gateway that has one; `place` is where the command line names it otherwise. */
export async function onlyAccount({ request }: AdminClient, place: string): Promise<SandboxAccount> {
  const { items, next_cursor } = await request<{ items: SandboxAccount[]; next_cursor: string | null }>(
    'GET',
    '/admin/api/accounts?limit=20',
  );
  const [first] = items;
  if (first && items.length === 1) return first;
  if (!first) throw new StartupError('The gateway has no account yet: create one with `turnpike account create`.');
  const names = columns(items.map(({ mid, name }) => [`  ${mid}`, name]));
  throw new UsageError(
    `The gateway has several accounts: name one with ${place}.\n${names}${next_cursor ? '\n  …' : ''}`,
  );
}
