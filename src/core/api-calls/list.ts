/** Lists and finds recent API calls for a caller of the admin API or the panel. */
import { isUuid } from '../../lib/crypto/id.ts';
import { ERRORS, type ErrorName, Refusal } from '../../rules/errors.ts';
import { CHECKOUT_OPERATIONS, DIALECT_OPERATIONS, S2S_OPERATIONS } from '../../rules/operations.ts';
import type { ApiCall, ApiCallFilter, Gateway } from '../context.ts';
import { type Principal, sees } from '../operators/principal.ts';

export const CALL_OUTCOMES = ['accepted', 'refused'] as const;
export type CallOutcome = (typeof CALL_OUTCOMES)[number];

/** A request whose operation could not be determined. */
export const UNKNOWN_ACTION = 'unknown';
export const CALL_ACTIONS: readonly string[] = [
  ...new Set([S2S_OPERATIONS, DIALECT_OPERATIONS, CHECKOUT_OPERATIONS].flatMap(Object.keys)),
  UNKNOWN_ACTION,
];

const ERROR_NAMES = Object.keys(ERRORS) as ErrorName[];
export const ERROR_CODES: readonly number[] = [...new Set(ERROR_NAMES.map((name) => ERRORS[name].code))].toSorted(
  (a, b) => a - b,
);

export interface CallQuery extends Pick<ApiCallFilter, 'mid' | 'action' | 'orderId' | 'paymentId' | 'from' | 'to'> {
  outcome?: CallOutcome | undefined;
  errorCode?: number | undefined;
  errorMessage?: string | undefined;
}

export const WRONG_HASH: string = ERRORS.wrongHash.message;

/** The code and the message of a refused call; undefined for an accepted one. */
export const errorOf = ({ error }: Pick<ApiCall, 'error'>): { code: number; message: string } | undefined =>
  error === null ? undefined : ERRORS[error as ErrorName];

/** Newest first. Calls without an account are shown to callers that see all accounts. */
export async function listCalls(
  gateway: Gateway,
  { mids }: Pick<Principal, 'mids'>,
  { outcome, errorCode, errorMessage, ...filter }: CallQuery,
  limit: number,
  before?: string,
): Promise<ApiCall[]> {
  await gateway.callRecorder.flush();
  const isAnyError = errorCode === undefined && errorMessage === undefined;
  const errors = ERROR_NAMES.filter(
    (name) =>
      (errorCode === undefined || ERRORS[name].code === errorCode) &&
      (errorMessage === undefined || ERRORS[name].message === errorMessage),
  );
  return gateway.apiCalls.list(
    {
      ...filter,
      mids,
      isRefused: outcome === undefined ? undefined : outcome === 'refused',
      errors: isAnyError ? undefined : errors,
    },
    limit,
    before,
  );
}

export async function findCall(gateway: Gateway, principal: Pick<Principal, 'mids'>, callId: string): Promise<ApiCall> {
  const call = isUuid(callId) ? await gateway.apiCalls.find(callId) : undefined;
  const isSeen = call && (call.mid === null ? principal.mids === null : sees(principal, call.mid));
  if (!isSeen) throw new Refusal('noSuchRequest');
  return call;
}
