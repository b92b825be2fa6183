/** The calls on API tokens, operators and the audit log in the OpenAPI document. */
import { ROLES } from '../../rules/roles.ts';
import { call, commonRefusals, dateTime, operatorRefusals, pageParameters, tokenRefusals } from './operator-call.ts';
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
const mids = described(orNull(listOf(uuid)), 'The accounts that the token or operator may see; null means all.');

const refundLimit = described(
  orNull(text),
  'The most that the user refunds of one payment: a decimal number in its currency, such as `50.00`; null means no limit.',
);

const token = {
  token_id: uuid,
  name: text,
  role,
  mids,
  refund_limit: refundLimit,
  created_at: date,
  expires_at: orNull(date),
  last_used_at: described(orNull(date), 'Exact to a minute.'),
};

const operator = {
  operator_id: uuid,
  email: text,
  name: text,
  role,
  mids,
  refund_limit: refundLimit,
  state: choice(['invited', 'active', 'suspended']),
  created_at: date,
  last_signed_in_at: orNull(date),
};

const changes = orNull({ type: 'object' });

export const ACCESS_SCHEMAS: Readonly<Record<string, Json>> = {
  Token: object(token),
  Operator: object(operator),
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
        ...answers(
          'The caller.',
          object({ kind: choice(['token', 'operator']), name: text, role, mids, refund_limit: refundLimit }),
        ),
        ...commonRefusals,
      },
    }),
  },
  '/admin/api/operators.csv': {
    get: call(
      'access',
      'readOperatorsCsv',
      'Returns the operators that the caller can manage as CSV with a header line.',
      {
        responses: {
          '200': { description: 'The operators.', content: { 'text/csv': { schema: text } } },
          ...commonRefusals,
        },
      },
    ),
  },
  '/admin/api/operators': {
    get: call('access', 'listOperators', 'Lists the operators that the caller can manage.', {
      responses: { ...answers('The operators.', pageOf(ref('Operator'))), ...commonRefusals },
    }),
    post: call('access', 'inviteOperator', 'Invites an operator that can do nothing that the caller cannot do.', {
      requestBody: jsonBody(object({ email: text, role }, { name: text, mids, refund_limit: refundLimit })),
      responses: {
        ...answers(
          'The operator, and the link with which it chooses how to sign in. The link works once and is shown only here.',
          object({ ...operator, invitation_url: text, expires_at: date }),
          '201',
        ),
        ...commonRefusals,
      },
    }),
  },
  '/admin/api/operators/{operator_id}': {
    parameters: [inPath('operator_id', uuid, 'The operator.')],
    get: call('access', 'readOperator', 'Reads an operator.', {
      responses: { ...answers('The operator.', ref('Operator')), ...operatorRefusals('noSuchOperator') },
    }),
    patch: call('access', 'changeOperator', 'Changes an operator and ends its sessions.', {
      requestBody: jsonBody(
        object({}, { name: text, role, mids, refund_limit: refundLimit, state: choice(['active', 'suspended']) }),
      ),
      responses: {
        ...answers('The operator after the change.', ref('Operator')),
        ...operatorRefusals('invalidData', 'lastOwner', 'noSuchOperator'),
      },
    }),
    delete: call('access', 'deleteOperator', 'Deletes an operator with its credentials and sessions.', {
      responses: {
        ...answers('The operator is deleted.', object({ operator_id: uuid, deleted: flag })),
        ...operatorRefusals('lastOwner', 'noSuchOperator'),
      },
    }),
  },
  '/admin/api/tokens': {
    post: call('access', 'createToken', 'Creates an API token that can do nothing that the caller cannot do.', {
      requestBody: jsonBody(
        object({ name: text, role }, { mids, refund_limit: refundLimit, expires_at: orNull(dateTime) }),
      ),
      responses: {
        ...answers('The token, whose secret is shown only here.', object({ ...token, token: text }), '201'),
        ...commonRefusals,
      },
    }),
    get: call('access', 'listTokens', 'Lists the API tokens that the caller can manage, newest first.', {
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
