/** A task that runs in rounds, one at a time: requests during a run are served by its next round. */
import { expect, test } from 'vitest';
import { createSingleFlight } from '../../../src/lib/flow/single-flight.ts';

/** A task whose rounds each wait until the test ends them. */
function controlledTask() {
  const rounds: { isRequested: boolean; end: (isMore: boolean) => void; fail: (error: Error) => void }[] = [];
  const errors: unknown[] = [];
  let ends = 0;
  const flight = createSingleFlight(
    (isRequested) =>
      new Promise((resolve, reject) => {
        rounds.push({ isRequested, end: resolve, fail: reject });
      }),
    { pauseMs: 20, onError: (error) => errors.push(error), onEnd: () => ends++ },
  );
  const round = async (index: number) => {
    await expect.poll(() => rounds.length, { interval: 1 }).toBe(index + 1);
    return rounds[index] as (typeof rounds)[number];
  };
  /** Expects that this many runs have ended, and none is running. */
  const expectEnds = async (count: number): Promise<void> => {
    await expect.poll(() => ends, { interval: 1 }).toBe(count);
    expect(flight.isRunning).toBe(false);
  };
  return { flight, rounds, errors, round, expectEnds };
}

test('a run ends after a round that returns false', async () => {
  const { flight, rounds, errors, round, expectEnds } = controlledTask();
  expect(flight.isRunning).toBe(false);
  flight.request();
  expect(flight.isRunning).toBe(true);
  (await round(0)).end(true);
  (await round(1)).end(false);
  await expectEnds(1);
  expect(rounds.map(({ isRequested }) => isRequested)).toEqual([true, false]);
  expect(errors).toEqual([]);
});

test('requests during a round start no second run, and share the next round', async () => {
  const { flight, rounds, round, expectEnds } = controlledTask();
  flight.request();
  const first = await round(0);
  flight.request();
  flight.request();
  expect(rounds).toHaveLength(1);
  first.end(false);
  (await round(1)).end(false);
  await expectEnds(1);
  expect(rounds.map(({ isRequested }) => isRequested)).toEqual([true, true]);
});

test('a request during the pause between two rounds is not lost', async () => {
  const { flight, rounds, round, expectEnds } = controlledTask();
  flight.request();
  (await round(0)).end(true);
  await new Promise((resolve) => setImmediate(resolve));
  expect(rounds).toHaveLength(1);
  flight.request();
  (await round(1)).end(false);
  await expectEnds(1);
  expect(rounds.map(({ isRequested }) => isRequested)).toEqual([true, true]);
});

test.each([0, 1, 2, 3, 4, 5])('a request %i microtasks after the end of a round is not lost', async (microtasks) => {
  const { flight, round } = controlledTask();
  flight.request();
  (await round(0)).end(false);
  for (let passed = 0; passed < microtasks; passed++) await undefined;
  flight.request();
  (await round(1)).end(false);
  await expect.poll(() => flight.isRunning).toBe(false);
});

test('an error ends the run; the next request starts a new one', async () => {
  const { flight, rounds, errors, round, expectEnds } = controlledTask();
  flight.request();
  const first = await round(0);
  flight.request();
  const error = new Error('The round failed.');
  first.fail(error);
  await expectEnds(1);
  expect(errors).toEqual([error]);
  flight.request();
  (await round(1)).end(false);
  await expectEnds(2);
  expect(rounds.map(({ isRequested }) => isRequested)).toEqual([true, true]);
});
