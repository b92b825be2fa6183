/** Decides which connection gets a payment: by the routes of the account, in memory, with the reason for the operator. */
import { brandOf, CARD, NO_CONNECTOR } from '../../rules/brands.ts';
import { canRepeat, needsOf, splitConnectionKey } from '../../rules/connectors.ts';
import { isInShare, mayTake, mismatch, type RouteFacts } from '../../rules/routes.ts';
import type { Payment, PaymentDetails, PaymentWithDetails } from '../../store/payments/payments.ts';
import type { Account, AccountRoute, Gateway } from '../context.ts';
import { isQueueFull } from '../payments/call.ts';
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
  /** Whether it comes before the own provider, if no route names that: the payment is in its share. */
  isPreferred: boolean;
}

const OWN_PROVIDER = 'upstream';
const OWN_NEEDS = needsOf(OWN_PROVIDER, {});

/** The connector of a brand in this installation. Connections take the brands of its own provider only. */
const ownConnectorOf = (label: string): string => brandOf(label)?.connector ?? NO_CONNECTOR;
const isRoutable = (label: string): boolean => ownConnectorOf(label) === OWN_PROVIDER;

type BrandFacts = Pick<RouteFacts, 'brand' | 'isTelephoneOrder' | 'isFirstOfSeries'>;

/** Whether a connector can do what the payment needs: flag a telephone order as one, and repeat the first of a series. */
const supports = (
  gateway: Gateway,
  connector: string,
  { brand, isTelephoneOrder, isFirstOfSeries }: BrandFacts,
): boolean =>
  (!isTelephoneOrder || capabilitiesOf(gateway, connector)?.supportsTelephoneOrders === true) &&
  (!isFirstOfSeries || canRepeat(brand, connector));

const isTakenBy = (route: AccountRoute, facts: BrandFacts, gateway: Gateway): boolean =>
  (route.connection
    ? Object.hasOwn(route.connection.methods, facts.brand) &&
      (!facts.isTelephoneOrder || route.connection.allowsTelephoneOrders)
    : route.connectionId === null && Object.hasOwn(gateway.connectors, OWN_PROVIDER)) &&
  supports(gateway, keyOf(route), facts);

/** Whether the installation's own provider takes a payment that no route takes. */
const hasOwn = (gateway: Gateway, facts: BrandFacts): boolean =>
  Object.hasOwn(gateway.connectors, ownConnectorOf(facts.brand)) &&
  supports(gateway, ownConnectorOf(facts.brand), facts);

/** Whether a brand can be offered at all, or to the payer of a payment: some route, or the own provider, can take it. */
export function canTake(
  gateway: Gateway,
  { routes }: Pick<Account, 'routes'>,
  label: string,
  facts?: Omit<RouteFacts, 'brand'>,
  isFirstOfSeries = facts?.isFirstOfSeries,
): boolean {
  const ofBrand = { brand: label, isTelephoneOrder: facts?.isTelephoneOrder, isFirstOfSeries };
  if (hasOwn(gateway, ofBrand)) return true;
  const takes = (route: AccountRoute): boolean =>
    route.share > 0 &&
    isTakenBy(route, ofBrand, gateway) &&
    (facts ? mayTake(route, { ...facts, brand: label }) : route.brands.length === 0 || route.brands.includes(label));
  return isRoutable(label) && routes.some(takes);
}

/** Whether the provider of some route, or the own provider, that may get a payment needs a field of its brand. */
export function isNeededByProvider(
  gateway: Gateway,
  { routes }: Pick<Account, 'routes'>,
  facts: RouteFacts,
  field: string,
): boolean {
  const taking = isRoutable(facts.brand)
    ? routes.filter((route) => route.share > 0 && isTakenBy(route, facts, gateway) && mayTake(route, facts))
    : [];
  const mayBeOwn = hasOwn(gateway, facts) && taking.every(({ share }) => share < 100);
  const needs = taking.map(({ connection }) => connection?.needs ?? OWN_NEEDS);
  return [...needs, ...(mayBeOwn ? [OWN_NEEDS] : [])].some((fields) => fields[facts.brand]?.includes(field));
}

