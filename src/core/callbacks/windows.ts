/** How many callbacks an endpoint may have in flight, and how many all endpoints of this process together. */

/** The window of an endpoint that has not answered yet in this process. */
export const FIRST_WINDOW = 4;
const MAX_WINDOW = 16;
/** Callbacks are claimed this many windows ahead, so that a fast endpoint does not wait for the database. */
const WINDOWS_AHEAD = 4;

/** In this process; failing endpoints have a limit of their own, so that they leave room for the healthy ones. */
export const MAX_IN_FLIGHT = { healthy: 2048, failing: 256 } as const;
const MAX_CLAIMED = 2 * MAX_IN_FLIGHT.healthy;
/** From this many claimed callbacks on, an endpoint that has not answered yet gets one at a time: many may hang. */
const BUSY_FROM = MAX_IN_FLIGHT.healthy / 4;

export type EndpointGroup = keyof typeof MAX_IN_FLIGHT;

/** An endpoint that failed before, in this process or another, starts with the window it has after one failure. */
export const firstWindow = (retryIndex: number): number =>
  retryIndex > 0 ? nextWindow(FIRST_WINDOW, false) : FIRST_WINDOW;

/** Additive increase, multiplicative decrease, as in TCP congestion control. */
export const nextWindow = (window: number, isDelivered: boolean): number =>
  isDelivered ? Math.min(MAX_WINDOW, window + 1) : Math.max(1, Math.floor(window / 2));

/** A single failure among many deliveries does not make an endpoint a failing one; a window of one does. */
export const groupOf = (window: number): EndpointGroup => (window === 1 ? 'failing' : 'healthy');

/** How many more callbacks may be claimed for an endpoint that has `claimed` queued or in flight. */
export function roomFor(window: number, claimed: number, isBusy: boolean): number {
  const hasAnswered = window > FIRST_WINDOW;
  const isOneAtATime = groupOf(window) === 'failing' || (isBusy && !hasAnswered);
  return Math.max(0, (isOneAtATime ? 1 : window * WINDOWS_AHEAD) - claimed);
}

/** Whether this process has so many callbacks queued or in flight that endpoints without an answer yet get one each. */
export const isBusy = (claimed: number): boolean => claimed >= BUSY_FROM;

/** How many more callbacks one statement may claim for a group; zero or less means none. */
export function claimLimit(group: EndpointGroup, claimed: number, failingInFlight: number): number {
  if (group === 'failing') return MAX_IN_FLIGHT.failing - failingInFlight;
  return (isBusy(claimed) ? MAX_CLAIMED : BUSY_FROM) - claimed;
}
