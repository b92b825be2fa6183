/** The commands that open the installation itself: `migrate`, `verify`, `admin-token`, `rotate-keys`, `operator`, `connection`, `routes`. */
import { access } from 'node:fs/promises';
import { join } from 'node:path';
import type { Gateway } from '../core/context.ts';
import { replaceAdminToken } from '../core/installation.ts';
import { createLog } from '../lib/log.ts';
import { writeAdminToken } from '../server/admin-token-file.ts';
import { boot, type Installation, openDatabaseServer, refuseMigration } from '../server/boot.ts';
import { type Config, readConfig } from '../server/config.ts';
import type { Connection } from '../store/database.ts';
import { compareSchema, migrateAt } from '../store/migrate.ts';
import { verifyAt } from '../store/verify.ts';
import type { Call } from './command.ts';
import {
  addedConnection,
  type CommandResult,
  checkedConnection,
  listedConnections,
  listedRoutes,
  replacedRoutes,
} from './connection.ts';
import { invite, readInvitation } from './operator.ts';

/** Opens the installation for the duration of a command; a gateway may run at the same time. */
async function withInstallation<Result>(
  config: Config,
  work: (installation: Installation) => Promise<Result>,
): Promise<Result> {
  const log = createLog('warn', process.stderr);
  const installation = await boot(config, { log, say: () => undefined, isGateway: false });
  return work(installation).finally(() => installation.close());
}

/** Opens the database only; nothing is migrated, and no key is needed. */
export async function withDatabase<Result>(
  config: Config,
  work: (connection: Connection) => Promise<Result>,
  options: { isAlone?: boolean } = {},
): Promise<Result> {
  const { connection, close } = await openDatabaseServer(config, {
    say: () => undefined,
    isGateway: false,
    ...options,
  });
  return work(connection).finally(close);
}

export async function migrate({ environment, flag, output }: Call): Promise<undefined> {
  const config = readConfig(environment);
  const isDryRun = flag('dry-run');
  // A dry run does not create a database folder.
  const isMissing =
    config.databaseUrl === '' &&
    (await access(join(config.dataDir, 'postgres', 'PG_VERSION')).then(
      () => false,
      () => true,
    ));
  const missing = async (connection?: Connection) => (await compareSchema(connection)).missing.map(({ name }) => name);
  let hasProgress = false;
  const progress = (line: string): void => {
    hasProgress = true;
    output.progress(line);
  };
  const run = (connection: Connection) =>
    isDryRun ? missing(connection) : migrateAt(connection, { progress }).catch(refuseMigration);
  const names = isDryRun && isMissing ? await missing() : await withDatabase(config, run);
  if (hasProgress) output.progress(`${names.length} of ${names.length} migrations`, true);
  const database =
    config.databaseUrl === '' ? `the embedded database in ${config.dataDir}` : 'the database of DATABASE_URL';
  const facts = { dry_run: isDryRun, created: isMissing && !isDryRun, migrations: names };
  output.result(facts, () => {
    const list = names.map((name) => `  ${name}`).join('\n');
    if (names.length === 0) return `Nothing to do: ${database} is up to date.`;
    const verb = isDryRun ? 'would run in' : 'ran in';
    const would = isDryRun && isMissing ? ', which does not exist yet' : '';
    return `${names.length} ${names.length === 1 ? 'migration' : 'migrations'} ${verb} ${database}${would}:\n${list}`;
  });
}

/** Exits with code 1 when an invariant does not hold. */
export async function verify({ environment, output }: Call): Promise<number | undefined> {
  const result = await withInstallation(readConfig(environment), ({ connection }) => verifyAt(connection));
  const { violations, payments, historyRows } = result;
  const counts = { payments: Number(payments), history_rows: Number(historyRows) };
  output.result({ ok: violations.length === 0, violations, ...counts }, () =>
    violations.length > 0
      ? violations.join('\n')
      : `All checks passed: ${payments} payments, ${historyRows} history rows.`,
  );
  return violations.length > 0 ? 1 : undefined;
}

export async function adminToken({ environment, output }: Call): Promise<undefined> {
  const config = readConfig(environment);
  const token = await withInstallation(config, ({ gateway }) => replaceAdminToken(gateway));
  if (config.environment === 'sandbox') await writeAdminToken(config.dataDir, token);
  output.result({ admin_token: token }, token);
  output.note('A running gateway uses it after its next start.');
}

export async function inviteOperator({ environment, arg, output }: Call): Promise<undefined> {
  const config = readConfig(environment);
  const wanted = readInvitation(arg('e-mail'), arg('role'));
  const { link, note } = await withInstallation(config, ({ gateway }) => invite(gateway, config, wanted));
  output.result({ link }, link);
  output.note(note);
}

const onGateway =
  (work: (gateway: Gateway, call: Call) => Promise<CommandResult>) =>
  async (call: Call): Promise<number | undefined> => {
    const run = ({ gateway }: Installation) => work(gateway, call);
    const { value, text, hasFailed } = await withInstallation(readConfig(call.environment), run);
    call.output.result(value, text);
    return hasFailed ? 1 : undefined;
  };

export const listConnections = onGateway(listedConnections);
export const addConnection = onGateway((gateway, { input }) => addedConnection(gateway, input));
export const checkConnection = onGateway((gateway, { arg }) => checkedConnection(gateway, arg('connection_id')));
export const routes = onGateway((gateway, { arg, input }) =>
  arg('set') === '' ? listedRoutes(gateway, arg('mid')) : replacedRoutes(gateway, arg('mid'), input),
);
