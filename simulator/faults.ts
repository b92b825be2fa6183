/** Faults that a developer sets for the next calls or notifications of an account or a brand. */
import { setTimeout as pause } from 'node:timers/promises';
import type { FastifyReply, FastifyRequest } from 'fastify';
import type { DeclineCodes, FaultTaken, Ledger } from './ledger.ts';

/** The faults of any call of the gateway. */
export const CALL_MODES = ['timeout_before', 'timeout_after', 'error_500', 'rate_limited', 'wrong_amount'] as const;
/** The faults of an authentication request, whose response has no amount. */
export const DIRECTORY_MODES = ['timeout_before', 'timeout_after', 'error_500'] as const;
/** The faults of the first submission of a payment. */
export const SUBMIT_MODES = [...CALL_MODES, 'late_success', 'soft_decline', 'decline'] as const;
/** The faults of an operation: a pending one is reported by a notification. */
export const OPERATION_MODES = [...CALL_MODES, 'pending_operation'] as const;
export const NOTIFICATION_MODES = ['duplicate_news', 'wrong_amount'] as const;
export const MODES = [...SUBMIT_MODES, 'pending_operation', 'duplicate_news'] as const;

export type CallMode = (typeof SUBMIT_MODES)[number] | (typeof OPERATION_MODES)[number];

const TIMEOUT_MS = 150;

export const plusOne = (amount: string): string => String(BigInt(amount) + 1n);

/** Closes the connection after a while, without a response. */
async function dropConnection(request: FastifyRequest, reply: FastifyReply): Promise<FastifyReply> {
  reply.hijack();
  await pause(TIMEOUT_MS, undefined, { ref: false });
  request.raw.socket.destroy();
  return reply;
}

/** A decline that names no code is one without a reason. */
export const declineCodes = ({ mode, code, advice }: FaultTaken): DeclineCodes | undefined =>
  mode === 'decline' ? { code: code ?? '05', advice } : undefined;

interface CallContext {
  mid: string | null;
  brand: string | null;
  /** The fault of this call if none was set for it. */
  defaultFault?: CallMode | undefined;
}

/** Responds to a call of the gateway, with a fault if one is set for it. */
export async function answer(
  ledger: Ledger,
  request: FastifyRequest,
  reply: FastifyReply,
  context: CallContext | undefined,
  modes: readonly CallMode[],
  perform: (mode: CallMode | undefined, codes: DeclineCodes | undefined) => Record<string, unknown> | undefined,
): Promise<unknown> {
  const { mid = null, brand = null, defaultFault } = context ?? {};
  const fault = ledger.takeFault(modes, { mid, brand });
  const mode = fault?.mode ?? defaultFault;
  if (mode === 'timeout_before') return dropConnection(request, reply);
  if (mode === 'error_500') return reply.code(500).send({ error: 'The simulated provider is out of order.' });
  if (mode === 'rate_limited') return reply.code(429).send({ error: 'Too many requests.' });
  const result = perform(mode as CallMode | undefined, fault && declineCodes(fault));
  if (mode === 'timeout_after') return dropConnection(request, reply);
  if (!result) return reply.code(404).send({ error: 'There is nothing of this name.' });
  return mode === 'wrong_amount' ? { ...result, amount: plusOne(String(result.amount)) } : result;
}
