-- What accounts with volume limits have taken. Payments that have ended are sums; those that may still change are rows.

-- An account without a row is counted anew with its next payment.
create table risk_volume_starts (
  mid uuid not null references accounts,
  currency text not null,
  counted_at timestamptz not null,
  primary key (mid, currency)
);

create table risk_volumes (
  mid uuid not null references accounts,
  currency text not null,
  -- By UTC and the account's clock.
  day date not null,
  brand text not null,
  amount bigint not null,
  count integer not null,
  primary key (mid, currency, day, brand)
);

create table risk_volume_open (
  mid uuid not null references accounts,
  currency text not null,
  payment_id uuid not null,
  -- The payment counts before its provider has answered.
  is_let_through boolean not null,
  primary key (mid, currency, payment_id)
);
