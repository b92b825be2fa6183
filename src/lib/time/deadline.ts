/** The deadline of one call: aborts the call when it passes, and prevents a start with too little time left. */

export class Deadline {
  readonly #endsAt: number;
  readonly #leastMs: number;
  #hasBegun = false;
  #aborter: AbortController | undefined;
  #timer: NodeJS.Timeout | undefined;

  /** Ends in `ms` of monotonic time. A call must not begin with less than `leastMs` left. */
  constructor(ms: number, leastMs = 0) {
    this.#endsAt = performance.now() + ms;
    this.#leastMs = leastMs;
  }

  get leftMs(): number {
    return Math.max(0, this.#endsAt - performance.now());
  }

  /** Whether there is enough time left to begin. */
  get mayBegin(): boolean {
    return this.leftMs > this.#leastMs;
  }

  /** To be called immediately before the first byte is sent; false means that it must not be sent. */
  begin(): boolean {
    if (!this.mayBegin) return false;
    this.#hasBegun = true;
    return true;
  }

  get hasBegun(): boolean {
    return this.#hasBegun;
  }

  /** Aborts at the deadline. Created on first use, so that a call without I/O needs no timer. */
  get signal(): AbortSignal {
    if (!this.#aborter) {
      const aborter = new AbortController();
      this.#aborter = aborter;
      this.#timer = setTimeout(() => aborter.abort(new Error('The call took too long.')), this.leftMs);
    }
    return this.#aborter.signal;
  }

  /** To be called when the call has ended. */
  clear(): void {
    clearTimeout(this.#timer);
  }
}