const describe = ({ connection }: AccountRoute, position: number): string =>
  `Route ${position + 1} (${connection?.name ?? 'own provider'})`;

/** Why a route comes after those that have no such reason; `rank` is the order among the reasons. */
interface Drawback {
  rank: number;
  because?: string | undefined;
}

function drawback(
  gateway: Gateway,
  route: AccountRoute,
  position: number,
  facts: RouteFacts,
  paymentId: string | undefined,
): Drawback {
  const connector = keyOf(route);
  if (paymentId !== undefined) {
    // The payer has entered the card, and would have to do so again on the page of the provider.
    if (facts.brand === CARD && facts.bin !== undefined && route.connection?.asksForCard)
      return { rank: 3, because: 'asks for the card again' };
    if (!isInShare(route, position, paymentId)) return { rank: 2, because: `takes ${route.share} %` };
  }
  if (!gateway.health.mayTry(connector)) return { rank: 1, because: 'keeps failing' };
  return isQueueFull(gateway, connector) ? { rank: 1, because: 'has too many calls waiting' } : { rank: 0 };
}

const keyOf = ({ connection }: AccountRoute): string => connection?.key ?? OWN_PROVIDER;

/**
 * The routes that take a payment, in the order in which they are tried. Routes whose connection keeps failing or is busy,
 * and routes in whose share the payment is not, come last: they are used when all others fail. A route without a share
 * takes nothing.
 */
export function candidates(
  gateway: Gateway,
  account: Pick<Account, 'routes'>,
  facts: RouteFacts,
  /** Without an id, as for a payment that does not exist yet: it is in the share of every route that has one. */
  paymentId?: string,
): Candidate[] {
  if (!isRoutable(facts.brand)) return [];
  const taking: (Drawback & { route: AccountRoute; position: number })[] = [];
  for (const [position, route] of account.routes.entries()) {
    const isTaken = route.share > 0 && isTakenBy(route, facts, gateway);
    if (!isTaken || mismatch(route, facts) !== undefined) continue;
    const { rank, because } = drawback(gateway, route, position, facts, paymentId);
    taking.push({ route, position, rank, because });
  }
  return taking
    .toSorted((a, b) => a.rank - b.rank)
    .map(({ route, position, rank }) => {
      const skipped = taking.filter((other) => other.because !== undefined && other.position !== position);
      const reasons = skipped.map((other) => `route ${other.position + 1} ${other.because}`);
      return {
        connector: keyOf(route),
        connectionId: route.connectionId,
        isPreferred: rank < 2,
        routeReason: [describe(route, position), ...reasons].join('; '),
      };
    });
}

/** The card networks that the account's setting allows and some route takes; undefined if every network is accepted. */
export function acceptedNetworks(
  gateway: Gateway,
  { routes, settings }: Pick<Account, 'routes' | 'settings'>,
  payment: Parameters<typeof factsOf>[0],
): readonly string[] | undefined {
  const facts = { ...factsOf(payment), brand: CARD };
  const taking = routes.filter((route) => route.share > 0 && isTakenBy(route, facts, gateway) && mayTake(route, facts));
  const takesAny = hasOwn(gateway, facts) || taking.some(({ networks }) => networks.length === 0);
  const routed = takesAny ? undefined : taking.flatMap(({ networks }) => networks);
  const { card_networks: allowed } = settings;
  if (allowed.length === 0) return routed && [...new Set(routed)];
  return routed ? allowed.filter((network) => routed.includes(network)) : allowed;
}

/** What routes depend on in a payment; `number` is the card number, if it is at hand. */
export function factsOf(
  payment: Pick<Payment, 'brand' | 'currency' | 'amount'> &
    Partial<Pick<Payment, 'isRecurringInit'>> & { details: PaymentDetails },
  number?: string,
): RouteFacts {
  const { payer, card, session } = payment.details;
  return {
    brand: payment.brand,
    currency: payment.currency,
    amount: payment.amount,
    country: payer.country,
    network: card?.network,
    bin: number?.slice(0, 8) ?? card?.masked.slice(0, 6),
    ...(session?.isTelephoneOrder && { isTelephoneOrder: true }),
    ...(payment.isRecurringInit && { isFirstOfSeries: true }),
  };
}

