/** Admin calls on accounts: create, list, read, change, rotate secrets. */
import type { FastifyInstance } from 'fastify';
import { changeAccount, createAccount, findAccount, listAccounts, rotateSecret } from '../../core/accounts.ts';
import type { Account, Gateway } from '../../core/context.ts';
import { wireDate } from '../../lib/clock.ts';
import { isUuid } from '../../lib/id.ts';
import { invalidField, Refusal } from '../../rules/errors.ts';
import { SENTENCES } from '../../rules/fields.ts';
import { LIMITS } from '../../rules/limits.ts';
import { ACCOUNT_NAME_LENGTH, isAccountName, nestSettings, readSettings } from '../../rules/settings.ts';
import { objectBody, page, pageSize, readQuery, uuidText } from './input.ts';

interface AccountParams {
  Params: { mid: string };
}

export function accountRoutes(app: FastifyInstance, gateway: Gateway): void {
  const view = (account: Account) => ({
    mid: account.mid,
    name: account.name,
    environment: gateway.environment,
    client_key: account.clientKey,
    merchant_key: account.merchantKey,
    settings: nestSettings(account.settings),
    created_at: wireDate(account.createdAt),
  });

  const requireAccount = async (mid: string): Promise<Account> => {
    const account = isUuid(mid) ? await findAccount(gateway, mid) : undefined;
    if (!account) throw new Refusal('noSuchAccount');
    return account;
  };

  app.post('/accounts', async (request, reply) => {
    const { name, settings } = readAccount(gateway, request.body);
    if (name === undefined) throw invalidField('name', SENTENCES.blank);
    const created = await createAccount(gateway, name, settings);
    reply.code(201);
    const { settings: settingsView, ...accountView } = view(created.account);
    return {
      ...accountView,
      password: created.password.reveal(),
      callback_secret: created.callbackSecret.reveal(),
      settings: settingsView,
    };
  });

  app.get('/accounts', async (request) => {
    const query = readQuery(request.query, { limit: pageSize, cursor: uuidText });
    const size = query.limit ?? LIMITS.adminPageSize;
    return page(await listAccounts(gateway, size + 1, query.cursor), size, (account) => account.mid, view);
  });

  app.get<AccountParams>('/accounts/:mid', async (request) => view(await requireAccount(request.params.mid)));

  app.patch<AccountParams>('/accounts/:mid', async (request) => {
    const { mid } = await requireAccount(request.params.mid);
    const { name, settings } = readAccount(gateway, request.body);
    return view((await changeAccount(gateway, mid, name, settings)) as Account);
  });

  app.post<AccountParams>('/accounts/:mid/rotate-password', async (request) => {
    const { mid } = await requireAccount(request.params.mid);
    const { secret, previousUntil } = await rotateSecret(gateway, mid, 'password');
    return { mid, password: secret.reveal(), previous_password_valid_until: wireDate(previousUntil) };
  });

  app.post<AccountParams>('/accounts/:mid/rotate-callback-secret', async (request) => {
    const { mid } = await requireAccount(request.params.mid);
    const { secret, previousUntil } = await rotateSecret(gateway, mid, 'callbackSecret');
    return { mid, callback_secret: secret.reveal(), previous_callback_secret_valid_until: wireDate(previousUntil) };
  });
}

/** Reads a name and settings; the settings are members of the body, of its object `settings`, or of both. */
function readAccount(
  { callbackReach }: Gateway,
  body: unknown,
): { name: string | undefined; settings: ReturnType<typeof readSettings>['set'] } {
  const { name, settings: nested, ...topLevel } = objectBody(body);
  const sent = { ...(nested === undefined ? {} : objectBody(nested, 'settings')), ...topLevel };
  const { set, problems } = readSettings(sent, callbackReach);
  if (name !== undefined && !isAccountName(name)) {
    const sentence =
      typeof name === 'string' && name.trim() === ''
        ? SENTENCES.blank
        : `This value should be a text of ${ACCOUNT_NAME_LENGTH} characters or less.`;
    problems.unshift({ field: 'name', sentence });
  }
  if (problems.length > 0) throw new Refusal('invalidData', problems);
  return { name: name as string | undefined, settings: set };
}
