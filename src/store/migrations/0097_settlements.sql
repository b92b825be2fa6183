-- Settlements: what was posted to the balance of a merchant until a cut, and what of it is paid.
create table settlements (
  settlement_id uuid not null,
  mid uuid not null references accounts,
  currency text not null,
  -- Counted from 1 for each account and currency; a void settlement keeps its number.
  number ordinal not null,
  -- The cut before; null for the first.
  from_at timestamptz,
  until_at timestamptz not null,
  opening bigint not null,
  closing bigint not null,
  payout bigint not null check (payout >= 0),
  lines jsonb not null check (jsonb_typeof(lines) = 'array'),
  withheld jsonb not null check (jsonb_typeof(withheld) = 'array'),
  state text not null check (state in ('draft', 'approved', 'in_payout', 'paid', 'returned', 'void')),
  cut_by text not null,
  cut_at timestamptz not null,
  decided_by text,
  decided_at timestamptz,
  primary key (mid, settlement_id),
  unique (mid, currency, number)
);
create index settlements_by_time on settlements (settlement_id);
create unique index settlements_of_cut on settlements (mid, currency, until_at) where state <> 'void';

-- The postings of merchants' balances that were settled: each in one settlement. They stay when the ledger is built again.
create table settlement_entries (
  source_id uuid not null,
  seq integer not null,
  category text not null,
  settlement_id uuid not null,
  mid uuid not null,
  currency text not null,
  entry_id uuid not null,
  posted_at timestamptz not null,
  available_on date not null,
  -- From the merchant's view: what is owed to it is positive.
  amount bigint not null,
  primary key (mid, source_id, seq, category),
  foreign key (mid, settlement_id) references settlements deferrable initially deferred
);
create index settlement_entries_of_settlement on settlement_entries (settlement_id, posted_at, entry_id);
create index settlement_entries_pending on settlement_entries (mid, currency, available_on);
