/** What a command is: an entry of the table of commands, and what its handler gets. */
import type { Readable } from 'node:stream';
import { StartupError, UnreachableError } from '../lib/flow/startup-error.ts';
import type { Output } from './output.ts';

/** How the value of an option or an argument is checked. */
export type Kind = 'number' | 'address' | 'uuid' | 'seconds';

interface Value {
  name: string;
  about: string;
  kind?: Kind;
  choices?: readonly string[];
}

/** A word after the command. */
export interface Argument extends Value {
  isOptional?: true;
  /** Takes all remaining words. */
  isList?: true;
}

export interface Option extends Value {
  /** The placeholder of the value; an option without one is a flag. */
  value?: string;
  isRequired?: true;
  /** The environment variable that is used without the option, and the value without either. */
  variable?: string;
  fallback?: string;
}

export interface Command {
  /** One word, or two: a group and a verb. */
  name: string;
  summary: string;
  /** Further sentences for the help. */
  details?: string;
  args?: readonly Argument[];
  options?: readonly Option[];
  /** What `--json` prints; a command without a result has no such option. */
  json?: 'document' | 'lines';
  /** The environment variables that it reads besides those of its options. */
  variables?: readonly string[];
  /** The words after `turnpike`. */
  examples: readonly string[];
  /** Returns the exit code if it is not 0. */
  run(call: Call): Promise<number | undefined>;
}

/** One invocation of a command; the values are checked. */
export interface Call {
  command: Command;
  arg(name: string): string;
  list(name: string): readonly string[];
  option(name: string): string | undefined;
  number(name: string): number | undefined;
  flag(name: string): boolean;
  environment: Readonly<Record<string, string | undefined>>;
  input: Readable & { isTTY?: boolean };
  output: Output;
}

/** The command line is wrong. */
export class UsageError extends StartupError {}

/** The gateway does not accept the token, or the token may not do this. */
export class NotAuthorisedError extends StartupError {}

export const EXIT_CODES = {
  ok: [0, 'The command succeeded.'],
  failed: [
    1,
    'The command failed, was refused, or has a negative result: `verify` found a violation, a hash is wrong.',
  ],
  usage: [2, 'The command line is wrong: an unknown command or option, or a missing or invalid value.'],
  unreachable: [3, 'The gateway or the database cannot be reached. The same command may succeed later.'],
  notAuthorised: [4, 'The admin token is missing or wrong, or its role does not allow this.'],
} as const;

const CODES: readonly [new (message: string) => StartupError, keyof typeof EXIT_CODES][] = [
  [UsageError, 'usage'],
  [UnreachableError, 'unreachable'],
  [NotAuthorisedError, 'notAuthorised'],
];

export const exitCodeOf = (error: unknown): number =>
  EXIT_CODES[CODES.find(([kind]) => error instanceof kind)?.[1] ?? 'failed'][0];

/** An option with a value. */
export const text = (name: string, value: string, about: string, traits: Partial<Option> = {}): Option => ({
  name,
  value,
  about,
  ...traits,
});
/** An option without one. */
export const flag = (name: string, about: string): Option => ({ name, about });
