/** The status of a page whose request failed. */
import type { FastifyError, FastifyReply } from 'fastify';
import { LIMITS } from '../rules/limits.ts';

export const isClientError = ({ statusCode = 500 }: FastifyError): boolean => statusCode >= 400 && statusCode < 500;

/** Without a mistake of the client, the response says when to try again. */
export const withFailure = (reply: FastifyReply, error: FastifyError): FastifyReply =>
  isClientError(error)
    ? reply.code(error.statusCode as number)
    : reply.code(503).header('retry-after', LIMITS.overloadRetrySeconds);
