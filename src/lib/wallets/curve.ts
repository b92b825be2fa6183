/** The costly computations on elliptic curves, on the thread pool, so that they do not block other requests. */
import { diffieHellman, type KeyObject, verify } from 'node:crypto';
import { promisify } from 'node:util';
import type { TokenRule } from './opened.ts';
import { refuseFor } from './reading.ts';

const verified = promisify<string, NodeJS.ArrayBufferView, KeyObject, NodeJS.ArrayBufferView, boolean>(verify);
const agreed = promisify<{ privateKey: KeyObject; publicKey: KeyObject }, Buffer>(diffieHellman);

/** Whether the key signed the content (ECDSA with SHA-256). */
export const isSigned = (content: Uint8Array, key: KeyObject, signature: Uint8Array): Promise<boolean> =>
  verified('sha256', content, key, signature).catch(refuseFor('signature'));

/** The shared secret of two keys (ECDH). */
export const sharedSecret = (privateKey: KeyObject, publicKey: KeyObject, rule: TokenRule): Promise<Buffer> =>
  agreed({ privateKey, publicKey }).catch(refuseFor(rule));
