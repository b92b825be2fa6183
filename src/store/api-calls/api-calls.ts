/** Recent API calls of merchants: written in batches, listed newest first, deleted after a while. */

import { sql } from 'kysely';
import { FIRST_ID } from '../../lib/crypto/id.ts';
import { columns, UNWAITED } from '../database/columns.ts';
import type { Database } from '../database/database.ts';
import { itemRows, listed } from '../database/item-rows.ts';

/** What the hash debugger found out about a refused hash. */
export interface CallExplanation {
  action: string;
  alternatives: readonly string[];
  fields: readonly { name: string; value: string }[];
  signedText: string;
  mistakes: readonly string[];
  hints: readonly string[];
}

export interface ApiCall {
  /** Null when the account of a refused call is not known. */
  mid: string | null;
  callId: string;
  at: number;
  requestId: string;
  protocol: 's2s' | 'checkout';
  action: string;
  address: string;
  orderId: string | null;
  paymentId: string | null;
  status: number;
  /** The name of the refusal; null for an accepted call. */
  error: string | null;
  tookMs: number;
  request: readonly (readonly [name: string, value: string])[];
  answer: string;
  explanation: CallExplanation | null;
}

export interface ApiCallFilter {
  mid?: string | undefined;
  /** The accounts that the caller may see; null means all, and calls without an account. */
  mids: readonly string[] | null;
  isRefused?: boolean | undefined;
  action?: string | undefined;
  /** One of these refusals. */
  errors?: readonly string[] | undefined;
  orderId?: string | undefined;
  paymentId?: string | undefined;
  /** The ids lie in this range. */
  from?: string | undefined;
  to?: string | undefined;
}

export interface ApiCallStore {
  insert(calls: readonly ApiCall[]): Promise<void>;
  /** Newest first; `before` is the id of the last call of the previous page. */
  list(filter: ApiCallFilter, limit: number, before?: string): Promise<ApiCall[]>;
  find(callId: string): Promise<ApiCall | undefined>;
  /** Deletes all but the newest accepted and the newest refused calls of an account; returns how many. */
  prune(mid: string | null, kept: number, limit: number): Promise<number>;
}

const TABLE = itemRows<ApiCall>([
  ['mid', 'uuid', ({ mid }) => mid ?? FIRST_ID],
  ['call_id', 'uuid', ({ callId }) => callId],
  ['at', 'timestamptz', ({ at }) => at],
  ['request_id', 'text', ({ requestId }) => requestId],
  ['protocol', 'text', ({ protocol }) => protocol],
  ['action', 'text', ({ action }) => action],
  ['address', 'text', ({ address }) => address],
  ['order_id', 'text', ({ orderId }) => orderId],
  ['payment_id', 'uuid', ({ paymentId }) => paymentId],
  ['status', 'int', ({ status }) => status],
  ['error', 'text', ({ error }) => error],
  ['took_ms', 'int', ({ tookMs }) => tookMs],
  ['request', 'jsonb', ({ request }) => JSON.stringify(request)],
  ['answer', 'text', ({ answer }) => answer],
  ['explanation', 'jsonb', ({ explanation }) => explanation && JSON.stringify(explanation)],
]);

// Payments do not wait until calls are on disk; a crash of the process loses those that wait in memory, too.
const INSERT = `with ${UNWAITED} insert into api_calls (${listed(TABLE.names)})
  select ${listed(TABLE.names, 'i')} from ${TABLE.rows('i')}, unwaited`;

const COLUMNS = columns('c', [
  ...['callId', 'at', 'requestId', 'protocol', 'action', 'address', 'orderId', 'paymentId', 'status', 'error'],
  ...['tookMs', 'request', 'answer', 'explanation'],
]);
const SELECTED = sql.raw(`nullif(c.mid, '${FIRST_ID}') as mid, ${COLUMNS}`);

const PRUNE = `
  with outdated as (
    select c.call_id from api_calls c
    where c.mid = $1 and (c.error is null) = $2
    order by c.call_id desc offset $3 limit $4
  )
  delete from api_calls c using outdated o where c.mid = $1 and c.call_id = o.call_id`;

export function createApiCallStore({ pool, query }: Database): ApiCallStore {
  return {
    async insert(calls) {
      await pool.query(INSERT, TABLE.values(calls));
    },
    async list({ mid, mids, isRefused, action, errors, orderId, paymentId, from, to }, limit, before) {
      const conditions = [
        sql`true`,
        mid !== undefined && sql`c.mid = ${mid}`,
        mids !== null && sql`c.mid = any(${[...mids]}::uuid[])`,
        isRefused !== undefined && (isRefused ? sql`c.error is not null` : sql`c.error is null`),
        action !== undefined && sql`c.action = ${action}`,
        errors !== undefined && sql`c.error = any(${[...errors]}::text[])`,
        orderId !== undefined && sql`c.order_id = ${orderId}`,
        paymentId !== undefined && sql`c.payment_id = ${paymentId}`,
        from !== undefined && sql`c.call_id >= ${from}`,
        to !== undefined && sql`c.call_id < ${to}`,
        before !== undefined && sql`c.call_id < ${before}`,
      ].filter((condition) => condition !== false);
      const { rows } = await sql<ApiCall>`select ${SELECTED} from api_calls c
        where ${sql.join(conditions, sql` and `)} order by c.call_id desc limit ${limit}`.execute(query);
      return rows;
    },
    async find(callId) {
      const { rows } = await sql<ApiCall>`select ${SELECTED} from api_calls c where c.call_id = ${callId}`.execute(
        query,
      );
      return rows[0];
    },
    async prune(mid, kept, limit) {
      let deleted = 0;
      for (const isAccepted of [true, false]) {
        const { rowCount } = await pool.query(PRUNE, [mid ?? FIRST_ID, isAccepted, kept, limit]);
        deleted += rowCount ?? 0;
      }
      return deleted;
    },
  };
}
