/** How long data is kept that is not needed for the books, in days; 0 means for ever. */
export interface Retention {
  /** The personal data of payments, since their last change. */
  personalData: number;
  /** The bodies of callbacks that do not wait for delivery. */
  callbackBodies: number;
  /** The bodies of provider notifications that were processed. */
  notifications: number;
  /** The recent API calls of merchants. */
  apiCalls: number;
  /** The log of attempts to deliver callbacks. */
  callbackAttempts: number;
}

export const RETENTION_DEFAULTS: Retention = {
  personalData: 0,
  callbackBodies: 0,
  notifications: 0,
  apiCalls: 7,
  callbackAttempts: 0,
};

/** Ten years. */
export const RETENTION_DAYS_MOST = 3653;
