/** Runs one command line: finds the command in the table, and turns errors into sentences and exit codes. */
import { StartupError } from '../lib/flow/startup-error.ts';
import { type Call, exitCodeOf } from './command.ts';
import { COMMANDS } from './commands.ts';
import { helpText } from './help.ts';
import { createOutput, type OutputStream } from './output.ts';
import { readCommandLine } from './parse.ts';

export interface Surroundings extends Pick<Call, 'environment' | 'input'> {
  stdout: OutputStream;
  stderr: OutputStream;
}

/** Returns the exit code. */
export async function run(words: readonly string[], surroundings: Surroundings): Promise<number> {
  const { environment, input, stdout, stderr } = surroundings;
  try {
    const reading = readCommandLine(COMMANDS, words);
    if (reading.kind === 'help') {
      stdout.write(`${helpText(COMMANDS, reading.topic)}\n`);
      return 0;
    }
    const output = createOutput(reading.isJson, stdout, stderr);
    return (await reading.command.run({ ...reading.call, environment, input, output })) ?? 0;
  } catch (error) {
    stderr.write(error instanceof StartupError ? `turnpike: ${error.message}\n` : `${(error as Error).stack}\n`);
    return exitCodeOf(error);
  }
}
