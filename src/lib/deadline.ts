/** A limit in time for one call: it aborts what is under way, and keeps from beginning what would come too late. */

export class Deadline {
  readonly #endsAt: number;
  readonly #leastMs: number;
  #hasBegun = false;
  #aborter: AbortController | undefined;
  #timer: NodeJS.Timeout | undefined;

  /** Ends in `ms`. A call that would have less than `leastMs` left does not begin. Monotonic time counts. */
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

  /** Called immediately before the first byte leaves; false when it must not leave any more. */
  begin(): boolean {
    if (!this.mayBegin) return false;
    this.#hasBegun = true;
    return true;
  }

  get hasBegun(): boolean {
    return this.#hasBegun;
  }

  /** Aborts at the end. Made when it is first needed: a call that is answered at once costs no timer. */
  get signal(): AbortSignal {
    if (!this.#aborter) {
      const aborter = new AbortController();
      this.#aborter = aborter;
      this.#timer = setTimeout(() => aborter.abort(new Error('The call took too long.')), this.leftMs);
    }
    return this.#aborter.signal;
  }

  /** The call has ended: nothing is left to abort. */
  clear(): void {
    clearTimeout(this.#timer);
  }
}
