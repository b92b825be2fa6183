/** A value that is at hand or comes later; on the hot path, only the latter is waited for. */
export type MaybePromise<Value> = Value | Promise<Value>;

/** Continues with a value at once if it is at hand. */
export const continueWith = <Value, Result>(
  value: MaybePromise<Value>,
  next: (value: Value) => MaybePromise<Result>,
): MaybePromise<Result> => (value instanceof Promise ? value.then(next) : next(value));
