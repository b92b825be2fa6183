/** A thread that folds projections, so that the requests of the process do not wait while it reads and composes rows. */
import { Worker } from 'node:worker_threads';
import type { Connection } from '../database/database.ts';
import type { Numbers } from './portions.ts';
import type { Folded, ProjectionStore } from './projections.ts';

export interface FoldOrder {
  id: number;
  projection: string;
  settled: Numbers;
}

export type FoldAnswer = { id: number } & ({ folded: Folded } | { error: Error });

interface Waiting {
  resolve: (folded: Folded) => void;
  reject: (error: Error) => void;
}

export interface FoldingThread extends Pick<ProjectionStore, 'fold'> {
  close(): Promise<void>;
}

/** The thread starts with the first fold, has connections of its own, and is started again after it ended. */
export function createFoldingThread(connection: Connection): FoldingThread {
  let running: Worker | undefined;
  let orders = 0;
  const waiting = new Map<number, Waiting>();

  function start(): Worker {
    const worker = new Worker(new URL('./thread-main.ts', import.meta.url), { workerData: connection });
    worker.unref();
    worker.on('message', ({ id, ...answer }: FoldAnswer) => {
      const fold = waiting.get(id);
      waiting.delete(id);
      if ('error' in answer) fold?.reject(answer.error);
      else fold?.resolve(answer.folded);
    });
    // What it was folding is rolled back, and folded again.
    const fail = (error: Error): void => {
      if (running !== worker) return;
      running = undefined;
      for (const { reject } of waiting.values()) reject(error);
      waiting.clear();
    };
    worker.on('error', fail);
    worker.on('exit', () => fail(new Error('The thread that folds projections ended.')));
    return worker;
  }

  return {
    fold: ({ name }, settled) =>
      new Promise((resolve, reject) => {
        running ??= start();
        const order: FoldOrder = { id: orders++, projection: name, settled };
        waiting.set(order.id, { resolve, reject });
        running.postMessage(order);
      }),
    async close() {
      await running?.terminate();
    },
  };
}
