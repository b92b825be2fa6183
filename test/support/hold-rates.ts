/** Stops the time by which this process counts rates, so that a test need not be faster than a limit refills. */
import { onTestFinished, vi } from 'vitest';

/** Until the end of the test no rate refills, however slow the machine is; the function that it returns lets time pass. */
export function holdRates(): (ms: number) => void {
  let now = performance.now();
  const clock = vi.spyOn(performance, 'now').mockImplementation(() => now);
  onTestFinished(() => clock.mockRestore());
  return (ms) => {
    now += ms;
  };
}
