/** The gauge of waiting times: the longest of the queues, and the delay of the event loop. */
import { setTimeout as pause } from 'node:timers/promises';
import { afterEach, expect, test } from 'vitest';
import { createWaitGauge, type WaitGauge } from '../../../src/lib/flow/wait-gauge.ts';

let gauge: WaitGauge;
afterEach(() => gauge.close());

/** Blocks the event loop. */
function block(ms: number): void {
  const until = performance.now() + ms;
  while (performance.now() < until);
}

test('returns the longest of the queues', () => {
  gauge = createWaitGauge();
  expect(gauge.waitMs()).toBe(0);
  for (const ms of [3000, 70_000, 20]) gauge.watch(() => ms);
  expect(gauge.waitMs()).toBe(70_000);
});

test('sees that the event loop is blocked again and again, and that it is free again', async () => {
  gauge = createWaitGauge();
  for (let count = 0; count < 3; count++) {
    expect(gauge.waitMs()).toBeLessThan(600);
    block(1000);
    await pause(1);
  }
  expect(gauge.waitMs()).toBeGreaterThan(600);
  await expect.poll(() => gauge.waitMs()).toBeLessThan(600);
});
