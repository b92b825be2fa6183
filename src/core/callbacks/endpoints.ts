/** The callbacks that this process has claimed, by endpoint: queued, or in flight within the endpoint's window. */
import { LIMITS } from '../../rules/limits.ts';
import type { CallbackRow, EndpointKey } from '../../store/callbacks/callbacks.ts';
import {
  claimLimit,
  type EndpointGroup,
  FIRST_WINDOW,
  firstWindow,
  groupOf,
  isBusy,
  MAX_IN_FLIGHT,
  nextWindow,
  roomFor,
} from './windows.ts';

/** A queued callback this old is left to its lease: another process may claim it soon. */
export const MAX_QUEUED_MS = LIMITS.leaseMs / 3;
/** A failing endpoint is forgotten after this time without an attempt: its merchant may have another address by now. */
export const MAX_IDLE_MS = LIMITS.dayMs;

export interface Endpoint extends EndpointKey {
  window: number;
  inFlight: number;
  /** When the last attempt ended. */
  landedAt: number;
  /** Claimed and not sent yet. */
  queue: { row: CallbackRow; claimedAt: number }[];
}

export interface Flight {
  row: CallbackRow;
  /** Adapts the window to the outcome. Called once, when the attempt is over. */
  land(isDelivered: boolean): void;
}

export interface Endpoints {
  /** How many callbacks are queued or in flight. */
  readonly claimed: number;
  all(): Iterable<Endpoint>;
  /** How many callbacks one statement may claim for the endpoints of a group. */
  claimLimit(group: EndpointGroup): number;
  /** How many callbacks may be claimed for the endpoint with this key; none if it belongs to the other group. */
  roomFor(key: string, group: EndpointGroup): number;
  queue(rows: readonly CallbackRow[]): void;
  /** Takes the next callback of an endpoint out of its queue, if its window and its group have room. */
  startNext(endpoint: Endpoint): Flight | undefined;
  /** Empties the queues of all endpoints, or of one group, and returns the callbacks that were in them. */
  unqueue(group?: EndpointGroup): CallbackRow[];
  /** Drops endpoints without claimed callbacks; failing ones are kept for a while, so that they stay in their group. */
  forgetIdle(): void;
}

export const endpointKey = ({ mid, endpoint }: EndpointKey): string => `${mid} ${endpoint}`;

export function createEndpoints(now = (): number => performance.now()): Endpoints {
  const known = new Map<string, Endpoint>();
  const inFlight: Record<EndpointGroup, number> = { healthy: 0, failing: 0 };
  let queued = 0;

  const claimed = (): number => queued + inFlight.healthy + inFlight.failing;
  const claimedFor = (endpoint: Endpoint): number => endpoint.inFlight + endpoint.queue.length;

  function endpointOf(row: CallbackRow): Endpoint {
    const key = endpointKey(row);
    const { mid, endpoint, retryIndex } = row;
    const window = firstWindow(retryIndex);
    const found = known.get(key) ?? { mid, endpoint, window, inFlight: 0, landedAt: now(), queue: [] };
    known.set(key, found);
    return found;
  }

  function start(endpoint: Endpoint, row: CallbackRow): Flight {
    // The endpoint may change its group while the callback is in flight.
    const group = groupOf(endpoint.window);
    endpoint.inFlight++;
    inFlight[group]++;
    return {
      row,
      land(isDelivered) {
        endpoint.inFlight--;
        inFlight[group]--;
        endpoint.window = nextWindow(endpoint.window, isDelivered);
        endpoint.landedAt = now();
      },
    };
  }

  return {
    get claimed() {
      return claimed();
    },
    all: () => known.values(),
    claimLimit: (group) => claimLimit(group, claimed(), inFlight.failing),
    roomFor(key, group) {
      const endpoint = known.get(key);
      const window = endpoint?.window ?? FIRST_WINDOW;
      return groupOf(window) === group ? roomFor(window, endpoint ? claimedFor(endpoint) : 0, isBusy(claimed())) : 0;
    },
    queue(rows) {
      const claimedAt = now();
      for (const row of rows) endpointOf(row).queue.push({ row, claimedAt });
      queued += rows.length;
    },
    startNext(endpoint) {
      const group = groupOf(endpoint.window);
      while (endpoint.inFlight < endpoint.window && inFlight[group] < MAX_IN_FLIGHT[group]) {
        const next = endpoint.queue.shift();
        if (!next) return undefined;
        queued--;
        if (now() - next.claimedAt <= MAX_QUEUED_MS) return start(endpoint, next.row);
      }
      return undefined;
    },
    unqueue(group) {
      const rows: CallbackRow[] = [];
      for (const { window, queue } of known.values()) {
        if (group === undefined || groupOf(window) === group) rows.push(...queue.splice(0).map(({ row }) => row));
      }
      queued -= rows.length;
      return rows;
    },
    forgetIdle() {
      for (const [key, endpoint] of known) {
        const isKept = groupOf(endpoint.window) === 'failing' && now() - endpoint.landedAt < MAX_IDLE_MS;
        if (!isKept && claimedFor(endpoint) === 0) known.delete(key);
      }
    },
  };
}
