-- The log of callbacks in order of time, derived from the history, so that a callback pays for no index of it.
-- outside a transaction

create table if not exists callback_log (
  mid uuid not null,
  payment_id uuid not null,
  seq integer not null,
  created_at timestamptz not null,
  primary key (mid, created_at, payment_id, seq)
);
create index if not exists callback_log_by_time on callback_log (created_at, payment_id, seq, mid);

-- Few callbacks are parked. Those that wait are found by the time at which they are due.
create index concurrently if not exists callbacks_parked on callbacks (created_at, payment_id, seq, mid)
  where state = 'parked';

-- In a new database the projection begins with the first payment; in others it is built from what exists.
insert into projections (name, history_number, callback_attempts_number)
select 'callbacks', 0, 0 where not exists (select from payments) on conflict do nothing;
