/** What the fuzz commands print: how far they are, and how to go on. */

const LINE_MS = 5000;

/** Prints a line now and then: how many are done, how many per second, and how much time is left. */
export function progressOf(count: number, verb: string, detail: () => string) {
  const started = performance.now();
  let shownAt = started;
  return (done: number): void => {
    if (done < count && performance.now() - shownAt < LINE_MS) return;
    shownAt = performance.now();
    const perSecond = (done * 1000) / (performance.now() - started);
    const seconds = Math.ceil((count - done) / perSecond);
    console.log(`${done} ${verb}, ${Math.round(perSecond)} per second, ${seconds} s left: ${detail()}`);
  };
}

export const command = (target: string, count: number, seed: number, from: number): string =>
  `npm run fuzz -- ${target} ${count} ${seed} ${from}`;
