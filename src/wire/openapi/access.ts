/** The calls on API tokens and the audit log in the OpenAPI document. */
import { ROLES } from '../../rules/roles.ts';
import { call, commonRefusals, dateTime, pageParameters, tokenRefusals } from './operator-call.ts';
import {
  answers,
  choice,
  date,
  described,
  flag,
  inPath,
  inQuery,
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

const role = choice([...ROLES]);
const mids = described(orNull(listOf(uuid)), 'The accounts that the token may see; null means all.');

const token = {
  token_id: uuid,
  name: text,
  role,
  mids,
  created_at: date,
  expires_at: orNull(date),
  last_used_at: described(orNull(date), 'Exact to a minute.'),
};

const changes = orNull({ type: 'object' });

export const ACCESS_SCHEMAS: Readonly<Record<string, Json>> = {
  Token: object(token),
  Operator: object({
    operator_id: uuid,
    email: text,
    name: text,
    role,
    mids,
    state: choice(['invited', 'active', 'suspended']),
    created_at: date,
    last_signed_in_at: orNull(date),
  }),
  AuditEntry: object({
    seq: integer,
    at: date,
    actor: object({ kind: choice(['token', 'operator', 'system']), id: orNull(uuid), name: text }),
    address: orNull(text),
    action: text,
    mid: orNull(uuid),
    subject: described(orNull(text), 'What was changed, if not the account itself.'),
    before: changes,
    after: changes,
    digest: described(text, 'SHA-256 over the digest of the previous entry and this entry.'),
  }),
};

export const ACCESS_PATHS: Readonly<Record<string, Json>> = {
  '/admin/api/me': {
    get: call('access', 'readCaller', 'Returns who the caller is.', {
      responses: {
        ...answers('The caller.', object({ kind: choice(['token', 'operator']), name: text, role, mids })),
        ...commonRefusals,
      },
    }),
  },
  '/admin/api/operators': {
    get: call('access', 'listOperators', 'Lists the operators of the panel.', {
      responses: { ...answers('The operators.', pageOf(ref('Operator'))), ...commonRefusals },
    }),
  },
  '/admin/api/tokens': {
    post: call('access', 'createToken', 'Creates an API token.', {
      requestBody: jsonBody(object({ name: text, role }, { mids, expires_at: orNull(dateTime) })),
      responses: {
        ...answers('The token, whose secret is shown only here.', object({ ...token, token: text }), '201'),
        ...commonRefusals,
      },
    }),
    get: call('access', 'listTokens', 'Lists API tokens, newest first.', {
      responses: { ...answers('The tokens, without their secrets.', pageOf(ref('Token'))), ...commonRefusals },
    }),
  },
  '/admin/api/tokens/{token_id}': {
    parameters: [inPath('token_id', uuid, 'The token.')],
    delete: call('access', 'revokeToken', 'Revokes an API token.', {
      responses: { ...answers('The token is revoked.', object({ token_id: uuid, revoked: flag })), ...tokenRefusals },
    }),
  },
  '/admin/api/audit': {
    get: call('access', 'listAuditEntries', 'Lists what operators changed, newest first.', {
      parameters: [
        inQuery('actor', text, 'The name or the id of an operator or token.'),
        inQuery('action', text, 'Such as `accounts.change`.'),
        inQuery('from', dateTime, 'At this time or later.'),
        inQuery('to', dateTime, 'Before this time.'),
        ...pageParameters(text),
      ],
      responses: { ...answers('A page of entries.', pageOf(ref('AuditEntry'), text)), ...commonRefusals },
    }),
  },
};
