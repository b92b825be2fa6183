-- Prepares callback attempts and API calls for partitions by the time in their ids: a constraint with the end of the first
-- partition, which is the table as it is. It holds for new rows at once; the next migration checks the others while the
-- tables are being written.
create function first_id_at(moment timestamptz) returns uuid language sql stable as $$
  select (lpad(to_hex((extract(epoch from moment) * 1000)::bigint), 12, '0') || repeat('0', 20))::uuid
$$;

do $$
declare
  payments_end uuid = first_id_at((date_trunc('month', now() at time zone 'UTC') + interval '2 months') at time zone 'UTC');
  calls_end uuid = first_id_at((date_trunc('day', now() at time zone 'UTC') + interval '4 days') at time zone 'UTC');
begin
  -- Rows with ids that do not contain their time stay in the first partition, and so do all others then.
  if exists (select from callback_attempts where payment_id >= payments_end) then
    payments_end = 'ffffffff-ffff-ffff-ffff-ffffffffffff';
  end if;
  execute format('alter table callback_attempts add constraint ends_before check (payment_id < %L) not valid', payments_end);
  execute format('alter table api_calls add constraint ends_before check (call_id < %L) not valid', calls_end);
end
$$;

drop function first_id_at;
