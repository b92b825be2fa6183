/** A task that runs in rounds, one at a time: requests during a run are served by its next round. */
import { expect, test } from 'vitest';
import { createSingleFlight } from '../../src/lib/single-flight.ts';

/** A task whose rounds each wait until the test ends them. */
function controlledTask() {
  const rounds: { isRequested: boolean; end: (isMore: boolean) => void; fail: (error: Error) => void }[] = [];
  const flight = createSingleFlight(
    (isRequested) =>
      new Promise((resolve, reject) => {
        rounds.push({ isRequested, end: resolve, fail: reject });
      }),
    { pauseMs: 20 },
  );
  const round = async (index: number) => {
    await expect.poll(() => rounds.length, { interval: 1 }).toBe(index + 1);
    return rounds[index] as (typeof rounds)[number];
  };
  return { flight, rounds, round };
}

test('a run ends after a round that returns false', async () => {
  const { flight, rounds, round } = controlledTask();
  expect(flight.isRunning).toBe(false);
  const run = flight.request();
  expect(flight.isRunning).toBe(true);
  (await round(0)).end(true);
  (await round(1)).end(false);
  await run;
  expect(flight.isRunning).toBe(false);
  expect(rounds.map(({ isRequested }) => isRequested)).toEqual([true, false]);
});

test('requests during a round start no second run, and share the next round', async () => {
  const { flight, rounds, round } = controlledTask();
  const run = flight.request();
  const first = await round(0);
  await Promise.all([flight.request(), flight.request()]);
  expect(rounds).toHaveLength(1);
  first.end(false);
  (await round(1)).end(false);
  await run;
  expect(rounds.map(({ isRequested }) => isRequested)).toEqual([true, true]);
});

test('a request during the pause between two rounds is not lost', async () => {
  const { flight, rounds, round } = controlledTask();
  const run = flight.request();
  (await round(0)).end(true);
  await Promise.resolve();
  await flight.request();
  (await round(1)).end(false);
  await run;
  expect(rounds.map(({ isRequested }) => isRequested)).toEqual([true, true]);
});

test('an error ends the run and rejects the request that started it; the next request starts a new run', async () => {
  const { flight, round } = controlledTask();
  const run = flight.request();
  const first = await round(0);
  await flight.request();
  first.fail(new Error('The round failed.'));
  await expect(run).rejects.toThrow('The round failed.');
  expect(flight.isRunning).toBe(false);
  const next = flight.request();
  const second = await round(1);
  expect(second.isRequested).toBe(true);
  second.end(false);
  await next;
});
