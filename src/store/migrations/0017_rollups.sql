-- Figures for operators: sums of what happened per hour and per day, which the work loop keeps up to date. The indexes
-- are BRIN indexes, which cost a write almost nothing; while they are built, the tables cannot be written.

-- The order in which rows were written, whatever clock their time comes from. Rows from before this migration have none;
-- they are found through their payments.
create sequence history_number;
alter table history
  add column number bigint,
  -- The minor units that this event captured, refunded or charged back.
  add column amount bigint;
alter table history alter column number set default nextval('history_number');
alter sequence history_number owned by history.number;
create index history_by_number on history using brin (number) with (pages_per_range = 32, autosummarize = on);

create sequence callback_attempts_number;
alter table callback_attempts add column number bigint;
alter table callback_attempts alter column number set default nextval('callback_attempts_number');
alter sequence callback_attempts_number owned by callback_attempts.number;
create index callback_attempts_by_number on callback_attempts
  using brin (number) with (pages_per_range = 32, autosummarize = on);

-- Up to which numbers rows are contained in the sums. The row is also the lock of the process that adds to them.
create table rollup_progress (
  is_only boolean primary key default true check (is_only),
  history_number bigint not null,
  callback_attempts_number bigint not null,
  -- The rows without a number of payments before this one are not contained yet; null when all are.
  backfill_before uuid
);
insert into rollup_progress (history_number, callback_attempts_number, backfill_before)
select 0, 0, case when exists (select from payments) then uuid 'ffffffff-ffff-ffff-ffff-ffffffffffff' end;

-- Hours and days are those of UTC, by the account's clock. Amounts are minor units of the currency.
create domain rollup_grain as text check (value in ('hour', 'day'));

create table rollups (
  grain rollup_grain not null,
  starts_at timestamptz not null,
  mid uuid not null,
  brand text not null,
  connector text not null,
  currency text not null,
  payments integer not null,
  settled integer not null,
  declined integer not null,
  chargebacks integer not null,
  captured bigint not null,
  refunded bigint not null,
  charged_back bigint not null,
  paid_out bigint not null,
  primary key (mid, grain, starts_at, brand, connector, currency)
) with (fillfactor = 70);
create index rollups_by_time on rollups (grain, starts_at);

create table rollup_declines (
  grain rollup_grain not null,
  starts_at timestamptz not null,
  mid uuid not null,
  reason text not null,
  declined integer not null,
  primary key (mid, grain, starts_at, reason)
) with (fillfactor = 70);
create index rollup_declines_by_time on rollup_declines (grain, starts_at);

-- Calls to providers. The bucket is the number of the interval in which the duration lies.
create table rollup_calls (
  grain rollup_grain not null,
  starts_at timestamptz not null,
  mid uuid not null,
  connector text not null,
  bucket integer not null,
  calls integer not null,
  unanswered integer not null,
  primary key (mid, grain, starts_at, connector, bucket)
) with (fillfactor = 70);
create index rollup_calls_by_time on rollup_calls (grain, starts_at);

-- Attempts to deliver callbacks.
create table rollup_deliveries (
  grain rollup_grain not null,
  starts_at timestamptz not null,
  mid uuid not null,
  delivered integer not null,
  failed integer not null,
  primary key (mid, grain, starts_at)
) with (fillfactor = 70);
create index rollup_deliveries_by_time on rollup_deliveries (grain, starts_at);
