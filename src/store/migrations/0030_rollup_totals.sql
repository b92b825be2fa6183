-- Totals of the sums, so that figures of all accounts do not read the sums of each. The work loop keeps them together
-- with the sums, and fills them from the sums after this migration.

alter table rollup_progress
  -- The totals of days before this one are not filled yet; null when all are.
  add column totals_before timestamptz;
update rollup_progress set totals_before = interval '24 hours' + greatest(
  (select max(starts_at) from rollups where grain = 'day'),
  (select max(starts_at) from rollup_declines where grain = 'day'),
  (select max(starts_at) from rollup_calls where grain = 'day'),
  (select max(starts_at) from rollup_deliveries where grain = 'day'));

create table rollup_totals (
  grain rollup_grain not null,
  starts_at timestamptz not null,
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
  primary key (grain, starts_at, brand, connector, currency)
) with (fillfactor = 70);

-- Days only: within an hour most accounts have few brands, so that the totals would be as many rows as the sums.
create table rollup_account_totals (
  grain rollup_grain not null,
  starts_at timestamptz not null,
  mid uuid not null,
  currency text not null,
  payments integer not null,
  settled integer not null,
  declined integer not null,
  chargebacks integer not null,
  captured bigint not null,
  refunded bigint not null,
  charged_back bigint not null,
  paid_out bigint not null,
  primary key (mid, grain, starts_at, currency)
) with (fillfactor = 70);
create index rollup_account_totals_by_time on rollup_account_totals (grain, starts_at);

create table rollup_decline_totals (
  grain rollup_grain not null,
  starts_at timestamptz not null,
  reason text not null,
  declined integer not null,
  primary key (grain, starts_at, reason)
) with (fillfactor = 70);

create table rollup_call_totals (
  grain rollup_grain not null,
  starts_at timestamptz not null,
  connector text not null,
  bucket integer not null,
  calls integer not null,
  unanswered integer not null,
  primary key (grain, starts_at, connector, bucket)
) with (fillfactor = 70);

create table rollup_delivery_totals (
  grain rollup_grain not null,
  starts_at timestamptz not null,
  delivered integer not null,
  failed integer not null,
  primary key (grain, starts_at)
) with (fillfactor = 70);
