-- The sums of the settled entries of each month. A cut compares them with those of the ledger, and reads only the entries from
-- the first month on in which something is not settled. Triggers write them, because the previous version settles as well.

create table settlement_totals (
  mid uuid not null references accounts,
  currency text not null,
  -- Its start in UTC.
  month timestamptz not null,
  debit numeric not null,
  credit numeric not null,
  primary key (mid, currency, month)
) with (fillfactor = 80);

create function add_settlement_totals() returns trigger language plpgsql as $$
begin
  insert into settlement_totals as t (mid, currency, month, debit, credit)
  select mid, currency, date_trunc('month', posted_at, 'UTC'), sum(greatest(-amount, 0)), sum(greatest(amount, 0))
  from added group by 1, 2, 3 order by 1, 2, 3
  on conflict (mid, currency, month) do update set debit = t.debit + excluded.debit, credit = t.credit + excluded.credit;
  return null;
end $$;

-- A settlement was voided.
create function subtract_settlement_totals() returns trigger language plpgsql as $$
begin
  update settlement_totals t set debit = t.debit - r.debit, credit = t.credit - r.credit
  from (
    select mid, currency, date_trunc('month', posted_at, 'UTC') as month, sum(greatest(-amount, 0)) as debit,
      sum(greatest(amount, 0)) as credit
    from removed group by 1, 2, 3
  ) r
  where t.mid = r.mid and t.currency = r.currency and t.month = r.month;
  return null;
end $$;

create trigger totals_are_added after insert on settlement_entries referencing new table as added
  for each statement execute function add_settlement_totals();
create trigger totals_are_subtracted after delete on settlement_entries referencing old table as removed
  for each statement execute function subtract_settlement_totals();

-- Nobody settles from here on, until this is committed.
insert into settlement_totals (mid, currency, month, debit, credit)
select mid, currency, date_trunc('month', posted_at, 'UTC'), sum(greatest(-amount, 0)), sum(greatest(amount, 0))
from settlement_entries group by 1, 2, 3;
