-- The sums of all postings of a ledger account by month and by day, so that the balance at any moment is read from few rows.
-- Triggers write them, because the previous version adds entries as well.

create table ledger_totals (
  account text not null collate "C",
  grain text not null check (grain in ('day', 'month')),
  currency text not null,
  starts_at timestamptz not null,
  debit numeric not null,
  credit numeric not null,
  primary key (account, grain, currency, starts_at)
) with (fillfactor = 80, autovacuum_vacuum_scale_factor = 0.03);
create index ledger_totals_by_time on ledger_totals (grain, starts_at);

-- In the order of their keys, in which all transactions lock the rows.
create function add_ledger_totals() returns trigger language plpgsql as $$
begin
  insert into ledger_totals as t (account, grain, currency, starts_at, debit, credit)
  select p.account collate "C", g.grain, e.currency, date_trunc(g.grain, e.posted_at, 'UTC'),
    sum(greatest(p.amount, 0)), sum(greatest(-p.amount, 0))
  from added e cross join lateral unnest(e.accounts, e.amounts) p(account, amount)
    cross join unnest(array['day', 'month']) g(grain)
  group by 1, 2, 3, 4 order by 1, 2, 3, 4
  on conflict (account, grain, currency, starts_at)
    do update set debit = t.debit + excluded.debit, credit = t.credit + excluded.credit;
  return null;
end $$;

-- Sums are deleted as a whole, when the ledger is built again; the entries that do not come from payments stay.
create function reset_ledger_totals() returns trigger language plpgsql as $$
begin
  delete from ledger_totals;
  insert into ledger_totals (account, grain, currency, starts_at, debit, credit)
  select p.account collate "C", g.grain, e.currency, date_trunc(g.grain, e.posted_at, 'UTC'),
    sum(greatest(p.amount, 0)), sum(greatest(-p.amount, 0))
  from ledger_entries e cross join lateral unnest(e.accounts, e.amounts) p(account, amount)
    cross join unnest(array['day', 'month']) g(grain)
  group by 1, 2, 3, 4;
  return null;
end $$;

create trigger totals_are_added after insert on ledger_entries referencing new table as added
  for each statement execute function add_ledger_totals();
create trigger totals_are_reset after delete on ledger_sums
  for each statement execute function reset_ledger_totals();

-- Nobody adds entries from here on, until this is committed.
insert into ledger_totals (account, grain, currency, starts_at, debit, credit)
select s.account, g.grain, s.currency, date_trunc(g.grain, s.hour, 'UTC'), sum(s.debit), sum(s.credit)
from ledger_sums s cross join unnest(array['day', 'month']) g(grain)
group by 1, 2, 3, 4;
