/** Errors that are printed as one sentence, without a stack: the message tells the operator what to do. */

/** The process cannot start or go on. */
export class StartupError extends Error {}

/** The gateway or the database cannot be reached; the same command may succeed later. */
export class UnreachableError extends StartupError {}
