/** Asks the person who runs the tests to act as the payer on a page of the provider, and waits until that is done. */
import { setTimeout } from 'node:timers/promises';

const PAUSE_MS = 1000;

/** Prints the page and what to do there; returns what the payer brings back, which a query replaces. */
export async function untilPaid(
  url: string,
  what: string,
  isDone: () => Promise<boolean>,
): Promise<Record<string, string>> {
  if (process.env.LIVE_PAYER === undefined) throw new Error('A payer is needed: set LIVE_PAYER.');
  console.log(`Open ${url} and ${what}.`);
  while (!(await isDone())) await setTimeout(PAUSE_MS);
  return {};
}
