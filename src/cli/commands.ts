/** The table of commands: the command line, its help and docs/command-line.md are made from it. */

import { INVITABLE_ROLES } from '../rules/roles.ts';
import { FAULT_MODES, PROVIDER_STATUSES } from '../rules/sandbox-scenarios.ts';
import { STATE_NAMES } from '../rules/states.ts';
import { URL_OPTION } from './admin-client.ts';
import type { Argument, Command, Option } from './command.ts';

/** What the commands over the admin API read. */
const REMOTE = ['TURNPIKE_ADMIN_TOKEN', 'DATA_DIR'];
/** What the commands that open the installation read first; all other variables of the gateway count, too. */
const INSTALLATION = ['DATABASE_URL', 'DATA_DIR', 'TURNPIKE_ENV', 'TURNPIKE_MASTER_KEY'];

const ID = '01a1dd06-691f-7000-87fc-b0749d0543ed';
const MID = '01a1dd06-6379-7000-8438-07d43208b9cc';

const text = (name: string, value: string, about: string, traits: Partial<Option> = {}): Option => ({
  name,
  value,
  about,
  ...traits,
});
const flag = (name: string, about: string): Option => ({ name, about });

const PAYMENT: Argument = { name: 'payment_id', kind: 'uuid', about: 'the payment; the trans_id of its request' };
const ACCOUNT: Argument = { name: 'mid', kind: 'uuid', about: 'the account' };
const MID_OPTION = text('mid', '<mid>', 'the account; required if there are several', { kind: 'uuid' });
const FILE: Argument = { name: 'file', isOptional: true, about: 'the body of the request; without it, standard input' };
const PATH = text(
  'path',
  '<path>',
  'the path of the request, such as /api/v1/session; without it, inferred from the fields',
);
const ASSIGNMENTS: Argument = {
  name: 'setting=value',
  isList: true,
  isOptional: true,
  about: 'account settings (docs/settings.md); lists with commas, objects as JSON',
};
const INPUT = flag('input', 'reads settings from standard input, as a JSON object; secrets can be set this way only');
const OPERATION = [
  text('operation-id', '<id>', 'an id of yours: a request with the same id is carried out once', { kind: 'uuid' }),
  URL_OPTION,
];
const AMOUNT = text('amount', '<amount>', 'a part of the amount, such as 5.00; without it, the whole amount');

