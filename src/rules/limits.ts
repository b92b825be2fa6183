/** Every bound, window and pause of the gateway, each in one row. */

const SECOND = 1000;
const MINUTE = 60 * SECOND;
const HOUR = 60 * MINUTE;
const DAY = 24 * HOUR;

export const LIMITS = {
  bodyBytes: 64 * 1024,
  formFields: 200,
  formDepth: 3,
  orderIdLength: 255,
  descriptionLength: 1024,
  descriptorLength: 22,
  adminPageSize: 50,
  adminPageSizeMost: 500,

  /** A repeat of the same order inside this window gets the original's outcome. */
  duplicateWindowMs: 15 * SECOND,
  /** How long a repeat waits for an original that is still running. */
  duplicateWaitMs: 10 * SECOND,

  /** A provider that has not answered a call by then counts as one that did not answer. */
  providerMs: 20 * SECOND,
  /** A payment that is still without an outcome by then, because its process died, is asked about. */
  submissionMs: 30 * SECOND,
  /** The pauses between two questions about an unknown outcome; the last one repeats. */
  askAgainMs: [5 * SECOND, 15 * SECOND, 30 * SECOND, MINUTE, 5 * MINUTE, 15 * MINUTE, HOUR, 6 * HOUR, DAY],
  /** A node that took a due payment and died gives it back after this time. */
  leaseMs: 30 * SECOND,
  /** How often the work loop looks for what is due. */
  workPauseMs: SECOND,

  /** How long the previous password keeps working after a rotation. */
  passwordOverlapMs: DAY,

  /** Group commit: items in one statement, statements in flight, items waiting before we refuse. */
  batchItems: 256,
  batchesInFlight: 2,
  batchWaiting: 20_000,

  /** On a stop signal, running requests get this long to finish. */
  drainMs: 25 * SECOND,
  dayMs: DAY,
} as const;
