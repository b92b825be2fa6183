/** The accounts in the OpenAPI document. */
import { VOLUME_PERIODS } from '../../rules/risk/volume-limits.ts';
import { SETTING_NAMES, SETTINGS } from '../../rules/settings.ts';
import { accountRefusals, call, commonRefusals, mid, pageParameters } from './operator-call.ts';
import {
  answers,
  choice,
  date,
  described,
  flag,
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

type Members = Record<string, Json>;

/** The type of a setting is the type of its default. */
function settingSchema(value: unknown): Json {
  if (value === SETTINGS.volume_limits.default) return listOf({ type: 'object' });
  if (Array.isArray(value)) return listOf(text);
  return { type: typeof value === 'object' ? 'object' : typeof value };
}

/** The schemas of the settings; a name with a dot is a member of a nested object. */
function settingMembers(): Members {
  const members: Members = {};
  for (const name of SETTING_NAMES) {
    const { about, expects, default: value } = SETTINGS[name];
    const parts = name.split('.');
    const last = parts.pop() as string;
    let inside = members;
    for (const part of parts) {
      inside[part] ??= { type: 'object', properties: {} };
      inside = inside[part].properties as Members;
    }
    inside[last] = { ...settingSchema(value), default: value, description: `${about} Expects ${expects}.` };
  }
  return members;
}

const account = {
  mid: uuid,
  name: text,
  suspended: described(flag, 'Whether the account takes no new payments.'),
  environment: choice(['sandbox', 'production']),
  client_key: text,
  merchant_key: text,
  settings: ref('Settings'),
  created_at: date,
};

export const ACCOUNT_SCHEMAS: Readonly<Record<string, Json>> = {
  Settings: { type: 'object', properties: settingMembers() },
  AccountInput: {
    description: 'A name and settings. The settings are members of the body, of its object `settings`, or of both.',
    allOf: [
      {
        type: 'object',
        properties: { name: { ...text, minLength: 1, maxLength: 100 }, suspended: flag, settings: ref('Settings') },
      },
      ref('Settings'),
    ],
  },
  Account: object(account),
  AccountWithKeys: {
    description: 'An account, and what may be shown about the keys and certificates of its wallets.',
    allOf: [
      ref('Account'),
      {
        type: 'object',
        properties: {
          volume: described(
            listOf(
              object({
                per: choice([...VOLUME_PERIODS]),
                currency: text,
                brands: listOf(text),
                used: text,
                left: orNull(text),
                used_count: integer,
                left_count: orNull(integer),
                resets_at: orNull(date),
              }),
            ),
            'What is used and left of each volume limit. Absent if the account has none, and in lists.',
          ),
          wallet_keys: {
            type: 'object',
            description:
              'By setting: the base64 SHA-256 of the public key, when the certificate expires, and until when the previous key is usable. Absent if the account has no keys.',
            additionalProperties: {
              type: 'object',
              required: ['public_key_hash'],
              properties: {
                public_key_hash: text,
                expires_at: date,
                previous: object({ public_key_hash: text, usable_until: date }),
              },
            },
          },
        },
      },
    ],
  },
  NewAccount: object({
    ...account,
    password: described(text, 'Shown only once.'),
    callback_secret: described(text, 'Shown only once.'),
  }),
};

export const ACCOUNT_PATHS: Readonly<Record<string, Json>> = {
  '/admin/api/accounts': {
    post: call('accounts', 'createAccount', 'Creates an account.', {
      requestBody: jsonBody({ allOf: [ref('AccountInput'), { type: 'object', required: ['name'] }] }),
      responses: { ...answers('The account, with its secrets.', ref('NewAccount'), '201'), ...commonRefusals },
    }),
    get: call('accounts', 'listAccounts', 'Lists accounts, newest first.', {
      parameters: pageParameters(uuid),
      responses: { ...answers('A page of accounts.', pageOf(ref('Account'))), ...commonRefusals },
    }),
  },
  '/admin/api/accounts/{mid}': {
    parameters: mid,
    get: call('accounts', 'readAccount', 'Returns an account.', {
      responses: { ...answers('The account.', ref('AccountWithKeys')), ...accountRefusals },
    }),
    patch: call(
      'accounts',
      'changeAccount',
      'Changes the name or settings; members that are not sent stay unchanged.',
      {
        requestBody: jsonBody(ref('AccountInput')),
        responses: { ...answers('The updated account.', ref('AccountWithKeys')), ...accountRefusals },
      },
    ),
  },
  '/admin/api/accounts/{mid}/rotate-password': {
    parameters: mid,
    post: call('accounts', 'rotatePassword', 'Rotates the password of an account.', {
      responses: {
        ...answers(
          'The new password, which is shown only once. The previous one is valid until the returned time.',
          object({ mid: uuid, password: text, previous_password_valid_until: date }),
        ),
        ...accountRefusals,
      },
    }),
  },
};
