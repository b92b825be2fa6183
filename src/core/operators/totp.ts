/** One-time codes: TOTP (RFC 6238) with a sealed seed, and recovery codes. */
import { randomBytes } from 'node:crypto';
import { TOTP, Secret as TotpSecret } from 'otpauth';
import { boundTo } from '../../lib/crypto/seal.ts';
import { LIMITS } from '../../rules/limits.ts';
import type { Gateway } from '../context.ts';

const SEED_BYTES = 20;
const PERIOD_SECONDS = 30;
/** Codes of the previous and the next step are accepted, too, for clocks that are not exact. */
const WINDOW = 1;

const bound = (operatorId: string): string => boundTo('operator_passwords', 'totp_seed', operatorId);

/** A new seed in base32, as authenticator apps read it. */
export const newTotpSeed = (): string => new TotpSecret({ size: SEED_BYTES }).base32;

export const sealTotpSeed = ({ seal }: Pick<Gateway, 'seal'>, operatorId: string, seed: string): Buffer =>
  seal.seal(seed, bound(operatorId));

export const openTotpSeed = ({ seal }: Pick<Gateway, 'seal'>, operatorId: string, sealed: Buffer): string =>
  seal.open(sealed, bound(operatorId));

/** The text of the QR code that an authenticator app scans. */
export const totpUri = (seed: string, label: string, issuer: string): string =>
  new TOTP({ secret: seed, label, issuer }).toString();

/** The step that a code belongs to; undefined if the code is wrong. */
export function totpStep(seed: string, code: string, now: number): bigint | undefined {
  const secret = TotpSecret.fromBase32(seed);
  const delta = TOTP.validate({ token: code, secret, period: PERIOD_SECONDS, timestamp: now, window: WINDOW });
  return delta === null ? undefined : BigInt(TOTP.counter({ period: PERIOD_SECONDS, timestamp: now }) + delta);
}

/** Without letters and digits that look alike: no 0, 1, I, O. */
const ALPHABET = 'ABCDEFGHJKLMNPQRSTUVWXYZ23456789';
const GROUPS = 4;
const GROUP_LENGTH = 4;

/** New recovery codes of 80 bits, such as `K7QM-2WXA-PR4T-9HBC`. */
export const newRecoveryCodes = (): string[] =>
  Array.from({ length: LIMITS.recoveryCodes }, () => {
    const letters = Array.from(randomBytes(GROUPS * GROUP_LENGTH), (byte) => ALPHABET.charAt(byte % ALPHABET.length));
    return Array.from({ length: GROUPS }, (_, group) =>
      letters.slice(group * GROUP_LENGTH, (group + 1) * GROUP_LENGTH).join(''),
    ).join('-');
  });

/** The keyed digest that is stored; spaces, hyphens and case do not matter. */
export const recoveryDigest = (
  { fingerprints }: Pick<Gateway, 'fingerprints'>,
  operatorId: string,
  code: string,
): string => {
  const plain = code.toUpperCase().replace(/[^A-Z0-9]/g, '');
  return fingerprints.digest(`${operatorId} ${plain}`, 'operator recovery code');
};
