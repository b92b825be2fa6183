-- The calendar of settlements: time zone, cut-off and business days of terms, and the holidays of the installation.

alter table settlement_terms
  add time_zone text not null default 'UTC',
  -- Minutes after midnight.
  add cut_off integer not null default 0 check (cut_off between 0 and 1439),
  add business_days boolean not null default false;

-- Lists are in force from a time on. When a sale is available is derived from the list at its time, so that rows are only added.
create table holiday_lists (
  valid_from timestamptz primary key,
  -- A list of days with their names.
  holidays jsonb not null check (jsonb_typeof(holidays) = 'array')
);

create trigger prices_are_kept before update or delete on holiday_lists
  for each statement execute function refuse_change_of_prices();
