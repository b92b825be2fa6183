/** What the operator's calls have in common in the OpenAPI document: the token, the pages, the usual refusals. */
import { LIMITS } from '../../rules/limits.ts';
import { inPath, inQuery, type Json, refusals, text, uuid } from './schema.ts';

const ALWAYS = ['bodyTooLarge', 'unauthorised', 'internal', 'unavailable'] as const;
export const common = refusals('invalidData', ...ALWAYS);
export const ofAccount = refusals('invalidData', 'noSuchAccount', ...ALWAYS);
export const ofPayment = refusals('invalidData', 'noSuchPayment', ...ALWAYS);
export const ofCallback = refusals('invalidData', 'noSuchCallback', ...ALWAYS);
export const ofSchedule = refusals('invalidData', 'noSuchSchedule', ...ALWAYS);
export const ofOwner = refusals('invalidData', 'noSuchAccount', 'noSuchPayment', ...ALWAYS);

/** A call behind the admin token. */
export const call = (tag: string, operationId: string, summary: string, rest: Json): Json => ({
  operationId,
  tags: [tag],
  summary,
  security: [{ adminToken: [] }],
  ...rest,
});

export const inBook = (cursor: Json): Json[] => [
  inQuery(
    'limit',
    { type: 'integer', minimum: 1, maximum: LIMITS.adminPageSizeMost, default: LIMITS.adminPageSize },
    'How many items a page has.',
  ),
  inQuery('cursor', cursor, 'The `next_cursor` of the page before.'),
];

export const moment = { ...text, examples: ['2026-11-15', '2026-11-15T02:24:18Z'] };

export const mid = [inPath('mid', uuid, 'The account.')];
