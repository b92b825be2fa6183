/** Altered wallet tokens: a token is refused by name, or it opens to exactly what its wallet sealed. */
import { type OpenedToken, TokenRefused } from '../../src/lib/wallets/opened.ts';
import { copyWith, openA, openB, revealed, type Vector, vectorsA, vectorsB } from '../lib/wallets/vectors.ts';
import type { Random } from '../support/chance.ts';
import { altered, below, pick } from './random.ts';

// One token for each combination of version and form that differs in structure.
const NAMES = ['indefinite lengths', 'definite lengths', 'application data', 'ECv1 with a cryptogram'];
const SEEDS = [...vectorsA, ...vectorsB].filter(({ name }) => [...NAMES, 'ECv2 with a cryptogram'].includes(name));

/** The sealed part of each of them, as its wallet made it. */
const originals = new Map<Vector, Promise<string>>();
const originalOf = (vector: Vector, open: (token: unknown) => Promise<OpenedToken>): Promise<string> => {
  const known = originals.get(vector) ?? open(vector.token).then((opened) => sealedPart(revealed(opened)));
  originals.set(vector, known);
  return known;
};

/** What nothing but the wallet may decide. The card network is in the unsigned part of a token. */
const sealedPart = ({ network: _, validUntil: __, ...rest }: Record<string, unknown>): string => JSON.stringify(rest);

/** The part that the wallet signed, at which most changes are aimed. */
const SIGNED = { a: ['paymentData'], b: ['paymentMethodData', 'tokenizationData', 'token'] };

/** Opens one altered token; returns whether it was accepted. Throws if it opens to something else, or fails otherwise. */
export async function fuzzWalletToken(random: Random): Promise<boolean> {
  const vector = pick(random, SEEDS);
  const [open, path] = vectorsA.includes(vector) ? [openA, SIGNED.a] : [openB, SIGNED.b];
  let token: unknown = vector.token;
  const isSignedPart = random() < 0.95;
  for (let changes = 1 + below(random, 3); changes > 0; changes -= 1) {
    token = isSignedPart ? copyWith(token as object, path, (part) => altered(random, part)) : altered(random, token);
  }
  try {
    const opened = revealed(await open(token));
    if (sealedPart(opened) !== (await originalOf(vector, open))) {
      throw new Error(`An altered token opened to something else: ${JSON.stringify(token)}`);
    }
    return true;
  } catch (error) {
    if (error instanceof TokenRefused) return false;
    throw error;
  }
}
