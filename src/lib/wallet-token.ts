/** The shapes of the two device wallet tokens, as tables; what the tokens hold is not opened here. */

import { isObject, isText } from './json.ts';

/** Gives the path of the first member that is not as it should be, or nothing. */
type Shape = (value: unknown, path: string) => string | undefined;
type Members = Readonly<Record<string, Shape>>;

const isFilled = (value: unknown): boolean => isText(value, Number.POSITIVE_INFINITY) && value !== '';

const text: Shape = (value, path) => (isFilled(value) ? undefined : path);
const number: Shape = (value, path) => (Number.isFinite(value) ? undefined : path);
const texts: Shape = (value, path) =>
  Array.isArray(value) && value.length > 0 && value.every(isFilled) ? undefined : path;

function firstMissing(value: Record<string, unknown>, members: Members, path = ''): string | undefined {
  for (const [name, shape] of Object.entries(members)) {
    const missing = shape(value[name], `${path}${name}`);
    if (missing !== undefined) return missing;
  }
  return undefined;
}

const object =
  (members: Members): Shape =>
  (value, path) =>
    isObject(value) ? firstMissing(value, members, `${path}.`) : path;

/** Either the value itself or the same written as JSON text. */
const json =
  (shape: Shape): Shape =>
  (value, path) =>
    shape(typeof value === 'string' ? parsed(value) : value, path);

function parsed(written: string): unknown {
  try {
    return JSON.parse(written);
  } catch {
    return undefined;
  }
}

const WALLET_A: Members = {
  paymentData: object({
    data: text,
    signature: text,
    header: object({ publicKeyHash: text, ephemeralPublicKey: text, transactionId: text }),
    version: text,
  }),
  paymentMethod: object({ displayName: text, network: text, type: text }),
  transactionIdentifier: text,
};

const signedMessage = json(object({ encryptedMessage: text, ephemeralPublicKey: text, tag: text }));
const signedDirectly = object({ signature: text, protocolVersion: text, signedMessage });
const signedThroughKey = object({
  signature: text,
  protocolVersion: text,
  intermediateSigningKey: object({ signedKey: text, signatures: texts }),
  signedMessage,
});
const signed: Shape = (value, path) =>
  (isObject(value) && value.protocolVersion === 'ECv1' ? signedDirectly : signedThroughKey)(value, path);

const WALLET_B: Members = {
  apiVersionMinor: number,
  apiVersion: number,
  paymentMethodData: object({
    description: text,
    tokenizationData: object({ type: text, token: json(signed) }),
    type: text,
    info: object({ cardNetwork: text, cardDetails: text }),
  }),
};

export const missingInWalletA = (token: unknown): string | undefined =>
  firstMissing(isObject(token) ? token : {}, WALLET_A);

export const missingInWalletB = (token: unknown): string | undefined =>
  firstMissing(isObject(token) ? token : {}, WALLET_B);
