/** The ledger of the provider simulator in SQLite: payments, operations, movements, notifications, faults. */
import { mkdirSync } from 'node:fs';
import { dirname } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { CARD_SCHEMA, cardLedger } from './card-ledger.ts';
import { columns, statementsOf } from './statements.ts';

/** `pending` waits for the payer; `confirming` and `sending` progress by timer. */
export type Status =
  | 'redirect'
  | 'pending'
  | 'confirming'
  | 'sending'
  | 'authorised'
  | 'settled'
  | 'declined'
  | 'voided';

export interface Payment {
  reference: string;
  id: string;
  /** The secret token in the address of the payer's page. */
  token: string;
  brand: string;
  mid: string;
  merchant: string;
  direction: 'in' | 'out';
  amount: string;
  currency: string;
  capture: 0 | 1;
  description: string;
  /** The available sub-methods, as a JSON list. */
  methods: string;
  method: string | null;
  /** The cryptocurrency that the payer sends. */
  coin: string | null;
  returnUrl: string | null;
  notifyUrl: string | null;
  status: Status;
  reason: string | null;
  confirmations: number;
  createdAt: number;
  /** The time of the next automatic step. */
  dueAt: number | null;
}

export interface Change {
  status: Status;
  reason?: string;
  method?: string | undefined;
  confirmations?: number;
  dueAt?: number;
}

export type OperationKind = 'capture' | 'void' | 'refund';

export interface LedgerOperation {
  reference: string;
  operation: string;
  kind: OperationKind;
  amount: string;
  status: 'done' | 'declined';
  reason: string | null;
  at: number;
}

/** A chargeback, its reversal, and the second one after it. */
export type ChargebackKind = 'chargeback' | 'chargeback_reversed' | 'second_chargeback';

export interface Movement {
  reference: string;
  /** Empty for a movement of the payment itself. */
  operation: string;
  kind: 'sale' | 'payout' | ChargebackKind | OperationKind;
  direction: 'in' | 'out';
  amount: string;
  currency: string;
  at: number;
}

export interface LedgerItem extends Movement {
  id: number;
  brand: string;
  mid: string;
}

export interface Notification {
  seq: number;
  event: string;
  reference: string;
  url: string;
  body: string;
  /** How often each delivery sends the notification. */
  copies: number;
  tries: number;
  dueAt: number;
  deliveredAt: number | null;
}

export interface Fault {
  id: number;
  mid: string | null;
  brand: string | null;
  mode: string;
  left: number;
  /** Of declines only. */
  code: string | null;
  advice: string | null;
}

/** What one use of a fault does. */
export type FaultTaken = Pick<Fault, 'mode' | 'code' | 'advice'>;

/** The ISO 8583 code of a decline, and what the network advises. */
export interface DeclineCodes {
  code: string;
  advice: string | null;
}

const SCHEMA = `
  pragma journal_mode = wal;
  pragma synchronous = off;
  create table if not exists payments (
    reference text primary key, id text not null, token text not null unique, brand text not null, mid text not null,
    merchant text not null, direction text not null, amount integer not null, currency text not null,
    capture integer not null, description text not null, methods text not null, method text, coin text, returnUrl text,
    notifyUrl text, status text not null, reason text, confirmations integer not null, createdAt integer not null,
    dueAt integer
  );
  create index if not exists payments_by_time on payments (createdAt);
  create index if not exists payments_due on payments (dueAt) where dueAt is not null;
  create table if not exists operations (
    reference text not null references payments, operation text not null, kind text not null, amount integer not null,
    status text not null, reason text, at integer not null, primary key (reference, operation)
  );
  create unique index if not exists one_capture on operations (reference) where kind = 'capture' and status = 'done';
  create table if not exists movements (
    id integer primary key autoincrement, reference text not null references payments, operation text not null,
    kind text not null, direction text not null, amount integer not null check (amount > 0), currency text not null,
    at integer not null, unique (reference, operation, kind)
  );
  create unique index if not exists money_of_a_payment_moves_once on movements (reference)
    where kind in ('sale', 'payout', 'capture');
  create table if not exists notifications (
    seq integer primary key autoincrement, event text not null unique, reference text not null, url text not null,
    body text not null, copies integer not null, tries integer not null default 0, dueAt integer not null,
    deliveredAt integer
  );
  create index if not exists notifications_of_a_payment on notifications (reference, seq);
  create index if not exists notifications_to_send on notifications (reference, seq) where deliveredAt is null;
  create table if not exists faults (
    id integer primary key autoincrement, mid text, brand text, mode text not null, left integer not null, code text,
    advice text
  );
  create table if not exists declines (
    reference text primary key references payments, code text not null, advice text
  );
`;

