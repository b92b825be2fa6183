/** Delivers callbacks: claims what is due under a lease and sends it, within the window of each endpoint. */
import { createSingleFlight } from '../../lib/flow/single-flight.ts';
import type { Deliverer, Gateway } from '../context.ts';
import { catchUp } from '../installation/catch-up.ts';
import { attemptDelivery } from './attempt.ts';
import { createDueEndpoints } from './due-endpoints.ts';
import { createEndpoints, type Endpoint } from './endpoints.ts';
import type { EndpointGroup } from './windows.ts';

/** A search, a claim and an announcement each cost the database more than a row: requests made meanwhile share one. */
const COALESCE_MS = 5;
/** How long receivers have to answer what is in flight when the process stops. */
const STOP_TIMEOUT_MS = 3000;

export function createDeliverer(gateway: Gateway): Deliverer {
  const endpoints = createEndpoints();
  const dueEndpoints = createDueEndpoints(gateway);
  const loop = createSingleFlight(deliverRound, {
    pauseMs: COALESCE_MS,
    onError: (error) => gateway.log.warn({ err: error }, 'callbacks could not be claimed'),
    onEnd: settleIdle,
  });
  let isStarted = false;
  let isStopped = false;
  let announcement: NodeJS.Timeout | undefined;
  let whenIdle: PromiseWithResolvers<void> | undefined;

  /** Returns whether there may be more to claim. */
  async function deliverRound(isRequested: boolean): Promise<boolean> {
    if (!isStopped && (isRequested || dueEndpoints.isSweeping)) await dueEndpoints.search();
    const claimed = [await claim('healthy'), await claim('failing')];
    for (const endpoint of endpoints.all()) sendQueued(endpoint);
    // A failing endpoint keeps nothing queued, so that its callbacks take no room from the others.
    await release('failing');
    return !isStopped && (claimed.includes(true) || dueEndpoints.isSweeping);
  }

  /** Claims due callbacks for endpoints of a group that have room; returns whether there were such endpoints. */
  async function claim(group: EndpointGroup): Promise<boolean> {
    const limit = endpoints.claimLimit(group);
    if (isStopped || limit <= 0) return false;
    const requests = dueEndpoints.take((key) => endpoints.roomFor(key, group));
    if (requests.length === 0) return false;
    try {
      const { rows, remaining } = await gateway.callbacks.claimDue(gateway.clock.now(), requests, limit);
      for (const endpoint of remaining) dueEndpoints.add(endpoint);
      await catchUp(gateway, rows);
      endpoints.queue(rows);
    } catch (error) {
      for (const { lookahead: _lookahead, ...endpoint } of requests) dueEndpoints.add(endpoint);
      throw error;
    }
    return true;
  }

  /** Sends what is queued for an endpoint, as far as its window allows; each outcome makes room for the next. */
  function sendQueued(endpoint: Endpoint): void {
    for (let flight = endpoints.startNext(endpoint); flight; flight = endpoints.startNext(endpoint)) {
      const { row, land } = flight;
      void attemptDelivery(gateway, row).then((isDelivered) => {
        land(isDelivered);
        // The next callback of the payment may be due now.
        dueEndpoints.add(endpoint);
        sendQueued(endpoint);
        if (endpoint.queue.length < endpoint.window) loop.request();
      });
    }
  }

  /** Ends the lease of queued callbacks, of all endpoints or of a group, so that they can be claimed again at once. */
  async function release(group?: EndpointGroup): Promise<void> {
    const rows = endpoints.unqueue(group);
    if (rows.length > 0) await gateway.callbacks.release(rows, gateway.clock.now);
    for (const row of rows) dueEndpoints.add(row);
  }

  const isIdle = (): boolean => !loop.isRunning && endpoints.claimed === 0;

  function settleIdle(): void {
    if (!isIdle()) return;
    whenIdle?.resolve();
    whenIdle = undefined;
    endpoints.forgetIdle();
  }

  async function idle(): Promise<void> {
    if (isIdle()) return;
    whenIdle ??= Promise.withResolvers();
    await whenIdle.promise;
  }

  /** Tells the processes that deliver; an announcement costs a commit, so it covers all callbacks of a moment. */
  function announceSoon(): void {
    if (announcement) return;
    announcement = setTimeout(() => {
      announcement = undefined;
      gateway.callbacks.announce().catch((error) => gateway.log.warn({ err: error }, 'callbacks were not announced'));
    }, COALESCE_MS).unref();
  }

  return {
    start() {
      isStarted = true;
      loop.request();
    },
    wake() {
      if (isStarted) loop.request();
      else announceSoon();
    },
    onAnnouncement() {
      if (isStarted) loop.request();
    },
    async drain() {
      dueEndpoints.requestSweep();
      loop.request();
      await idle();
    },
    async stop() {
      isStopped = true;
      await release();
      const timeout = setTimeout(() => gateway.receiver.close(), STOP_TIMEOUT_MS);
      await idle();
      clearTimeout(timeout);
    },
  };
}
