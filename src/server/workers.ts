/** Supervises several HTTP processes on one machine: starts, replaces and stops them, and adds up their metrics. */
import cluster, { type Worker } from 'node:cluster';
import { once } from 'node:events';
import { AggregatorRegistry } from 'prom-client';
import type { ProviderAccess } from '../connectors/index.ts';
import type { Metrics } from '../core/metrics.ts';
import { StartupError } from '../lib/flow/startup-error.ts';
import type { Log } from '../lib/text/log.ts';
import { LIMITS } from '../rules/limits.ts';
import type { Connection } from '../store/database/database.ts';
import type { Config } from './config.ts';

/** What the supervisor passes to each worker. */
export interface Handover {
  connection: Connection;
  masterKey: string;
  adminTokenDigest: string;
  provider: ProviderAccess | undefined;
  /** The first worker also runs the work loop. */
  isFirst: boolean;
}

const RESTART_MS = 1000;

export async function runWorkers(
  config: Config,
  handover: Omit<Handover, 'isFirst'>,
  log: Log,
): Promise<{ port: number; stop(): Promise<void> }> {
  // Workers accept connections themselves. With SCHED_RR the supervisor accepts them and passes each one on by message,
  // and a connection on its way to a worker that was killed would stay open without a response.
  cluster.schedulingPolicy = cluster.SCHED_NONE;
  const aggregator = new AggregatorRegistry();
  let stopping = false;

  const start = (index: number): Worker => {
    const worker = cluster.fork();
    worker.once('online', () => worker.send({ handover: { ...handover, isFirst: index === 0 } }));
    worker.on('message', (message: { wantsMetrics?: number }) => {
      if (message.wantsMetrics === undefined) return;
      const answer = (text: string) => worker.isConnected() && worker.send({ metrics: message.wantsMetrics, text });
      // A worker that dies during the collection never responds; a second collection does not include it.
      const counts = aggregator.clusterMetrics().catch(() => aggregator.clusterMetrics());
      counts.then(answer, () => answer(''));
    });
    worker.once('exit', (code, signal) => {
      if (stopping) return;
      log.error({ code, signal, pid: worker.process.pid }, 'worker died and is replaced');
      setTimeout(() => !stopping && start(index), RESTART_MS);
    });
    return worker;
  };

  const workers = Array.from({ length: config.workers }, (_, index) => start(index));
  const stop = async (): Promise<void> => {
    stopping = true;
    const living = Object.values(cluster.workers ?? {}).filter((worker) => worker !== undefined);
    const exits = living.map((worker) => (worker.isDead() ? undefined : once(worker, 'exit')));
    for (const worker of living) worker.process.kill('SIGTERM');
    await Promise.race([
      Promise.all(exits),
      new Promise((resolve) => setTimeout(resolve, LIMITS.drainTimeoutMs).unref()),
    ]);
  };
  const ports = await Promise.all(workers.map(listeningPort));
  const [port] = ports;
  if (port === undefined || ports.includes(undefined)) {
    await stop();
    throw new StartupError('A worker ended before it took requests: see what it said, or set TURNPIKE_WORKERS to 1.');
  }
  return { port, stop };
}

/** The port on which a worker listens; undefined when it exited before. */
const listeningPort = (worker: Worker): Promise<number | undefined> =>
  Promise.race([
    once(worker, 'listening').then(([address]) => address.port as number),
    once(worker, 'exit').then(() => undefined),
  ]);

/** Waits for the supervisor's message. */
export function receiveHandover(): Promise<Handover> {
  // A request for metrics may arrive before the worker has any; it is answered with an empty set.
  AggregatorRegistry.setRegistries([]);
  new AggregatorRegistry();
  return new Promise((resolve) => {
    process.on('message', function receive(message: { handover?: Handover }) {
      if (!message.handover) return;
      process.off('message', receive);
      resolve(message.handover);
    });
  });
}

/** The metrics endpoint of a worker returns the sum of all workers, which the supervisor computes. */
export function serveWorkerMetrics(metrics: Metrics): void {
  AggregatorRegistry.setRegistries([metrics.registry]);
  let requests = 0;
  metrics.text = () =>
    new Promise((resolve) => {
      const id = ++requests;
      const receive = (message: { metrics?: number; text?: string }): void => {
        if (message.metrics !== id) return;
        process.off('message', receive);
        resolve(message.text ?? '');
      };
      process.on('message', receive);
      process.send?.({ wantsMetrics: id });
    });
}
