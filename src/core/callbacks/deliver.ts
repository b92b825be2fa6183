/** Delivers callbacks: takes what is due, sends it a few at a time to each endpoint, and writes what came of it. */
import { setTimeout as pause } from 'node:timers/promises';
import { FAULT_MESSAGES } from '../../connectors/receiver.ts';
import { signatureOf } from '../../lib/signature.ts';
import { RETRY_AFTER_MOST_MS, RETRY_JITTER, RETRY_SCHEDULE_MS } from '../../rules/callbacks.ts';
import { LIMITS } from '../../rules/limits.ts';
import {
  type CallbackKey,
  type CallbackRow,
  type DueEndpoint,
  type DuePlace,
  type EndpointKey,
  SWEEP_START,
  type Told,
  type WantedEndpoint,
} from '../../store/callbacks.ts';
import { findAccount } from '../accounts.ts';
import { catchUp } from '../catch-up.ts';
import type { Deliverer, Gateway } from '../context.ts';

/** How one receiver fares: it gets more at a time as long as it answers, and less as soon as it does not. */
interface Endpoint extends EndpointKey {
  /** How many it is sent at a time. */
  window: number;
  sending: number;
  /** Taken, and about to be sent. */
  queue: { row: CallbackRow; takenAt: number }[];
}

const WINDOW_FIRST = 4;
const WINDOW_MOST = 16;
/** Taken beforehand, in windows, so that a fast receiver does not wait for the database. */
const AHEAD = 4;
/** What was taken longer ago than this is left to its lease: another process may have it soon. */
const FRESH_MS = LIMITS.leaseMs / 3;
const TOGETHER_MS = 5;
/** A sweep over everything that is due begins this often at most, unless one is asked for. */
const SWEEP_EVERY_MS = 1000;
/** For how many endpoints one statement takes callbacks. */
const WANTED_MOST = 512;
/** When we stop, receivers get this long to answer what they were sent. */
const STOP_MS = 3000;
/** Over all endpoints of this process; those that fail have a lane of their own, so that the others find room. */
const SENDING_MOST = { sound: 2048, failing: 256 } as const;
const TAKEN_MOST = 2 * SENDING_MOST.sound;
/** When so much is taken, whoever has not answered yet gets one at a time: it may be one of many that hang. */
const BUSY = SENDING_MOST.sound / 4;

type PipelinedConnection = keyof typeof SENDING_MOST;

/** One failure among many answers is not enough: it fails when it has come down to one at a time. */
const laneOf = ({ window }: Endpoint): PipelinedConnection => (window === 1 ? 'failing' : 'sound');
const hasAnswered = ({ window }: Endpoint): boolean => window > WINDOW_FIRST;

const keyOf = ({ mid, endpoint }: EndpointKey): string => `${mid} ${endpoint}`;

/** The name under which a receiver can tell that it has seen a callback before. */
export const callbackId = ({ paymentId, seq }: Omit<CallbackKey, 'mid'>): string => `${paymentId}-${seq}`;

