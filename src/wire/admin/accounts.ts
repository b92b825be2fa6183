/** Admin calls on accounts: create, list, read, change, rotate secrets, send a test callback. */
import type { FastifyInstance, FastifyRequest } from 'fastify';
import { changeAccount, createAccount, listAccounts, rotateSecret } from '../../core/accounts/accounts.ts';
import { CONFIRMATION, requireCardSalesConfirmed } from '../../core/accounts/card-sales.ts';
import { requireOwnSettings } from '../../core/accounts/own-settings.ts';
import { requireAccount } from '../../core/accounts/require-account.ts';
import { keyFacts, readAccountSettings } from '../../core/accounts/secret-settings.ts';
import { sendTestCallback } from '../../core/callbacks/test-callback.ts';
import type { Account, AccountRow, Gateway } from '../../core/context.ts';
import { volumeView } from '../../core/risk/volume.ts';
import { wireDate } from '../../lib/time/clock.ts';
import { invalidField, Refusal } from '../../rules/errors.ts';
import { SENTENCES } from '../../rules/fields.ts';
import { LIMITS } from '../../rules/limits.ts';
import { ACCOUNT_NAME_LENGTH, isAccountName, nestSettings } from '../../rules/settings.ts';
import { needs } from '../bearer.ts';
import { objectBody, page, pageSize, readQuery, uuidText } from './input.ts';

interface AccountParams {
  Params: { mid: string };
}

export function accountRoutes(app: FastifyInstance, gateway: Gateway): void {
  const view = (account: Account) => ({
    mid: account.mid,
    name: account.name,
    suspended: account.isSuspended,
    environment: gateway.environment,
    client_key: account.clientKey,
    merchant_key: account.merchantKey,
    settings: nestSettings(account.settings),
    created_at: wireDate(account.createdAt),
  });

  const accountOfPath = ({ principal, params }: FastifyRequest<AccountParams>): Promise<Account> =>
    requireAccount(gateway, principal, params.mid);

  app.post('/accounts', needs('accounts.create', 'installation'), async (request, reply) => {
    const { name, settings, isSuspended } = await readAccount(gateway, undefined, request);
    if (name === undefined) throw invalidField('name', SENTENCES.blank);
    const created = await createAccount(gateway, request.caller, name, settings, { isSuspended });
    reply.code(201);
    const { settings: settingsView, ...accountView } = view(created.account);
    return {
      ...accountView,
      password: created.password.reveal(),
      callback_secret: created.callbackSecret.reveal(),
      settings: settingsView,
    };
  });

  app.get('/accounts', needs('accounts.view', 'accounts'), async (request) => {
    const query = readQuery(request.query, { limit: pageSize, cursor: uuidText });
    const size = query.limit ?? LIMITS.adminPageSize;
    const accounts = await listAccounts(gateway, size + 1, query.cursor, request.principal.mids);
    return page(accounts, size, (account) => account.mid, view);
  });

  app.get<AccountParams>('/accounts/:mid', needs('accounts.view', 'accounts'), async (request) => {
    const account = await accountOfPath(request);
    return { ...view(account), ...(await walletKeys(gateway, account)), ...(await volumeOf(gateway, account)) };
  });

  app.patch<AccountParams>('/accounts/:mid', needs('accounts.change_own', 'accounts'), async (request) => {
    const account = await accountOfPath(request);
    const change = await readAccount(gateway, account, request);
    requireOwnSettings(request.principal, change);
    const changed = (await changeAccount(gateway, request.caller, account.mid, change)) as Account;
    return { ...view(changed), ...(await walletKeys(gateway, changed)) };
  });

  app.post<AccountParams>(
    '/accounts/:mid/rotate-password',
    needs('accounts.rotate_secrets', 'accounts'),
    async (request) => {
      const { mid } = await accountOfPath(request);
      const { secret, previousUntil } = await rotateSecret(gateway, request.caller, mid, 'password');
      return { mid, password: secret.reveal(), previous_password_valid_until: wireDate(previousUntil) };
    },
  );

  app.post<AccountParams>(
    '/accounts/:mid/rotate-callback-secret',
    needs('accounts.rotate_secrets', 'accounts'),
    async (request) => {
      const { mid } = await accountOfPath(request);
      const { secret, previousUntil } = await rotateSecret(gateway, request.caller, mid, 'callbackSecret');
      return { mid, callback_secret: secret.reveal(), previous_callback_secret_valid_until: wireDate(previousUntil) };
    },
  );

  app.post<AccountParams>('/accounts/:mid/test-callback', needs('callbacks.resend', 'accounts'), async (request) => {
    const account = await accountOfPath(request);
    const { id, isAccepted, status, problem, answer, tookMs } = await sendTestCallback(
      gateway,
      request.caller,
      account,
    );
    return { mid: account.mid, id, accepted: isAccepted, status, problem, answer, took_ms: tookMs };
  });
}

/** What is left of the volume limits, if there are any. */
const volumeOf = async (gateway: Gateway, account: Account) =>
  account.settings.volume_limits.length === 0 ? {} : { volume: await volumeView(gateway, account) };

/** What may be shown about the keys and certificates of the wallets, by setting, if there are any. */
async function walletKeys(gateway: Gateway, account: Account): Promise<{ wallet_keys?: Record<string, object> }> {
  const facts = Object.entries(await keyFacts(gateway, account)).map(
    ([name, { publicKeyHash, expiresAt, previous }]) => [
      name,
      {
        public_key_hash: publicKeyHash,
        ...(expiresAt !== undefined && { expires_at: wireDate(expiresAt) }),
        ...(previous && {
          previous: { public_key_hash: previous.publicKeyHash, usable_until: wireDate(previous.until) },
        }),
      },
    ],
  );
  return facts.length === 0 ? {} : { wallet_keys: Object.fromEntries(facts) };
}

/** Reads a name and settings; the settings are members of the body, of its object `settings`, or of both. */
async function readAccount(
  gateway: Gateway,
  account: Account | undefined,
  { body, principal }: Pick<FastifyRequest, 'body' | 'principal'>,
): Promise<{ name: string | undefined; settings: AccountRow['settings']; isSuspended?: boolean }> {
  const { name, suspended, settings: nested, [CONFIRMATION]: isConfirmed, ...topLevel } = objectBody(body);
  const sent = { ...(nested === undefined ? {} : objectBody(nested, 'settings')), ...topLevel };
  const { set, problems } = await readAccountSettings(gateway, account, sent);
  problems.push(...requireCardSalesConfirmed(gateway, principal, account, set, isConfirmed === true));
  if (name !== undefined && !isAccountName(name)) {
    const sentence =
      typeof name === 'string' && name.trim() === ''
        ? SENTENCES.blank
        : `This value should be a text of ${ACCOUNT_NAME_LENGTH} characters or less without control characters.`;
    problems.unshift({ field: 'name', sentence });
  }
  if (suspended !== undefined && typeof suspended !== 'boolean') {
    problems.unshift({ field: 'suspended', sentence: 'This value should be true or false.' });
  }
  if (problems.length > 0) throw new Refusal('invalidData', problems);
  const isSuspended = suspended as boolean | undefined;
  return { name: name as string | undefined, settings: set, ...(isSuspended !== undefined && { isSuspended }) };
}
