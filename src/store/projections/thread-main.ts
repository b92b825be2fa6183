/** What runs in the thread that folds projections: one portion for each message. */
import { parentPort, workerData } from 'node:worker_threads';
import { yieldToOthers } from '../../lib/flow/priority.ts';
import { type Connection, openDatabase } from '../database/database.ts';
import { reportedProcess } from '../database/session.ts';
import { PROJECTIONS } from './all.ts';
import type { Projection } from './projection.ts';
import { createProjectionStore } from './projections.ts';
import type { FoldAnswer, FoldOrder } from './thread.ts';

// A connection that is lost while nothing runs is opened again; otherwise the fold fails.
const connection: Connection = workerData;
const database = openDatabase(connection, () => undefined);
const store = createProjectionStore(database);

// Requests do not wait for the thread, nor for its sessions in the embedded server.
yieldToOthers();
if (connection.host !== undefined) database.pool.on('connect', (client) => yieldToOthers(reportedProcess(client)));

parentPort?.on('message', async ({ id, projection, settled }: FoldOrder) => {
  const named = PROJECTIONS.find(({ name }) => name === projection) as Projection;
  const answer: FoldAnswer = await store.fold(named, settled).then(
    (folded) => ({ id, folded }),
    (error) => ({ id, error }),
  );
  parentPort?.postMessage(answer);
});
