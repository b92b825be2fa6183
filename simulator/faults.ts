/** Faults on order: the next call or news of an account or a brand misbehaves as it was told to. */
import { setTimeout as pause } from 'node:timers/promises';
import type { FastifyReply, FastifyRequest } from 'fastify';
import type { Ledger } from './ledger.ts';

/** What may befall any call of the gateway. */
export const CALL_MODES = ['timeout_before', 'timeout_after', 'error_500', 'wrong_amount'] as const;
/** What may befall a question to the directory, whose answers tell no amount. */
export const DIRECTORY_MODES = ['timeout_before', 'timeout_after', 'error_500'] as const;
/** What may befall a payment that comes for the first time. */
export const SUBMIT_MODES = [...CALL_MODES, 'late_success'] as const;
export const NOTIFICATION_MODES = ['duplicate_news', 'wrong_amount'] as const;
export const MODES = [...SUBMIT_MODES, 'duplicate_news'] as const;

export type CallMode = (typeof SUBMIT_MODES)[number];

const DEAD_LINE_MS = 150;

export const plusOne = (amount: string): string => String(BigInt(amount) + 1n);

/** Says nothing for a while and hangs up. */
async function hangUp(request: FastifyRequest, reply: FastifyReply): Promise<FastifyReply> {
  reply.hijack();
  await pause(DEAD_LINE_MS, undefined, { ref: false });
  request.raw.socket.destroy();
  return reply;
}

interface About {
  mid: string | null;
  brand: string | null;
  /** What befalls this call when no fault was ordered for it. */
  fate?: CallMode | undefined;
}

/** Answers a call of the gateway, unless a fault is waiting for it. */
export async function answer(
  ledger: Ledger,
  request: FastifyRequest,
  reply: FastifyReply,
  about: About | undefined,
  modes: readonly CallMode[],
  performOperation: (isLateSuccess: boolean) => Record<string, unknown> | undefined,
): Promise<unknown> {
  const { mid = null, brand = null, fate } = about ?? {};
  const mode = ledger.takeFault(modes, { mid, brand }) ?? fate;
  if (mode === 'timeout_before') return hangUp(request, reply);
  if (mode === 'error_500') return reply.code(500).send({ error: 'The simulated provider is out of order.' });
  const result = performOperation(mode === 'late_success');
  if (mode === 'timeout_after') return hangUp(request, reply);
  if (!result) return reply.code(404).send({ error: 'There is nothing of this name.' });
  return mode === 'wrong_amount' ? { ...result, amount: plusOne(String(result.amount)) } : result;
}
