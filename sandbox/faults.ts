/** Faults on order: the next call or news of an account or a brand misbehaves as it was told to. */
import { setTimeout as pause } from 'node:timers/promises';
import type { FastifyReply, FastifyRequest } from 'fastify';
import type { Ledger } from './ledger.ts';

/** What may befall any call of the gateway. */
export const CALL_MODES = ['timeout_before', 'timeout_after', 'error_500', 'wrong_amount'] as const;
/** What may befall a payment that comes for the first time. */
export const SUBMIT_MODES = [...CALL_MODES, 'late_success'] as const;
export const NEWS_MODES = ['duplicate_news', 'wrong_amount'] as const;
export const MODES = [...SUBMIT_MODES, 'duplicate_news'] as const;

export type CallMode = (typeof SUBMIT_MODES)[number];

const DEAD_LINE_MS = 150;

export const oneMore = (amount: string): string => String(BigInt(amount) + 1n);

/** Says nothing for a while and hangs up. */
async function hangUp(request: FastifyRequest, reply: FastifyReply): Promise<FastifyReply> {
  reply.hijack();
  await pause(DEAD_LINE_MS, undefined, { ref: false });
  request.raw.socket.destroy();
  return reply;
}

/** Answers a call of the gateway, unless a fault is waiting for it. */
export async function answer(
  ledger: Ledger,
  request: FastifyRequest,
  reply: FastifyReply,
  about: { mid: string; brand: string } | undefined,
  modes: readonly CallMode[],
  carryOut: (isLateSuccess: boolean) => { amount: string } | undefined,
): Promise<unknown> {
  const mode = ledger.takeFault(modes, about ?? { mid: null, brand: null });
  if (mode === 'timeout_before') return hangUp(request, reply);
  if (mode === 'error_500') return reply.code(500).send({ error: 'The simulated provider is out of order.' });
  const result = carryOut(mode === 'late_success');
  if (mode === 'timeout_after') return hangUp(request, reply);
  if (!result) return reply.code(404).send({ error: 'There is nothing of this name.' });
  return mode === 'wrong_amount' ? { ...result, amount: oneMore(result.amount) } : result;
}
