/** Provider notifications: each event is stored once, and stays due until it is applied. */
import { LIMITS } from '../../rules/limits.ts';
import { CLOCK, columns, dueConnectors, dueSince, iso } from '../database/columns.ts';
import type { Database } from '../database/database.ts';

export interface NotificationRow {
  connector: string;
  eventId: string;
  /** Our reference; null if only the provider's is known. */
  reference: string | null;
  providerReference: string | null;
  /** Of a notification about an operation: our id of it, or the provider's. */
  operation: string | null;
  operationReference: string | null;
  /** The body as the provider sent it. */
  body: Record<string, unknown>;
  state: 'new' | 'applied' | 'unmatched';
  attempts: number;
  receivedAt: number;
}

export type NotificationKey = Pick<NotificationRow, 'connector' | 'eventId'>;

/** The position of an event in the list. */
export type NotificationCursor = Pick<NotificationRow, 'receivedAt' | 'connector' | 'eventId'>;

const COLUMNS = columns('n', [
  'connector',
  'eventId',
  'reference',
  'providerReference',
  'operation',
  'operationReference',
  'body',
  'state',
  'attempts',
  'receivedAt',
]);

/** The numbers of the submissions of a payment after the first. */
const LATER_SUBMISSIONS = Array.from({ length: LIMITS.submissionsMost - 1 }, (_, index) => index + 2);

/** Our references of all submissions of a payment. */
export const referencesOf = (paymentId: string): string[] => [
  paymentId,
  ...LATER_SUBMISSIONS.map((submission) => `${paymentId}-${submission}`),
];

/** SQL: what remains of the body of a notification that is erased. */
export const erasedBody = (body: string): string => `jsonb_strip_nulls(jsonb_build_object('type', ${body} -> 'type'))`;

const DUE_CONNECTORS = dueConnectors('provider_notifications');

export interface NotificationStore {
  /** Stores an event; false when it is stored already. With `replaces`, an earlier one of the same id is new again. */
  keep(
    notification: Omit<NotificationRow, 'state' | 'attempts' | 'receivedAt'>,
    now: number,
    replaces?: boolean,
  ): Promise<boolean>;
  /** Records the result of an attempt; with `dueAt` the event is attempted again. Sets the reference if it was unknown. */
  finish(
    row: NotificationKey & Pick<NotificationRow, 'reference'>,
    state: NotificationRow['state'],
    dueAt: number | null,
  ): Promise<void>;
  /** The connectors with events that are due now or later. */
  dueConnectors(): Promise<string[]>;
  /** Claims events of a connector that are due by the database's clock, with a lease; `sinceMs` as for payments. */
  claimDue(connector: string, most: number, sinceMs?: number): Promise<NotificationRow[]>;
  /** The notifications in this state, newest first. */
  list(state: NotificationRow['state'], most: number, before?: NotificationCursor): Promise<NotificationRow[]>;
  /** All notifications about a payment, whichever submission they name, oldest first. */
  about(paymentId: string): Promise<NotificationRow[]>;
}

export function createNotificationStore({ pool }: Database): NotificationStore {
  return {
    async keep(
      { connector, eventId, reference, providerReference, operation, operationReference, body },
      now,
      replaces = false,
    ) {
      const { rowCount } = await pool.query(
        `insert into provider_notifications (connector, event_id, reference, provider_reference, operation,
           operation_reference, body, due_at, received_at)
         values ($1, $2, $3, $4, $5, $6, $7, $8, $9)
         on conflict (connector, event_id) do update
           set state = 'new', attempts = 0, due_at = excluded.due_at, received_at = excluded.received_at where $10`,
        // The process that stores an event also applies it; the work loop claims it only if that process died.
        [
          connector,
          eventId,
          reference,
          providerReference,
          operation,
          operationReference,
          JSON.stringify(body),
          iso(now + LIMITS.leaseMs),
          iso(now),
          replaces,
        ],
      );
      return rowCount === 1;
    },
    async finish({ connector, eventId, reference }, state, dueAt) {
      await pool.query(
        `update provider_notifications
         set state = $3, due_at = $4, attempts = attempts + 1, reference = coalesce(reference, $5)
         where connector = $1 and event_id = $2 and state = 'new'`,
        [connector, eventId, state, dueAt === null ? null : iso(dueAt), reference],
      );
    },
    async dueConnectors() {
      const { rows } = await pool.query<{ connector: string }>(DUE_CONNECTORS);
      return rows.map((row) => row.connector);
    },
    async claimDue(connector, most, sinceMs) {
      const { rows } = await pool.query<NotificationRow>(
        `with ${CLOCK}, due as materialized (
           select d.connector, d.event_id from provider_notifications d
           where d.connector = $3 and d.due_at <= (select now from clock) and ${dueSince('$4')}
           order by d.due_at limit $2 for update skip locked
         )
         update provider_notifications n set due_at = (select now from clock) + $1 * interval '1 ms' from due
         where n.connector = due.connector and n.event_id = due.event_id
         returning ${COLUMNS}`,
        [LIMITS.leaseMs, most, connector, sinceMs ?? null],
      );
      return rows.sort((a, b) => a.receivedAt - b.receivedAt);
    },
    async list(state, most, before) {
      const { rows } = await pool.query<NotificationRow>(
        `select ${COLUMNS} from provider_notifications n
         where n.state = $1 ${before ? 'and (n.received_at, n.connector, n.event_id) < ($3, $4, $5)' : ''}
         order by n.received_at desc, n.connector desc, n.event_id desc limit $2`,
        [state, most, ...(before ? [iso(before.receivedAt), before.connector, before.eventId] : [])],
      );
      return rows;
    },
    async about(paymentId) {
      const { rows } = await pool.query<NotificationRow>(
        `select ${COLUMNS} from provider_notifications n where n.reference = any($1) order by n.received_at`,
        [referencesOf(paymentId)],
      );
      return rows;
    },
  };
}
