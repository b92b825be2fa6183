/** Generates the typed requests, responses and tables of the clients from the tables of the gateway. */
import { readFile, writeFile } from 'node:fs/promises';
import { fileURLToPath } from 'node:url';
import { BRANDS } from '../src/rules/brands.ts';
import { CALLBACK_ACTIONS, CALLBACK_EVENTS, CALLBACK_HASH_FIELDS } from '../src/rules/callbacks.ts';
import { ERRORS, type ErrorName } from '../src/rules/errors.ts';
import type { Field } from '../src/rules/fields.ts';
import { REVERSED_REQUESTS, REVERSED_TEXTS } from '../src/rules/hash-recipes.ts';
import { LIMITS } from '../src/rules/limits.ts';
import { type ApiOperation, CHECKOUT_OPERATIONS, S2S_OPERATIONS } from '../src/rules/operations.ts';
import { checkoutStatus, STATE_NAMES } from '../src/rules/states.ts';
import { CHECKOUT_SCHEMAS } from '../src/wire/openapi/checkout.ts';
import { expectsOf, isRequired, needOf } from '../src/wire/openapi/descriptions.ts';
import { LINK_SCHEMAS } from '../src/wire/openapi/links.ts';
import { POST_SCHEMAS } from '../src/wire/openapi/post.ts';

type Schema = Readonly<Record<string, unknown>>;

/** The error class of each error; null for errors that a merchant's request cannot have. */
const ERROR_CLASSES: Readonly<Record<Exclude<ErrorName, `noSuch${string}`>, string | null>> = {
  unknownRoute: 'InvalidRequest',
  bodyTooLarge: 'InvalidRequest',
  unauthorised: null,
  forbidden: null,
  wrongSignature: null,
  wrongEnvironment: 'Authentication',
  tooManyRequests: 'Unavailable',
  addressNotAllowed: 'Authentication',
  notUuid: 'InvalidRequest',
  invalidData: 'InvalidRequest',
  wrongHash: 'Authentication',
  duplicatePayment: 'Duplicate',
  unknownTransaction: 'NotFound',
  unknownOrder: 'NotFound',
  unknownCheckoutPayment: 'NotFound',
  unknownPayment: 'NotFound',
  unknownSchedule: 'NotFound',
  unknownRecurringPair: 'NotFound',
  unknownCardToken: 'NotFound',
  foreignCardToken: 'NotFound',
  expiredCardToken: 'State',
  lastOwner: null,
  connectionInUse: null,
  riskListInUse: null,
  reviewEnded: null,
  installationReview: null,
  notPayable: null,
  invoiceNotOpen: null,
  notMailed: null,
  nothingHeld: null,
  ownAdjustment: null,
  adjustmentDecided: null,
  ownRefundRequest: null,
  refundRequestDecided: null,
  refundNeedsApproval: null,
  settlementDecided: null,
  settlementNotNewest: null,
  settlementVoid: null,
  feeInvoiceNotPossible: null,
  feeInvoiceCorrected: null,
  ownBankAccount: null,
  ownPayout: null,
  payoutDecided: null,
  payoutNotApproved: null,
  payoutNotPossible: null,
  transferRecorded: null,
  duplicateOperation: 'Duplicate',
  refundNotAllowed: 'State',
  refundOnlyInPortal: 'State',
  actionNotSupported: 'State',
  captureNotPending: 'State',
  captureTooMuch: 'State',
  refundNotSettled: 'State',
  refundTooMuch: 'State',
  providerBusy: 'Unavailable',
  unavailable: 'Unavailable',
  internal: 'Unavailable',
};

/** Errors after which the gateway has certainly stored nothing, although they are not about the request itself. */
const NOT_PROCESSED: readonly ErrorName[] = ['tooManyRequests', 'providerBusy'];

/** Fields that the client fills in, and the former shape of a credit, which is refused. */
const NOT_TYPED = ['brand', 'operation', 'hash', 'order'];

