/** Shared parts of operator calls in the OpenAPI document: authentication, pagination, refusals. */
import type { ErrorName } from '../../rules/errors.ts';
import { LIMITS } from '../../rules/limits.ts';
import { inPath, inQuery, type Json, refusals, text, uuid } from './schema.ts';

export const EVERY_CALL = ['bodyTooLarge', 'unauthorised', 'forbidden', 'internal', 'unavailable'] as const;
/** The refusals of an operator's call besides those that every call has. */
export const operatorRefusals = (...names: readonly ErrorName[]): Json => refusals(...names, ...EVERY_CALL);
export const commonRefusals = refusals('invalidData', ...EVERY_CALL);
export const accountRefusals = refusals('invalidData', 'noSuchAccount', ...EVERY_CALL);
export const paymentRefusals = refusals('invalidData', 'noSuchPayment', ...EVERY_CALL);
export const callbackRefusals = refusals('invalidData', 'noSuchCallback', ...EVERY_CALL);
export const scheduleRefusals = refusals('invalidData', 'noSuchSchedule', ...EVERY_CALL);
export const reconciliationRefusals = refusals('invalidData', 'noSuchReconciliation', ...EVERY_CALL);
export const adjustmentRefusals = refusals(
  'invalidData',
  'noSuchAdjustment',
  'ownAdjustment',
  'adjustmentDecided',
  ...EVERY_CALL,
);
export const chargebackRefusals = refusals('invalidData', 'noSuchChargeback', 'noSuchEvidence', ...EVERY_CALL);
export const requestRefusals = refusals('noSuchRequest', ...EVERY_CALL);
export const tokenRefusals = refusals('noSuchToken', ...EVERY_CALL);
export const pricePlanRefusals = refusals('invalidData', 'noSuchPricePlan', ...EVERY_CALL);
export const resendRefusals = refusals('invalidData', 'noSuchAccount', 'noSuchPayment', ...EVERY_CALL);

/** A call that requires a token. */
export const call = (tag: string, operationId: string, summary: string, rest: Json): Json => ({
  operationId,
  tags: [tag],
  summary,
  security: [{ adminToken: [] }],
  ...rest,
});

export const pageParameters = (cursor: Json): Json[] => [
  inQuery(
    'limit',
    { type: 'integer', minimum: 1, maximum: LIMITS.adminPageSizeMost, default: LIMITS.adminPageSize },
    'The number of items per page.',
  ),
  inQuery('cursor', cursor, 'The `next_cursor` of the previous page.'),
];

export const dateTime = { ...text, examples: ['2026-11-15', '2026-11-15T02:24:18Z'] };

export const mid = [inPath('mid', uuid, 'The account.')];