export const COMMANDS: readonly Command[] = [
  {
    name: 'serve',
    summary: 'Runs the gateway until Ctrl-C or SIGTERM',
    details: 'It is configured with environment variables; docs/configuration.md lists them.',
    variables: ['PORT', 'HOST', 'PUBLIC_URL', ...INSTALLATION],
    examples: ['', 'serve'],
    async run({ environment }) {
      const { readConfig } = await import('../server/config.ts');
      // A wrong setting is refused before the whole server is loaded.
      const config = readConfig(environment);
      await (await import('../server/serve.ts')).serve(config);
    },
  },
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
    details: 'A gateway may run at the same time.',
    json: 'document',
    variables: INSTALLATION,
    examples: ['verify', 'verify --json'],
    run: async (call) => (await import('./installation.ts')).verify(call),
  },
  {
    name: 'backup',
    summary: 'Writes a consistent backup of the database to a file, or restores one into an empty database',
    details:
      'A gateway may run while the backup is written. Passwords, secrets and card numbers stay encrypted in it. ' +
      'The master key is not in the backup: keep it separately, and set it before the restored gateway starts.',
    args: [{ name: 'file', about: 'the backup; an existing file is not overwritten' }],
    options: [flag('restore', 'restores the file into an empty database of the same version, and verifies it')],
    json: 'document',
    variables: INSTALLATION,
    examples: ['backup turnpike.backup', 'backup --restore turnpike.backup'],
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
        choices: INVITABLE_ROLES,
        about: 'the role of a new operator; without it, the first operator is an owner',
      },
    ],
    json: 'document',
    variables: [...INSTALLATION, 'PUBLIC_URL'],
    examples: ['operator invite ada@example.com owner'],
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
    name: 'account create',
    summary: 'Creates a merchant account and prints its keys and secrets, the secrets only this once',
    args: [{ name: 'name', about: 'the name of the merchant, in quotes' }, ASSIGNMENTS],
    options: [INPUT, URL_OPTION],
    json: 'document',
    variables: REMOTE,
    examples: ['account create "My Shop"', 'account create "My Shop" callback_url=https://shop.example/callbacks'],
    run: async (call) => (await import('./account.ts')).createAccount(call),
  },
  {
    name: 'account list',
    summary: 'Lists the merchant accounts',
    options: [URL_OPTION],
    json: 'document',
    variables: REMOTE,
    examples: ['account list'],
    run: async (call) => (await import('./account.ts')).listAccounts(call),
  },
  {
    name: 'account show',
    summary: 'Shows an account with its keys and settings, without its secrets',
    args: [ACCOUNT],
    options: [URL_OPTION],
    json: 'document',
    variables: REMOTE,
    examples: [`account show ${MID}`],
    run: async (call) => (await import('./account.ts')).showAccount(call),
  },
  {
    name: 'account set',
    summary: 'Changes settings of an account, its name, or whether it is suspended',
    args: [ACCOUNT, ASSIGNMENTS],
    options: [INPUT, URL_OPTION],
    json: 'document',
    variables: REMOTE,
    examples: [`account set ${MID} callback_format=json brands=card,bank-a`, `account set ${MID} suspended=true`],
    run: async (call) => (await import('./account.ts')).setAccount(call),
  },
  {
    name: 'account rotate-password',
    summary: 'Generates a new password and prints it; the answer says until when the old one works',
    args: [ACCOUNT],
    options: [URL_OPTION],
    json: 'document',
    variables: REMOTE,
    examples: [`account rotate-password ${MID}`],
    run: async (call) => (await import('./account.ts')).rotatePassword(call),
  },
  {
    name: 'payment list',
    summary: 'Lists payments, the newest first',
    options: [
      text('mid', '<mid>', 'only payments of this account', { kind: 'uuid' }),
      text('order-id', '<order_id>', 'only payments of this order'),
      text('status', '<status>', 'only payments in this state', { choices: STATE_NAMES }),
      text('brand', '<brand>', 'only payments with this brand'),
      text('attention', '<kind>', 'only payments on the attention list for this reason'),
      text('schedule-id', '<id>', 'only payments of this schedule', { kind: 'uuid' }),
      text('search', '<words>', 'searches ids, orders, the last four digits of cards, e-mail addresses and amounts'),
      text('from', '<date>', 'only payments created at this time or later, such as 2026-11-30'),
      text('to', '<date>', 'only payments created before this time'),
      text('limit', '<number>', 'how many', { kind: 'number' }),
      text('cursor', '<cursor>', 'the next page: the cursor that the page before ended with'),
      URL_OPTION,
    ],
    json: 'document',
    variables: REMOTE,
    examples: ['payment list --status SETTLED --limit 10', 'payment list --order-id order-1 --json'],
    run: async (call) => (await import('./payment.ts')).listPayments(call),
  },
  {
    name: 'payment show',
    summary: 'Shows a payment with its history and operations; as JSON also provider calls and callbacks',
    args: [PAYMENT],
    options: [URL_OPTION],
    json: 'document',
    variables: REMOTE,
    examples: [`payment show ${ID}`],
    run: async (call) => (await import('./payment.ts')).showPayment(call),
  },
  {
    name: 'payment capture',
    summary: 'Captures an authorised payment',
    args: [PAYMENT],
    options: [AMOUNT, ...OPERATION],
    json: 'document',
    variables: REMOTE,
    examples: [`payment capture ${ID}`],
    run: async (call) => (await import('./payment.ts')).capturePayment(call),
  },
  {
    name: 'payment void',
    summary: 'Voids an authorised payment',
    args: [PAYMENT],
    options: OPERATION,
    json: 'document',
    variables: REMOTE,
    examples: [`payment void ${ID}`],
    run: async (call) => (await import('./payment.ts')).voidPayment(call),
  },
  {
    name: 'payment refund',
    summary: 'Refunds a settled payment, or a part of it',
    details: 'The outcome of a refund that the provider accepted is reported later, in the payment and by callback.',
    args: [PAYMENT],
    options: [AMOUNT, ...OPERATION],
    json: 'document',
    variables: REMOTE,
    examples: [`payment refund ${ID} --amount 5.00`],
    run: async (call) => (await import('./payment.ts')).refundPayment(call),
  },
  {
    name: 'payment erase',
    summary: 'Erases the personal data of a payment, or of all payments of a payer, for good',
    details:
      'Amounts, dates, states and ids stay. The saved card is removed. docs/operator/erasure.md says what is erased. ' +
      'Exits with code 1 if payments keep their data because they are not finished.',
    args: [{ ...PAYMENT, isOptional: true }],
    options: [
      text('email', '<address>', 'all payments of the payer with this address, in place of one payment'),
      text('mid', '<mid>', 'the account of these payments', { kind: 'uuid' }),
      URL_OPTION,
    ],
    json: 'document',
    variables: REMOTE,
    examples: [`payment erase ${ID}`, `payment erase --email ada@example.com --mid ${MID}`],
    run: async (call) => (await import('./erase.ts')).erasePayment(call),
  },
  {
    name: 'listen',
    summary: 'Forwards the callbacks of a sandbox account to your own server, with the same bytes and signatures',
    details: 'It points callback_url of the account to the gateway while it runs, and restores it at the end.',
    options: [
      text('forward', '<address>', 'the address on your server', { kind: 'address', isRequired: true }),
      MID_OPTION,
      text(
        'count',
        '<number>',
        'exits with code 0 after this many callbacks, with code 1 at the first response other than 2xx',
        {
          kind: 'number',
        },
      ),
      flag('once', 'the same as --count 1'),
      text('timeout', '<seconds>', 'exits after this time, with code 1 if --count was not reached', { kind: 'number' }),
      URL_OPTION,
    ],
    json: 'lines',
    variables: REMOTE,
    examples: [
      'listen --forward http://localhost:3000/callback',
      'listen --forward http://localhost:3000/callback --once --timeout 60',
    ],
    run: async (call) => (await import('./listen.ts')).listen(call),
  },
  {
    name: 'trigger sale',
    summary: 'Makes a complete test payment in a sandbox and prints its outcome',
    options: [
      MID_OPTION,
      text('amount', '<amount>', 'the amount', { fallback: '19.99' }),
      text('currency', '<currency>', 'the currency', { fallback: 'USD' }),
      text('order-id', '<order_id>', 'the order; without it, a new one'),
      flag('decline', 'makes a payment that is declined'),
      URL_OPTION,
    ],
    json: 'document',
    variables: REMOTE,
    examples: ['trigger sale', 'trigger sale --decline --json'],
    run: async (call) => (await import('./trigger.ts')).triggerSale(call),
  },
  {
    name: 'trigger chargeback',
    summary: 'Lets the simulated provider report a chargeback of a payment',
    args: [PAYMENT],
    options: [
      text('respond-by', '<time>', 'the time limit for evidence, such as 2026-11-30 12:00:00 (UTC)'),
      URL_OPTION,
    ],
    json: 'document',
    variables: REMOTE,
    examples: [`trigger chargeback ${ID}`],
    run: async (call) => (await import('./trigger.ts')).triggerChargeback(call),
  },
  {
    name: 'trigger bank_callback',
    summary: 'Lets the simulated bank of a payment send its callback now',
    args: [PAYMENT, { name: 'status', choices: ['ACSC', 'RJCT', 'PDNG'], about: 'accepted, rejected or pending' }],
    options: [URL_OPTION],
    json: 'document',
    variables: REMOTE,
    examples: [`trigger bank_callback ${ID} ACSC`],
    run: async (call) => (await import('./trigger.ts')).triggerBankCallback(call),
  },
  {
    name: 'trigger provider_status',
    summary: 'Sets what the simulated provider answers when the gateway asks about a payment',
    args: [PAYMENT, { name: 'status', choices: PROVIDER_STATUSES, about: 'the answer' }],
    options: [URL_OPTION],
    json: 'document',
    variables: REMOTE,
    examples: [`trigger provider_status ${ID} executed`],
    run: async (call) => (await import('./trigger.ts')).triggerProviderStatus(call),
  },
  {
    name: 'trigger fault',
    summary: 'Lets the next calls to the simulated provider fail in a certain way',
    args: [{ name: 'mode', choices: FAULT_MODES, about: 'how they fail; none removes all faults' }],
    options: [
      text('mid', '<mid>', 'only calls for this account', { kind: 'uuid' }),
      text('brand', '<brand>', 'only calls for this brand'),
      text('count', '<number>', 'how many calls', { kind: 'number', fallback: '1' }),
      URL_OPTION,
    ],
    json: 'document',
    variables: REMOTE,
    examples: ['trigger fault timeout_after --brand bank-a', 'trigger fault none'],
    run: async (call) => (await import('./trigger.ts')).triggerFault(call),
  },
  {
    name: 'trigger clock',
    summary: 'Advances the clock of a sandbox; everything due by then happens before the command ends',
    args: [{ name: 'duration', kind: 'seconds', about: 'how far: 90 (seconds), 30m, 12h or 31d' }],
    options: [text('mid', '<mid>', 'only the clock of this account', { kind: 'uuid' }), URL_OPTION],
    json: 'document',
    variables: REMOTE,
    examples: ['trigger clock 31d'],
    run: async (call) => (await import('./trigger.ts')).triggerClock(call),
  },
  {
    name: 'sign',
    summary: 'Computes the hash of a merchant request, and prints the body with it',
    details:
      'The body is a URL-encoded form of /post, or the JSON of a Checkout request. The command works without a gateway. ' +
      'The password is never an argument, because other users of the machine see the arguments.',
    args: [FILE],
    options: [PATH],
    json: 'document',
    variables: ['TURNPIKE_PASSWORD'],
    examples: ['sign session.json', 'sign --path /api/v1/payment/refund refund.json'],
    run: async (call) => (await import('./sign.ts')).sign(call),
  },
  {
    name: 'explain',
    summary: 'Explains the hash of a merchant request; exits with code 1 if it is not valid',
    details: 'docs/operator/hash-debugger.md lists the mistakes that it finds.',
    args: [FILE],
    options: [text('mid', '<mid>', 'the account', { kind: 'uuid', isRequired: true }), PATH, URL_OPTION],
    json: 'document',
    variables: REMOTE,
    examples: [`explain --mid ${MID} request.txt`],
    run: async (call) => (await import('./sign.ts')).explain(call),
  },
];
