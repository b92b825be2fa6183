/** The id of a callback, sent as `webhook-id`: it lets a receiver recognise a callback that it has seen before. */
import { isUuid } from '../../lib/crypto/id.ts';
import type { CallbackKey } from '../../store/callbacks/callbacks.ts';

export const callbackId = ({ paymentId, seq }: Omit<CallbackKey, 'mid'>): string => `${paymentId}-${seq}`;

export function readCallbackId(id: string): Omit<CallbackKey, 'mid'> | undefined {
  const [, paymentId = '', seq = ''] = /^(.{36})-([1-9]\d{0,8})$/.exec(id) ?? [];
  return isUuid(paymentId) ? { paymentId: paymentId.toLowerCase(), seq: Number(seq) } : undefined;
}
