/** Chargebacks: their stages and states, the time to respond, and the files that may be kept as evidence. */
import type { PaymentEvent } from './states.ts';

/**
 * In order; the enum of the database has the same. `inquiry`: the bank asks, `warning`: fraud was reported or a chargeback is
 * announced; both move no money.
 */
export const CHARGEBACK_STAGES = ['inquiry', 'warning', 'chargeback', 'second_chargeback'] as const;

export type ChargebackStage = (typeof CHARGEBACK_STAGES)[number];

/** `closed`: nothing more to do, such as after an inquiry. */
export const CHARGEBACK_STATES = ['open', 'answered', 'won', 'lost', 'closed'] as const;

export type ChargebackState = (typeof CHARGEBACK_STATES)[number];

/** The events of a payment that a bank causes, and the stage that each one begins. */
export const CHARGEBACK_EVENTS = {
  chargedBack: 'chargeback',
  secondChargedBack: 'second_chargeback',
  chargebackReversed: undefined,
} as const satisfies Partial<Record<PaymentEvent, ChargebackStage | undefined>>;

/** The stages in which the bank has taken money. */
export const TAKING_STAGES: readonly ChargebackStage[] = ['chargeback', 'second_chargeback'];

export type ChargebackEvent = keyof typeof CHARGEBACK_EVENTS;

export const isChargebackEvent = (event: string): event is ChargebackEvent => Object.hasOwn(CHARGEBACK_EVENTS, event);

/** The longest cause of a chargeback. */
export const CAUSE_LENGTH = 255;

/** The days to respond if the provider names no deadline. */
export const RESPONSE_DAYS = 14;

/** A deadline that is closer than this is shown as urgent. */
export const URGENT_DAYS = 3;

/** The media types of evidence; the content of a file decides which one it is. */
export const EVIDENCE_TYPES = ['application/pdf', 'image/png', 'image/jpeg', 'text/plain'] as const;

/** What the name of a file may end in: no program looks like evidence to the one who opens it. */
export const EVIDENCE_ENDINGS = ['pdf', 'png', 'jpg', 'jpeg', 'txt', 'csv', 'log', 'md', 'eml'] as const;

export const EVIDENCE_LIMITS = {
  /** The size of one file. */
  bytes: 2 * 1024 * 1024,
  /** Files of one chargeback. */
  files: 10,
  nameLength: 120,
} as const;
