-- The totals by month and by day follow the sums by hour, of which a portion changes a few, and no longer each entry.

-- In the order in which entries are added.
drop trigger totals_are_added on ledger_entries;
drop trigger totals_are_reset on ledger_sums;

-- In the order of their keys, in which all transactions lock the rows.
create or replace function add_ledger_totals() returns trigger language plpgsql as $$
begin
  insert into ledger_totals as t (account, grain, currency, starts_at, debit, credit)
  select s.account, g.grain, s.currency, date_trunc(g.grain, s.hour, 'UTC'), sum(s.debit), sum(s.credit)
  from added s cross join unnest(array['day', 'month']) g(grain)
  group by 1, 2, 3, 4 order by 1, 2, 3, 4
  on conflict (account, grain, currency, starts_at)
    do update set debit = t.debit + excluded.debit, credit = t.credit + excluded.credit;
  return null;
end $$;

create function change_ledger_totals() returns trigger language plpgsql as $$
begin
  insert into ledger_totals as t (account, grain, currency, starts_at, debit, credit)
  select s.account, g.grain, s.currency, date_trunc(g.grain, s.hour, 'UTC'), sum(s.debit), sum(s.credit)
  from (
    select account, currency, hour, debit, credit from changed
    union all
    select account, currency, hour, -debit, -credit from former
  ) s cross join unnest(array['day', 'month']) g(grain)
  group by 1, 2, 3, 4 order by 1, 2, 3, 4
  on conflict (account, grain, currency, starts_at)
    do update set debit = t.debit + excluded.debit, credit = t.credit + excluded.credit;
  return null;
end $$;

-- Sums are deleted as a whole, when the ledger is built again, and those of the entries that stay are added again.
create or replace function reset_ledger_totals() returns trigger language plpgsql as $$
begin
  delete from ledger_totals;
  return null;
end $$;

create trigger totals_are_added after insert on ledger_sums referencing new table as added
  for each statement execute function add_ledger_totals();
create trigger totals_are_changed after update on ledger_sums referencing old table as former new table as changed
  for each statement execute function change_ledger_totals();
create trigger totals_are_reset after delete on ledger_sums
  for each statement execute function reset_ledger_totals();
