/** Admin calls on connections to providers, and on the routes of accounts. */
import type { FastifyInstance } from 'fastify';
import { findAccount } from '../../core/accounts.ts';
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
} from '../../core/connections.ts';
import type { Account, Gateway } from '../../core/context.ts';
import type { Principal } from '../../core/principal.ts';
import { changeRoutes, tryRoutes } from '../../core/routes.ts';
import { wireDate, wireDateOrNull } from '../../lib/clock.ts';
import { isUuid } from '../../lib/id.ts';
import {
  CONNECTORS,
  type ConnectorEntry,
  type ConnectorName,
  connectorEntry,
  readConnection,
} from '../../rules/connectors.ts';
import { invalidField, Refusal } from '../../rules/errors.ts';
import { SENTENCES } from '../../rules/fields.ts';
import { readRouteFacts, readRoutes, routeView } from '../../rules/routes.ts';
import { needs, requireSeen } from '../bearer.ts';
import { objectBody } from './input.ts';

interface ConnectionParams {
  Params: { connectionId: string };
}
interface AccountParams {
  Params: { mid: string };
}

export function connectionRoutes(app: FastifyInstance, gateway: Gateway): void {
  const view = (row: ConnectionRow) => wireView(connectionView(gateway, row));

  const requireConnection = async (principal: Principal, connectionId: string): Promise<ConnectionRow> => {
    if (!isUuid(connectionId)) throw new Refusal('noSuchConnection');
    return findConnection(gateway, principal, connectionId.toLowerCase());
  };

  const readInput = (entry: ConnectorEntry, sent: Record<string, unknown>, isChange: boolean) => {
    const { input, problems } = readConnection(entry, sent, gateway.environment, isChange);
    if (problems.length > 0) throw new Refusal('invalidData', problems);
    return input;
  };

  app.post('/connections', needs('connections.manage'), async ({ principal, caller, body }, reply) => {
    const { connector, ...sent } = objectBody(body);
    const entry = connectableEntry(connector);
    if (!entry) {
      throw invalidField('connector', connector === undefined ? SENTENCES.blank : SENTENCES.notAChoice, {
        expected: `One of ${Object.keys(CONNECTORS).filter(connectableEntry).join(', ')}.`,
      });
    }
    const input = readInput(entry, sent, false);
    reply.code(201);
    return view(await createConnection(gateway, principal, caller, connector as ConnectorName, input));
  });

  app.get('/connections', needs('connections.view'), async ({ principal }) => ({
    items: (await listConnections(gateway, principal)).map(view),
    next_cursor: null,
  }));

  app.get<ConnectionParams>('/connections/:connectionId', needs('connections.view'), async ({ principal, params }) =>
    view(await requireConnection(principal, params.connectionId)),
  );

  app.patch<ConnectionParams>(
    '/connections/:connectionId',
    needs('connections.manage'),
    async ({ principal, caller, params, body }) => {
      const row = await requireConnection(principal, params.connectionId);
      const input = readInput(connectorEntry(row.connector) as ConnectorEntry, objectBody(body), true);
      return view(await changeConnection(gateway, principal, caller, row, input));
    },
  );

  app.delete<ConnectionParams>(
    '/connections/:connectionId',
    needs('connections.manage'),
    async ({ principal, caller, params }) => {
      const row = await requireConnection(principal, params.connectionId);
      await deleteConnection(gateway, caller, row);
      return { connection_id: row.connectionId, deleted: true };
    },
  );

  app.post<ConnectionParams>(
    '/connections/:connectionId/check',
    needs('connections.manage'),
    async ({ principal, params }) => {
      const { ok, detail } = await checkConnection(gateway, await requireConnection(principal, params.connectionId));
      return { ok, detail };
    },
  );
}

export function accountRouteRoutes(app: FastifyInstance, gateway: Gateway): void {
  const requireAccount = async (request: Parameters<typeof requireSeen>[0], mid: string): Promise<Account> => {
    const account = isUuid(mid) ? await findAccount(gateway, mid) : undefined;
    requireSeen(request, account?.mid, 'noSuchAccount');
    return account as Account;
  };

  app.get<AccountParams>('/accounts/:mid/routes', needs('connections.view'), async (request) =>
    (await requireAccount(request, request.params.mid)).routes.map(routeView),
  );

  app.put<AccountParams>('/accounts/:mid/routes', needs('connections.manage'), async (request) => {
    const account = await requireAccount(request, request.params.mid);
    const { routes, problems } = readRoutes(request.body);
    if (problems.length > 0) throw new Refusal('invalidData', problems);
    await changeRoutes(gateway, request.principal, request.caller, account, routes);
    return routes.map(routeView);
  });

  app.post<AccountParams>('/accounts/:mid/routes/try', needs('connections.view'), async (request) => {
    const account = await requireAccount(request, request.params.mid);
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
  notification_url: connection.notificationUrl,
  health: {
    state: connection.health.state,
    since: wireDateOrNull(connection.health.since),
    last_error: connection.health.lastError,
  },
  created_at: wireDate(connection.createdAt),
  updated_at: wireDate(connection.updatedAt),
});
