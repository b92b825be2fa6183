/** The limits of payers' own pages. */

const MINUTE = 60_000;

export const CUSTOMER_LIMITS = {
  /** Requests for links, per client address, process and window. */
  requestsMost: 30,
  requestWindowMs: 10 * MINUTE,
  /** How long a link works, and the pause after a request in which the address gets no other one. */
  linkMs: 60 * MINUTE,
  pauseMs: 5 * MINUTE,
  /** How often a link is tried to be sent, and the pause between two attempts. */
  attempts: 3,
  retryMs: MINUTE,
  sessionMs: 30 * MINUTE,
} as const;
