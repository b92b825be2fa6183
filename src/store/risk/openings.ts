/** Opens payments and counts them for risk rules in one transaction, many at a time: one commit makes both durable. */
import { batch, Overloaded } from '../../lib/flow/batch.ts';
import {
  isDeadlock,
  isDivisionByZero,
  isItemFault,
  isLockTimeout,
  isLost,
  isOutOfRange,
  Outage,
} from '../../lib/flow/faults.ts';
import { LIMITS } from '../../rules/limits.ts';
import type { Database } from '../database/database.ts';
import { isCommitted } from '../database/lost-write.ts';
import { createPacket, type Packet } from '../database/packet.ts';
import { run } from '../database/pipelined-connection.ts';
import { type PaymentStoreOptions, reportWrite } from '../payments/batch.ts';
import type { PaymentWithDetails } from '../payments/payments.ts';
import { type Opened, type OpenItem, openPayments, sizeOf, TOO_LATE } from '../payments/write.ts';
import {
  COUNT_OPENED,
  type CountedItem,
  isUndecided,
  lock,
  type Made,
  type NewDecision,
  onConnection,
  write,
} from './decisions.ts';
import { type DecidedItem, type Evaluation, type Findings, read } from './findings.ts';
import type { Runner } from './volumes.ts';

/** Returns undefined if the payment has to be evaluated by itself. */
type Decide<Result extends NewDecision> = (found: Findings) => Result | undefined;

interface Opening {
  open: OpenItem;
  item: Evaluation;
  decide: Decide<NewDecision>;
}

interface Answer<Result> {
  opened: Opened;
  made: Result | undefined;
}

export interface OpeningStore {
  /**
   * Opens a payment, as the store of payments does, and decides about it. Without `made` it is open, and not decided.
   * Undefined if nothing was written: the payment is to be opened by itself.
   */
  open<Result extends NewDecision>(
    payment: PaymentWithDetails,
    item: Evaluation,
    decide: Decide<Result>,
  ): Promise<{ isOpened: boolean; made: Result | undefined } | undefined>;
}

/** How long after a batch the next one is sent at the earliest. */
const EVERY_MS = 1.5;

/** If most of the last batches took longer, batches have connections of their own for a while: a disk that stalls delays fewer. */
const SHORT_MS = 25;
const APART_MS = 60_000;
const LAST_BATCHES = 31;

/** Statements of a packet have names of their own: if it fails, it is not known which of them are prepared. */
const runInPacket: typeof run = (packet, name, ...rest) => run(packet, `packet_${name}`, ...rest);

