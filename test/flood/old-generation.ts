/** Loaded into a gateway: answers the message `old` with the bytes by which V8's old generation has grown so far. */
import { getHeapSpaceStatistics } from 'node:v8';

const SAMPLE_MS = 50;

const usedBytes = (): number =>
  getHeapSpaceStatistics().find(({ space_name }) => space_name === 'old_space')?.space_used_size ?? 0;

let grown = 0;
let last = usedBytes();
// A full collection makes it smaller; what it had grown by before that still counts.
function sample(): void {
  const used = usedBytes();
  grown += Math.max(0, used - last);
  last = used;
}
setInterval(sample, SAMPLE_MS).unref();
process.on('message', (message) => {
  if (message !== 'old') return;
  sample();
  process.send?.(grown);
});
// The channel alone does not keep the process running.
process.channel?.unref();
