/** Holds card security codes in memory during a 3DS challenge, encrypted under a key of this process. */
import { newId } from '../lib/id.ts';
import { createSeal, newMasterKey } from '../lib/seal.ts';
import { Secret } from '../lib/secret.ts';
import { unpooled } from '../lib/unpooled.ts';
import { LIMITS } from '../rules/limits.ts';
import type { SecurityCodeCache } from './context.ts';

export function createSecurityCodeCache(): SecurityCodeCache {
  const seal = createSeal(newMasterKey());
  const kept = new Map<string, Buffer>();
  return {
    holder: newId(),
    keep(paymentId, code) {
      if (!code) return;
      kept.set(paymentId, unpooled(seal.seal(code.reveal(), paymentId)));
      setTimeout(() => kept.delete(paymentId), LIMITS.codeKeptMs).unref();
    },
    take(paymentId) {
      const sealed = kept.get(paymentId);
      kept.delete(paymentId);
      return sealed && new Secret(seal.open(sealed, paymentId));
    },
  };
}
