/** Writes the pages of this folder that are made from the tables in `src`, so that neither can say what the other does not. */
import { writeFile } from 'node:fs/promises';
import { fileURLToPath } from 'node:url';
import { VARIABLES } from '../src/config.ts';
import { BRANDS } from '../src/rules/brands.ts';
import { ERRORS, type ErrorName } from '../src/rules/errors.ts';
import type { Field } from '../src/rules/fields.ts';
import { LIMITS } from '../src/rules/limits.ts';
import { type Operation, S2S_OPERATIONS } from '../src/rules/operations.ts';
import { SETTING_NAMES, SETTINGS } from '../src/rules/settings.ts';
import { isRetriable, type PaymentEvent, STATE_NAMES, STATES, type StateName } from '../src/rules/states.ts';

const code = (text: string | number): string => `\`${text}\``;
const json = (value: unknown): string => code(JSON.stringify(value));
const cell = (text: string): string => text.replaceAll('|', '\\|').replaceAll('\n', ' ');

/** A table with its columns padded to one width, as the formatter of this repository wants it. */
function table(head: readonly string[], rows: readonly (readonly string[])[]): string {
  const cells = [head, ...rows].map((row) => row.map(cell));
  const widths = head.map((_, column) => Math.max(3, ...cells.map((row) => row[column]?.length ?? 0)));
  const line = (row: readonly string[]) =>
    `| ${row.map((text, column) => text.padEnd(widths[column] ?? 0)).join(' | ')} |`;
  const [first = [], ...rest] = cells;
  return [line(first), line(widths.map((width) => '-'.repeat(width))), ...rest.map(line)].join('\n');
}

function page(title: string, source: string, ...blocks: string[]): string {
  const note = `<!-- Written by \`npm run docs\` from ${source}. Change the table there, not this file. -->`;
  return `${[note, `# ${title}`, ...blocks.map((block) => block.trim())].join('\n\n')}\n`;
}

/** When each error is given, for people. */
const WHEN: Record<ErrorName, string> = {
  unknownRoute: 'The path does not exist, or `action` is not one of the actions in [requests](requests.md).',
  bodyTooLarge: `The body is larger than ${LIMITS.bodyBytes / 1024} KiB.`,
  unauthorised: 'An admin call came without the admin token, or with a wrong one.',
  wrongEnvironment: 'A live key was sent to a sandbox, or a test key to production.',
  addressNotAllowed: 'The account has an `ip_allowlist` and the request came from another address.',
  notUuid: 'A field that has to be a UUID is not one.',
  invalidData: 'The body cannot be read, the key is unknown, or fields are missing or malformed; `errors` names each.',
  wrongHash: 'The hash is not the one that the gateway computes from the request and the password.',
  duplicatePayment: 'The order was paid already, or another request for it came just before.',
  unknownTransaction: 'A status query or a capture names a `trans_id` that this account does not have.',
  unknownOrder: 'A status query names an `order_id` that this account does not have.',
  unknownCheckoutPayment: 'A query by payment id names a payment that does not exist.',
  unknownPayment: 'A void or credit void names a `trans_id` that this account does not have.',
  unknownSchedule: 'The request names a `schedule_id` that this account does not have.',
  unknownRecurringPair: 'The first payment and the token of a recurring sale do not belong together.',
  unknownCardToken: 'The card token does not exist or belongs to another account.',
  noSuchAccount: 'Admin API: no account has this `mid`.',
  noSuchPayment: 'Admin API: no payment has this id.',
  refundNotAllowed: 'The account is not set up for refunds, or the payment cannot be refunded.',
  refundOnlyInPortal: 'The acquirer takes refunds only in its own portal.',
  actionNotSupported: 'The action is known, but not available for this payment.',
  captureNotPending: 'A capture of a payment that is not `PENDING`.',
  captureTooMuch: 'A capture of more than was authorised.',
  refundNotSettled: 'A refund of a payment that is not `SETTLED`.',
  refundTooMuch: 'A refund of more than is left of the payment.',
  unavailable:
    'The database cannot take the request at the moment. Ask for the status of the order; if it is unknown, send the request again.',
  internal: 'A fault of the gateway. Ask for the status of the order; if it is unknown, send the request again.',
};

