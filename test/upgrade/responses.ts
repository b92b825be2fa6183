/** Counts the responses of a gateway to all requests of this process, below the repeats of the client. */

export interface ResponseWatcher {
  /** Names the phase that the next requests belong to. */
  enter(phase: string): void;
  /** Responses with a status of 500 or more. */
  failures: string[];
  counts(): Record<string, number>;
  stop(): void;
}

export function watchResponses(url: string): ResponseWatcher {
  const { fetch } = globalThis;
  const counts = new Map<string, number>();
  let phase = 'start';
  const count = (outcome: string): void => {
    const key = `${phase}: ${outcome}`;
    counts.set(key, (counts.get(key) ?? 0) + 1);
  };
  const watcher: ResponseWatcher = {
    enter(name) {
      phase = name;
    },
    failures: [],
    counts: () => Object.fromEntries(counts),
    stop() {
      globalThis.fetch = fetch;
    },
  };
  globalThis.fetch = async (input, init) => {
    const address = String(input);
    if (!address.startsWith(url)) return fetch(input, init);
    const sent = phase;
    try {
      const response = await fetch(input, init);
      count(`HTTP ${response.status}`);
      if (response.status >= 500) {
        const { pathname } = new URL(address);
        const body = await response.clone().text();
        watcher.failures.push(`${sent}: ${init?.method ?? 'GET'} ${pathname}: HTTP ${response.status} ${body}`);
      }
      return response;
    } catch (error) {
      count('no response');
      throw error;
    }
  };
  return watcher;
}
