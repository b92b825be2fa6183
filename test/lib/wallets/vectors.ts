/** The vectors of the wallets, and what the tests of opening tokens share. */
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { readCertificate, readPrivateKey } from '../../../src/lib/wallets/keys.ts';
import {
  type OpenedToken,
  TokenRefused,
  type TokenRule,
  type WalletAKeys,
  type WalletBKeys,
  type WalletBRoots,
  type WalletEnvironment,
} from '../../../src/lib/wallets/opened.ts';
import { rootKeysIn } from '../../../src/lib/wallets/roots.ts';
import { openWalletA, type WalletAOptions } from '../../../src/lib/wallets/wallet-a.ts';
import { openWalletB } from '../../../src/lib/wallets/wallet-b.ts';

export interface Vector {
  name: string;
  token: Record<string, unknown>;
  rule?: TokenRule;
  expected?: Record<string, unknown>;
  now?: number;
  environment?: WalletEnvironment;
  recipient?: string;
}

export const readVectors = (name: string) =>
  JSON.parse(readFileSync(join(import.meta.dirname, '../../../vectors/wallets', name), 'utf8'));

export const walletA = readVectors('wallet-a.json');
export const walletB = readVectors('wallet-b.json');
export const vectorsA: Vector[] = walletA.vectors;
export const vectorsB: Vector[] = walletB.vectors;

export const keysA: WalletAKeys = {
  merchantIdentifier: walletA.merchantIdentifier,
  processingKeys: walletA.processingKeys.map(readPrivateKey),
};
export const rootsA = walletA.roots.map(readCertificate);
export const keysB: WalletBKeys = {
  recipient: walletB.recipient,
  gatewayMerchantId: walletB.gatewayMerchantId,
  privateKeys: walletB.privateKeys.map(readPrivateKey),
  environment: 'TEST',
};
export const rootsB: WalletBRoots = {
  TEST: rootKeysIn(JSON.stringify(walletB.roots.TEST)),
  PRODUCTION: rootKeysIn(JSON.stringify(walletB.roots.PRODUCTION)),
};

export const openA = (token: unknown, now = walletA.now, options: WalletAOptions = {}): Promise<OpenedToken> =>
  openWalletA(token, keysA, rootsA, now, options);

export const openB = (token: unknown, { now = walletB.now, recipient, environment }: Partial<Vector> = {}) =>
  openWalletB(
    token,
    { ...keysB, recipient: recipient ?? keysB.recipient, environment: environment ?? 'TEST' },
    rootsB,
    now,
  );

export function vectorNamed(vectors: Vector[], name: string): Vector {
  const vector = vectors.find((one) => one.name === name);
  if (!vector) throw new Error(`There is no vector ${name}.`);
  return vector;
}

/** The rule for which a token is refused, or `accepted`. Anything else that is thrown is an error of the gateway. */
export async function verdictOf(opening: Promise<OpenedToken>): Promise<TokenRule | 'accepted'> {
  try {
    await opening;
    return 'accepted';
  } catch (error) {
    if (!(error instanceof TokenRefused)) throw error;
    return error.rule;
  }
}

/** An opened token with its secrets, in the form of the vectors. */
export function revealed({ card, cryptogram, eci, amount, ...rest }: OpenedToken): Record<string, unknown> {
  const { number, month, year, holder } = card;
  return {
    ...rest,
    ...{ number: number.reveal(), month, year, holder },
    cryptogram: cryptogram?.reveal() ?? null,
    eci: eci ?? null,
    ...(amount === undefined ? {} : { amount: String(amount) }),
  };
}

export function copyWith(token: object, path: string[], change: (value: unknown) => unknown): Record<string, unknown> {
  const copy = structuredClone(token) as Record<string, unknown>;
  const parent = path.slice(0, -1).reduce((at, name) => at[name] as Record<string, unknown>, copy);
  const last = path.at(-1) as string;
  parent[last] = change(parent[last]);
  return copy;
}

/** Every copy of a text of bytes in which one bit of one byte differs; the bit moves from byte to byte. */
export function* flipped(text: string, encoding: 'base64' | 'hex'): Generator<{ at: number; text: string }> {
  const bytes = Buffer.from(text, encoding);
  for (let at = 0; at < bytes.length; at += 1) {
    const copy = Buffer.from(bytes);
    copy[at] = (copy[at] as number) ^ (1 << (at % 8));
    yield { at, text: copy.toString(encoding) };
  }
}