function errors(): string {
  const rows = Object.entries(ERRORS) as [ErrorName, (typeof ERRORS)[ErrorName]][];
  return page(
    'Errors',
    'src/rules/errors.ts',
    `
Every refusal of the gateway, in the order in which the checks run: the first that applies answers. All of them come
as one JSON object with \`result\` (always \`ERROR\`), \`error_code\`, \`error_message\` and \`errors\`, a list that names
the fields at fault and is empty when there are none. A declined payment is not an error: it is answered with HTTP 200.

The same \`error_code\` stands for several errors, so look at the message too. The last column is the name of the row in
the source.`,
    table(
      ['error_code', 'error_message', 'HTTP', 'When', 'Name'],
      rows.map(([name, error]) => [code(error.code), code(error.message), String(error.http), WHEN[name], code(name)]),
    ),
  );
}

const STATE_MEANS: Record<StateName, string> = {
  PREPARE: 'Written down; the provider has not answered yet.',
  REDIRECT: 'The payer has to go to another page.',
  '3DS': 'The payer has to pass the check of the card’s bank.',
  PENDING: 'Authorised and waiting for a capture, or waiting for the provider’s outcome.',
  SETTLED: 'Paid.',
  DECLINED: 'Refused by the provider, or never finished by the payer.',
  VOID: 'Cancelled before any money moved.',
  REVERSAL: 'The authorisation was given back.',
  REFUND: 'Paid back in full.',
  CHARGEBACK: 'Taken back by the payer’s bank.',
  EXPIRED: 'Authorised, but not captured in time.',
};

const EVENT_MEANS: Record<PaymentEvent, string> = {
  redirected: 'the provider needs the payer on another page',
  challenged: 'the card’s bank wants to see the payer',
  accepted: 'the provider took the payment and will tell the outcome later',
  unanswered: 'the provider was called and did not answer; it is asked again until it does',
  authorised: 'the provider reserved the amount',
  settled: 'the provider moved the money',
  declined: 'the provider refused',
  abandoned: 'the payer did not finish in time',
  captured: 'an authorised amount was taken',
  voided: 'the merchant cancelled',
  reversed: 'the merchant gave the authorisation back',
  expired: 'nobody captured the authorisation within the account’s `authorisation_days`',
  partlyRefunded: 'a part was paid back',
  refunded: 'everything was paid back',
  chargedBack: 'the payer’s bank took the money back',
};

function states(): string {
  const movesFrom = (state: StateName) => Object.entries(STATES[state].on) as [PaymentEvent, StateName][];
  const finals = STATE_NAMES.filter((state) => movesFrom(state).length === 0);
  // An identifier of a diagram may not begin with a digit.
  const id = (state: StateName): string => (/^\d/.test(state) ? `State${state}` : state);
  const arrows = STATE_NAMES.flatMap((from) => {
    const byTarget = Map.groupBy(movesFrom(from), ([, to]) => to);
    return [...byTarget].map(
      ([to, moves]) => `  ${id(from)} --> ${id(to)}: ${moves.map(([event]) => event).join(', ')}`,
    );
  });
  const events = Object.entries(EVENT_MEANS);
  return page(
    'States of a payment',
    'src/rules/states.ts',
    `
A payment is in one of these states, and only the events below move it. States only move forward. News that the table
does not allow, such as a decline of a payment that is settled, are noted in the history of the payment and change
nothing.

Some events belong to operations that are not there yet; see the [README](../README.md) for what works today.`,
    table(
      ['State', 'Means', '`result` of a sale', 'Order may be tried again', 'Events and where they lead'],
      STATE_NAMES.map((state) => [
        code(state),
        STATE_MEANS[state],
        code(STATES[state].result),
        isRetriable(state) ? 'yes' : 'no',
        movesFrom(state)
          .map(([event, to]) => `${event} → ${code(to)}`)
          .join(', ') || 'final',
      ]),
    ),
    `
A sale whose provider did not answer has \`result\` ${code('UNDEFINED')} and \`status\` ${code('PENDING')} until the
outcome is known. It is never declined by guess.`,
    '## Events',
    table(
      ['Event', 'Means'],
      events.map(([event, means]) => [code(event), means]),
    ),
    '## Diagram',
    [
      '```mermaid',
      'stateDiagram-v2',
      ...STATE_NAMES.filter((state) => id(state) !== state).map((state) => `  state "${state}" as ${id(state)}`),
      '  [*] --> PREPARE: opened',
      ...arrows,
      ...finals.map((state) => `  ${id(state)} --> [*]`),
      '```',
    ].join('\n'),
  );
}

