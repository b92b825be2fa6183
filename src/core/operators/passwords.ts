/** Passwords of operators: which ones are accepted, their Argon2id hashes, and the check of a password. */
import { argon2, randomBytes, timingSafeEqual } from 'node:crypto';
import type { Secret } from '../../lib/crypto/secret.ts';
import { createLimiter } from '../../lib/flow/limiter.ts';
import { Deadline } from '../../lib/time/deadline.ts';
import { COMMON_PASSWORDS } from '../../rules/common-passwords.ts';
import { LIMITS } from '../../rules/limits.ts';

interface Parameters {
  /** In KiB. */
  memory: number;
  passes: number;
  parallelism: number;
}

const newParameters = (): Parameters => ({
  memory: LIMITS.passwordHashKib,
  passes: LIMITS.passwordHashPasses,
  parallelism: 1,
});
const SALT_BYTES = 16;
const TAG_BYTES = 32;

/** Each hash takes much memory and a thread of the pool that other work needs, too. */
const limiter = createLimiter(LIMITS.passwordHashConcurrency, LIMITS.passwordHashWaiting);

/** The same characters may be typed in several encodings. */
const normalised = (password: Secret): string => password.reveal().normalize('NFKC');

const derive = (password: Secret, nonce: Buffer, parameters: Parameters, tagLength: number): Promise<Buffer> =>
  limiter.run(
    () =>
      new Promise((resolve, reject) => {
        argon2('argon2id', { message: normalised(password), nonce, tagLength, ...parameters }, (error, key) =>
          error ? reject(error) : resolve(key),
        );
      }),
    new Deadline(LIMITS.passwordHashWaitMs),
  );

const base64 = (bytes: Buffer): string => bytes.toString('base64').replace(/=+$/, '');

const encode = ({ memory, passes, parallelism }: Parameters, nonce: Buffer, tag: Buffer): string =>
  `$argon2id$v=19$m=${memory},t=${passes},p=${parallelism}$${base64(nonce)}$${base64(tag)}`;

/** The hash in the usual text format, with its parameters and its salt. */
export async function hashPassword(password: Secret): Promise<string> {
  const nonce = randomBytes(SALT_BYTES);
  const parameters = newParameters();
  return encode(parameters, nonce, await derive(password, nonce, parameters, TAG_BYTES));
}

const FORMAT = /^\$argon2id\$v=19\$m=(\d+),t=(\d+),p=(\d+)\$([A-Za-z0-9+/]+)\$([A-Za-z0-9+/]+)$/;

/** The hash of a random value, so that a sign-in takes the same time when there is no operator. */
const noHash = (): string => encode(newParameters(), randomBytes(SALT_BYTES), randomBytes(TAG_BYTES));

export async function isPassword(password: Secret, encoded: string = noHash()): Promise<boolean> {
  const [, memory, passes, parallelism, salt = '', tag = ''] = FORMAT.exec(encoded) ?? [];
  const expected = Buffer.from(tag, 'base64');
  if (expected.length === 0) throw new TypeError('The password hash has another format.');
  const parameters = { memory: Number(memory), passes: Number(passes), parallelism: Number(parallelism) };
  return timingSafeEqual(await derive(password, Buffer.from(salt, 'base64'), parameters, expected.length), expected);
}

export type PasswordProblem = 'tooShort' | 'tooLong' | 'common' | 'personal';

/** A password needs this many characters besides the name and the e-mail address of its owner. */
const OWN_CHARACTERS = 8;

const simple = (text: string): string => text.toLowerCase().replace(/[^\p{L}\p{N}]/gu, '');

/** Whether a text is a repetition of at most three characters, such as `abcabcabcabc`. */
const isRepetition = (text: string): boolean => /^(.{1,3})\1+.{0,2}$/su.test(text);

/** What is wrong with a new password, if anything. */
export function passwordProblem(
  password: Secret,
  { email, name }: { email: string; name: string },
): PasswordProblem | undefined {
  const text = normalised(password);
  const { length } = Array.from(text);
  if (length < LIMITS.passwordLengthLeast) return 'tooShort';
  if (length > LIMITS.passwordLengthMost) return 'tooLong';
  const plain = simple(text);
  const personal = [email, email.split('@')[0] ?? '', name].map(simple).filter((part) => part.length > 2);
  const rest = personal.reduce((left, part) => left.replaceAll(part, ''), plain);
  if (rest.length < plain.length && rest.length < OWN_CHARACTERS) return 'personal';
  if (isRepetition(text.toLowerCase()) || COMMON_PASSWORDS.has(plain)) return 'common';
  return undefined;
}