export function createDeliverer(gateway: Gateway): Deliverer {
  const endpoints = new Map<string, Endpoint>();
  /** The endpoints that may have something due; who was asked for last comes last. */
  const backlog = new Map<string, DueEndpoint>();
  const sending: Record<PipelinedConnection, number> = { sound: 0, failing: 0 };
  let queued = 0;
  let isOn = false;
  let isStopped = false;
  let isTaking = false;
  let isAskedAgain = false;
  let isAnnounced = false;
  /** How far the sweep over everything that is due has come; nothing when none is under way. */
  let sweep: DuePlace | undefined;
  let isSweepAsked = false;
  let sweptAt = Number.NEGATIVE_INFINITY;
  let idlers: (() => void)[] = [];

  const endpointOf = (row: CallbackRow): Endpoint => {
    const { mid, endpoint, retryIndex } = row;
    // Whoever has failed before, here or elsewhere, begins as after a failure.
    const window = retryIndex > 0 ? WINDOW_FIRST / 2 : WINDOW_FIRST;
    const known = endpoints.get(keyOf(row)) ?? { mid, endpoint, window, sending: 0, queue: [] };
    endpoints.set(keyOf(row), known);
    return known;
  };

  /** Remembers that an endpoint may have something due, unless that is known. */
  const remember = ({ mid, endpoint }: EndpointKey, ahead = 0): void => {
    const key = keyOf({ mid, endpoint });
    if (!backlog.has(key)) backlog.set(key, { mid, endpoint, ahead });
  };

  const taken = (): number => queued + sending.sound + sending.failing;

  /** How many are taken for an endpoint: one that answers well gets its next ones beforehand. */
  function roomOf(endpoint: Endpoint, isBusy: boolean): number {
    const { window, sending: busy, queue } = endpoint;
    const isOneAtATime = laneOf(endpoint) === 'failing' || (isBusy && !hasAnswered(endpoint));
    return Math.max(0, (isOneAtATime ? 1 : window * AHEAD) - busy - queue.length);
  }

  /** Takes what is due, one statement at a time; whoever asks meanwhile makes it look once more. */
  async function take(): Promise<void> {
    if (isTaking) {
      isAskedAgain = true;
      return;
    }
    isTaking = true;
    try {
      for (let isLooking = true, isMore = true; isMore; ) {
        isAskedAgain = false;
        if (isLooking) await look();
        const isFound = [await claim('sound'), await claim('failing')].includes(true);
        for (const endpoint of endpoints.values()) sendNext(endpoint);
        await giveBack([...endpoints.values()].filter((endpoint) => laneOf(endpoint) === 'failing'));
        const mustLook = (): boolean => isAskedAgain || isSweepAsked || sweep !== undefined;
        isMore = !isStopped && (mustLook() || isFound);
        // A look costs the database more than a row does: what is asked for meanwhile is taken together.
        if (isMore) await pause(TOGETHER_MS);
        isLooking = mustLook();
      }
    } catch (error) {
      gateway.log.warn({ err: error }, 'callbacks could not be taken');
    } finally {
      isTaking = false;
      tellIdlers();
    }
  }

  /** Looks for endpoints that have something due: among the newest each time, and among all of them by and by. */
  async function look(): Promise<void> {
    if (isStopped) return;
    if (isSweepAsked) sweep = SWEEP_START;
    else if (performance.now() - sweptAt >= SWEEP_EVERY_MS) sweep ??= SWEEP_START;
    isSweepAsked = false;
    const isSweeping = sweep !== undefined;
    const searched = await gateway.callbacks.findDue(gateway.clock.now(), sweep);
    for (const found of searched.found) remember(found);
    sweep = searched.sweep;
    if (isSweeping && sweep === undefined) sweptAt = performance.now();
  }

  /** Takes callbacks for endpoints of a lane that have room; true when there were any. Those that fail have few at a time. */
  async function claim(lane: PipelinedConnection): Promise<boolean> {
    const isBusy = taken() >= BUSY;
    const most = lane === 'failing' ? SENDING_MOST.failing - sending.failing : (isBusy ? TAKEN_MOST : BUSY) - taken();
    if (isStopped || most <= 0) return false;
    const wanted = wantedOf(lane, isBusy);
    if (wanted.length === 0) return false;
    for (const one of wanted) backlog.delete(keyOf(one));
    try {
      const { rows, left } = await gateway.callbacks.claimDue(gateway.clock.now(), wanted, most);
      for (const one of left) remember(one, one.ahead);
      await catchUp(gateway, rows);
      const takenAt = performance.now();
      for (const row of rows) endpointOf(row).queue.push({ row, takenAt });
      queued += rows.length;
    } catch (error) {
      for (const one of wanted) remember(one);
      throw error;
    }
    return true;
  }

  function wantedOf(lane: PipelinedConnection, isBusy: boolean): WantedEndpoint[] {
    const wanted: WantedEndpoint[] = [];
    for (const [key, due] of backlog) {
      const known = endpoints.get(key);
      if ((known ? laneOf(known) : 'sound') !== lane) continue;
      const room = known ? roomOf(known, isBusy) : isBusy ? 1 : WINDOW_FIRST * AHEAD;
      if (room > 0) wanted.push({ ...due, room });
      if (wanted.length === WANTED_MOST) break;
    }
    return wanted;
  }

  /** Gives back what is taken and not sent; so nothing waits here for those that fail, and takes the others' room. */
  async function giveBack(of: readonly Endpoint[]): Promise<void> {
    const unsent = of.flatMap(({ queue }) => queue.splice(0).map(({ row }) => row));
    queued -= unsent.length;
    if (unsent.length > 0) await gateway.callbacks.giveBack(unsent, gateway.clock.now);
    for (const row of unsent) remember(row);
  }

  function sendNext(endpoint: Endpoint): void {
    const lane = laneOf(endpoint);
    while (endpoint.sending < endpoint.window && sending[lane] < SENDING_MOST[lane]) {
      const next = endpoint.queue.shift();
      if (!next) break;
      queued--;
      if (performance.now() - next.takenAt > FRESH_MS) continue;
      endpoint.sending++;
      sending[lane]++;
      void deliver(gateway, next.row).then((isDelivered) => {
        endpoint.sending--;
        sending[lane]--;
        endpoint.window = isDelivered
          ? Math.min(WINDOW_MOST, endpoint.window + 1)
          : Math.max(1, Math.floor(endpoint.window / 2));
        // The next of its payment may be due now.
        remember(endpoint);
        sendNext(endpoint);
        if (endpoint.queue.length < endpoint.window) void take();
      });
    }
  }

  const isIdle = (): boolean => !isTaking && taken() === 0;

  function tellIdlers(): void {
    if (!isIdle()) return;
    for (const tell of idlers) tell();
    idlers = [];
    // An endpoint with nothing under way is as good as a new one, unless it fails.
    for (const [key, endpoint] of endpoints) if (laneOf(endpoint) === 'sound') endpoints.delete(key);
  }

  /** A word to the others costs a commit, so what is written within a moment shares one. */
  function announceSoon(): void {
    if (isAnnounced) return;
    isAnnounced = true;
    setTimeout(() => {
      isAnnounced = false;
      gateway.callbacks.announce().catch((error) => gateway.log.warn({ err: error }, 'callbacks were not announced'));
    }, TOGETHER_MS).unref();
  }

  const idle = (): Promise<void> => (isIdle() ? Promise.resolve() : new Promise((resolve) => idlers.push(resolve)));

  return {
    start() {
      isOn = true;
      void take();
    },
    wake() {
      if (isOn) void take();
      else announceSoon();
    },
    heard() {
      if (isOn) void take();
    },
    async drain() {
      isSweepAsked = true;
      await take();
      await idle();
    },
    async stop() {
      isStopped = true;
      await giveBack([...endpoints.values()]);
      const slow = setTimeout(() => gateway.receiver.close(), STOP_MS);
      await idle();
      clearTimeout(slow);
    },
  };
}

