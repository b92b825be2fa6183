/** What helps a caller whose address, method or action does not exist. */
import type { MerchantCall } from '../core/context.ts';
import { mostSimilar } from '../lib/text/similar.ts';
import { S2S_OPERATIONS, type S2sAction } from '../rules/operations.ts';
import { openApi } from './openapi.ts';

const ACTIONS = Object.keys(S2S_OPERATIONS);

/** Actions that other gateways have, and the action of the same purpose. */
const COUNTERPARTS: Readonly<Record<string, S2sAction>> = {
  REFUND: 'CREDITVOID',
  CREDIT: 'CREDITVOID',
  REVERSAL: 'CREDITVOID',
  REVERSE: 'CREDITVOID',
  CANCEL: 'VOID',
  STATUS: 'GET_TRANS_STATUS',
  CANCEL_SCHEDULE: 'DELETE_SCHEDULE',
  STOP_SCHEDULE: 'DELETE_SCHEDULE',
  SCHEDULE_CANCEL: 'DELETE_SCHEDULE',
  CANCEL_RECURRING: 'DELETE_SCHEDULE',
  RECURRING_PAYMENT: 'RECURRING_SALE',
  REC_SALE: 'RECURRING_SALE',
  REC_PAYMENT: 'RECURRING_SALE',
};

function actionHint(action: string): string {
  const known = `action is one of ${ACTIONS.join(', ')}, in capital letters.`;
  if (action === '') return `The field action is missing: ${known}`;
  const meant = Object.hasOwn(COUNTERPARTS, action) ? COUNTERPARTS[action] : mostSimilar(action, ACTIONS);
  return meant === undefined ? `There is no such action: ${known}` : `There is no such action. Did you mean ${meant}?`;
}

/** The methods of the known paths by path, as `POST /post`. */
let documented: ReadonlyMap<string, string> | undefined;

function documentedPaths(): ReadonlyMap<string, string> {
  documented ??= new Map(
    Object.entries(openApi('').paths as Record<string, object>).map(([path, methods]) => [
      path,
      Object.keys(methods)
        .filter((method) => /^(get|post|put|patch|delete)$/.test(method))
        .map((method) => `${method.toUpperCase()} ${path}`)
        .join(' or '),
    ]),
  );
  return documented;
}

export interface UnknownRoute {
  call: MerchantCall | undefined;
  method?: string;
  url?: string;
  /** The methods of the address, if it exists. */
  allow?: readonly string[] | undefined;
}

/** One sentence or two; they repeat nothing of the request but its method. */
export function unknownRouteHint({ call, method = '', url = '', allow }: UnknownRoute): string {
  if (call?.body) return actionHint(call.body.value('action'));
  if (allow) {
    const methods = allow.filter((name) => name !== 'HEAD');
    return `This address takes ${methods.join(' and ')}, not ${method}.`;
  }
  const paths = documentedPaths();
  const meant = mostSimilar(url.split('?')[0] as string, paths.keys());
  const lead = 'There is no such address.';
  if (meant !== undefined) return `${lead} Did you mean ${paths.get(meant)}?`;
  return `${lead} Requests of merchants go to POST /post and to POST below /api/v1/, those of operators below /admin/api/.`;
}

/** The methods of each registered route, to tell a wrong method from a wrong path. */
export interface RouteTable {
  add(route: { method: string | string[]; url: string }): void;
  /** The methods of the routes at this address, if there are any. */
  methodsAt(url: string): readonly string[] | undefined;
}

export function createRouteTable(): RouteTable {
  const routes = new Map<string, { pattern: RegExp; methods: Set<string> }>();
  return {
    add({ method, url }) {
      // A route for everything else answers for no address in particular.
      if (url.includes('*')) return;
      const shape = url.replace(/:\w+/g, ':').replace(/\/+$/, '');
      const route = routes.get(shape) ?? { pattern: patternOf(shape), methods: new Set() };
      for (const name of [method].flat()) route.methods.add(name);
      routes.set(shape, route);
    },
    methodsAt(url) {
      const path = (url.split('?')[0] as string).replace(/\/{2,}/g, '/').replace(/\/$/, '');
      const methods = [...routes.values()].flatMap(({ pattern, methods }) => (pattern.test(path) ? [...methods] : []));
      return methods.length === 0 ? undefined : [...new Set(methods)].sort();
    },
  };
}

const patternOf = (shape: string): RegExp =>
  new RegExp(`^${shape.replace(/[.*+?^${}()|[\]\\]/g, '\\$&').replaceAll(':', '[^/]+')}$`);
