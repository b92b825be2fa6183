-- What is derived from the logs, the tables history and callback_attempts, by adding their rows: one row for each
-- projection says how far it is. The row is also the lock of the process that adds to it.
create table projections (
  name text primary key,
  -- The rows with numbers up to these are contained, if they are above the numbers since which rows are taken in order.
  history_number bigint not null,
  callback_attempts_number bigint not null,
  -- Earlier rows, and those without a number, are taken by payment, newest first; null when the log has none to take.
  history_since bigint,
  callback_attempts_since bigint,
  -- Those of payments before this one are not contained yet; null when all are.
  backfill_before uuid,
  -- When the current backfill began.
  backfill_started_at timestamptz
);
