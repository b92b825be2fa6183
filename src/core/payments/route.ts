/** Decides which connection gets a payment: by the routes of the account, in memory, with the reason for the operator. */
import { BRANDS, type Brand, CARD } from '../../rules/brands.ts';
import { splitConnectionKey } from '../../rules/connectors.ts';
import { isInShare, mayTake, mismatch, type RouteFacts } from '../../rules/routes.ts';
import type { Payment, PaymentDetails } from '../../store/payments.ts';
import type { Account, AccountRoute, Gateway } from '../context.ts';
import { capabilitiesOf } from './connectors.ts';

/** Where a payment goes. */
export interface RouteChoice {
  /** The key of a connection, the own provider, or `none` if nothing takes the payment. */
  connector: string;
  /** Null if the account has no routes. */
  routeReason: string | null;
}

/** One route that takes the payment, in the order in which the routes are tried. */
export interface Candidate extends RouteChoice {
  connectionId: string | null;
}

/** The connector of payments that no route takes; it never has one. */
const NO_ROUTE = 'none';

/** The brands that a connection can take; the others, such as the test brand, have a connector of their own. */
const isRoutable = (brand: Pick<Brand, 'connector'>): boolean => brand.connector === OWN_PROVIDER;
const OWN_PROVIDER = 'upstream';

const brandNamed = (label: string): Pick<Brand, 'connector'> =>
  label === CARD ? { connector: OWN_PROVIDER } : (BRANDS[label] ?? { connector: NO_ROUTE });

const isTakenBy = ({ connection, connectionId }: AccountRoute, brand: string, gateway: Gateway): boolean =>
  connection
    ? Object.hasOwn(connection.methods, brand)
    : connectionId === null && Object.hasOwn(gateway.connectors, OWN_PROVIDER);

/** Whether a brand can be offered at all, or to the payer of a payment: some route, or the own provider, can take it. */
export function canTake(
  gateway: Gateway,
  { routes }: Pick<Account, 'routes'>,
  label: string,
  facts?: Omit<RouteFacts, 'brand'>,
): boolean {
  const brand = brandNamed(label);
  if (Object.hasOwn(gateway.connectors, brand.connector)) return true;
  const takes = (route: AccountRoute): boolean =>
    route.share > 0 &&
    isTakenBy(route, label, gateway) &&
    (facts ? mayTake(route, { ...facts, brand: label }) : route.brands.length === 0 || route.brands.includes(label));
  return isRoutable(brand) && routes.some(takes);
}

const describe = ({ connection }: AccountRoute, position: number): string =>
  `Route ${position + 1} (${connection?.name ?? 'own provider'})`;

/**
 * The routes that take a payment, in the order in which they are tried. Routes whose connection keeps failing, and routes
 * in whose share the payment is not, come last: they are used when all others fail.
 */
export function candidates(
  gateway: Gateway,
  account: Pick<Account, 'routes'>,
  facts: RouteFacts,
  /** Without an id, every payment is in the share of a route that has one. */
  paymentId?: string,
): Candidate[] {
  if (!isRoutable(brandNamed(facts.brand))) return [];
  const skipped: string[] = [];
  const taking = account.routes.flatMap((route, position) => {
    if (!isTakenBy(route, facts.brand, gateway) || mismatch(route, facts) !== undefined) return [];
    const connector = route.connection?.key ?? OWN_PROVIDER;
    const isShared = paymentId === undefined ? route.share > 0 : isInShare(route, position, paymentId);
    const rank = isShared ? (gateway.health.mayTry(connector) ? 0 : 1) : 2;
    if (rank > 0) skipped.push(`route ${position + 1} ${rank === 1 ? 'keeps failing' : `takes ${route.share} %`}`);
    return [{ route, position, connector, rank }];
  });
  return taking
    .toSorted((a, b) => a.rank - b.rank)
    .map(({ route, position, connector }) => {
      const others = skipped.filter((text) => !text.startsWith(`route ${position + 1} `));
      return {
        connector,
        connectionId: route.connectionId,
        routeReason: [describe(route, position), ...others].join('; '),
      };
    });
}

/** What routes depend on in a payment; `number` is the card number, if it is at hand. */
export function factsOf(
  payment: Pick<Payment, 'brand' | 'currency' | 'amount'> & { details: PaymentDetails },
  number?: string,
): RouteFacts {
  const { payer, card } = payment.details;
  return {
    brand: payment.brand,
    currency: payment.currency,
    amount: payment.amount,
    country: payer.country,
    network: card?.network,
    bin: number?.slice(0, 8) ?? card?.masked.slice(0, 6),
  };
}

/** Where a new payment goes. Without a matching route, the installation's own provider takes it, if there is one. */
export function chooseRoute(
  gateway: Gateway,
  account: Pick<Account, 'routes'>,
  facts: RouteFacts,
  paymentId: string,
): RouteChoice {
  const { connector } = brandNamed(facts.brand);
  if (account.routes.length === 0 || connector !== OWN_PROVIDER) return { connector, routeReason: null };
  const [first] = candidates(gateway, account, facts, paymentId);
  if (first) return routed(gateway, first);
  return Object.hasOwn(gateway.connectors, connector)
    ? { connector, routeReason: 'No route matches: own provider' }
    : { connector: NO_ROUTE, routeReason: 'No route matches' };
}

/** The next connection for a payment that the first ones did not get or declined softly; undefined if there is none. */
export function nextRoute(
  gateway: Gateway,
  account: Account,
  facts: RouteFacts,
  { paymentId, connector }: Pick<Payment, 'paymentId' | 'connector'>,
  { tried, isAuthenticated }: { tried: readonly string[]; isAuthenticated: boolean },
): RouteChoice | undefined {
  // The own provider of an account without a route that names it is no alternative to anything.
  if (splitConnectionKey(connector).connectionId === null && account.routes.length === 0) return undefined;
  const isUsable = (candidate: Candidate): boolean =>
    !tried.includes(candidate.connector) &&
    // A payer is authenticated before the first submission only.
    (facts.brand !== CARD ||
      isAuthenticated ||
      capabilitiesOf(gateway, candidate.connector)?.authentication === 'provider' ||
      !gateway.threeDs);
  const next = candidates(gateway, account, facts, paymentId).find(isUsable);
  return next && routed(gateway, next);
}

function routed({ health }: Gateway, { connector, routeReason }: Candidate): RouteChoice {
  health.chosen(connector);
  return { connector, routeReason };
}
