/** The connections to providers and the routes of accounts in the OpenAPI document. */
import { NETWORK_NAMES } from '../../lib/cards/networks.ts';
import { CONNECTORS, type ConnectorEntry } from '../../rules/connectors.ts';
import { accountRefusals, call, commonRefusals, mid, operatorRefusals } from './operator-call.ts';
import {
  answers,
  choice,
  date,
  described,
  flag,
  inPath,
  integer,
  type Json,
  jsonBody,
  listOf,
  object,
  orNull,
  pageOf,
  ref,
  text,
  uuid,
} from './schema.ts';

const connectionRefusals = operatorRefusals('invalidData', 'noSuchConnection');

const entries = Object.entries(CONNECTORS) as [string, ConnectorEntry][];
const fieldsOf = ({ credentials }: ConnectorEntry): string => credentials.map(({ name }) => `\`${name}\``).join(', ');
const credentials: Json = {
  type: 'object',
  additionalProperties: text,
  description: `Write-only; read back as \`set\`. ${entries.map(([name, entry]) => `${name}: ${fieldsOf(entry)}`).join('; ')}.`,
};
const settings: Json = {
  type: 'object',
  properties: {
    methods: described(
      { type: 'object', additionalProperties: text },
      'The provider’s methods by brand, such as `{"bank-a": "ideal"}`.',
    ),
    api_base: described(text, 'Another host to call; in the sandbox only.'),
    ...Object.assign({}, ...entries.map(([, entry]) => settingTexts(entry.settings))),
  },
};

function settingTexts(table: Readonly<Record<string, string>>): Record<string, Json> {
  return Object.fromEntries(Object.entries(table).map(([name, about]) => [name, described(text, about)]));
}

const mids = described(orNull(listOf(uuid)), 'The accounts that may use it; null means all.');

const changeable = { name: { ...text, minLength: 1, maxLength: 100 }, mids, credentials, settings };

const list = (items: Json): Json => described(listOf(items), 'Empty means any.');
const amount = described(orNull(text), 'In the currency of the payment; null means any.');

const checkResult = object({ ok: flag, detail: text });

export const CONNECTION_SCHEMAS: Readonly<Record<string, Json>> = {
  Connection: object({
    connection_id: uuid,
    connector: choice(Object.keys(CONNECTORS)),
    name: text,
    mids,
    mode: described(orNull(choice(['test', 'live'])), 'Null if the credentials do not show it.'),
    credentials,
    settings,
    active_methods: described(
      orNull(listOf(text)),
      'The provider’s names of the methods that are active there, by the last check; null if it does not say.',
    ),
    notification_url: described(text, 'Where the provider sends its notifications.'),
    health: described(
      object({ state: choice(['closed', 'open', 'half_open']), since: orNull(date), last_error: orNull(text) }),
      'The circuit breaker of the process that answers.',
    ),
    created_at: date,
    updated_at: date,
  }),
  SavedConnection: {
    allOf: [
      ref('Connection'),
      object(
        {},
        {
          check: described(
            checkResult,
            'The result of a harmless call, made after the connection was saved; absent if neither credentials nor settings were sent.',
          ),
        },
      ),
    ],
  },
  Route: object(
    { connection_id: described(orNull(uuid), 'Null is the installation’s own provider.') },
    {
      brands: list(text),
      networks: list(choice([...NETWORK_NAMES])),
      currencies: list(text),
      countries: list(text),
      bins: list({ ...text, pattern: '^\\d{6,8}$' }),
      min_amount: amount,
      max_amount: amount,
      share: described({ ...integer, minimum: 0, maximum: 100, default: 100 }, 'A percentage.'),
    },
  ),
};

const connectionId = [inPath('connection_id', uuid, 'The connection.')];
const alternative = { connection_id: orNull(uuid), reason: text };

export const CONNECTION_PATHS: Readonly<Record<string, Json>> = {
  '/admin/api/connections': {
    post: call('connections', 'createConnection', 'Creates a connection to a provider, and checks its credentials.', {
      requestBody: jsonBody(
        object({ connector: choice(Object.keys(CONNECTORS)), name: changeable.name, credentials }, { mids, settings }),
      ),
      responses: { ...answers('The connection.', ref('SavedConnection'), '201'), ...commonRefusals },
    }),
    get: call('connections', 'listConnections', 'Lists connections, oldest first.', {
      responses: { ...answers('The connections.', pageOf(ref('Connection'))), ...commonRefusals },
    }),
  },
  '/admin/api/connections/{connection_id}': {
    parameters: connectionId,
    get: call('connections', 'readConnection', 'Returns a connection.', {
      responses: { ...answers('The connection.', ref('Connection')), ...connectionRefusals },
    }),
    patch: call(
      'connections',
      'changeConnection',
      'Changes a connection; credentials that are not sent stay unchanged, and settings are replaced.',
      {
        requestBody: jsonBody(object({}, changeable)),
        responses: { ...answers('The connection.', ref('SavedConnection')), ...connectionRefusals },
      },
    ),
    delete: call('connections', 'deleteConnection', 'Deletes a connection that no route uses.', {
      responses: {
        ...answers('The connection is deleted.', object({ connection_id: uuid, deleted: flag })),
        ...operatorRefusals('noSuchConnection', 'connectionInUse'),
      },
    }),
  },
  '/admin/api/connections/{connection_id}/check': {
    parameters: connectionId,
    post: call('connections', 'checkConnection', 'Makes a harmless call with the credentials.', {
      responses: { ...answers('The result.', checkResult), ...connectionRefusals },
    }),
  },
  '/admin/api/accounts/{mid}/routes': {
    parameters: mid,
    get: call('connections', 'readRoutes', 'Returns the routes of an account, in order of priority.', {
      responses: { ...answers('The routes.', listOf(ref('Route'))), ...accountRefusals },
    }),
    put: call(
      'connections',
      'replaceRoutes',
      'Replaces the routes of an account; of two lists that are sent at the same time, the later one stays.',
      {
        requestBody: jsonBody(listOf(ref('Route'))),
        responses: { ...answers('The routes.', listOf(ref('Route'))), ...accountRefusals },
      },
    ),
  },
  '/admin/api/accounts/{mid}/routes/try': {
    parameters: mid,
    post: call('connections', 'tryRoutes', 'Tells which route a payment would take, without doing anything.', {
      requestBody: jsonBody(
        object({ brand: text, currency: text, amount: text }, { network: text, country: text, bin: text }),
      ),
      responses: {
        ...answers(
          'The connection and the alternatives.',
          object({ ...alternative, alternatives: listOf(object(alternative)) }),
        ),
        ...accountRefusals,
      },
    }),
  },
};
