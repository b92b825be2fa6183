/** The part of the table of commands that open the installation: its schema, data, keys, operators, connections and prices. */
import { PLAN_SIDES } from '../rules/pricing.ts';
import { ROLES } from '../rules/roles.ts';
import { type Argument, type Command, flag, text } from './command.ts';

/** What the commands that open the installation read first; all other variables of the gateway count, too. */
export const INSTALLATION = ['DATABASE_URL', 'DATA_DIR', 'TURNPIKE_ENV', 'TURNPIKE_MASTER_KEY'];

/** Ids in examples. */
export const ID = '01a1dd06-691f-7000-87fc-b0749d0543ed';
export const MID = '01a1dd06-6379-7000-8438-07d43208b9cc';

export const ACCOUNT: Argument = { name: 'mid', kind: 'uuid', about: 'the account' };

const PLAN: Argument = { name: 'plan_id', kind: 'uuid', about: 'the price plan' };

export const INSTALLATION_COMMANDS: readonly Command[] = [
  {
    name: 'migrate',
    summary: 'Migrates the schema of the database and says what it did',
    options: [flag('dry-run', 'lists the migrations that would run, and changes nothing')],
    json: 'document',
    variables: INSTALLATION,
    examples: ['migrate --dry-run', 'migrate'],
    run: async (call) => (await import('./installation.ts')).migrate(call),
  },
  {
    name: 'verify',
    summary: 'Checks the consistency of the whole database; exits with code 1 if a check fails',
    details: 'A gateway may run at the same time. docs/operator/access.md describes the check of the audit log.',
    options: [
      text(
        'audit-mark',
        '<mark>',
        'a mark of the audit log from an earlier run or from the log; its entry has to be there',
      ),
      flag('accept-entries', 'accepts entries of the audit log that an earlier version wrote after the upgrade'),
    ],
    json: 'document',
    variables: INSTALLATION,
    examples: ['verify', 'verify --json', 'verify --audit-mark 42:kalecbdjpfghmonaibgpkdlc'],
    run: async (call) => (await import('./installation.ts')).verify(call),
  },
  {
    name: 'projections',
    summary: 'Lists the tables that are derived from the logs: how far they are, and how far a build of them is',
    json: 'document',
    variables: INSTALLATION,
    examples: ['projections', 'projections --json'],
    run: async (call) => (await import('./installation.ts')).projections(call),
  },
  {
    name: 'projections rebuild',
    summary:
      'Empties a projection; running gateways build it again from the logs, and their pages show it as incomplete',
    details: 'Payments go on meanwhile. Run it when all gateways have the version of this command.',
    args: [{ name: 'name', about: 'the projection' }],
    json: 'document',
    variables: INSTALLATION,
    examples: ['projections rebuild reports'],
    run: async (call) => (await import('./installation.ts')).rebuildProjection(call),
  },
  {
    name: 'backup',
    summary:
      'Writes a consistent backup of the database to a file, restores one, or releases what is held after a restore',
    details:
      'A gateway may run while the backup is written. Passwords, secrets and card numbers stay encrypted in it. ' +
      'The master key is not in the backup: keep it separately, and set it before the restored gateway starts. ' +
      'After a restore nothing is charged or voided automatically until it is released: ' +
      'docs/operator/backup-and-upgrade.md says what to check before.',
    args: [
      {
        name: 'file',
        isOptional: true,
        about: 'the backup; an existing file is not overwritten. Not with --release and --restored-from',
      },
    ],
    options: [
      flag('restore', 'restores the file into an empty database of the same version, and verifies it'),
      flag('release', 'releases the charges and voids that wait after a restore; needs --note'),
      text('note', '<text>', 'with --release: what you have checked, for the audit log'),
      text('restored-from', '<time>', 'marks a database that other tools have restored, such as 2026-11-16T09:41:00Z'),
    ],
    json: 'document',
    variables: INSTALLATION,
    examples: [
      'backup turnpike.backup',
      'backup --restore turnpike.backup',
      "backup --release --note 'Compared with the statement of the provider'",
      'backup --restored-from 2026-11-16T09:41:00Z',
    ],
    run: async (call) => (await import('./backup.ts')).backup(call),
  },
  {
    name: 'rotate-keys',
    summary: 'Re-encrypts all sealed data with new keys; if interrupted, run it again to continue',
    details:
      'Set TURNPIKE_MASTER_KEY to the new key, a comma and the old key, here and for every gateway. A sandbox with its ' +
      'key in DATA_DIR must be stopped.',
    json: 'document',
    variables: INSTALLATION,
    examples: ['rotate-keys'],
    run: async (call) => (await import('./rotate-keys.ts')).rotate(call),
  },
  {
    name: 'admin-token',
    summary: 'Replaces the generated admin token and prints it; a running gateway uses it after its next start',
    json: 'document',
    variables: INSTALLATION,
    examples: ['admin-token'],
    run: async (call) => (await import('./installation.ts')).adminToken(call),
  },
  {
    name: 'operator invite',
    summary: 'Prints a one-time link for an operator of the panel',
    args: [
      { name: 'e-mail', about: 'the address of the operator' },
      {
        name: 'role',
        isOptional: true,
        choices: ROLES,
        about: 'the role of a new operator; without it, the first operator is an owner',
      },
    ],
    options: [
      text(
        'mids',
        '<mids>',
        'the accounts that a new operator may see, with commas; the roles of a merchant require it',
      ),
      text('name', '<name>', 'the name of a new operator'),
      text('refund-limit', '<amount>', 'the most that a new operator refunds of one payment, in its currency'),
    ],
    json: 'document',
    variables: [...INSTALLATION, 'PUBLIC_URL'],
    examples: [
      'operator invite ada@example.com owner',
      `operator invite lena@example.com merchant_support --mids ${MID} --refund-limit 50.00`,
    ],
    run: async (call) => (await import('./installation.ts')).inviteOperator(call),
  },
  {
    name: 'connection list',
    summary: 'Lists the connections to providers',
    json: 'document',
    variables: INSTALLATION,
    examples: ['connection list'],
    run: async (call) => (await import('./installation.ts')).listConnections(call),
  },
  {
    name: 'connection add',
    summary: 'Adds the connection that standard input describes as JSON',
    details:
      'The object has connector, name, mids, credentials and settings: docs/operator/providers.md describes them.',
    json: 'document',
    variables: INSTALLATION,
    examples: ['connection add < stripe.json'],
    run: async (call) => (await import('./installation.ts')).addConnection(call),
  },
  {
    name: 'connection check',
    summary: 'Makes a harmless call to the provider of a connection; exits with code 1 if it fails',
    args: [{ name: 'connection_id', kind: 'uuid', about: 'the connection' }],
    json: 'document',
    variables: INSTALLATION,
    examples: [`connection check ${ID}`],
    run: async (call) => (await import('./installation.ts')).checkConnection(call),
  },
  {
    name: 'routes',
    summary: 'Prints the routes of an account, or sets them from standard input',
    args: [
      ACCOUNT,
      {
        name: 'set',
        isOptional: true,
        choices: ['set'],
        about: 'replaces the routes by the JSON list on standard input',
      },
    ],
    json: 'document',
    variables: INSTALLATION,
    examples: [`routes ${MID}`, `routes ${MID} set < routes.json`],
    run: async (call) => (await import('./installation.ts')).routes(call),
  },
  {
    name: 'prices list',
    summary: 'Lists the price plans',
    json: 'document',
    variables: INSTALLATION,
    examples: ['prices list'],
    run: async (call) => (await import('./installation.ts')).listPrices(call),
  },
  {
    name: 'prices show',
    summary: 'Prints a price plan with its versions as JSON',
    args: [PLAN],
    json: 'document',
    variables: INSTALLATION,
    examples: [`prices show ${ID}`],
    run: async (call) => (await import('./installation.ts')).showPrices(call),
  },
  {
    name: 'prices create',
    summary: 'Creates a price plan without versions, and prints its id',
    args: [
      { name: 'name', about: 'the name, for operators and merchants' },
      { name: 'side', choices: PLAN_SIDES, about: 'what merchants pay, or what connections cost' },
    ],
    json: 'document',
    variables: INSTALLATION,
    examples: ['prices create "Standard 2027" sell'],
    run: async (call) => (await import('./installation.ts')).createPrices(call),
  },
  {
    name: 'prices add-version',
    summary: 'Adds the version that standard input describes as JSON to a price plan',
    details:
      'The object has valid_from, refund_policy, tax_percent and lines: docs/operator/prices.md describes them. A version is never changed or deleted.',
    args: [PLAN],
    json: 'document',
    variables: INSTALLATION,
    examples: [`prices add-version ${ID} < prices.json`],
    run: async (call) => (await import('./installation.ts')).addPrices(call),
  },
  {
    name: 'prices assign',
    summary: 'Assigns a price plan to an account or a connection, from now on',
    args: [
      { name: 'plan_id', about: 'the price plan, or none' },
      {
        name: 'kind',
        choices: ['account', 'connection'],
        about: 'a sell plan is for an account, a buy plan for a connection',
      },
      { name: 'id', kind: 'uuid', about: 'the account or the connection' },
    ],
    json: 'document',
    variables: INSTALLATION,
    examples: [`prices assign ${ID} account ${MID}`, `prices assign none account ${MID}`],
    run: async (call) => (await import('./installation.ts')).assignPrices(call),
  },
];
