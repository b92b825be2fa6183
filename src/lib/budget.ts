/** A number of bytes that several holders share: a share is reserved whole, or not at all. */
export interface Budget {
  readonly held: number;
  /** Reserves bytes and returns the function that gives them back once; nothing when they are not there. */
  reserve(bytes: number): (() => void) | undefined;
}

export function createBudget(most: number): Budget {
  let held = 0;
  return {
    get held() {
      return held;
    },
    reserve(bytes) {
      if (held + bytes > most) return undefined;
      held += bytes;
      let isHeld = true;
      return () => {
        if (isHeld) held -= bytes;
        isHeld = false;
      };
    },
  };
}