function settings(): string {
  return page(
    'Account settings',
    'src/rules/settings.ts',
    `
The settings of a merchant account. Set them through the admin API when the account is made
(${code('POST /admin/api/accounts')}) or later (${code('PATCH /admin/api/accounts/{mid}')}), as JSON. A name with a dot
can be written with the dot or as an object: ${code('{"branding.name": "Tea"}')} and
${code('{"branding": {"name": "Tea"}}')} mean the same. An unknown name or a bad value is refused and named, and then
nothing is changed.

Some settings belong to features that are not there yet, such as callbacks and the payment page. They are kept and
take effect when the feature comes.`,
    table(
      ['Setting', 'Default', 'Expects', 'Means'],
      SETTING_NAMES.map((name) => {
        const row = SETTINGS[name];
        return [code(name), json(row.default), row.expects, row.about];
      }),
    ),
  );
}

/** What a variable accepts, which its reader says when it is given something that nothing accepts. */
function expectation(read: (text: string) => unknown): string {
  const answer = read('?');
  return typeof answer === 'object' && answer !== null && 'what' in answer ? String(answer.what) : 'text';
}

function configuration(): string {
  return page(
    'Configuration',
    'src/config.ts',
    `
The gateway is configured by environment variables alone. A variable that is not set, or is empty, has its default.
Everything that is wrong is said at once, and the gateway does not start.

Production (${code('TURNPIKE_ENV=production')}) needs a ${code('TURNPIKE_MASTER_KEY')} and an https
${code('PUBLIC_URL')}, and refuses to start without them.`,
    table(
      ['Variable', 'Default', 'Expects', 'Means'],
      Object.values(VARIABLES).map(({ name, default: fallback, read, about }) => [
        code(name),
        fallback === '' ? '(not set)' : code(fallback),
        expectation(read),
        about,
      ]),
    ),
  );
}

const NEEDS: Record<Field['need'], string> = { must: 'required', may: 'optional', ask: 'asked from the payer' };

const fieldTable = (fields: readonly Field[]): string =>
  table(
    ['Field', 'Need', 'Expects'],
    fields.map(({ name, need, expects }) => [code(name), NEEDS[need], expects]),
  );

function requests(): string {
  const actions = (Object.entries(S2S_OPERATIONS) as [string, Operation][]).flatMap(([action, { fields, signs }]) => [
    `## ${action}`,
    `Hash over: ${[...signs, 'password'].map((name) => (name === 'password' ? 'the password' : code(name))).join(', ')}`,
    fieldTable(fields),
  ]);
  const brands = Object.entries(BRANDS).flatMap(([label, { about, fields }]) => [
    `### ${label}`,
    about,
    ...(fields.length > 0 ? [fieldTable(fields)] : []),
  ]);
  return page(
    'Requests',
    'src/rules/operations.ts and src/rules/brands.ts',
    `
Every request goes to ${code('POST /post')} as a form (${code('application/x-www-form-urlencoded')} or
${code('multipart/form-data')}), and its field ${code('action')} says what to do. The name of an action is written in
capitals, exactly as here. Every request also carries ${code('client_key')}. How the hash is made, and what the answers
look like, is in the [merchant guide](merchant-guide.md).

A body has at most ${LIMITS.bodyBytes / 1024} KiB, ${LIMITS.formFields} fields and ${LIMITS.formDepth} levels of
brackets in a name. A field is sent once. A required field that is empty counts as missing. Fields that are not listed
are ignored, but ${code('custom_data[…]')} of a sale is kept with the payment.

All actions below are checked as described. The ones that work today are in the [README](../README.md); the others
pass the same checks and then answer ${code(ERRORS.actionNotSupported.code)}.`,
    ...actions,
    '## Brands',
    `
The field ${code('brand')} of a sale names the way to pay. Each brand adds its own fields to those of
${code('SALE')}; where a field stands in both tables, both have to hold.`,
    ...brands,
  );
}

/** The generated pages: the name of each file and what it has to hold. */
export const documents = (): Record<string, string> => ({
  'configuration.md': configuration(),
  'errors.md': errors(),
  'requests.md': requests(),
  'settings.md': settings(),
  'states.md': states(),
});

if (process.argv[1] === fileURLToPath(import.meta.url)) {
  for (const [name, text] of Object.entries(documents())) await writeFile(new URL(name, import.meta.url), text);
}
