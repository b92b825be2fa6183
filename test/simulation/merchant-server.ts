/** A model of the merchant's server: logs every callback that arrives, and sometimes fails or loses its answer. */
import type { Delivery, Receiver } from '../../src/connectors/receiver.ts';
import type { Faults } from './faults.ts';
import { type Owner, type Scheduler, WORLD } from './scheduler.ts';

export interface ReceivedCallback {
  /** The payment and the number of the callback, as `webhook-id` has them. */
  id: string;
  sequence: number;
  body: string;
}

export interface MerchantServer {
  /** In the order of their arrival, with repeats. */
  received: readonly ReceivedCallback[];
  /** The server as a process sees it. */
  of(owner: Owner): Receiver;
}

const TIMEOUT_MS = 10_000;
type Fate = 'accepted' | 'unreachable' | 'refused' | 'lost answer' | 'timeout';
const FAULTS: readonly Fate[] = ['unreachable', 'refused', 'lost answer', 'timeout'];

const answered = (status: number): Delivery => ({ kind: 'answered', status, retryAfterMs: undefined, tookMs: 0 });
const failed = (fault: 'refused' | 'closed' | 'timeout'): Delivery => ({ kind: 'failed', fault, tookMs: 0 });

const ANSWERS: Readonly<Record<Fate, Delivery>> = {
  accepted: answered(200),
  unreachable: failed('refused'),
  refused: answered(500),
  'lost answer': failed('closed'),
  timeout: failed('timeout'),
};

export function createMerchantServer(scheduler: Scheduler, faults: Faults): MerchantServer {
  const { chance } = scheduler;
  const received: ReceivedCallback[] = [];
  return {
    received,
    of: (owner) => ({
      send: ({ headers, body }) =>
        new Promise((resolve) => {
          const fate = faults.happens('receiver') ? chance.of(FAULTS) : 'accepted';
          const backMs = fate === 'timeout' ? TIMEOUT_MS : chance.between(1, 200);
          const answer = (): void =>
            void scheduler.after(owner, backMs, 'gets the answer of the merchant', () => resolve(ANSWERS[fate]));
          if (fate === 'unreachable') return answer();
          scheduler.after(WORLD, chance.between(1, 200), `merchant gets a callback (${fate})`, () => {
            const { 'webhook-id': id = '', 'turnpike-sequence': sequence } = headers;
            received.push({ id, sequence: Number(sequence), body: String(body) });
            answer();
          });
        }),
      close: async () => undefined,
    }),
  };
}
