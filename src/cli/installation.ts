/** The commands that open the installation itself: `migrate`, `verify`, `admin-token`, `rotate-keys`, `operator`, `connection`, `routes`, `prices`, `projections`. */
import { access } from 'node:fs/promises';
import { join } from 'node:path';
import { acceptEntries } from '../core/audit/key.ts';
import type { Gateway } from '../core/context.ts';
import { replaceAdminToken } from '../core/installation/installation.ts';
import { auditKey, commandCaller } from '../core/operators/principal.ts';
import { createLog } from '../lib/text/log.ts';
import { writeAdminToken } from '../server/admin-token-file.ts';
import { boot, type Installation, openDatabaseServer, refuseMigration } from '../server/boot.ts';
import { type Config, readConfig } from '../server/config.ts';
import type { KnownHead } from '../store/audit/verify.ts';
import type { Connection } from '../store/database/database.ts';
import { compareSchema, migrateAt } from '../store/database/migrate.ts';
import { verifyAt } from '../store/installation/verify.ts';
import { type Call, UsageError } from './command.ts';
import {
  addedConnection,
  type CommandResult,
  checkedConnection,
  listedConnections,
  listedRoutes,
  replacedRoutes,
} from './connection.ts';
import { invite, readInvitation } from './operator.ts';
import { addedVersion, assignedPlan, createdPlan, listedPlans, shownPlan } from './prices.ts';
import { listedProjections, rebuiltProjection } from './projections.ts';
import { verifiedCounts, verifiedLine } from './verified.ts';

/** Opens the installation for the duration of a command; a gateway may run at the same time. */
export async function withInstallation<Result>(
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
export async function verify({ environment, output, option, flag }: Call): Promise<number | undefined> {
  const knownHead = readKnownHead(option('audit-mark'));
  const result = await withInstallation(readConfig(environment), async ({ connection, gateway }) => {
    const check = () => verifyAt(connection, { auditKey: auditKey(gateway), knownHead });
    const first = await check();
    const unkeyed = first.audit.keyed?.unkeyed ?? [];
    // A chain that is broken elsewhere is left as it is.
    if (!flag('accept-entries') || first.audit.violations.length > unkeyed.length) return first;
    for (const run of unkeyed) await acceptEntries(gateway, commandCaller('verify'), run);
    return check();
  });
  const { violations, audit } = result;
  const mark = `${audit.entries}:${audit.keyed?.mark}`;
  const facts = { entries: audit.entries, keyed_from: audit.keyed?.from ?? null, mark };
  output.result({ ok: violations.length === 0, violations, ...verifiedCounts(result), audit_log: facts }, () =>
    violations.length > 0 ? violations.join('\n') : `${verifiedLine(result)}\n${auditLine(facts)}`,
  );
  return violations.length > 0 ? 1 : undefined;
}

const auditLine = ({
  entries,
  keyed_from,
  mark,
}: {
  entries: number;
  keyed_from: number | null;
  mark: string;
}): string =>
  entries === 0
    ? 'The audit log is empty.'
    : `Audit log: ${entries} entries, with the key from entry ${keyed_from} on; mark ${mark}`;

function readKnownHead(text: string | undefined): KnownHead | undefined {
  if (text === undefined) return undefined;
  const [, seq, mark] = /^(\d{1,18}):([a-p]{24})$/.exec(text) ?? [];
  if (seq === undefined || mark === undefined) {
    throw new UsageError(
      '--audit-mark should be a mark that verify printed or the gateway logged, such as 42:abcdefghijklmnopabcdefgh.',
    );
  }
  return { seq: BigInt(seq), mark };
}

export async function adminToken({ environment, output }: Call): Promise<undefined> {
  const config = readConfig(environment);
  const token = await withInstallation(config, ({ gateway }) => replaceAdminToken(gateway));
  if (config.environment === 'sandbox') await writeAdminToken(config.dataDir, token);
  output.result({ admin_token: token }, token);
  output.note('A running gateway uses it after its next start.');
}

export async function inviteOperator({ environment, output, ...call }: Call): Promise<undefined> {
  const config = readConfig(environment);
  const wanted = readInvitation(call);
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
export const listPrices = onGateway(listedPlans);
export const showPrices = onGateway((gateway, { arg }) => shownPlan(gateway, arg('plan_id')));
export const createPrices = onGateway((gateway, { arg }) => createdPlan(gateway, arg('name'), arg('side')));
export const addPrices = onGateway((gateway, { arg, input }) => addedVersion(gateway, arg('plan_id'), input));
export const assignPrices = onGateway((gateway, { arg }) =>
  assignedPlan(gateway, arg('plan_id'), arg('kind') === 'account' ? 'account' : 'connection', arg('id')),
);
export const projections = onGateway(listedProjections);
export const rebuildProjection = onGateway((gateway, { arg }) => rebuiltProjection(gateway, arg('name')));
