/** The command line inside the process of a test. */
import { Readable } from 'node:stream';
import { run } from '../../src/cli/run.ts';
import type { Fields } from '../support/gateway.ts';

export interface CommandOutcome {
  code: number;
  output: string;
  messages: string;
  /** The result of a command with `--json`. */
  // biome-ignore lint/suspicious/noExplicitAny: as with the answers of the gateway
  json: () => any;
}

/** Runs a command with these variables and no others. */
export async function turnpike(environment: Fields, words: string[], input = ''): Promise<CommandOutcome> {
  const written = { stdout: '', stderr: '' };
  const stream = (name: keyof typeof written) => ({
    write(text: string) {
      written[name] += text;
    },
  });
  const code = await run(words, {
    environment,
    input: Readable.from([input]),
    stdout: stream('stdout'),
    stderr: stream('stderr'),
  });
  return { code, output: written.stdout, messages: written.stderr, json: () => JSON.parse(written.stdout) };
}
