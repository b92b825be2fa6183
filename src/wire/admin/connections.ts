/** Admin calls on connections to providers, and on the routes of accounts. */
import type { FastifyInstance, FastifyRequest } from 'fastify';
import { requireAccount } from '../../core/accounts/require-account.ts';
import {
  type ConnectionRow,
  changeConnection,
  checkConnection,
  connectableEntry,
  connectionView,
  createConnection,
  deleteConnection,
  findConnection,
  listConnections,
  type SavedConnection,
} from '../../core/connections/connections.ts';
import { changeRoutes, tryRoutes } from '../../core/connections/routes.ts';
import type { Account, Gateway } from '../../core/context.ts';
import type { Principal } from '../../core/operators/principal.ts';
import { isUuid } from '../../lib/crypto/id.ts';
import { wireDate, wireDateOrNull } from '../../lib/time/clock.ts';
import { readConnection } from '../../rules/connection-input.ts';
import { CONNECTORS, type ConnectorEntry, type ConnectorName, connectorEntry } from '../../rules/connectors.ts';
import { invalidField, Refusal } from '../../rules/errors.ts';
import { SENTENCES } from '../../rules/fields.ts';
import { readRouteFacts, readRoutes, routeView } from '../../rules/routes.ts';
import { needs } from '../bearer.ts';
import { objectBody } from './input.ts';

interface ConnectionParams {
  Params: { connectionId: string };
}
interface AccountParams {
  Params: { mid: string };
}

export function connectionRoutes(app: FastifyInstance, gateway: Gateway): void {
  const view = (row: ConnectionRow) => wireView(connectionView(gateway, row));
  const savedView = ({ row, check }: SavedConnection) => ({
    ...view(row),
    ...(check && { check: { ok: check.ok, detail: check.detail } }),
  });

  const requireConnection = async (principal: Principal, connectionId: string): Promise<ConnectionRow> => {
    if (!isUuid(connectionId)) throw new Refusal('noSuchConnection');
    return findConnection(gateway, principal, connectionId.toLowerCase());
  };

  const readInput = (entry: ConnectorEntry, sent: Record<string, unknown>, isChange: boolean) => {
    const { input, problems } = readConnection(entry, sent, gateway.environment, isChange);
    if (problems.length > 0) throw new Refusal('invalidData', problems);
    return input;
  };

  app.post('/connections', needs('connections.manage', 'accounts'), async ({ principal, caller, body }, reply) => {
    const { connector, ...sent } = objectBody(body);
    const entry = connectableEntry(connector);
    if (!entry) {
      throw invalidField('connector', connector === undefined ? SENTENCES.blank : SENTENCES.notAChoice, {
        expected: `One of ${Object.keys(CONNECTORS).filter(connectableEntry).join(', ')}.`,
      });
    }
    const input = readInput(entry, sent, false);
    reply.code(201);
    return savedView(await createConnection(gateway, principal, caller, connector as ConnectorName, input));
  });

  app.get('/connections', needs('connections.view', 'accounts'), async ({ principal }) => ({
    items: (await listConnections(gateway, principal)).map(view),
    next_cursor: null,
  }));

  app.get<ConnectionParams>(
    '/connections/:connectionId',
    needs('connections.view', 'accounts'),
    async ({ principal, params }) => view(await requireConnection(principal, params.connectionId)),
  );

  app.patch<ConnectionParams>(
    '/connections/:connectionId',
    needs('connections.manage', 'accounts'),
    async ({ principal, caller, params, body }) => {
      const row = await requireConnection(principal, params.connectionId);
      const input = readInput(connectorEntry(row.connector) as ConnectorEntry, objectBody(body), true);
      return savedView(await changeConnection(gateway, principal, caller, row.connectionId, input));
    },
  );

  app.delete<ConnectionParams>(
    '/connections/:connectionId',
    needs('connections.manage', 'accounts'),
    async ({ principal, caller, params }) => {
      const { connectionId } = await requireConnection(principal, params.connectionId);
      await deleteConnection(gateway, principal, caller, connectionId);
      return { connection_id: connectionId, deleted: true };
    },
  );

  app.post<ConnectionParams>(
    '/connections/:connectionId/check',
    needs('connections.manage', 'accounts'),
    async ({ principal, params }) => {
      const { ok, detail } = await checkConnection(gateway, await requireConnection(principal, params.connectionId));
      return { ok, detail };
    },
  );
}

export function accountRouteRoutes(app: FastifyInstance, gateway: Gateway): void {
  const accountOfPath = ({ principal, params }: FastifyRequest<AccountParams>): Promise<Account> =>
    requireAccount(gateway, principal, params.mid);

  app.get<AccountParams>('/accounts/:mid/routes', needs('connections.view', 'accounts'), async (request) =>
    (await accountOfPath(request)).routes.map(routeView),
  );

  app.put<AccountParams>('/accounts/:mid/routes', needs('connections.manage', 'accounts'), async (request) => {
    const account = await accountOfPath(request);
    const { routes, problems } = readRoutes(request.body);
    if (problems.length > 0) throw new Refusal('invalidData', problems);
    await changeRoutes(gateway, request.principal, request.caller, account, routes);
    return routes.map(routeView);
  });

  app.post<AccountParams>('/accounts/:mid/routes/try', needs('connections.view', 'accounts'), async (request) => {
    const account = await accountOfPath(request);
    const { facts, problems } = readRouteFacts(objectBody(request.body));
    if (!facts) throw new Refusal('invalidData', problems);
    const { connectionId, reason, alternatives } = tryRoutes(gateway, account, facts);
    return {
      connection_id: connectionId,
      reason,
      alternatives: alternatives.map((each) => ({ connection_id: each.connectionId, reason: each.reason })),
    };
  });
}

const wireView = (connection: ReturnType<typeof connectionView>) => ({
  connection_id: connection.connectionId,
  connector: connection.connector,
  name: connection.name,
  mids: connection.mids,
  mode: connection.mode,
  credentials: connection.credentials,
  settings: connection.settings,
  active_methods: connection.activeMethods,
  notification_url: connection.notificationUrl,
  health: {
    state: connection.health.state,
    since: wireDateOrNull(connection.health.since),
    last_error: connection.health.lastError,
  },
  created_at: wireDate(connection.createdAt),
  updated_at: wireDate(connection.updatedAt),
});
