/** The commands `sign` and `explain`: the hash of a merchant request. */
import { readFile } from 'node:fs/promises';
import { createInterface } from 'node:readline/promises';
import { Writable } from 'node:stream';
import { text as readAll } from 'node:stream/consumers';
import { readPath, readRequest } from '../core/explain/request.ts';
import { wireHash } from '../lib/hash.ts';
import { StartupError } from '../lib/startup-error.ts';
import { Refusal } from '../rules/errors.ts';
import { signedValues } from '../rules/operations.ts';
import { connectAdmin } from './admin-client.ts';
import { type Call, UsageError } from './command.ts';
import { columns, members } from './output.ts';

/** The body in the file, or on standard input. A line break at the end comes from an editor or from `echo`. */
async function readRequestText(call: Call): Promise<string> {
  const file = call.arg('file');
  if (file === '' && call.input.isTTY) {
    throw new UsageError('Name a file with the body of the request, or pipe the body into the command.');
  }
  const text = await (file === '' ? readAll(call.input) : readFile(file, 'utf8')).catch((error) => {
    throw new StartupError(`The file ${file} cannot be read (${error.code}).`);
  });
  return text.replace(/\r?\n$/, '');
}

export async function sign(call: Call): Promise<undefined> {
  const text = await readRequestText(call);
  const { action, names, values } = readSigned(text, call.option('path'));
  const password = call.environment.TURNPIKE_PASSWORD || (await askPassword(call));
  const hash = wireHash(values, password);
  const body = withHash(text, hash);
  call.output.result({ action, signed_fields: names, hash, body }, body);
}

function readSigned(text: string, path: string | undefined) {
  try {
    const { candidates, problems } = readRequest(text, path === undefined ? undefined : readPath(path));
    const [problem] = problems;
    if (problem) throw new StartupError(`The body cannot be read: ${problem.field}: ${problem.sentence}`);
    const [{ action, operation, value }, ...others] = candidates;
    const values = signedValues(operation, value);
    const isSame = (other: (typeof others)[number]) =>
      signedValues(other.operation, other.value).join('') === values.join('');
    if (!others.every(isSame)) {
      const actions = [action, ...others.map((other) => other.action)].join(', ');
      throw new UsageError(`The body fits several requests (${actions}): name one with --path.`);
    }
    return { action, names: operation.signs, values };
  } catch (error) {
    if (!(error instanceof Refusal)) throw error;
    throw new StartupError(error.problems.map(({ sentence }) => sentence).join('; '));
  }
}

/** The same body with this hash in place of the one it has. */
function withHash(text: string, hash: string): string {
  if (/^\s*\{/.test(text)) return JSON.stringify({ ...JSON.parse(text), hash });
  if (text.trimStart().startsWith('--'))
    throw new UsageError('A multipart form is not supported: use a URL-encoded one.');
  const pairs = text.split('&').filter((pair) => pair !== '' && pair.split('=')[0] !== 'hash');
  return [...pairs, `hash=${hash}`].join('&');
}

/** Asks on the terminal, without showing what is typed. */
async function askPassword({ input, arg }: Call): Promise<string> {
  if (!input.isTTY || arg('file') === '') {
    throw new UsageError('The password is missing: set TURNPIKE_PASSWORD to the password of the account.');
  }
  process.stderr.write('Password of the account: ');
  const silent = new Writable({ write: (_chunk, _encoding, done) => done() });
  const prompt = createInterface({ input, output: silent, terminal: true });
  const password = await prompt.question('').finally(() => prompt.close());
  process.stderr.write('\n');
  if (password === '') throw new UsageError('The password is empty.');
  return password;
}

interface Explanation {
  action: string;
  fields: { name: string; value: string }[];
  signed_text: string;
  md5: string | null;
  sha1: string | null;
  matches: boolean;
  hints: string[];
}

/** Exits with code 1 when the hash is wrong. */
export async function explain(call: Call): Promise<number | undefined> {
  const request = await readRequestText(call);
  const admin = await connectAdmin(call);
  const path = call.option('path');
  const explanation = await admin.request<Explanation>('POST', '/admin/api/explain', {
    mid: call.option('mid'),
    request,
    ...(path !== undefined && { path }),
  });
  const { action, fields, signed_text, md5, sha1, matches, hints } = explanation;
  call.output.result(explanation, () =>
    [
      members({ action, signed_text, md5, sha1, hash: matches ? 'valid' : 'not valid' }),
      columns(fields.map(({ name, value }) => [`  ${name}`, value])),
      ...hints,
    ].join('\n'),
  );
  return matches ? undefined : 1;
}
