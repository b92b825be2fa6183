/** The backlog: finds endpoints that have due callbacks and keeps them until callbacks are claimed for them. */
import { LIMITS } from '../../rules/limits.ts';
import {
  type ClaimRequest,
  type DueEndpoint,
  type EndpointKey,
  SWEEP_START,
  type SweepPosition,
} from '../../store/callbacks/callbacks.ts';
import type { Gateway } from '../context.ts';
import { isSweepTime } from '../due/rows.ts';
import { endpointKey } from './endpoints.ts';

/** A sweep starts at most this often, unless one is requested; it begins where the last one did, or all over again. */
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
  /**
   * Puts an endpoint at the end of the backlog, unless it is there already. Without `since`, its callbacks that fell due
   * lately are claimed.
   */
  add(endpoint: EndpointKey & Partial<DueEndpoint>): void;
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
  /** When the last sweep, and the last one over all due callbacks, started. */
  let startedAt = Number.NEGATIVE_INFINITY;
  let allStartedAt = Number.NEGATIVE_INFINITY;

  const lately = (): number => gateway.clock.now() - LIMITS.dueOverlapMs;

  function add({ mid, endpoint, lookahead = 0, since = lately() }: EndpointKey & Partial<DueEndpoint>): void {
    const key = endpointKey({ mid, endpoint });
    const known = backlog.get(key);
    if (!known) backlog.set(key, { mid, endpoint, lookahead, since });
    else if (known.since !== null) known.since = since === null ? null : Math.min(since, known.since);
  }

  /**
   * Callbacks that fell due since the last sweep started are after its time in the order of `due_at`. Before it are the
   * index entries of all callbacks that were delivered since the last vacuum; only some sweeps read these.
   */
  function startSweep(fromStart: boolean): SweepPosition {
    const now = gateway.clock.now();
    const isOverAll = fromStart || isSweepTime(allStartedAt, now);
    const position = isOverAll
      ? SWEEP_START
      : { ...SWEEP_START, dueAt: new Date(Math.min(now, startedAt) - LIMITS.dueOverlapMs).toISOString() };
    startedAt = now;
    if (isOverAll) allStartedAt = now;
    return position;
  }

  return {
    async search() {
      if (isSweepRequested) position = startSweep(true);
      else if (performance.now() - sweptAt >= SWEEP_INTERVAL_MS) position ??= startSweep(false);
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