/** The first route that takes a payment. Without an own provider, the rest of a share has nowhere else to go. */
function firstRoute(
  gateway: Gateway,
  account: Pick<Account, 'routes'>,
  facts: RouteFacts,
  paymentId: string,
): Candidate | undefined {
  const [first] = candidates(gateway, account, facts, paymentId);
  return first && (first.isPreferred || !hasOwn(gateway, facts)) ? first : undefined;
}

/** Whether the provider behind a route asks payers for their cards on its own page. */
export const asksForCard = ({ routes }: Pick<Account, 'routes'>, connector: string): boolean =>
  routes.some(({ connection }) => connection?.key === connector && connection.asksForCard);

/** Whether a card payment goes to a provider that asks the payer for the card; decided before the card is known. */
export function isCardHosted(gateway: Gateway, account: Account, payment: PaymentWithDetails): boolean {
  const route = firstRoute(gateway, account, factsOf({ ...payment, brand: CARD }), payment.paymentId);
  return route !== undefined && asksForCard(account, route.connector);
}

/** Whether some route can take a card that was entered on the payment page. */
export const takesEnteredCard = (gateway: Gateway, { routes }: Account, payment: PaymentWithDetails): boolean =>
  routes.some(
    (route) =>
      route.share > 0 &&
      !route.connection?.asksForCard &&
      isTakenBy(route, factsOf({ ...payment, brand: CARD }), gateway) &&
      mayTake(route, factsOf({ ...payment, brand: CARD })),
  );

/** Where a new payment goes. If no route takes it, the installation's own provider does, if there is one. */
export function chooseRoute(
  gateway: Gateway,
  account: Pick<Account, 'routes'>,
  facts: RouteFacts,
  paymentId: string,
): RouteChoice {
  const connector = ownConnectorOf(facts.brand);
  if (account.routes.length === 0 || !isRoutable(facts.brand)) return { connector, routeReason: null };
  const first = firstRoute(gateway, account, facts, paymentId);
  if (first) return routed(gateway, first);
  return hasOwn(gateway, facts)
    ? { connector, routeReason: 'No route matches: own provider' }
    : { connector: NO_CONNECTOR, routeReason: 'No route matches' };
}

/** The connection that a payment which is only described would go to first. */
export const expectedConnector = (gateway: Gateway, account: Pick<Account, 'routes'>, facts: RouteFacts): string =>
  candidates(gateway, account, facts)[0]?.connector ?? chooseRoute(gateway, account, facts, '').connector;

/** The next connection for a payment that the first ones did not get or declined softly; undefined if there is none. */
export function nextRoute(
  gateway: Gateway,
  account: Account,
  facts: RouteFacts,
  { paymentId, connector }: Pick<Payment, 'paymentId' | 'connector'>,
  tried: readonly string[],
  hasPassedChallenge: boolean,
): RouteChoice | undefined {
  // The own provider of an account without a route that names it is no alternative to anything.
  if (splitConnectionKey(connector).connectionId === null && account.routes.length === 0) return undefined;
  const hasCard = facts.bin !== undefined;
  const isUsable = (candidate: Candidate): boolean =>
    !tried.includes(candidate.connector) &&
    // A card that the payer has entered is not asked for again, and one that is not at hand cannot be submitted.
    (facts.brand !== CARD || asksForCard(account, candidate.connector) !== hasCard) &&
    // A payer who has passed a challenge is not sent to that of a provider.
    !(hasPassedChallenge && capabilitiesOf(gateway, candidate.connector)?.authentication === 'provider');
  const next = candidates(gateway, account, facts, paymentId).find(isUsable);
  return next && routed(gateway, next);
}

function routed({ health }: Gateway, { connector, routeReason }: Candidate): RouteChoice {
  health.chosen(connector);
  return { connector, routeReason };
}
