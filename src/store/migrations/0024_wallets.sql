-- Device wallets: the private keys of accounts, and the tokens that were used.

-- Secrets among the settings of an account. A replaced one stays usable for some time.
create table account_secrets (
  mid uuid not null references accounts,
  -- The name of the setting.
  name some_text not null,
  -- Sealed, bound to the account and the setting.
  sealed bytea not null,
  previous_sealed bytea,
  previous_until timestamptz,
  primary key (mid, name),
  constraint previous_is_complete check ((previous_sealed is null) = (previous_until is null))
);

-- A token pays once. Its row is written together with the payment, and deleted when the token is refused for its age.
create table wallet_tokens (
  mid uuid not null,
  -- The wallet, and the transaction id or message id of the token.
  replay_key some_text not null,
  payment_id uuid not null,
  forget_at timestamptz not null,
  primary key (mid, replay_key)
);

create index wallet_tokens_by_age on wallet_tokens (forget_at);
