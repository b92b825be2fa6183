/** Asks for a secret on the terminal. */
import { createInterface } from 'node:readline/promises';
import { Writable } from 'node:stream';
import type { Call } from './command.ts';

/** What is typed is not shown. */
export async function askSecret(input: Call['input'], question: string): Promise<string> {
  process.stderr.write(question);
  const silent = new Writable({ write: (_chunk, _encoding, done) => done() });
  const prompt = createInterface({ input, output: silent, terminal: true });
  const secret = await prompt.question('').finally(() => prompt.close());
  process.stderr.write('\n');
  return secret;
}
