/** Chargebacks: their states, the time to respond, and the files that may be kept as evidence. */

export const CHARGEBACK_STATES = ['open', 'answered', 'closed'] as const;

export type ChargebackState = (typeof CHARGEBACK_STATES)[number];

/** The days to respond if the provider names no deadline. */
export const RESPONSE_DAYS = 14;

/** A deadline that is closer than this is shown as urgent. */
export const URGENT_DAYS = 3;

/** The media types of evidence; the content of a file decides which one it is. */
export const EVIDENCE_TYPES = ['application/pdf', 'image/png', 'image/jpeg', 'text/plain'] as const;

export const EVIDENCE_LIMITS = {
  /** The size of one file. */
  bytes: 2 * 1024 * 1024,
  /** Files of one chargeback. */
  files: 10,
  nameLength: 120,
} as const;
