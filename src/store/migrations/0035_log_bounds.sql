-- Prepares callback attempts and API calls for partitions by the time in their ids: a constraint with the end of the first
-- partition, which is the table as it is. It holds for new rows at once; the others are checked while the tables are
-- being written.
-- outside a transaction
alter table callback_attempts drop constraint if exists ends_before;
alter table api_calls drop constraint if exists ends_before;

do $$
declare
  months_end timestamptz = (date_trunc('month', now() at time zone 'UTC') + interval '2 months') at time zone 'UTC';
  days_end timestamptz = (date_trunc('day', now() at time zone 'UTC') + interval '4 days') at time zone 'UTC';
  -- The first id of version 7 at this moment.
  payments_end uuid = lpad(to_hex((extract(epoch from months_end) * 1000)::bigint), 12, '0') || repeat('0', 20);
  calls_end uuid = lpad(to_hex((extract(epoch from days_end) * 1000)::bigint), 12, '0') || repeat('0', 20);
begin
  -- Rows with ids that do not contain their time stay in the first partition, and so do all others then.
  if exists (select from callback_attempts where payment_id >= payments_end) then
    payments_end = 'ffffffff-ffff-ffff-ffff-ffffffffffff';
  end if;
  execute format('alter table callback_attempts add constraint ends_before check (payment_id < %L) not valid', payments_end);
  execute format('alter table api_calls add constraint ends_before check (call_id < %L) not valid', calls_end);
end
$$;

alter table callback_attempts validate constraint ends_before;
alter table api_calls validate constraint ends_before;