// Amounts are integers in SQLite and strings in JavaScript, because a JavaScript number could round them.
const PAYMENT = `
  reference, id, token, brand, mid, merchant, direction, cast(amount as text) as amount, currency, capture, description,
  methods, method, coin, returnUrl, notifyUrl, status, reason, confirmations, createdAt, dueAt`;
const OPERATION = 'reference, operation, kind, cast(amount as text) as amount, status, reason, at';
const MOVEMENT = 'reference, operation, kind, direction, cast(amount as text) as amount, currency, at';

/** Adapts the tables of a file that an earlier version created. */
function upgrade(db: DatabaseSync): void {
  const has = (sql: string): boolean => db.prepare(sql).get() !== undefined;
  const isOld =
    has("select 1 from pragma_table_info('faults')") &&
    !has("select 1 from pragma_table_info('faults') where name = 'code'");
  if (isOld) db.exec('alter table faults add column code text; alter table faults add column advice text;');
  if (!has("select 1 from sqlite_master where type = 'table' and name = 'news'")) return;
  db.exec(`
    alter table news rename to notifications;
    drop index if exists news_of_a_payment;
    drop index if exists news_to_send;
  `);
}

export type Ledger = ReturnType<typeof openLedger>;

export function openLedger(file?: string) {
  if (file) mkdirSync(dirname(file), { recursive: true });
  const db = new DatabaseSync(file ?? ':memory:');
  upgrade(db);
  db.exec(SCHEMA + CARD_SCHEMA);
  const statements = statementsOf(db);
  const { all, get, run } = statements;
  const now = () => Date.now();

  const insertPayment = run(
    `insert or ignore into payments ${columns(
      `reference, id, token, brand, mid, merchant, direction, amount, currency, capture, description, methods, method,
     coin, returnUrl, notifyUrl, status, reason, confirmations, createdAt, dueAt`,
    )}`,
  );
  const paymentByReference = get<Payment>(`select ${PAYMENT} from payments where reference = :reference`);
  const paymentByToken = get<Payment>(`select ${PAYMENT} from payments where token = :token`);
  const newestPayments = all<Payment>(`select ${PAYMENT} from payments order by createdAt desc, rowid desc limit 50`);
  const paymentsDue = all<{ reference: string; dueAt: number }>(
    'select reference, dueAt from payments where dueAt is not null',
  );
  const updatePayment = run(
    `update payments
     set status = :status, reason = :reason, method = coalesce(:method, method), confirmations = :confirmations,
       dueAt = :dueAt
     where reference = :reference and status in (select value from json_each(:from))`,
  );

  const insertDecline = run(`insert or ignore into declines ${columns('reference, code, advice')}`);
  const declineByReference = get<DeclineCodes>('select code, advice from declines where reference = :reference');

  const insertOperation = run(
    `insert into operations ${columns('reference, operation, kind, amount, status, reason, at')}`,
  );
  const operationById = get<LedgerOperation>(
    `select ${OPERATION} from operations where reference = :reference and operation = :operation`,
  );
  const operationsOf = all<LedgerOperation>(
    `select ${OPERATION} from operations where reference = :reference order by at, rowid`,
  );

  const insertMovement = run(
    `insert into movements ${columns('reference, operation, kind, direction, amount, currency, at')}`,
  );
  const movementsOf = all<Movement>(`select ${MOVEMENT} from movements where reference = :reference order by id`);
  const movementsAfter = all<LedgerItem>(
    `select movements.id, reference, payments.brand, payments.mid, operation, kind, movements.direction,
       cast(movements.amount as text) as amount, movements.currency, at
     from movements join payments using (reference) where movements.id > :after order by movements.id limit :most`,
  );
  const balanceOf = get<{ balance: string }>(
    `select cast(coalesce(sum(case direction when 'in' then amount else -amount end), 0) as text) as balance
     from movements where reference = :reference`,
  );

  const insertNotification = run(`insert into notifications ${columns('event, reference, url, body, copies, dueAt')}`);
  const hastenNotifications = run(
    'update notifications set dueAt = :now where reference = :reference and deliveredAt is null and tries > 0',
  );
  const nextNotification = get<Notification>(
    'select * from notifications where reference = :reference and deliveredAt is null order by seq limit 1',
  );
  const notificationsOf = all<Notification>('select * from notifications where reference = :reference order by seq');
  const notificationAttempted = run(
    'update notifications set tries = tries + 1, dueAt = :dueAt, deliveredAt = :deliveredAt where seq = :seq',
  );
  const waitingReferences = all<{ reference: string }>(
    'select distinct reference from notifications where deliveredAt is null',
  );

  const insertFault = run(`insert into faults ${columns('mid, brand, mode, left, code, advice')}`);
  const takeOneFault = get<Pick<Fault, 'mode' | 'left' | 'code' | 'advice'>>(
    `update faults set left = left - 1 where id = (
       select id from faults
       where left > 0 and (mid is null or mid = :mid) and (brand is null or brand = :brand)
         and mode in (select value from json_each(:modes))
       order by id limit 1
     ) returning mode, left, code, advice`,
  );
  const countFaults = get<{ left: number }>(
    'select coalesce(sum(left), 0) as left from faults where mode in (select value from json_each(:modes))',
  );
  const deleteUsedFaults = run('delete from faults where left = 0');
  const deleteFaults = run(
    'delete from faults where (:mid is null or mid = :mid) and (:brand is null or brand = :brand)',
  );
  const allFaults = all<Fault>('select * from faults order by id');

  return {
    /** Runs the function in a transaction. */
    transaction<Result>(work: () => Result): Result {
      db.exec('begin immediate');
      try {
        const result = work();
        db.exec('commit');
        return result;
      } catch (error) {
        db.exec('rollback');
        throw error;
      }
    },

    /** Returns false if a payment with this reference exists. */
    addPayment: (payment: Payment): boolean => insertPayment({ ...payment }),
    payment: (reference: string) => paymentByReference({ reference }),
    paymentByToken: (token: string) => paymentByToken({ token }),
    newestPayments: () => newestPayments(),
    paymentsDue: () => paymentsDue(),
    /** Changes the payment if it has one of these statuses; returns whether it did. */
    changeStatus: (reference: string, from: readonly Status[], change: Change): boolean =>
      updatePayment({
        reference,
        from: JSON.stringify(from),
        status: change.status,
        reason: change.reason ?? null,
        method: change.method ?? null,
        confirmations: change.confirmations ?? 0,
        dueAt: change.dueAt ?? null,
      }),

    ...cardLedger(statements),

    addOperation: (operation: Omit<LedgerOperation, 'at'>): boolean => insertOperation({ ...operation, at: now() }),
    operation: (reference: string, operation: string) => operationById({ reference, operation }),
    operationsOf: (reference: string) => operationsOf({ reference }),

    addMovement: (movement: Omit<Movement, 'at'>): boolean => insertMovement({ ...movement, at: now() }),
    addDecline: (reference: string, { code, advice }: DeclineCodes): boolean =>
      insertDecline({ reference, code, advice }),
    decline: (reference: string) => declineByReference({ reference }),

    movementsOf: (reference: string) => movementsOf({ reference }),
    movementsAfter: (after: number, most: number) => movementsAfter({ after, most }),
    /** The amount of this payment that was received and has not been refunded or charged back. */
    balance: (reference: string): bigint => BigInt(balanceOf({ reference })?.balance ?? 0),

    /** Notifications of a payment are sent in order, so pending retries become due now. */
    addNotification(
      notification: Pick<Notification, 'event' | 'reference' | 'url' | 'body' | 'copies' | 'dueAt'>,
    ): void {
      hastenNotifications({ reference: notification.reference, now: now() });
      insertNotification({ ...notification });
    },
    /** The next notification of this payment to send. */
    nextNotification: (reference: string) => nextNotification({ reference }),
    notificationsOf: (reference: string) => notificationsOf({ reference }),
    notificationDelivered: (seq: number): boolean => notificationAttempted({ seq, dueAt: now(), deliveredAt: now() }),
    notificationFailed: (seq: number, dueAt: number): boolean =>
      notificationAttempted({ seq, dueAt, deliveredAt: null }),
    referencesWithNotifications: () => waitingReferences().map(({ reference }) => reference),

    addFault: (fault: Omit<Fault, 'id'>): boolean => insertFault({ ...fault }),
    /** Consumes one use of the oldest fault with one of these modes that matches the account and brand. */
    takeFault(
      modes: readonly string[],
      { mid, brand }: { mid: string | null; brand: string | null },
    ): FaultTaken | undefined {
      const fault = takeOneFault({ modes: JSON.stringify(modes), mid, brand });
      if (fault?.left === 0) deleteUsedFaults();
      return fault;
    },
    faultsLeft: (modes: readonly string[]): number => countFaults({ modes: JSON.stringify(modes) })?.left ?? 0,
    deleteFaults: (mid: string | null, brand: string | null): boolean => deleteFaults({ mid, brand }),
    faults: () => allFaults(),

    close: (): void => db.close(),
  };
}
