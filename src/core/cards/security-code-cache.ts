/** Holds card security codes in memory during a 3DS challenge, encrypted under a key of this process. */
import { newId } from '../../lib/crypto/id.ts';
import { createSeal, newMasterKey } from '../../lib/crypto/seal.ts';
import { Secret } from '../../lib/crypto/secret.ts';
import { unpooled } from '../../lib/crypto/unpooled.ts';
import { LIMITS } from '../../rules/limits.ts';
import type { SecurityCodeCache } from '../context.ts';

export function createSecurityCodeCache(): SecurityCodeCache {
  const seal = createSeal(newMasterKey());
  const kept = new Map<string, { sealed: Buffer; timer: NodeJS.Timeout }>();
  /** Its timer must not delete a later code of the payment. */
  const remove = (paymentId: string): Buffer | undefined => {
    const found = kept.get(paymentId);
    clearTimeout(found?.timer);
    kept.delete(paymentId);
    return found?.sealed;
  };
  return {
    holder: newId(),
    keep(paymentId, code) {
      if (!code) return;
      remove(paymentId);
      const timer = setTimeout(() => kept.delete(paymentId), LIMITS.codeKeptMs).unref();
      kept.set(paymentId, { sealed: unpooled(seal.seal(code.reveal(), paymentId)), timer });
    },
    take(paymentId) {
      const sealed = remove(paymentId);
      return sealed && new Secret(seal.open(sealed, paymentId));
    },
  };
}
