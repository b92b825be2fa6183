-- How operators prove who they are: invitations, passwords with TOTP, recovery codes, passkeys, and failed sign-ins.

create table operator_invitations (
  -- SHA-256 of the one-time secret of the link.
  digest bytea primary key,
  -- Null for the link that creates the first owner. Another operator has one link at a time.
  operator_id uuid unique references operators on delete cascade,
  created_at timestamptz not null,
  expires_at timestamptz not null
);

-- A password is used together with TOTP only.
create table operator_passwords (
  operator_id uuid primary key references operators on delete cascade,
  -- Argon2id, with its parameters and its salt.
  password_hash text not null,
  -- Sealed, bound to the operator.
  totp_seed bytea not null,
  -- The step of the last code that was accepted: a code works once.
  totp_step bigint not null,
  changed_at timestamptz not null
);

-- A code is deleted when it is used.
create table operator_recovery_codes (
  operator_id uuid not null references operators on delete cascade,
  -- A keyed digest.
  digest text not null,
  primary key (operator_id, digest)
);

create table operator_passkeys (
  credential_id bytea primary key,
  operator_id uuid not null references operators on delete cascade,
  -- In COSE format.
  public_key bytea not null,
  counter bigint not null,
  transports text[] not null,
  name text not null,
  created_at timestamptz not null,
  last_used_at timestamptz
);
create index operator_passkeys_of_operator on operator_passkeys (operator_id);

-- Failed sign-ins, for lockouts that all processes share.
create table operator_sign_in_failures (
  -- An address, or a keyed digest of the e-mail address, whether or not an operator has it.
  subject text primary key,
  failures int not null,
  -- The time of the first failure that is counted.
  since timestamptz not null
);
create index operator_sign_in_failures_by_age on operator_sign_in_failures (since);

-- Challenges and sealed form values that have been used; each works once.
create table operator_spent_values (
  digest bytea primary key,
  expires_at timestamptz not null
);
create index operator_spent_values_by_expiry on operator_spent_values (expires_at);
