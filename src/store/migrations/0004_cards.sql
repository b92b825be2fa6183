-- The vault: card numbers and expiries, sealed under keys of their own for each account.

create table data_keys (
  mid uuid not null,
  version ordinal not null,
  -- The key of the data, sealed under the master key.
  sealed bytea not null,
  created_at timestamptz not null,
  primary key (mid, version)
);

create table cards (
  mid uuid not null,
  card_id uuid not null,
  -- What the merchant knows of the card; nothing of the number is in it.
  token some_text not null,
  key_version ordinal not null,
  sealed bytea not null,
  -- Keyed, so that it tells two cards apart and nothing else.
  fingerprint some_text not null,
  masked some_text not null,
  network some_text not null,
  payment_id uuid not null,
  created_at timestamptz not null,
  primary key (mid, card_id),
  unique (mid, token)
);

create index cards_of_payment on cards (mid, payment_id);
