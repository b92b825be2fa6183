-- The terms by which merchants are paid, and what is withheld of their sales until a date.

alter type role add value 'accountant';

-- Terms are in force from a time on. The entries of a sale are derived from those at its time, so that rows are only added.
create table settlement_terms (
  mid uuid not null references accounts,
  currency text not null,
  valid_from timestamptz not null,
  cycle text not null check (cycle in ('daily', 'weekly', 'monthly', 'manual')),
  -- Monday is 1; only of a weekly cycle.
  weekday integer check (weekday between 1 and 7),
  -- Only of a monthly cycle; a shorter month is cut on its last day.
  day integer check (day between 1 and 31),
  delay_days integer not null check (delay_days >= 0),
  -- Smaller amounts are not paid; minor units.
  minimum bigint check (minimum > 0),
  reserve_percent text,
  reserve_days integer check (reserve_days > 0),
  -- Why nothing is paid.
  hold text,
  primary key (mid, currency, valid_from),
  constraint is_weekly check ((cycle = 'weekly') = (weekday is not null)),
  constraint is_monthly check ((cycle = 'monthly') = (day is not null)),
  constraint is_reserved check ((reserve_percent is null) = (reserve_days is null))
);

create trigger prices_are_kept before update or delete on settlement_terms
  for each statement execute function refuse_change_of_prices();

-- What is withheld of each sale. The slice stays when the ledger is built again, so that it is released once.
create table reserve_slices (
  -- The entry `reserve_held`.
  entry_id uuid not null,
  mid uuid not null references accounts,
  payment_id uuid not null,
  currency text not null,
  amount bigint not null check (amount > 0),
  -- When it is released; null when it was.
  due_at timestamptz,
  released_at timestamptz,
  primary key (mid, entry_id),
  constraint is_released check ((due_at is null) = (released_at is not null))
);
create index reserve_slices_due on reserve_slices (due_at) where due_at is not null;

-- An account and currency that is settled; its row is locked while a settlement is cut.
create table settlement_cycles (
  mid uuid not null references accounts,
  currency text not null,
  -- The next cut by the cycle of the terms; null without one.
  due_at timestamptz,
  primary key (mid, currency)
);
create index settlement_cycles_due on settlement_cycles (due_at) where due_at is not null;
