/** `POST /post` of the OpenAPI document: one form schema per action, and one per brand of a sale, generated from the tables. */
import { BRANDS, type Brand } from '../../rules/brands.ts';
import type { Field } from '../../rules/fields.ts';
import { type ApiOperation, S2S_OPERATIONS } from '../../rules/operations.ts';
import { STATE_NAMES, STATES } from '../../rules/states.ts';
import { expectsOf, hashOver, isRequired, needOf, withMembers } from './descriptions.ts';
import {
  answers,
  choice,
  date,
  described,
  digitalWallet,
  type Json,
  listOf,
  object,
  ref,
  refusals,
  text,
  uuid,
} from './schema.ts';

const capital = (sentence: string): string => sentence.charAt(0).toUpperCase() + sentence.slice(1);

/** What the schema and the list of required fields do not express. */
function descriptionOf(field: Field): string {
  const [need, expects] = [needOf(field), expectsOf(field)];
  return [
    ...(need === 'required' || need === 'optional' ? [] : [`${capital(need)}.`]),
    ...(expects === 'text' || field.schema.enum ? [] : [`Expects ${expects}.`]),
  ].join(' ');
}

function property(field: Field): Json {
  const description = descriptionOf(field);
  return {
    ...field.schema,
    ...(field.lengthMost !== undefined && { maxLength: field.lengthMost }),
    ...(field.default !== undefined && { default: field.default }),
    ...((field.isSecret || field.isTransient) && { writeOnly: true }),
    ...(description !== '' && { description }),
  };
}

/** The names of a field, each with its schema; a list is represented by its first object. */
function propertiesOf(field: Field): [string, Json][] {
  const [itself, ...members] = withMembers(field);
  const rows = members.length > 0 ? members : [itself as Field];
  return rows.flatMap((row) => [row.name, ...(row.alias ? [row.alias] : [])].map((name) => [name, property(row)]));
}

/** Patterns for the further objects of a list. */
const furtherObjects = ({ name, items = [] }: Field): [string, Json][] =>
  items.map((item) => [
    `^${`${name}[`.replace(/[[\]]/g, '\\$&')}\\d{1,3}${`][${item.name}]`.replace(/[[\]]/g, '\\$&')}$`,
    property(item),
  ]);

/** The schema of a form; `fixed` are the fields whose value identifies the form. */
function form(fixed: Readonly<Record<string, string>>, fields: readonly Field[]): Json {
  const sent = fields.filter(({ name, isSetting }) => !isSetting && !Object.hasOwn(fixed, name));
  const required = sent.flatMap((field) => (field.items ? withMembers(field).slice(1) : [field])).filter(isRequired);
  const withAlias = required.filter(({ alias }) => alias);
  const patterns = sent.flatMap(furtherObjects);
  return {
    type: 'object',
    properties: Object.fromEntries([
      ...Object.entries(fixed).map(([name, value]) => [name, { const: value }]),
      ...sent.flatMap(propertiesOf),
    ]),
    ...(patterns.length > 0 && { patternProperties: Object.fromEntries(patterns) }),
    required: [...Object.keys(fixed), ...required.filter(({ alias }) => !alias).map(({ name }) => name)],
    ...(withAlias.length > 0 && {
      allOf: withAlias.map(({ name, alias }) => ({ anyOf: [{ required: [name] }, { required: [alias] }] })),
    }),
  };
}

const CLIENT_KEY: Json = {
  ...text,
  description: 'The key of the account: `test_…` in the sandbox, `live_…` in production.',
};

/** The form of an action, without brand fields. */
function actionForm(action: string, { fields, signs }: ApiOperation): Json {
  const own = form({ action }, fields);
  const properties = own.properties as Record<string, Json>;
  const hash = { ...properties.hash, description: `The hash over ${hashOver(signs)}.` };
  return {
    ...own,
    properties: { ...properties, client_key: CLIENT_KEY, hash },
    required: ['client_key', ...(own.required as string[])],
  };
}

/** The form of a sale with one brand: the common fields of a sale and the brand fields. */
function brandForm(label: string, brand: Brand): Json {
  const { allOf = [], ...own } = form({ brand: label }, brand.fields);
  const settings = brand.fields.filter(({ isSetting }) => isSetting).map(({ name }) => `\`${name}\``);
  return {
    description: [
      brand.about,
      ...(settings.length > 0 ? [`Set in the account settings: ${settings.join(', ')}.`] : []),
    ].join(' '),
    allOf: [ref('SALE'), own, ...(allOf as Json[])],
  };
}

const brandName = (label: string): string => `SALE.${label}`;

/** One of several forms, selected by the value of a field. */
const oneOfBy = (field: string, forms: Readonly<Record<string, string>>): Json => ({
  oneOf: Object.values(forms).map(ref),
  discriminator: {
    propertyName: field,
    mapping: Object.fromEntries(Object.entries(forms).map(([value, name]) => [value, ref(name).$ref])),
  },
});

