/** A thread that calls `/health/live` on new connections until it is told to stop: reports the beginning and the time of each call. */
import { once } from 'node:events';
import { get } from 'node:http';
import { setTimeout as pause } from 'node:timers/promises';
import { parentPort, workerData } from 'node:worker_threads';

let isStopped = false;
parentPort?.once('message', () => {
  isStopped = true;
});
while (!isStopped) {
  parentPort?.postMessage('begun');
  const started = performance.now();
  const [response] = await once(
    get({ port: workerData, host: '127.0.0.1', path: '/health/live', agent: false }),
    'response',
  );
  await once(response.resume(), 'end');
  parentPort?.postMessage(performance.now() - started);
  await pause(50);
}
