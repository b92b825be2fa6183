-- Adjustments of merchants' balances: one person proposes, another one approves, and only then the entry is posted.
create table ledger_adjustments (
  mid uuid not null references accounts,
  adjustment_id uuid not null,
  currency text not null,
  -- With its sign, from the merchant's view.
  amount bigint not null check (amount <> 0),
  reason some_text not null,
  state text not null check (state in ('waiting', 'approved', 'refused')),
  -- Who proposed it; the id is null for the configured token.
  author_kind text not null,
  author_id uuid,
  author_name text not null,
  proposed_at timestamptz not null,
  decided_by text,
  decided_at timestamptz,
  primary key (mid, adjustment_id),
  constraint is_decided check ((state = 'waiting') = (decided_at is null))
);
create index ledger_adjustments_by_time on ledger_adjustments (adjustment_id);
