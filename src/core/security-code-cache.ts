/** Holds card security codes in memory during a 3DS challenge, encrypted under a key of this process. */
import { newId } from '../lib/id.ts';
import { createSeal, newMasterKey } from '../lib/seal.ts';
import { Secret } from '../lib/secret.ts';
import { LIMITS } from '../rules/limits.ts';
import type { SecurityCodeCache } from './context.ts';

export function createSecurityCodeCache(): SecurityCodeCache {
  const seal = createSeal(newMasterKey());
  // As texts: each small buffer would keep the whole pool of 64 KB that Node.js took it from.
  const kept = new Map<string, string>();
  return {
    holder: newId(),
    keep(paymentId, code) {
      if (!code) return;
      kept.set(paymentId, seal.seal(code.reveal(), paymentId).toString('base64'));
      setTimeout(() => kept.delete(paymentId), LIMITS.codeKeptMs).unref();
    },
    take(paymentId) {
      const sealed = kept.get(paymentId);
      kept.delete(paymentId);
      return sealed === undefined ? undefined : new Secret(seal.open(Buffer.from(sealed, 'base64'), paymentId));
    },
  };
}
