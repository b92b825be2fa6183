/** What runs in the thread that folds projections: one portion for each message. */
import { parentPort, workerData } from 'node:worker_threads';
import { openDatabase } from '../database/database.ts';
import { PROJECTIONS } from './all.ts';
import type { Projection } from './projection.ts';
import { createProjectionStore } from './projections.ts';
import type { FoldAnswer, FoldOrder } from './thread.ts';

// A connection that is lost while nothing runs is opened again; otherwise the fold fails.
const store = createProjectionStore(openDatabase(workerData, () => undefined));

parentPort?.on('message', async ({ id, projection, settled }: FoldOrder) => {
  const named = PROJECTIONS.find(({ name }) => name === projection) as Projection;
  const answer: FoldAnswer = await store.fold(named, settled).then(
    (folded) => ({ id, folded }),
    (error) => ({ id, error }),
  );
  parentPort?.postMessage(answer);
});
