/** Admin calls on payment links: make, list, read, switch off. */
import type { FastifyInstance, FastifyRequest } from 'fastify';
import { requireAccount } from '../../core/accounts/require-account.ts';
import type { Account, Gateway, PaidLink } from '../../core/context.ts';
import { listLinks, makeLink, requireLink, switchLink } from '../../core/links/links.ts';
import { isAbsent } from '../../lib/text/json.ts';
import { invalidField } from '../../rules/errors.ts';
import { SENTENCES } from '../../rules/fields.ts';
import { LIMITS } from '../../rules/limits.ts';
import { LINK_MEMBERS, LINK_STATES } from '../../rules/links.ts';
import { needs } from '../bearer.ts';
import { linkBody, linkView } from '../links.ts';
import { objectBody, oneOf, page, pageSize, readQuery, refuseUnknown, uuidText } from './input.ts';
import { listFile } from './list-file.ts';

interface LinkParams {
  Params: { linkId: string };
}

/** The account that the member `mid` names; one that the caller may not see does not exist. */
export async function accountOfBody(gateway: Gateway, request: FastifyRequest, mid: unknown): Promise<Account> {
  if (isAbsent(mid)) throw invalidField('mid', SENTENCES.blank);
  return requireAccount(gateway, request.principal, typeof mid === 'string' ? mid : '');
}

const LINK_COLUMNS = [
  ...['link_id', 'mid', 'url', 'state', 'title', 'description', 'currency', 'amount', 'min_amount', 'max_amount'],
  ...['uses', 'uses_left', 'valid_until', 'order_prefix', 'payments', 'captured', 'created_at'],
];

const SWITCHES = ['active', 'inactive'] as const;

export function linkRoutes(app: FastifyInstance, gateway: Gateway): void {
  app.post('/links', needs('links.manage', 'accounts'), async (request, reply) => {
    const body = objectBody(request.body);
    const { mid, ...members } = body;
    const rest = Object.entries(members).filter(([name]) => !LINK_MEMBERS.some((known) => known === name));
    refuseUnknown(Object.fromEntries(rest), ['mid', ...LINK_MEMBERS]);
    const account = await accountOfBody(gateway, request, mid);
    const link = await makeLink(
      gateway,
      account,
      linkBody((name) => body[name]),
      request.caller,
    );
    reply.code(201);
    return linkView(gateway, link);
  });

  app.get('/links', needs('links.view', 'accounts'), async (request) => {
    const readers = { mid: uuidText, state: oneOf(LINK_STATES), limit: pageSize, cursor: uuidText };
    const { mid, state, limit: size = LIMITS.adminPageSize, cursor: before } = readQuery(request.query, readers);
    const links = await listLinks(gateway, request.principal, { mid, state, before, limit: size + 1 });
    return page(
      links,
      size,
      ({ linkId }) => linkId,
      (link) => linkView(gateway, link),
    );
  });

  listFile<PaidLink>(app, gateway, '/links', {
    guard: ['links.view', 'accounts'],
    name: 'links',
    columns: LINK_COLUMNS,
    read({ principal, query }, limit, last) {
      const filter = readQuery(query, { mid: uuidText, state: oneOf(LINK_STATES) });
      return listLinks(gateway, principal, { ...filter, before: last?.linkId, limit });
    },
    cells: (link) => linkView(gateway, link),
  });

  app.get<LinkParams>('/links/:linkId', needs('links.view', 'accounts'), async ({ principal, params }) =>
    linkView(gateway, await requireLink(gateway, principal, params.linkId.toLowerCase())),
  );

  app.patch<LinkParams>('/links/:linkId', needs('links.manage', 'accounts'), async (request) => {
    const { principal, caller, params } = request;
    const linkId = params.linkId.toLowerCase();
    await requireLink(gateway, principal, linkId);
    const { state, ...rest } = objectBody(request.body);
    refuseUnknown(rest, ['state']);
    if (!SWITCHES.some((one) => one === state)) {
      throw invalidField('state', SENTENCES.notAChoice, { expected: `One of ${SWITCHES.join(', ')}.` });
    }
    return linkView(gateway, await switchLink(gateway, principal, caller, linkId, state === 'active'));
  });
}
