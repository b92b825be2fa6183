-- Partitions callback attempts by the time in the id of their payment, and API calls by the time in their own id, so that
-- old rows are dropped with their partition. The existing tables become the first partitions: no row is moved, and no index
-- is built.
alter table callback_attempts rename to callback_attempts_before;
alter index callback_attempts_pkey rename to callback_attempts_before_pkey;
alter index callback_attempts_by_number rename to callback_attempts_before_by_number;
create table callback_attempts (like callback_attempts_before including defaults including constraints)
  partition by range (payment_id);
alter table callback_attempts drop constraint ends_before;
alter table callback_attempts add primary key (mid, payment_id, seq, attempt);
create index callback_attempts_by_number on callback_attempts
  using brin (number) with (pages_per_range = 32, autosummarize = on);
alter sequence callback_attempts_number owned by callback_attempts.number;

alter table api_calls rename to api_calls_before;
alter index api_calls_pkey rename to api_calls_before_pkey;
alter index api_calls_by_time rename to api_calls_before_by_time;
alter index api_calls_refused rename to api_calls_before_refused;
alter index api_calls_by_action rename to api_calls_before_by_action;
alter index api_calls_by_error rename to api_calls_before_by_error;
alter index api_calls_by_order rename to api_calls_before_by_order;
alter index api_calls_by_payment rename to api_calls_before_by_payment;
create table api_calls (like api_calls_before including defaults including constraints) partition by range (call_id);
alter table api_calls drop constraint ends_before;
alter table api_calls add primary key (mid, call_id);
create index api_calls_by_time on api_calls (call_id);
create index api_calls_refused on api_calls (call_id) where error is not null;
create index api_calls_by_action on api_calls (action, call_id);
create index api_calls_by_error on api_calls (error, call_id) where error is not null;
create index api_calls_by_order on api_calls (order_id, call_id) where order_id is not null;
create index api_calls_by_payment on api_calls (payment_id, call_id) where payment_id is not null;

do $$
declare
  log text;
begin
  foreach log in array array['callback_attempts', 'api_calls'] loop
    execute format('alter table %I attach partition %I for values from (minvalue) to (%L)', log, log || '_before', (
      select substring(pg_get_constraintdef(oid) from '''([^'']+)''') from pg_constraint
      where conname = 'ends_before' and conrelid = format('%I', log || '_before')::regclass
    ));
    execute format('alter table %I drop constraint ends_before', log || '_before');
  end loop;
end
$$;
