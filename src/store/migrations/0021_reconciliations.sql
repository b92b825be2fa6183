-- Reconciliations of providers' statements, and the saved filters of operators.
-- outside a transaction

create table if not exists reconciliations (
  reconciliation_id uuid primary key,
  file_name text not null,
  -- SHA-256 of the file.
  digest bytea not null,
  bytes bigint not null,
  created_at timestamptz not null,
  created_by text not null,
  state text not null check (state in ('uploaded', 'comparing', 'failed', 'done')),
  -- How the file is read: the columns, the formats, the provider and the period; null until it is compared.
  terms jsonb,
  -- Why the file could not be compared: the row, the column and a sentence.
  problem jsonb,
  -- Each run has its own number, so that a run that was given up writes nothing more.
  run integer not null default 0,
  rows_read bigint not null default 0,
  rows_skipped bigint not null default 0,
  period_from timestamptz,
  period_to timestamptz,
  -- Counts and sums by outcome, type and currency.
  totals jsonb,
  -- The time of the last progress: a run without any has died.
  updated_at timestamptz not null
);

-- The file in parts, until it has been compared.
create table if not exists reconciliation_parts (
  reconciliation_id uuid not null references reconciliations on delete cascade,
  part integer not null,
  content bytea not null,
  primary key (reconciliation_id, part)
);

-- A row of the statement, what it was matched with, or a movement of ours that the statement does not have.
create table if not exists reconciliation_rows (
  reconciliation_id uuid not null references reconciliations on delete cascade,
  number bigint not null,
  outcome text not null check (outcome in ('matched', 'different', 'missing_here', 'missing_there')),
  type text not null check (type in ('sale', 'refund', 'chargeback')),
  -- The line of the file; null if the statement does not have the movement.
  line bigint,
  reference text,
  amount bigint,
  currency text,
  at timestamptz,
  -- The payment that the reference belongs to.
  mid uuid,
  payment_id uuid,
  -- The movement as we have it; null if we do not.
  our_amount bigint,
  our_currency text,
  our_at timestamptz,
  primary key (reconciliation_id, number)
);
create index if not exists reconciliation_rows_by_outcome on reconciliation_rows (reconciliation_id, outcome, number);
create index if not exists reconciliation_rows_by_payment on reconciliation_rows (reconciliation_id, payment_id)
  where payment_id is not null;

-- Finds what happened in a period. A BRIN index costs a write almost nothing.
create index concurrently if not exists history_by_time on history
  using brin (at) with (pages_per_range = 32, autosummarize = on);

create table if not exists saved_filters (
  operator_id uuid not null references operators on delete cascade,
  name text not null,
  query text not null,
  created_at timestamptz not null,
  primary key (operator_id, name)
);