const key = (name: string): string => (/^[A-Za-z_]\w*$/.test(name) ? name : `'${name}'`);
const literal = (value: unknown): string => `'${String(value).replaceAll("'", "\\'")}'`;
const union = (values: readonly unknown[]): string => values.map(literal).join(' | ');

/** The type of a value on the wire; the client writes booleans as `Y` and `N` in forms. */
function scalarType({ schema }: Field): string {
  const choices = schema.enum as readonly string[] | undefined;
  if (schema.anyOf !== undefined && JSON.stringify(schema.anyOf).includes('boolean')) return `boolean | 'Y' | 'N'`;
  if (choices?.join() === 'Y,N') return `boolean | 'Y' | 'N'`;
  if (choices) return union(choices);
  return schema.type === 'integer' || schema.type === 'number' ? 'number | string' : 'string';
}

const typeOf = (field: Field): string =>
  field.items
    ? `readonly { ${field.items.map((item) => `${item.name}${item.need === 'may' ? '?' : ''}: ${scalarType(item)}`).join('; ')} }[]`
    : scalarType(field);

function commentOf(field: Field): string {
  const need = needOf(field);
  const expects = expectsOf(field);
  const parts = [
    ...(expects === 'text' || field.schema.enum ? [] : [`Expects ${expects}.`]),
    ...(need === 'required' || need === 'optional' ? [] : [`${need.charAt(0).toUpperCase()}${need.slice(1)}.`]),
  ];
  return parts.join(' ');
}

type Row = readonly [path: readonly string[], field: Field];

