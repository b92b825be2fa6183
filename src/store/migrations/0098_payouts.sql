-- The bank accounts of merchants and of the installation, payouts to merchants, and payments of providers.

create table bank_accounts (
  mid uuid not null references accounts,
  currency text not null,
  -- Counts the changes: a payout goes to the account that it was made for.
  version ordinal not null,
  -- Sealed, as JSON: the holder and the number of the account.
  sealed bytea not null,
  masked text not null,
  changed_at timestamptz not null,
  -- Nothing is paid before; null if there was no account before, or another person has confirmed the change.
  held_until timestamptz,
  author_kind text not null,
  author_id uuid,
  author_name text not null,
  primary key (mid, currency)
);

-- From which payouts go.
create table payout_accounts (
  currency text primary key,
  sealed bytea not null,
  masked text not null,
  changed_at timestamptz not null
);

create table payouts (
  payout_id uuid primary key,
  currency text not null,
  format text not null check (format in ('csv', 'pain.001')),
  state text not null check (state in ('waiting', 'approved', 'refused')),
  control_sum bigint not null,
  -- The file, made once and sealed, because it has bank accounts.
  file bytea not null,
  sha256 text not null,
  -- Who made it; the id is null for the configured token.
  author_kind text not null,
  author_id uuid,
  author_name text not null,
  made_at timestamptz not null,
  decided_by text,
  decided_at timestamptz,
  constraint is_decided check ((state = 'waiting') = (decided_at is null))
);

create table transfers (
  transfer_id uuid not null,
  payout_id uuid not null,
  settlement_id uuid not null,
  mid uuid not null references accounts,
  currency text not null,
  amount bigint not null check (amount > 0),
  bank_version ordinal not null,
  state text not null check (state in ('waiting', 'in_transit', 'paid', 'returned', 'refused')),
  reason text,
  paid_at timestamptz,
  returned_at timestamptz,
  primary key (mid, transfer_id),
  foreign key (mid, settlement_id) references settlements
);
create index transfers_of_payout on transfers (payout_id, transfer_id);
-- A settlement is paid once.
create unique index transfers_of_settlement on transfers (mid, settlement_id) where state <> 'refused';

create table provider_payments (
  provider_payment_id uuid primary key,
  connector text not null,
  currency text not null,
  amount bigint not null check (amount > 0),
  reference some_text not null,
  received_on date not null,
  recorded_by text not null,
  recorded_at timestamptz not null,
  unique (connector, reference)
);
