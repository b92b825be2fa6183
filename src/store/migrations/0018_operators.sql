-- Operators of the panel and their sessions.

create type operator_state as enum ('invited', 'active', 'suspended');

create table operators (
  operator_id uuid primary key,
  -- In lower case.
  email text not null unique,
  name text not null,
  role role not null,
  -- The accounts that the operator may see; null means all.
  mids uuid[],
  state operator_state not null,
  created_at timestamptz not null,
  last_signed_in_at timestamptz,
  constraint merchants_see_their_accounts_only check (role <> 'merchant' or mids is not null)
);

create table operator_sessions (
  -- SHA-256 of the random value of the cookie.
  digest bytea primary key,
  operator_id uuid not null references operators on delete cascade,
  created_at timestamptz not null,
  used_at timestamptz not null,
  -- When the operator last proved who it is; sensitive actions need a recent proof.
  confirmed_at timestamptz not null,
  address text not null,
  user_agent text not null
);
create index operator_sessions_of_operator on operator_sessions (operator_id);
