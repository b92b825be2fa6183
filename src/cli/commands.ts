/** The table of commands: the command line, its help and docs/command-line.md are made from it. */

import { FAULT_MODES, PROVIDER_STATUSES } from '../rules/sandbox-scenarios.ts';
import { STATE_NAMES } from '../rules/states.ts';
import { GATEWAY_OPTIONS } from './admin-client.ts';
import { type Argument, type Command, flag, text } from './command.ts';
import { ACCOUNT, ID, INSTALLATION, INSTALLATION_COMMANDS, MID } from './installation-commands.ts';
import { MID_OPTION, REMOTE } from './options.ts';
import { PROFILE_COMMANDS } from './profile-commands.ts';
import { REQUEST_COMMANDS } from './request-commands.ts';
import { SALES_COMMANDS } from './sales-commands.ts';

const PAYMENT: Argument = { name: 'payment', about: 'the payment: its order number, or its id (trans_id)' };
const ASSIGNMENTS: Argument = {
  name: 'setting=value',
  isList: true,
  isOptional: true,
  about: 'account settings (docs/settings.md); lists with commas, objects as JSON',
};
const INPUT = flag('input', 'reads settings from standard input, as a JSON object; secrets can be set this way only');
const OPERATION = [
  text('operation-id', '<id>', 'an id of yours: a request with the same id is carried out once', { kind: 'uuid' }),
  ...GATEWAY_OPTIONS,
];
const AMOUNT = text('amount', '<amount>', 'a part of the amount, such as 5.00; without it, the whole amount');

export const COMMANDS: readonly Command[] = [
  {
    name: 'serve',
    summary: 'Runs the gateway until Ctrl-C or SIGTERM',
    details: 'It is configured with environment variables; docs/configuration.md lists them.',
    variables: ['PORT', 'HOST', 'PUBLIC_URL', ...INSTALLATION],
    examples: ['serve'],
    async run({ environment }) {
      const { readConfig } = await import('../server/config.ts');
      // A wrong setting is refused before the whole server is loaded.
      const config = readConfig(environment);
      await (await import('../server/serve.ts')).serve(config);
    },
  },
  ...INSTALLATION_COMMANDS,
  ...PROFILE_COMMANDS,
  {
    name: 'account create',
    summary: 'Creates a merchant account and prints its keys and secrets, the secrets only this once',
    args: [{ name: 'name', about: 'the name of the merchant, in quotes' }, ASSIGNMENTS],
    options: [INPUT, ...GATEWAY_OPTIONS],
    json: 'document',
    variables: REMOTE,
    examples: ['account create "My Shop"', 'account create "My Shop" callback_url=https://shop.example/callbacks'],
    run: async (call) => (await import('./account.ts')).createAccount(call),
  },
  {
    name: 'account list',
    summary: 'Lists the merchant accounts',
    options: [...GATEWAY_OPTIONS],
    json: 'document',
    variables: REMOTE,
    examples: ['account list'],
    run: async (call) => (await import('./account.ts')).listAccounts(call),
  },
  {
    name: 'account show',
    summary: 'Shows an account with its keys and settings, without its secrets',
    args: [{ ...ACCOUNT, isOptional: true, about: 'the account; required if there are several' }],
    options: [...GATEWAY_OPTIONS],
    json: 'document',
    variables: REMOTE,
    examples: ['account show', `account show ${MID}`],
    run: async (call) => (await import('./account.ts')).showAccount(call),
  },
  {
    name: 'account set',
    summary: 'Changes settings of an account, its name, or whether it is suspended',
    args: [ACCOUNT, ASSIGNMENTS],
    options: [INPUT, ...GATEWAY_OPTIONS],
    json: 'document',
    variables: REMOTE,
    examples: [`account set ${MID} callback_format=json brands=card,bank-a`, `account set ${MID} suspended=true`],
    run: async (call) => (await import('./account.ts')).setAccount(call),
  },
  {
    name: 'account rotate-password',
    summary: 'Generates a new password and prints it; the answer says until when the old one works',
    args: [ACCOUNT],
    options: [...GATEWAY_OPTIONS],
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
      ...GATEWAY_OPTIONS,
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
    options: [...GATEWAY_OPTIONS],
    json: 'document',
    variables: REMOTE,
    examples: ['payment show order-1', `payment show ${ID}`],
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
    examples: ['payment refund order-1 --amount 5.00'],
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
      ...GATEWAY_OPTIONS,
    ],
    json: 'document',
    variables: REMOTE,
    examples: [`payment erase ${ID}`, `payment erase --email ada@example.com --mid ${MID}`],
    run: async (call) => (await import('./erase.ts')).erasePayment(call),
  },
  ...SALES_COMMANDS,
  {
    name: 'listen',
    summary: 'Shows the callbacks of a sandbox account, and forwards them to your own server',
    details:
      'Forwarded callbacks have the same bytes and signatures. The command points callback_url of the account to the ' +
      'gateway while it runs, and restores it at the end.',
    options: [
      text('forward', '<address>', 'an address on your server; without it, callbacks are only shown', {
        kind: 'address',
      }),
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
      ...GATEWAY_OPTIONS,
    ],
    json: 'lines',
    variables: REMOTE,
    examples: [
      'listen',
      'listen --forward localhost:3000/callback',
      'listen --forward localhost:3000/callback --once --timeout 60',
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
      ...GATEWAY_OPTIONS,
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
      ...GATEWAY_OPTIONS,
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
    options: [...GATEWAY_OPTIONS],
    json: 'document',
    variables: REMOTE,
    examples: [`trigger bank_callback ${ID} ACSC`],
    run: async (call) => (await import('./trigger.ts')).triggerBankCallback(call),
  },
  {
    name: 'trigger provider_status',
    summary: 'Sets what the simulated provider answers when the gateway asks about a payment',
    args: [PAYMENT, { name: 'status', choices: PROVIDER_STATUSES, about: 'the answer' }],
    options: [...GATEWAY_OPTIONS],
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
      ...GATEWAY_OPTIONS,
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
    options: [text('mid', '<mid>', 'only the clock of this account', { kind: 'uuid' }), ...GATEWAY_OPTIONS],
    json: 'document',
    variables: REMOTE,
    examples: ['trigger clock 31d'],
    run: async (call) => (await import('./trigger.ts')).triggerClock(call),
  },
  ...REQUEST_COMMANDS,
];
