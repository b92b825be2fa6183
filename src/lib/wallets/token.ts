/** The structures of the two device wallet tokens, as tables; the tokens are not decrypted here. */

import { isObject, isText } from '../text/json.ts';

/** Returns the path of the first member that is missing or invalid. */
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

/** Accepts the value itself or its JSON text. */
const json =
  (shape: Shape): Shape =>
  (value, path) =>
    shape(typeof value === 'string' ? parsed(value) : value, path);

function parsed(jsonText: string): unknown {
  try {
    return JSON.parse(jsonText);
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