const OPERATIONS = Object.entries(S2S_OPERATIONS) as [string, ApiOperation][];

const SALE = actionForm('SALE', S2S_OPERATIONS.SALE);

/** The data for the payer’s next step, besides an address. */
const redirectParams = described(
  { type: 'object', additionalProperties: text },
  'For a redirect by POST, the form fields; for a QR code, `qr_code` with its base64-encoded content; for a transfer, the account details.',
);

const payment = { order_id: text, trans_id: uuid };
const extras = { decline_reason: text, recurring_token: text, schedule_id: uuid, digital_wallet: digitalWallet };
const status = described(choice(STATE_NAMES), 'The state of the payment.');

export const POST_SCHEMAS: Readonly<Record<string, Json>> = {
  SALE: {
    ...SALE,
    description: 'The common fields of all sales.',
    patternProperties: { '^custom_data\\[': described(text, 'Stored with the payment.') },
  },
  ...Object.fromEntries(Object.entries(BRANDS).map(([label, brand]) => [brandName(label), brandForm(label, brand)])),
  AnySale: {
    description: 'A sale, by brand. The aliases that an account defines for brands are not listed.',
    ...oneOfBy('brand', Object.fromEntries(Object.keys(BRANDS).map((label) => [label, brandName(label)]))),
  },
  ...Object.fromEntries(
    OPERATIONS.filter(([action]) => action !== 'SALE').map(([action, row]) => [action, actionForm(action, row)]),
  ),
  PostRequest: oneOfBy(
    'action',
    Object.fromEntries(OPERATIONS.map(([action]) => [action, action === 'SALE' ? 'AnySale' : action])),
  ),
  SaleAnswer: object(
    {
      action: choice(['SALE', 'RECURRING_SALE']),
      result: choice([...new Set(Object.values(STATES).map(({ result }) => result))]),
      status,
      ...payment,
      trans_date: date,
      descriptor: text,
      amount: text,
      currency: text,
    },
    {
      redirect_url: { type: 'string', format: 'uri' },
      redirect_method: choice(['GET', 'POST']),
      redirect_params: redirectParams,
      ...extras,
      card_token: described(text, 'The token of the card, in a recurring card payment.'),
      warnings: described(
        listOf(object({ param: text, hint: text, link: { type: 'string', format: 'uri' } })),
        'Well-known fields that the gateway does not act upon.',
      ),
    },
  ),
  StatusAnswer: object(
    {
      action: choice(OPERATIONS.flatMap(([action, { isRead }]) => (isRead ? [action] : []))),
      result: { const: 'SUCCESS' },
      status,
      ...payment,
      amount: text,
      currency: text,
    },
    extras,
  ),
  OperationAnswer: object(
    {
      action: choice(['CAPTURE', 'VOID']),
      result: choice(['SUCCESS', 'DECLINED', 'UNDEFINED']),
      status,
      ...payment,
      trans_date: date,
      operation_id: uuid,
    },
    { amount: text, descriptor: text, currency: text, decline_reason: text },
  ),
  AcceptedAnswer: object({
    action: { const: 'CREDITVOID' },
    result: { const: 'ACCEPTED' },
    ...payment,
    operation_id: uuid,
  }),
  ScheduleAnswer: object({
    action: choice(['CREATE_SCHEDULE', 'UPDATE_SCHEDULE', 'DELETE_SCHEDULE']),
    result: { const: 'SUCCESS' },
    schedule_id: uuid,
  }),
};

const ANSWERS = ['SaleAnswer', 'StatusAnswer', 'OperationAnswer', 'AcceptedAnswer', 'ScheduleAnswer'];

export const POST_PATHS: Readonly<Record<string, Json>> = {
  '/post': {
    post: {
      operationId: 'post',
      tags: ['merchants'],
      summary: 'Performs the operation that the field `action` names.',
      description: 'A declined sale and a declined operation also have HTTP status 200.',
      requestBody: {
        required: true,
        content: {
          'application/x-www-form-urlencoded': { schema: ref('PostRequest') },
          'multipart/form-data': { schema: ref('PostRequest') },
        },
      },
      responses: {
        ...answers('The response of the action.', { oneOf: ANSWERS.map(ref) }),
        ...refusals(
          'wrongEnvironment',
          'addressNotAllowed',
          'notUuid',
          'invalidData',
          'wrongHash',
          'duplicatePayment',
          'unknownTransaction',
          'unknownOrder',
          'unknownPayment',
          'unknownSchedule',
          'unknownRecurringPair',
          'duplicateOperation',
          'refundNotAllowed',
          'refundOnlyInPortal',
          'actionNotSupported',
          'captureNotPending',
          'captureTooMuch',
          'refundNotSettled',
          'refundTooMuch',
          'unknownRoute',
          'bodyTooLarge',
          'tooManyRequests',
          'internal',
          'providerBusy',
          'unavailable',
        ),
      },
    },
  },
};
