/** The command line: finds the command in the table, runs it, and turns errors into sentences and exit codes. */
import cluster from 'node:cluster';
import { StartupError } from '../lib/startup-error.ts';
import { exitCodeOf } from './command.ts';
import { COMMANDS } from './commands.ts';
import { helpText } from './help.ts';
import { createOutput } from './output.ts';
import { readCommandLine } from './parse.ts';

async function runCommand(words: string[]): Promise<number | undefined> {
  const reading = readCommandLine(COMMANDS, words);
  if (reading.kind === 'help') {
    process.stdout.write(`${helpText(COMMANDS, reading.topic)}\n`);
    return 0;
  }
  const output = createOutput(reading.isJson, process.stdout, process.stderr);
  return reading.command.run({ ...reading.call, environment: process.env, input: process.stdin, output });
}

/** One of several HTTP processes, which the supervisor starts without arguments. */
async function runWorker(): Promise<undefined> {
  const handover = (await import('../server/workers.ts')).receiveHandover();
  const { readConfig } = await import('../server/config.ts');
  const { serveAsWorker } = await import('../server/serve.ts');
  await serveAsWorker(readConfig(process.env), await handover);
}

try {
  process.exitCode = await (cluster.isWorker ? runWorker() : runCommand(process.argv.slice(2)));
} catch (error) {
  process.stderr.write(error instanceof StartupError ? `turnpike: ${error.message}\n` : `${(error as Error).stack}\n`);
  process.exitCode = exitCodeOf(error);
}
