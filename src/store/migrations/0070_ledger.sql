-- The ledger: entries in double entry, derived from the history, and their sums, from which balances are read. A sale writes
-- none of this.

create table ledger_entries (
  -- The payment, or what else the entry records, such as an adjustment. Ids contain the time, by which entries are kept in
  -- partitions.
  source_id uuid not null,
  -- The history row that the entry is about; 0 if there is none.
  seq integer not null,
  category text not null,
  -- Depends on the three columns above.
  entry_id uuid not null,
  mid uuid,
  payment_id uuid,
  operation_id uuid,
  brand text,
  connector text,
  currency text not null,
  posted_at timestamptz not null,
  available_on date not null,
  -- The postings: a debit is positive, a credit negative, and their sum is zero.
  accounts text[] not null,
  amounts bigint[] not null,
  -- The entry that this one corrects.
  reverses uuid,
  note text,
  plan_id uuid,
  plan_version integer,
  plan_line integer,
  -- A source has one entry of a category.
  primary key (source_id, seq, category),
  constraint has_postings check (cardinality(accounts) >= 2 and cardinality(accounts) = cardinality(amounts))
) partition by range (source_id);

create index ledger_entries_by_time on ledger_entries (posted_at, entry_id);
create index ledger_entries_of_account on ledger_entries (mid, posted_at, entry_id);
-- Entries about a payment that do not come from its history.
create index ledger_entries_about on ledger_entries (payment_id) where payment_id <> source_id;

do $$
declare
  months_end timestamptz = (date_trunc('month', now() at time zone 'UTC') + interval '2 months') at time zone 'UTC';
  -- The first id of version 7 at this moment.
  payments_end uuid = lpad(to_hex((extract(epoch from months_end) * 1000)::bigint), 12, '0') || repeat('0', 20);
begin
  -- Payments with ids that do not contain their time are in the first partition, and so are all others then.
  if exists (select from payments where payment_id >= payments_end) then
    payments_end = 'ffffffff-ffff-ffff-ffff-ffffffffffff';
  end if;
  execute format('create table ledger_entries_before partition of ledger_entries for values from (minvalue) to (%L)',
    payments_end);
end
$$;

-- The sums of all postings of a ledger account, by the hour in which they were posted and the day on which they become
-- available.
create table ledger_sums (
  account text not null collate "C",
  currency text not null,
  hour timestamptz not null,
  available_on date not null,
  debit numeric not null,
  credit numeric not null,
  primary key (account, currency, hour, available_on)
) with (fillfactor = 80, autovacuum_vacuum_scale_factor = 0.03);

-- Fees and costs by day, for the report of margins.
create table ledger_margins (
  day date not null,
  mid uuid not null,
  brand text not null,
  connector text not null,
  currency text not null,
  fees numeric not null,
  costs numeric not null,
  primary key (mid, day, brand, connector, currency)
) with (fillfactor = 80, autovacuum_vacuum_scale_factor = 0.03);

-- In a new database the projection begins with the first payment; in others it is built from what exists.
insert into projections (name, history_number, callback_attempts_number)
select 'ledger', 0, 0 where not exists (select from payments);