/** Sends a callback once and writes what came of it; true when the receiver took it. */
async function deliver(gateway: Gateway, row: CallbackRow): Promise<boolean> {
  const { mid } = row;
  try {
    const told = await send(gateway, row);
    // Nobody answered because we ended the call: that is no try, and the lease gives it to the next process.
    if (!told) return false;
    const names = { mid, payment_id: row.paymentId, callback: callbackId(row) };
    if (await gateway.callbacks.record(told)) {
      gateway.metrics.delivered(told.state, gateway.clock.now(mid) - row.createdAt);
      if (told.state === 'parked') gateway.log.warn({ ...names, reason: told.reason }, 'callback parked');
    } else {
      gateway.log.debug(names, 'callback was tried, but is no longer ours');
    }
    // Even when another decides what becomes of it, the answer says how the receiver fares.
    return told.state === 'delivered';
  } catch (error) {
    // Not written: the lease runs out and it is sent again.
    gateway.log.error({ err: error, mid, payment_id: row.paymentId }, 'callback could not be recorded');
    return false;
  }
}

async function send(gateway: Gateway, row: CallbackRow): Promise<Told | undefined> {
  const { mid, paymentId, seq, body, dueAt: takenUntil } = row;
  const key = { mid, paymentId, seq };
  const at = (): number => gateway.clock.now(mid);
  const account = await findAccount(gateway, mid);
  const secrets = secretsOf(gateway, account);
  if (!account || !secrets) {
    const reason = 'It could not be signed: the secret of the account cannot be opened.';
    return { key, takenUntil, state: 'parked', reason, dueAt: null, at: at(), status: null, fault: reason, tookMs: 0 };
  }
  const url = row.url ?? account.settings.callback_url;
  const delivery =
    url === ''
      ? ({ kind: 'failed', fault: 'noAddress', tookMs: 0 } as const)
      : await gateway.receiver.send({
          url,
          headers: {
            'content-type': row.isJson ? 'application/json; charset=utf-8' : 'application/x-www-form-urlencoded',
            'user-agent': 'Turnpike',
            'turnpike-sequence': String(seq),
            // Real time: the receiver knows nothing of a clock that was moved.
            ...signatureOf(callbackId(row), Date.now(), body, secrets),
          },
          body,
        });
  const isAnswered = delivery.kind === 'answered';
  if (!isAnswered && delivery.fault === 'stopped') return undefined;
  const tried = {
    key,
    takenUntil,
    at: at(),
    status: isAnswered ? delivery.status : null,
    fault: isAnswered ? null : FAULT_MESSAGES[delivery.fault],
    tookMs: delivery.tookMs,
  };
  if (isAnswered && delivery.status >= 200 && delivery.status < 300) {
    return { ...tried, state: 'delivered', reason: null, dueAt: null };
  }
  const pauseMs = pauseAfter(row.retryIndex, isAnswered ? delivery.retryAfterMs : undefined);
  if (pauseMs !== undefined) return { ...tried, state: 'waiting', reason: null, dueAt: tried.at + pauseMs };
  return { ...tried, state: 'parked', reason: 'It was tried as often as the ladder of pauses allows.', dueAt: null };
}

function secretsOf(gateway: Gateway, account: Awaited<ReturnType<typeof findAccount>>): readonly string[] | undefined {
  try {
    return account?.callbackSecrets();
  } catch (error) {
    gateway.log.error({ err: error, mid: account?.mid }, 'callback secret cannot be opened');
    return undefined;
  }
}

/** How long to wait before the next try; nothing when there is none. */
function pauseAfter(retryIndex: number, retryAfterMs = 0): number | undefined {
  const pause = RETRY_SCHEDULE_MS[retryIndex];
  if (pause === undefined) return undefined;
  const jittered = pause * (1 + RETRY_JITTER * (2 * Math.random() - 1));
  return Math.round(Math.max(jittered, Math.min(retryAfterMs, RETRY_AFTER_MOST_MS)));
}
