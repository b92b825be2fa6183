/** A program that is started again whenever it ends, until it is closed. */
import { type ChildProcess, type StdioOptions, spawn } from 'node:child_process';
import { once } from 'node:events';
import { createWriteStream } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as pause } from 'node:timers/promises';
import { compiledIn } from '../support/compiled.ts';

export const ROOT = join(import.meta.dirname, '../..');
const RESTART_MS = 500;

export interface Program {
  name: string;
  readonly pid: number | undefined;
  signal(name: NodeJS.Signals): void;
  /** How often it was started, and the stack traces with which it ended by itself. */
  readonly starts: number;
  readonly crashes: readonly string[];
  /** Sends a message to the process; resolves to its next message. */
  ask(message: string): Promise<unknown>;
  /** Ends it as an operator does, after the running requests. */
  stop(): Promise<void>;
  close(): Promise<void>;
}

/** The command of a program that has several. */
const COMMANDS: Readonly<Record<string, readonly string[]>> = { 'src/cli/main.ts': ['serve'] };

/** `variables` is called at each start; `root` is the checkout of the program, `flags` are those of Node.js. */
export function startProgram(
  name: string,
  file: string,
  variables: () => Record<string, string>,
  logFolder: string,
  { root = ROOT, flags = [] }: { root?: string; flags?: readonly string[] } = {},
): Program {
  const log = createWriteStream(join(logFolder, `${name}.log`));
  const crashes: string[] = [];
  let child: ChildProcess | undefined;
  let starts = 0;
  let isClosing = false;
  const closing = new AbortController();

  async function keepRunning(): Promise<void> {
    while (!isClosing) {
      starts++;
      const { PATH = '', HOME = '', TMPDIR } = process.env;
      const env = { PATH, HOME, ...(TMPDIR && { TMPDIR }), ...compiledIn(root), ...variables() };
      // The channel lets the simulator notice the end of this process.
      const stdio: StdioOptions = ['ignore', 'pipe', 'pipe', 'ipc'];
      child = spawn(process.execPath, [...flags, join(root, file), ...(COMMANDS[file] ?? [])], {
        cwd: root,
        env,
        stdio,
      });
      let complaint = '';
      child.stdout?.pipe(log, { end: false });
      child.stderr?.on('data', (text: Buffer) => {
        log.write(text);
        complaint = (complaint + text).slice(-4000);
      });
      await new Promise((resolve) => child?.once('close', resolve));
      // A sentence is a refusal to start, for example while the database is down; a stack trace is a fault.
      if (/^\s+at /m.test(complaint)) crashes.push(`${name}: ${complaint}`);
      await pause(RESTART_MS, undefined, { signal: closing.signal }).catch(() => undefined);
    }
  }
  const ended = keepRunning();
  const kill = (): void => void child?.kill('SIGKILL');
  process.once('exit', kill);

  async function end(...signals: NodeJS.Signals[]): Promise<void> {
    isClosing = true;
    closing.abort();
    for (const signal of signals) child?.kill(signal);
    await ended;
    process.off('exit', kill);
    log.end();
  }

  return {
    name,
    get pid() {
      return child?.pid;
    },
    signal: (signal) => void child?.kill(signal),
    get starts() {
      return starts;
    },
    crashes,
    async ask(message) {
      const answer = child && once(child, 'message');
      child?.send(message);
      return (await answer)?.[0];
    },
    stop: () => end('SIGTERM'),
    close: () => end('SIGCONT', 'SIGKILL'),
  };
}
