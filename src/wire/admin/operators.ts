/** Admin calls on operators: lists, invites, changes and deletes those that the caller manages. */
import type { FastifyInstance } from 'fastify';
import type { Gateway, Operator } from '../../core/context.ts';
import {
  readAccounts,
  readName,
  readOperator,
  readRefundLimit,
  readRole,
  valueOr,
} from '../../core/operators/access-input.ts';
import {
  changeOperator,
  deleteOperator,
  inviteOperatorAs,
  listOperators,
  type OperatorChange,
  requireOperator,
} from '../../core/operators/manage.ts';
import { invitationLink } from '../../core/operators/panel-address.ts';
import { wireDate, wireDateOrNull } from '../../lib/time/clock.ts';
import { invalidField, type Problem, Refusal } from '../../rules/errors.ts';
import { SENTENCES } from '../../rules/fields.ts';
import { LIMITS } from '../../rules/limits.ts';
import { needs } from '../bearer.ts';
import { objectBody, readBody, refuseUnknown } from './input.ts';
import { wholeList } from './list-file.ts';

interface OperatorParams {
  Params: { operatorId: string };
}

export function operatorRoutes(app: FastifyInstance, gateway: Gateway): void {
  wholeList(app, gateway, '/operators', {
    guard: ['operators.manage', 'accounts'],
    name: 'operators',
    columns: OPERATOR_COLUMNS,
    read: async ({ principal }) => (await listOperators(gateway, principal)).map(operatorView),
    cells: (operator) => ({ ...operator, mids: operator.mids?.join(' ') }),
  });

  app.post('/operators', needs('operators.manage', 'accounts'), async ({ principal, caller, body }, reply) => {
    const invited = await inviteOperatorAs(gateway, principal, caller, readOperator(readBody(body, MEMBERS)));
    if (invited === 'emailInUse') {
      throw invalidField('email', 'This value is in use.', { expected: 'The e-mail address of somebody new.' });
    }
    const { operator, secret } = invited;
    reply.code(201);
    return {
      ...operatorView(operator),
      invitation_url: invitationLink(gateway.publicUrl, secret.reveal()),
      expires_at: wireDate(operator.createdAt + LIMITS.operatorInvitationMs),
    };
  });

  app.get<OperatorParams>('/operators/:operatorId', needs('operators.manage', 'accounts'), async (request) =>
    operatorView(await requireOperator(gateway, request.principal, request.params.operatorId.toLowerCase())),
  );

  app.patch<OperatorParams>('/operators/:operatorId', needs('operators.manage', 'accounts'), async (request) => {
    const { principal, caller, params, body } = request;
    const operatorId = params.operatorId.toLowerCase();
    return operatorView(await changeOperator(gateway, principal, caller, operatorId, readChange(body)));
  });

  app.delete<OperatorParams>('/operators/:operatorId', needs('operators.manage', 'accounts'), async (request) => {
    const operatorId = request.params.operatorId.toLowerCase();
    await deleteOperator(gateway, request.principal, request.caller, operatorId);
    return { operator_id: operatorId, deleted: true };
  });
}

const MEMBERS = ['email', 'name', 'role', 'mids', 'refund_limit'] as const;

const STATES = ['active', 'suspended'] as const;

/** What is absent stays as it is. */
function readChange(body: unknown): OperatorChange {
  const sent = objectBody(body);
  const { name, role, mids, refund_limit, state, ...rest } = sent;
  refuseUnknown(rest, ['name', 'role', 'mids', 'refund_limit', 'state']);
  const problems: Problem[] = [];
  const change = {
    ...(name !== undefined && { name: valueOr(readName(name), problems) }),
    ...('role' in sent && { role: valueOr(readRole(role), problems) }),
    ...('mids' in sent && { mids: valueOr(readAccounts(mids), problems) }),
    ...('refund_limit' in sent && { refundLimit: valueOr(readRefundLimit(refund_limit), problems) }),
    ...(state !== undefined && { isSuspended: state === 'suspended' }),
  };
  if (state !== undefined && !STATES.some((one) => one === state)) {
    problems.push({ field: 'state', sentence: SENTENCES.notAChoice, expected: `One of ${STATES.join(', ')}.` });
  }
  if (problems.length > 0) throw new Refusal('invalidData', problems);
  return change as OperatorChange;
}

const OPERATOR_COLUMNS = [
  ...['operator_id', 'email', 'name', 'role', 'mids', 'refund_limit', 'state', 'created_at', 'last_signed_in_at'],
];

const operatorView = (operator: Operator) => ({
  operator_id: operator.operatorId,
  email: operator.email,
  name: operator.name,
  role: operator.role,
  mids: operator.mids,
  refund_limit: operator.refundLimit,
  state: operator.state,
  created_at: wireDate(operator.createdAt),
  last_signed_in_at: wireDateOrNull(operator.lastSignedInAt),
});
