/** The commands `sign` and `explain`: the hash of a merchant request. */
import { readFile } from 'node:fs/promises';
import { text as readAll } from 'node:stream/consumers';
import type { Candidate } from '../core/explain/explain.ts';
import { readPath, readRequest } from '../core/explain/request.ts';
import { type HashDigest, reversedHash, wireHash } from '../lib/crypto/hash.ts';
import { StartupError } from '../lib/flow/startup-error.ts';
import { withoutByteOrderMark } from '../lib/text/json.ts';
import { Refusal } from '../rules/errors.ts';
import { CARD_DIGITS, PASSWORD, partsOf, REVERSED_REQUESTS, REVERSED_TEXTS } from '../rules/hash-recipes.ts';
import { signedValues } from '../rules/operations.ts';
import { connectAdmin } from './admin-client.ts';
import { askSecret } from './ask-secret.ts';
import { onlyAccount } from './choose-account.ts';
import { type Call, UsageError } from './command.ts';
import { columns, members } from './output.ts';

/** The body in the file, or on standard input. A line break at the end comes from an editor or from `echo`. */
async function readRequestText(call: Call): Promise<string> {
  const file = call.arg('file');
  if (file === '' && call.input.isTTY) {
    throw new UsageError('Name a file with the body of the request, or pipe the body into the command.');
  }
  const read = await (file === '' ? readAll(call.input) : readFile(file, 'utf8')).catch((error) => {
    if (error.code !== 'ENOENT') throw new StartupError(`The file ${file} cannot be read (${error.code}).`);
    throw new StartupError(
      `There is no file ${file}: name a file with the body of the request, or pipe the body into the command.`,
    );
  });
  const text = withoutByteOrderMark(read);
  if (text.trim() !== '') return text.replace(/\r?\n$/, '');
  throw new UsageError(
    `${file === '' ? 'Standard input' : `The file ${file}`} is empty: the body of the request is expected.`,
  );
}

export async function sign(call: Call): Promise<undefined> {
  const text = await readRequestText(call);
  const { action, names, values, candidate } = readSigned(text, call.option('path'));
  const password = call.environment.TURNPIKE_PASSWORD || (await askPassword(call));
  const digest = (call.option('digest') ?? 'md5') as HashDigest;
  const isReversed = call.option('recipe') === 'reversed_md5';
  const own = isReversed ? reversedText(candidate, call) : undefined;
  const hash = own ? reversedHash(own.parts(password), digest) : wireHash(values, password, 'ascii', digest);
  const body = withHash(text, hash);
  call.output.result({ action, signed_fields: own?.names ?? names, hash, body }, body);
}

/** The text of the recipe reversed_md5. An operation on a card payment signs the payer and the card, which are options. */
function reversedText({ action, value, cardText = '' }: Candidate, call: Call) {
  const texts = (REVERSED_REQUESTS as Partial<typeof REVERSED_REQUESTS>)[action as keyof typeof REVERSED_REQUESTS];
  if (!texts) throw new UsageError('Only requests to /post have the recipe reversed_md5.');
  const [email, card] = [call.option('payer-email'), call.option('card')];
  const isCard = action === 'SALE' ? value('brand') === '' : email !== undefined || card !== undefined;
  const text = (isCard ? texts.card : texts.apm) ?? texts.card;
  if (text === undefined) throw new UsageError(`The recipe reversed_md5 has no text for ${action}.`);
  const facts: Record<string, string | undefined> = { payer_email: email, [CARD_DIGITS]: card ?? cardText };
  const read = (name: string): string => facts[name] ?? value(name);
  return {
    names: REVERSED_TEXTS[text].flatMap(({ of }) => of.filter((name) => name !== PASSWORD)),
    parts: (password: string) => partsOf(text, (name) => (name === PASSWORD ? password : read(name))),
  };
}

function readSigned(text: string, path: string | undefined) {
  try {
    const { candidates, problems } = readRequest(text, path === undefined ? undefined : readPath(path));
    const [problem] = problems;
    if (problem) throw new StartupError(`The body cannot be read: ${problem.field}: ${problem.sentence}`);
    const [candidate, ...others] = candidates;
    const { action, operation, value } = candidate;
    const values = signedValues(operation, value);
    const isSame = (other: (typeof others)[number]) =>
      signedValues(other.operation, other.value).join('') === values.join('');
    if (!others.every(isSame)) {
      const actions = [action, ...others.map((other) => other.action)].join(', ');
      throw new UsageError(`The body fits several requests (${actions}): name one with --path.`);
    }
    return { action, names: operation.signs, values, candidate };
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
  const password = await askSecret(input, 'Password of the account: ');
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
    mid: call.option('mid') ?? (await onlyAccount(admin, '--mid')).mid,
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
