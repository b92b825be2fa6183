/** Stops the time by which this process counts rates, so that a test need not be faster than a limit refills. */
import { onTestFinished, vi } from 'vitest';
import { rateTime } from '../../src/lib/time/rate-time.ts';

/** Until the end of the test no rate refills, however slow the machine is; the function that it returns lets time pass. */
export function holdRates(): (ms: number) => void {
  let now = rateTime.now();
  const time = vi.spyOn(rateTime, 'now').mockImplementation(() => now);
  onTestFinished(() => time.mockRestore());
  return (ms) => {
    now += ms;
  };
}