/** The path of a field: `order.number` and `parameters[pin]` are members of objects. */
const pathOf = ({ name }: Field): string[] => name.replaceAll(']', '').split(/[.[]/);

/** An object type; a name with several parts is a nested object, which is required if one of its members is. */
function objectType(rows: readonly Row[], indent: string): string {
  if (rows.length === 0) return 'object';
  const inner = `${indent}  `;
  const members = [...Map.groupBy(rows, ([[first]]) => first as string)].map(([name, group]) => {
    const isMember = group.some(([, field]) => isRequired(field));
    const [mark, end] = isMember ? ['', ';'] : ['?', ' | undefined;'];
    const [[path, field]] = group as [Row];
    if (path.length > 1) {
      const nested = objectType(
        group.map(([[, ...rest], row]) => [rest, row]),
        inner,
      );
      return `${inner}${key(name)}${mark}: ${nested}${end}`;
    }
    const comment = commentOf(field);
    return `${comment === '' ? '' : `${inner}/** ${comment} */\n`}${inner}${key(name)}${mark}: ${typeOf(field)}${end}`;
  });
  return `{\n${members.join('\n')}\n${indent}}`;
}

const rowsOf = (fields: readonly Field[]): Row[] =>
  fields
    .filter(({ name, isSetting }) => !isSetting && !NOT_TYPED.includes(name))
    .map((field) => [pathOf(field), field]);

const requests = (operations: Readonly<Record<string, ApiOperation>>): string =>
  Object.entries(operations)
    .map(([name, { fields }]) => `  ${key(name)}: ${objectType(rowsOf(fields), '  ')};`)
    .join('\n');

/** Which requests may be sent again when the first outcome is unknown; see docs/merchant/idempotency.md. */
function repeatOf({ fields, isRead, opensPayment }: ApiOperation): string {
  if (isRead) return 'read';
  if (fields.some(({ name }) => name === 'operation_id')) return 'operation';
  return opensPayment ? 'order' : 'once';
}

const operations = (
  table: Readonly<Record<string, ApiOperation>>,
): [name: string, signs: readonly string[], repeat: string][] =>
  Object.entries(table).map(([name, operation]) => [name, operation.signs, repeatOf(operation)]);

const operationTable = (table: Readonly<Record<string, ApiOperation>>): string =>
  operations(table)
    .map(
      ([name, signs, repeat]) => `  ${key(name)}: { signs: [${signs.map(literal).join(', ')}], repeat: '${repeat}' },`,
    )
    .join('\n');

/** The type of a response schema of the OpenAPI document. */
function schemaType(schema: Schema, indent = ''): string {
  if ('const' in schema) return literal(schema.const);
  if (schema.enum) return union(schema.enum as unknown[]);
  if (schema.type === 'object' && schema.properties) {
    const required = schema.required as readonly string[];
    const inner = `${indent}  `;
    const members = Object.entries(schema.properties as Record<string, Schema>).map(([name, member]) => {
      const comment = member.description === undefined ? '' : `${inner}/** ${member.description} */\n`;
      return `${comment}${inner}${key(name)}${required.includes(name) ? '' : '?'}: ${schemaType(member, inner)};`;
    });
    return `{\n${members.join('\n')}\n${indent}}`;
  }
  if (schema.type === 'array') return `${schemaType(schema.items as Schema, indent)}[]`;
  return schema.type === 'object' ? 'Record<string, string>' : 'string';
}

const RESPONSES: Readonly<Record<string, Schema>> = Object.fromEntries(
  Object.entries({ ...POST_SCHEMAS, ...CHECKOUT_SCHEMAS, ...LINK_SCHEMAS }).filter(([name]) =>
    /^Checkout[A-Z]|^Link$|Answer$/.test(name),
  ),
);

const CALLBACK_STATUSES = [...new Set(Object.values(CALLBACK_EVENTS).map(({ status }) => status))];

const MERCHANT_ERRORS = (Object.keys(ERROR_CLASSES) as (keyof typeof ERROR_CLASSES)[]).filter(
  (name) => ERROR_CLASSES[name] !== null,
);

function typescript(): string {
  const brands = Object.entries(BRANDS).map(
    ([label, { about, fields }]) => `  /** ${about} */\n  ${key(label)}: ${objectType(rowsOf(fields), '  ')};`,
  );
  const errors = MERCHANT_ERRORS.map((name) => {
    const { code, message } = ERRORS[name];
    const processed = NOT_PROCESSED.includes(name) ? ', isNotProcessed: true' : '';
    return `  { name: '${name}', code: ${code}, message: ${literal(message)}, kind: '${ERROR_CLASSES[name]}'${processed} },`;
  });
  const hashFields = Object.entries(CALLBACK_HASH_FIELDS).map(
    ([protocol, names]) => `  ${protocol}: [${names.map(literal).join(', ')}],`,
  );
  return `/** Generated by \`npm run client\` from the tables in \`src/rules\` and \`src/wire/openapi\` of the gateway. */

/** The requests to \`/post\`, by action, without the fields that the client fills in. */
export interface S2sRequests {
${requests(S2S_OPERATIONS)}
}

/** The requests of Checkout, by path, without the fields that the client fills in. */
export interface CheckoutRequests {
${requests(CHECKOUT_OPERATIONS)}
}

/** The fields that each brand adds to those of a sale, or requires. */
export interface BrandFields {
${brands.join('\n')}
}

${Object.entries(RESPONSES)
  .map(([name, schema]) => `export interface ${name} ${schemaType(schema)}`)
  .join('\n\n')}

/** The states of a payment, as \`/post\` names them. */
export type State = ${union(STATE_NAMES)};

export type CallbackType = ${union(Object.keys(CALLBACK_ACTIONS))};
export type CallbackAction = ${union([...new Set(Object.values(CALLBACK_ACTIONS))])};
export type CallbackStatus = ${union(CALLBACK_STATUSES)};

export interface Operation {
  /** The fields that the hash covers, in order; the password follows. */
  readonly signs: readonly string[];
  /** Whether the request may be repeated after an unknown outcome: always, with its id, within the duplicate window, or not. */
  readonly repeat: 'read' | 'operation' | 'order' | 'once';
}

export const S2S_OPERATIONS = {
${operationTable(S2S_OPERATIONS)}
} as const satisfies Record<string, Operation>;

export const CHECKOUT_OPERATIONS = {
${operationTable(CHECKOUT_OPERATIONS)}
} as const satisfies Record<string, Operation>;

/** The texts of the recipe \`reversed_md5\`: values that are joined, and whether the result is reversed. */
export const REVERSED_TEXTS: Readonly<Record<string, readonly { of: readonly string[]; isReversed: boolean }[]>> = ${JSON.stringify(REVERSED_TEXTS)};

/** The text of each request, for card payments and for others. */
export const REVERSED_REQUESTS: Readonly<Record<string, { card?: string; apm?: string }>> = ${JSON.stringify(REVERSED_REQUESTS)};

/** The errors of the gateway; the code and the message together identify one. */
export const ERRORS = [
${errors.join('\n')}
] as const;

/** The states as Checkout names them. */
export const CHECKOUT_STATES: Readonly<Record<string, State>> = {
${STATE_NAMES.map((state) => `  ${key(checkoutStatus(state))}: '${state}',`).join('\n')}
};

/** The fields that the hash of a callback covers, before the password. */
export const CALLBACK_HASH_FIELDS = {
${hashFields.join('\n')}
} as const;

/** A repeated order returns the first outcome for this long. */
export const DUPLICATE_WINDOW_MS = ${LIMITS.duplicateWindowMs};

/** The maximum difference between the signed time of a callback and the clock. */
export const SIGNATURE_TOLERANCE_MS = ${LIMITS.signatureToleranceMs};
`;
}

const PHP_MARK = /(?<=\/\/ Generated by `npm run client`: begin\n).*?(?= {4}\/\/ Generated: end)/s;

/** The tables of the PHP client. */
function phpTables(): string {
  const list = (names: readonly string[]): string => `[${names.map(literal).join(', ')}]`;
  const table = (name: string, all: Readonly<Record<string, ApiOperation>>): string =>
    [
      `    private const ${name} = [`,
      ...operations(all).map(([path, signs, repeat]) => `        '${path}' => [${list(signs)}, '${repeat}'],`),
      '    ];',
    ].join('\n');
  return `${[
    table('S2S', S2S_OPERATIONS),
    table('CHECKOUT', CHECKOUT_OPERATIONS),
    '    private const ERRORS = [',
    ...MERCHANT_ERRORS.map((name) => `        '${ERRORS[name].code} ${ERRORS[name].message}' => '${name}',`),
    '    ];',
    '    private const REVERSED_TEXTS = [',
    ...Object.entries(REVERSED_TEXTS).map(
      ([name, parts]) =>
        `        '${name}' => [${parts.map(({ of, isReversed }) => `[${list(of)}, ${isReversed}]`).join(', ')}],`,
    ),
    '    ];',
    '    private const REVERSED_REQUESTS = [',
    ...Object.entries(REVERSED_REQUESTS).map(
      ([action, texts]) =>
        `        '${action}' => [${Object.entries(texts)
          .map(([kind, text]) => `'${kind}' => '${text}'`)
          .join(', ')}],`,
    ),
    '    ];',
    '    private const CALLBACK_HASH_FIELDS = [',
    ...Object.entries(CALLBACK_HASH_FIELDS).map(([protocol, names]) => `        '${protocol}' => ${list(names)},`),
    '    ];',
    `    private const DUPLICATE_WINDOW_SECONDS = ${LIMITS.duplicateWindowMs / 1000};`,
    `    private const TOLERANCE_SECONDS = ${LIMITS.signatureToleranceMs / 1000};`,
  ].join('\n')}\n`;
}

const PHP = 'php/Turnpike.php';

/** The generated files: name and expected contents. */
export async function clientFiles(): Promise<Record<string, string>> {
  const php = await readFile(new URL(PHP, import.meta.url), 'utf8');
  if (!PHP_MARK.test(php)) throw new Error(`client/${PHP} has no place for the generated tables.`);
  return { 'src/generated.ts': typescript(), [PHP]: php.replace(PHP_MARK, () => phpTables()) };
}

if (process.argv[1] === fileURLToPath(import.meta.url)) {
  for (const [name, text] of Object.entries(await clientFiles())) await writeFile(new URL(name, import.meta.url), text);
}
