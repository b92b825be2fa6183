/** The backlog: finds endpoints that have due callbacks and keeps them until callbacks are claimed for them. */
import {
  type ClaimRequest,
  type DueEndpoint,
  type EndpointKey,
  SWEEP_START,
  type SweepPosition,
} from '../../store/callbacks.ts';
import type { Gateway } from '../context.ts';
import { endpointKey } from './endpoints.ts';

/** A sweep starts at most this often, unless one is requested. */
const SWEEP_INTERVAL_MS = 1000;
/** For how many endpoints one statement claims callbacks. */
const MAX_CLAIM_REQUESTS = 512;

export interface DueEndpoints {
  /** Adds the endpoints of the newest due callbacks and, during a sweep, those of the next ones in order of `due_at`. */
  search(): Promise<void>;
  /** Makes the next search start a sweep over all due callbacks from the beginning. */
  requestSweep(): void;
  /** Whether a sweep is under way or requested, so that a further search is needed. */
  readonly isSweeping: boolean;
  /** Puts an endpoint at the end of the backlog, unless it is there already. */
  add(endpoint: EndpointKey, lookahead?: number): void;
  /** Removes the first endpoints that have room from the backlog, to claim callbacks for them. */
  take(roomFor: (key: string) => number): ClaimRequest[];
}

export function createDueEndpoints(gateway: Pick<Gateway, 'callbacks' | 'clock'>): DueEndpoints {
  const backlog = new Map<string, DueEndpoint>();
  /** Undefined between two sweeps. */
  let position: SweepPosition | undefined;
  // A flag of its own: a search that is under way would overwrite the position.
  let isSweepRequested = false;
  let sweptAt = Number.NEGATIVE_INFINITY;

  function add({ mid, endpoint }: EndpointKey, lookahead = 0): void {
    const key = endpointKey({ mid, endpoint });
    if (!backlog.has(key)) backlog.set(key, { mid, endpoint, lookahead });
  }

  return {
    async search() {
      if (isSweepRequested) position = SWEEP_START;
      else if (performance.now() - sweptAt >= SWEEP_INTERVAL_MS) position ??= SWEEP_START;
      isSweepRequested = false;
      const wasSweeping = position !== undefined;
      const { found, sweep } = await gateway.callbacks.findDue(gateway.clock.now(), position);
      for (const endpoint of found) add(endpoint);
      position = sweep;
      if (wasSweeping && position === undefined) sweptAt = performance.now();
    },
    requestSweep() {
      isSweepRequested = true;
    },
    get isSweeping() {
      return isSweepRequested || position !== undefined;
    },
    add,
    take(roomFor) {
      const requests: ClaimRequest[] = [];
      for (const [key, due] of backlog) {
        const room = roomFor(key);
        if (room > 0) requests.push({ ...due, room });
        if (requests.length === MAX_CLAIM_REQUESTS) break;
      }
      for (const request of requests) backlog.delete(endpointKey(request));
      return requests;
    },
  };
}
