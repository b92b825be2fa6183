-- Price plans, their versions, and which account or connection has which plan from when on. An event is priced by what was
-- in force at its time, so that nothing of this is ever changed or deleted.

create table price_plans (
  plan_id uuid primary key,
  name some_text not null,
  -- What merchants pay, or what a connection costs.
  side text not null check (side in ('sell', 'buy')),
  created_at timestamptz not null
);

create table price_plan_versions (
  plan_id uuid not null references price_plans,
  version ordinal not null,
  valid_from timestamptz not null,
  refund_policy text not null check (refund_policy in ('keep', 'proportional', 'full')),
  tax_percent some_text not null,
  -- In order: the first one that matches an event applies.
  lines jsonb not null check (jsonb_typeof(lines) = 'array'),
  created_at timestamptz not null,
  primary key (plan_id, version),
  unique (plan_id, valid_from)
);

-- Without a plan, the account has none from then on.
create table account_price_plans (
  mid uuid not null references accounts,
  assigned_at timestamptz not null,
  plan_id uuid,
  primary key (mid, assigned_at)
);

create table connection_price_plans (
  connection_id uuid not null references connections,
  assigned_at timestamptz not null,
  plan_id uuid references price_plans,
  primary key (connection_id, assigned_at)
);

create function refuse_change_of_prices() returns trigger language plpgsql as $$
begin
  raise exception 'Rows of % are never changed or deleted.', tg_table_name using errcode = 'check_violation';
end $$;

create trigger prices_are_kept before update or delete on price_plans
  for each statement execute function refuse_change_of_prices();
create trigger prices_are_kept before update or delete on price_plan_versions
  for each statement execute function refuse_change_of_prices();
create trigger prices_are_kept before update or delete on account_price_plans
  for each statement execute function refuse_change_of_prices();
create trigger prices_are_kept before update or delete on connection_price_plans
  for each statement execute function refuse_change_of_prices();
