/** The routes of accounts for operators: reads and replaces them, and tells which one a payment would take. */
import { Refusal } from '../../rules/errors.ts';
import { SENTENCES } from '../../rules/fields.ts';
import { type Route, type RouteFacts, routeView } from '../../rules/routes.ts';
import { forgetAccounts } from '../accounts/accounts.ts';
import type { Account, Gateway } from '../context.ts';
import { auditEntry, type Caller, type Principal } from '../operators/principal.ts';
import { type ConnectionRow, seesConnection, simulatedAmong } from './connections.ts';
import { candidates, chooseRoute } from './route.ts';

/**
 * Replaces the whole list: of two lists that are saved at the same time, the later one stays. The caller may use the
 * connections that it sees, and those that the account uses already.
 */
export async function changeRoutes(
  gateway: Gateway,
  principal: Principal,
  by: Caller,
  { mid, routes: known }: Account,
  routes: readonly Route[],
): Promise<void> {
  const requireUsable = (before: readonly Route[], connections: readonly ConnectionRow[]): void => {
    const isUsable = ({ connectionId }: Route): boolean => {
      if (connectionId === null) return true;
      const row = connections.find((each) => each.connectionId === connectionId);
      const isOfAccount = row?.deletedAt === null && (row.mids === null || row.mids.includes(mid));
      if (!row || !isOfAccount) return false;
      return seesConnection(principal, row) || before.some((route) => route.connectionId === connectionId);
    };
    const problems = routes.flatMap((route, index) =>
      isUsable(route) ? [] : [{ field: `routes[${index}].connection_id`, sentence: SENTENCES.notAChoice }],
    );
    if (problems.length > 0) throw new Refusal('invalidData', problems);
  };
  const connections = await gateway.connectionStore.findAll(routes.flatMap(({ connectionId }) => connectionId ?? []));
  requireUsable(known, connections);
  await refuseSimulated(gateway, known, routes, connections);
  await gateway.accounts.changeRoutes(mid, routes, (before, locked) => {
    requireUsable(before.routes, locked);
    return auditEntry(gateway, by, 'routes.change', {
      mid,
      before: { routes: before.routes.map(routeView) },
      after: { routes: routes.map(routeView) },
    });
  });
  forgetAccounts(gateway, mid);
}

/** Production routes nothing to a simulator. Only connections that the account does not use yet are asked. */
async function refuseSimulated(
  gateway: Gateway,
  before: readonly Route[],
  routes: readonly Route[],
  known: readonly ConnectionRow[],
): Promise<void> {
  const isNew = ({ connectionId }: ConnectionRow): boolean =>
    before.every((route) => route.connectionId !== connectionId);
  const simulated = await simulatedAmong(gateway, known.filter(isNew));
  const problems = routes.flatMap(({ connectionId }, index) =>
    simulated.some((row) => row.connectionId === connectionId)
      ? [
          {
            field: `routes[${index}].connection_id`,
            sentence: 'This connection is a simulator, which production does not use.',
          },
        ]
      : [],
  );
  if (problems.length > 0) throw new Refusal('invalidData', problems);
}

/** Which connection a payment would go to, and which ones it would go to after that; nothing is done. */
export function tryRoutes(gateway: Gateway, account: Account, facts: RouteFacts) {
  const [chosen, ...alternatives] = candidates(gateway, account, facts);
  if (chosen) {
    const view = ({ connectionId, routeReason }: typeof chosen) => ({ connectionId, reason: routeReason });
    return { ...view(chosen), alternatives: alternatives.map(view) };
  }
  const { connector, routeReason } = chooseRoute(gateway, account, facts, '');
  const isTaken = Object.hasOwn(gateway.connectors, connector);
  const reason = routeReason ?? (isTaken ? 'The account has no routes: own provider' : 'Nothing takes this payment');
  return { connectionId: null, reason, alternatives: [] };
}
