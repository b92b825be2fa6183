-- What is done to a payment after it was made: captures, voids, reversals, refunds; and schedules that charge again.

create type operation_verb as enum ('capture', 'void', 'reversal', 'refund');
create type operation_state as enum ('sent', 'done', 'declined');

alter table payments
  -- What refunds that are under way may still take; together with what was refunded never more than was captured.
  add column reserved bigint not null default 0,
  -- A capture, void or reversal is under way: no other may begin.
  add column busy operation_verb,
  drop constraint money_is_conserved,
  add constraint money_is_conserved check (
    0 <= refunded and 0 <= reserved and refunded + reserved <= captured and captured <= authorised
    and authorised <= amount
  );

create table operations (
  mid uuid not null,
  operation_id uuid not null,
  payment_id uuid not null,
  verb operation_verb not null,
  amount positive_amount not null,
  state operation_state not null,
  reason text,
  -- How often the provider was asked about it in vain, and when the next question is due; the row is the job.
  asked integer not null,
  due_at timestamptz,
  requested_at timestamptz not null,
  finished_at timestamptz,
  primary key (mid, operation_id)
);

create index operations_of_payment on operations (mid, payment_id);
create index operations_due on operations (due_at) where due_at is not null;

create type interval_unit as enum ('day', 'week', 'month');

create table schedules (
  mid uuid not null,
  schedule_id uuid not null,
  name some_text not null,
  interval_length ordinal not null,
  interval_unit interval_unit not null,
  payments_count ordinal not null,
  -- In months only: the day on which is charged, or the last one of a shorter month.
  day_of_month integer check (day_of_month between 1 and 31),
  -- Intervals that pass before the first charge.
  delays integer not null check (delays >= 0),
  -- Counts the changes, so that a charge knows whether its next date follows from another rule now.
  version ordinal not null,
  deleted_at timestamptz,
  created_at timestamptz not null,
  primary key (mid, schedule_id)
);

create type subscription_state as enum ('active', 'finished', 'ended');

-- A schedule at work for one first payment.
create table subscriptions (
  mid uuid not null,
  subscription_id uuid not null,
  schedule_id uuid not null,
  first_payment_id uuid not null,
  state subscription_state not null,
  -- The occurrences so far, charged or given up, and how often the one that is due now was declined.
  occurrences integer not null,
  declines integer not null,
  failed integer not null,
  -- From which date and day the dates are counted, and how many intervals ago; they do not drift.
  anchor_at timestamptz not null,
  anchor_day integer not null check (anchor_day between 1 and 31),
  intervals integer not null,
  schedule_version ordinal not null,
  -- The date of the occurrence, and when it is worked on: later, when it is tried again.
  next_at timestamptz,
  due_at timestamptz,
  created_at timestamptz not null,
  primary key (mid, subscription_id),
  unique (mid, first_payment_id, schedule_id)
);

create index subscriptions_due on subscriptions (due_at) where due_at is not null;
create index subscriptions_of_schedule on subscriptions (mid, schedule_id);