export function createOpeningStore(
  { writes, decisions, isolated }: Pick<Database, 'writes' | 'decisions' | 'isolated'>,
  options: PaymentStoreOptions,
): OpeningStore {
  const { now = Date.now, onRiskVersion } = options;

  /**
   * The statements of a batch are one packet, and the locks do not wait for this process. If it dies after the commit, the
   * payments are due and were not submitted: the work loop queries their providers and declines them.
   */
  async function open(
    queued: readonly Opening[],
    { waits }: { waits: boolean },
    send: (packet: Packet) => Promise<void>,
  ) {
    const began = performance.now();
    const packet = createPacket();
    const items = queued.map(({ item }) => item);
    const locked = lock(packet, items, { waits });
    const found = read(packet, items);
    const counted = queued.map(({ open, item }): CountedItem => ({ ...open, item }));
    const openUntil = now() + LIMITS.hotStatementTimeoutMs;
    const opened = openPayments(packet, counted, openUntil, onRiskVersion, runInPacket, COUNT_OPENED);
    try {
      const [wereOpened, findingsOf] = await Promise.all([opened, found, locked, send(packet)]);
      return [wereOpened, findingsOf] as const;
    } finally {
      noteDuration(performance.now() - began);
    }
  }

  /** The payments are open: from here on nothing fails, and what was not decided is evaluated by itself. */
  async function decideAll(
    runner: Runner,
    queued: readonly Opening[],
    opened: readonly Opened[],
    findingsOf: Awaited<ReturnType<typeof read>>,
  ): Promise<Answer<NewDecision>[]> {
    const counted: DecidedItem[] = [];
    const answers = queued.map(({ item, decide }, index): Answer<NewDecision> => {
      const answer: Answer<NewDecision> = { opened: opened[index] as Opened, made: undefined };
      if (answer.opened !== true) return answer;
      try {
        answer.made = decide(findingsOf(index, counted));
      } catch {
        // The evaluation by itself fails in the same way, and says so.
      }
      const { decision = 'none', input = item.values } = answer.made ?? {};
      counted.push({ item, decision, input, isLowValue: false });
      return answer;
    });
    const rest = answers.flatMap((answer, index) => {
      const { item } = queued[index] as Opening;
      const own: Made | undefined = answer.made && { item, made: answer.made };
      return own && !isUndecided(own) ? { answer, own } : [];
    });
    if (rest.length > 0) {
      await write(
        runner,
        rest.map(({ own }) => own),
        true,
      ).catch(() => {
        for (const { answer } of rest) answer.made = undefined;
      });
    }
    return answers;
  }

  /** Until when batches have a connection of their own, and how long the last ones took. */
  let apartUntil = 0;
  let lastMs: number[] = [];
  function noteDuration(tookMs: number): void {
    lastMs = [...lastMs.slice(1 - LAST_BATCHES), tookMs];
    if (lastMs.filter((ms) => ms > SHORT_MS).length > LAST_BATCHES / 2) apartUntil = performance.now() + APART_MS;
  }

  const openApart = (queued: readonly Opening[]): Promise<Answer<NewDecision>[]> =>
    onConnection(decisions, async (client) => {
      const [opened, findingsOf] = await open(queued, { waits: true }, (packet) => packet.send(client));
      return decideAll(client, queued, opened, findingsOf);
    });

  /**
   * A batch that is short and need not wait goes over the connection of the other writes: PostgreSQL then works for the
   * gateway in one process, and on a small machine it does not compete with itself for the cores and the disk.
   */
  async function openAll(queued: readonly Opening[]): Promise<Answer<NewDecision>[]> {
    const send = writes.send?.bind(writes);
    if (!send || performance.now() < apartUntil) return openApart(queued);
    try {
      const [opened, findingsOf] = await open(queued, { waits: false }, send);
      return decideAll(writes, queued, opened, findingsOf);
    } catch (error) {
      if (isOutOfRange(error) || isLockTimeout(error) || isDeadlock(error)) return openApart(queued);
      throw error;
    }
  }

  // Without a gauge: payments that wait for the lock of a key do not keep other accounts from opening payments.
  const openOne = batch<Opening, Answer<NewDecision>>((queued) => reportWrite(openAll(queued), options), {
    maxItems: LIMITS.riskBatchItems,
    maxBytes: LIMITS.batchBytes,
    weigh: ({ open }) => sizeOf(open),
    maxInFlight: LIMITS.riskBatchesInFlight,
    besideAfterMs: LIMITS.riskBesideAfterMs,
    everyMs: EVERY_MS,
    maxWaiting: LIMITS.batchWaiting,
    maxWaitMs: LIMITS.batchWaitTimeoutMs,
    isItemFault,
  });

  return {
    async open<Result extends NewDecision>(payment: PaymentWithDetails, item: Evaluation, decide: Decide<Result>) {
      const open: OpenItem = { payment, details: JSON.stringify(payment.details) };
      const answer = (await openOne({ open, item, decide }).catch(
        async (error): Promise<Answer<NewDecision> | undefined> => {
          if (isLost(error) && (await isCommitted(isolated, open))) return { opened: true, made: undefined };
          if (isDivisionByZero(error)) return { opened: TOO_LATE, made: undefined };
          if (isLost(error) || error instanceof Outage || error instanceof Overloaded) throw error;
          return undefined;
        },
      )) as Answer<Result> | undefined;
      if (answer?.opened === TOO_LATE)
        throw new Outage('The database reached the statement too late to open the payment.');
      return answer && { isOpened: answer.opened === true, made: answer.made };
    },
  };
}
