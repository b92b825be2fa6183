/** A start that cannot go on, said in one sentence that a person can act on. */
export class StartupError extends Error {}
