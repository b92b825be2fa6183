-- API tokens with a role, the audit log, suspended accounts, and the name of the operator in the history of a payment.

create type role as enum ('owner', 'operator', 'support', 'viewer', 'merchant');

create table api_tokens (
  token_id uuid primary key,
  name text not null,
  role role not null,
  -- The accounts that the token may see; null means all.
  mids uuid[],
  -- SHA-256 of the token, which is random, so that a fast digest is enough.
  digest bytea not null unique,
  created_at timestamptz not null,
  expires_at timestamptz,
  last_used_at timestamptz,
  constraint merchants_see_their_accounts_only check (role <> 'merchant' or mids is not null)
);

-- What operators changed. The digest of an entry covers the digest of the one before, so that an entry cannot be
-- changed or removed without a trace.
create table audit_log (
  seq bigint primary key,
  at timestamptz not null,
  actor_kind text not null,
  actor_id uuid,
  actor_name text not null,
  address text,
  action text not null,
  mid uuid,
  subject text,
  before jsonb,
  after jsonb,
  digest bytea not null
);
create index audit_log_by_action on audit_log (action, seq desc);
create index audit_log_by_actor on audit_log (actor_name, seq desc);

-- The newest entry: its row lock gives the entries their order, and a missing last entry is noticed.
create table audit_head (
  is_only boolean primary key default true check (is_only),
  seq bigint not null,
  digest bytea not null
);
insert into audit_head (seq, digest) values (0, '\x');

alter table accounts add column suspended_at timestamptz;

-- Who the actor of a history row is, where it is a person or a token.
alter table history add column actor_name text;
