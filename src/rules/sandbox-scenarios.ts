/** The responses and faults that the provider simulator can be configured for. */

export const PROVIDER_STATUSES = ['executed', 'rejected', 'pending'] as const;

export const FAULT_MODES = [
  'timeout_before',
  'timeout_after',
  'error_500',
  'duplicate_news',
  'late_success',
  'wrong_amount',
  'decline',
  'none',
] as const;

/** A code of ISO 8583, and an advice of a network. */
export const DECLINE_CODE = /^[\dA-Z]{2}$/;
export const DECLINE_ADVICE = /^(\d{2}|authenticate)$/;

/** The maximum `count` of a fault or an inbox answer. */
export const MOST_FAULTS = 10_000;
