/** Merchants with servers that receive callbacks, and access to what arrived there and to the log of attempts. */
import { createHmac } from 'node:crypto';
import { expect, onTestFinished } from 'vitest';
import { createReceiver } from '../../src/connectors/receiver.ts';
import type { Gateway } from '../../src/core/context.ts';
import type { CallbackAttempt, CallbackRow } from '../../src/store/callbacks/callbacks.ts';
import { type Answer, type Fields, type Merchant, saleFields, type TestGateway } from './gateway.ts';
import { type OperationAction, operationFields } from './operations.ts';
import { answers, type Behaviour, type Received, startReceiver, type TestReceiver } from './receivers.ts';

/** The pauses of the retry schedule in seconds, stated independently of the source. */
export const RETRY_SCHEDULE = [10, 30, 60, 300, 900, 1800, 3600, 7200, 14_400, 28_800, 43_200, 86_400, 86_400];

export type MerchantWithSecret = Merchant & { callback_secret: string };
export type LoggedCallback = CallbackRow & { log: CallbackAttempt[] };

export const idOf = ({ headers }: Received): string => String(headers['webhook-id']);

/** Whether the signature over exactly these bytes is valid, computed independently of the gateway's code. */
export function isSigned({ headers, body }: Received, secret: string): boolean {
  const signature = createHmac('sha256', Buffer.from(secret.replace('whsec_', ''), 'base64'))
    .update(`${headers['webhook-id']}.${headers['webhook-timestamp']}.`)
    .update(body)
    .digest('base64');
  return String(headers['webhook-signature']).split(' ').includes(`v1,${signature}`);
}

/** How long a callback waits after its latest attempt, in seconds. */
export function pauseOf({ dueAt, log }: LoggedCallback): number {
  return ((dueAt as number) - (log.at(-1) as CallbackAttempt).at) / 1000;
}

/** Expects the scheduled pause, up to a fifth shorter or longer. */
export function expectPause(callback: LoggedCallback, retryIndex: number): void {
  const scheduled = RETRY_SCHEDULE[retryIndex] as number;
  expect(pauseOf(callback), `pause ${retryIndex + 1}`).toBeGreaterThanOrEqual(0.8 * scheduled);
  expect(pauseOf(callback), `pause ${retryIndex + 1}`).toBeLessThanOrEqual(1.2 * scheduled);
}

/** A server that delays its answers and counts its concurrent requests. */
export interface Holding {
  behaviour: Behaviour;
  /** How many requests were open when each one arrived, itself included. */
  seen: number[];
  /** Answers everything that is held, and every later request at once. */
  release(): void;
}

/** Holds requests for a while, or until `release` is called, and then answers the nth one by `then`. */
export function holds(then: (nth: number) => Behaviour = () => answers(200), holdMs?: number): Holding {
  const waiting = new Set<() => void>();
  const seen: number[] = [];
  let underWay = 0;
  let isOpen = false;
  const release = (): void => {
    isOpen = true;
    for (const answer of [...waiting]) answer();
  };
  // Calls that are held after a failure would delay the tests that follow.
  onTestFinished(release);
  return {
    seen,
    release,
    behaviour(response, request) {
      seen.push(++underWay);
      const nth = seen.length;
      const answer = (): void => {
        if (!waiting.delete(answer)) return;
        underWay--;
        then(nth)(response, request);
      };
      waiting.add(answer);
      if (isOpen) answer();
      else if (holdMs !== undefined) setTimeout(answer, holdMs);
    },
  };
}

/** One merchant and its server. */
export interface MerchantSite {
  merchant: MerchantWithSecret;
  receiver: TestReceiver;
  /** Makes a payment with one callback. */
  sale(fields?: Fields): Promise<string>;
  sales(count: number, fields?: Fields): Promise<string[]>;
  operate(action: OperationAction, id: string, fields?: Fields): Promise<void>;
  callbacks(id: string): Promise<LoggedCallback[]>;
  /** The newest callback of a payment. */
  newest(id: string): Promise<LoggedCallback>;
  pass(seconds: number): Promise<void>;
  set(settings: Record<string, unknown>): Promise<void>;
  resend(id?: string): Promise<number>;
}

export function deliveriesAt(shop: TestGateway) {
  const receivers: TestReceiver[] = [];

  const receiver = async (...options: Parameters<typeof startReceiver>): Promise<TestReceiver> => {
    const started = await startReceiver(...options);
    receivers.push(started);
    return started;
  };

  const done = ({ status, body }: Answer): Answer['body'] => {
    expect(status, JSON.stringify(body)).toBe(200);
    return body;
  };

  const siteAt = async (at: TestReceiver, settings: Record<string, unknown> = {}): Promise<MerchantSite> => {
    const merchant = (await shop.newMerchant({ callback_url: at.url, ...settings })) as MerchantWithSecret;
    const { mid } = merchant;
    const sale = async (fields: Fields = {}): Promise<string> =>
      done(await shop.post(saleFields(merchant, fields))).trans_id;
    const callbacks = (paymentId: string): Promise<LoggedCallback[]> => shop.gateway.callbacks.of({ mid, paymentId });
    return {
      merchant,
      receiver: at,
      sale,
      sales: (count, fields) => Promise.all(Array.from({ length: count }, () => sale(fields))),
      operate: async (action, id, fields) => done(await shop.post(operationFields(merchant, action, id, fields))),
      callbacks,
      newest: async (id) => (await callbacks(id)).at(-1) as LoggedCallback,
      pass: (seconds) => shop.advanceClock(seconds, mid),
      set: async (settings) => done(await shop.admin('PATCH', `/accounts/${mid}`, settings)),
      resend: (paymentId) => shop.gateway.callbacks.resend({ mid, paymentId }, shop.gateway.clock.now),
    };
  };

  /** A few at a time, because the gateway refuses more than it can do. */
  const sitesAt = async (at: TestReceiver, count: number): Promise<MerchantSite[]> => {
    const sites: MerchantSite[] = [];
    while (sites.length < count) {
      const portion = Array.from({ length: Math.min(20, count - sites.length) }, () => siteAt(at));
      sites.push(...(await Promise.all(portion)));
    }
    return sites;
  };

  return {
    receiver,
    siteAt,
    sitesAt,
    /** A merchant with a new server. */
    siteWith: async (behaviour: Behaviour, settings?: Record<string, unknown>): Promise<MerchantSite> =>
      siteAt(await receiver(behaviour), settings),
    drain: (): Promise<void> => shop.gateway.deliverer.drain(),
    close: async (): Promise<void> => {
      for (const one of receivers.splice(0)) await one.close();
    },
  };
}

/** Replaces the callback client by one with another timeout, so that tests need not wait ten seconds for a call that hangs. */
export async function setReceiverTimeout(gateway: Gateway, totalMs: number): Promise<void> {
  await gateway.receiver.close();
  gateway.receiver = createReceiver({ ...gateway.callbackReach, totalMs });
}

/** How many attempts a process has made, by its metrics. */
export async function attemptsBy({ metrics }: Gateway): Promise<number> {
  const counts = [...(await metrics.text()).matchAll(/^turnpike_callback_attempts_total\{.*\} (\d+)$/gm)];
  return counts.reduce((sum, [, count]) => sum + Number(count), 0);
}
