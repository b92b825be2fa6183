/** A byte budget shared by several holders; a reservation is granted in full or not at all. */
export interface Budget {
  readonly held: number;
  /** Reserves bytes and returns the function that releases them; undefined when they are not available. */
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
